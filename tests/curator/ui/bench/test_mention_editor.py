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


def test_a_sign_that_is_no_digit_is_the_beginning_of_a_name(qtbot: QtBot, picker: TypePicker) -> None:
    qtbot.keyClicks(picker.line, "²")
    assert rows(picker) == ["²"]


def test_without_types_the_line_asks_for_a_new_one(picker: TypePicker) -> None:
    assert "digit" in picker.line.placeholderText()
    picker.ask("lidocaine", {}, at=QPoint(10, 10))
    assert picker.line.placeholderText() == "Name of a new type"


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


@pytest.mark.parametrize(("typed", "known"), [("Species", []), ("Dis", ["Disease"]), ("disea", ["Disease"])])
def test_a_new_type_is_made_only_by_its_own_row(qtbot: QtBot, picker: TypePicker, typed: str, known: list[str]) -> None:
    qtbot.keyClicks(picker.line, typed)
    assert rows(picker) == [*known, typed]
    assert "New type" in picker.list.item(len(known)).text()
    assert picker.note.isHidden() == bool(known)
    if not known:
        with qtbot.assertNotEmitted(picker.chosen):
            qtbot.keyClick(picker.line, Qt.Key.Key_Return)
        assert picker.isVisible()
    with qtbot.waitSignal(picker.chosen, timeout=500) as caught:
        qtbot.keyClick(picker.line, Qt.Key.Key_Down)
        qtbot.keyClick(picker.line, Qt.Key.Key_Return)
    assert caught.args == [typed]


def test_no_type_is_new_in_other_capitals(qtbot: QtBot, picker: TypePicker) -> None:
    qtbot.keyClicks(picker.line, "disease")
    assert rows(picker) == ["Disease"]


def test_the_guess_comes_first_and_then_the_usual_type(picker: TypePicker) -> None:
    picker.ask("x", TYPES, at=QPoint(0, 0), usual="Gene")
    assert rows(picker) == ["Gene", "Chemical", "Disease"]
    picker.ask("x", TYPES, at=QPoint(0, 0), usual="Gene", guess="Disease")
    assert rows(picker) == ["Disease", "Gene", "Chemical"]
    assert picker.list.item(0).text() == "1   Disease   (900, suggested)"


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
