import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from curator.ui.bench.mention_editor import TypePicker

TYPES = {"Disease": 900, "Chemical": 1200, "Gene": 5}


@pytest.fixture
def picker(qtbot: QtBot) -> TypePicker:
    widget = TypePicker()
    qtbot.addWidget(widget)
    widget.ask("lidocaine", TYPES, at=QPoint(10, 10))
    return widget


def rows(picker: TypePicker) -> list[str]:
    return [str(picker.list.item(i).data(Qt.ItemDataRole.UserRole)) for i in range(picker.list.count())]


@pytest.mark.parametrize(("keys", "wanted"), [("1", "Chemical"), ("2", "Disease"), ("3", "Gene")])
def test_a_digit_chooses(qtbot: QtBot, picker: TypePicker, keys: str, wanted: str) -> None:
    with qtbot.waitSignal(picker.chosen, timeout=500) as caught:
        qtbot.keyClicks(picker.line, keys)
    assert caught.args == [wanted]
    assert not picker.isVisible()


def test_first_letters_and_enter_choose(qtbot: QtBot, picker: TypePicker) -> None:
    qtbot.keyClicks(picker.line, "dis")
    with qtbot.waitSignal(picker.chosen, timeout=500) as caught:
        qtbot.keyClick(picker.line, Qt.Key.Key_Return)
    assert caught.args == ["Disease"]


def test_arrows_move(qtbot: QtBot, picker: TypePicker) -> None:
    qtbot.keyClick(picker.line, Qt.Key.Key_Down)
    with qtbot.waitSignal(picker.chosen, timeout=500) as caught:
        qtbot.keyClick(picker.line, Qt.Key.Key_Enter)
    assert caught.args == ["Disease"]


def test_a_new_type_is_offered_by_its_word(qtbot: QtBot, picker: TypePicker) -> None:
    qtbot.keyClicks(picker.line, "Species")
    assert rows(picker) == ["Species"]
    assert "New type" in picker.list.item(0).text()


def test_the_usual_type_comes_first(picker: TypePicker) -> None:
    picker.ask("x", TYPES, at=QPoint(0, 0), usual="Gene")
    assert rows(picker) == ["Gene", "Chemical", "Disease"]


def test_escape_leaves_and_an_answer_does_not(qtbot: QtBot, picker: TypePicker) -> None:
    with qtbot.waitSignal(picker.left, timeout=500):
        qtbot.keyClick(picker.line, Qt.Key.Key_Escape)
    picker.ask("x", TYPES, at=QPoint(0, 0))
    with qtbot.assertNotEmitted(picker.left):
        qtbot.keyClicks(picker.line, "1")


def test_a_text_is_never_read_as_markup(picker: TypePicker) -> None:
    picker.ask("<b>bold</b>" * 9, TYPES, at=QPoint(0, 0))
    assert picker.title.textFormat() is Qt.TextFormat.PlainText
    assert picker.title.text().endswith("…”")
