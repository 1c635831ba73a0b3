from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from curator.ui.kit.labels import Banner
from curator.ui.kit.theme import DARK, LIGHT


def ground(banner: Banner) -> str:
    return banner.grab().toImage().pixelColor(2, 2).name()


def test_a_banner_says_something_or_is_not_there_and_follows_the_theme(qtbot: QtBot) -> None:
    banner = Banner("Round")
    qtbot.addWidget(banner)
    pressed: list[str] = []
    button = banner.add_button("Close", lambda: pressed.append("left"))
    banner.say("You judge apart.")
    banner.show()
    assert ground(banner) == LIGHT.note.name()
    banner.setPalette(DARK.palette)
    assert ground(banner) == DARK.note.name()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert pressed == ["left"]
    banner.say("")
    assert not banner.isVisible()
