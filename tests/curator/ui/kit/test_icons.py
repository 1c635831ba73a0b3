import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from curator.ui.kit.theme import DARK, LIGHT, icon, icon_names, read_svg

OWN_COLOURS = {"curator"}


def painted(name: str) -> QImage:
    return icon(name).pixmap(QSize(32, 32)).toImage()


@pytest.mark.parametrize("name", icon_names())
def test_every_icon_paints_something_in_the_palette_s_colour(qapp: QApplication, name: str) -> None:
    light = painted(name)
    assert any(light.pixelColor(x, y).alpha() > 200 for x in range(32) for y in range(32))
    qapp.setPalette(DARK.palette)
    assert (painted(name) == light) == (name in OWN_COLOURS)
    qapp.setPalette(LIGHT.palette)


@pytest.mark.parametrize("name", sorted(set(icon_names()) - OWN_COLOURS))
def test_icons_name_no_colour(name: str) -> None:
    svg = read_svg(name)
    assert "currentColor" in svg
    assert "#" not in svg


def test_an_unknown_icon_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        icon("no-such-icon")
