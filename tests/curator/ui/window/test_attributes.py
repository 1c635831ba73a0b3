"""Attributes of the current mention by key, in the project and in a round, and the dialog that defines them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from curator.domain.attributes import Scheme
from curator.ui.panels.attributes_dialog import AttributeDialog, AttributesDialog, state_words
from tests.curator.services.fakes import finish
from tests.curator.ui.window.fakes import CTRL, PLAIN, SHIFT, Desk

SCHEME = Scheme().with_attribute("negation", ("affirmed", "negated")).with_attribute("severity", ("mild", "severe"))


def has(desk: Desk) -> dict[str, str]:
    view = desk.bench.navigator.mention
    assert view is not None
    return {one.name: value.name for one, value in view.attributes}


def test_keys_set_change_clear_and_undo_a_value(desk: Desk) -> None:
    desk.press(Qt.Key.Key_L)
    assert not desk.bench.reasons.asked
    assert "no attributes yet" in desk.said
    desk.project.attributes.save(SCHEME)
    desk.press(Qt.Key.Key_L)
    assert [one.text() for one in desk.bench.reasons.buttons] == ["A  negation", "B  severity"]
    desk.press(Qt.Key.Key_A)
    assert [one.text() for one in desk.bench.reasons.buttons] == ["1  affirmed", "2  negated"]
    desk.press(Qt.Key.Key_2)
    assert (has(desk), desk.word) == ({"negation": "negated"}, "Lidocaine")
    assert desk.decision("Lidocaine") is None
    assert desk.bench.document.hasFocus()
    rows = desk.bench.history.model
    assert [rows.data(rows.index(at, 0)) for at in range(rows.rowCount())] == ["negation: negated"]
    for key in (Qt.Key.Key_L, Qt.Key.Key_A, Qt.Key.Key_1, Qt.Key.Key_L, Qt.Key.Key_A):
        desk.press(key)
    assert [one.text() for one in desk.bench.reasons.buttons] == ["1  affirmed ✓", "2  negated"]
    desk.press(Qt.Key.Key_1)
    assert has(desk) == {}
    desk.press(Qt.Key.Key_Down)
    desk.press(Qt.Key.Key_Z, CTRL)
    assert (has(desk), desk.word) == ({"negation": "affirmed"}, "Lidocaine")
    desk.press(Qt.Key.Key_L)
    desk.press(Qt.Key.Key_Escape)
    assert not desk.bench.reasons.asked


def test_the_dialog_defines_edits_and_deletes(desk: Desk) -> None:
    desk.window.menus.action("annotate.scheme").trigger()
    dialog = desk.window.findChild(AttributesDialog)
    assert isinstance(dialog, AttributesDialog)
    dialog.new.click()
    entry = dialog.findChild(AttributeDialog)
    assert isinstance(entry, AttributeDialog)
    entry.preset.setCurrentIndex(1)
    entry.preset.activated.emit(1)
    entry.values[2].setText("affirmed")
    entry.accept()
    assert "already used" in entry.problem.text()
    entry.values[2].setText("possible")
    entry.accept()
    assert [value.name for value in dialog.scheme.get(1).shown] == ["affirmed", "negated", "possible"]
    change = AttributeDialog(dialog.scheme, dialog.scheme.get(1), types=(), parent=dialog)
    fields: list[QLineEdit] = change.values
    fields[0].setText("negated")
    fields[1].setText("affirmed")
    fields[2].clear()
    change.types.setText("Chemical, Disease")
    changed = change.changed().get(1)
    assert [(value.id, value.name) for value in changed.shown] == [(1, "negated"), (2, "affirmed")]
    assert changed.types == ("Chemical", "Disease")
    dialog.accept()
    assert [one.name for one in desk.project.attributes.scheme().shown] == ["negation"]
    assert QApplication.focusWidget() is not None


def test_in_a_round_the_values_are_the_curators_own(desk: Desk) -> None:
    desk.project.attributes.save(SCHEME.hidden(2, True))
    found = desk.project.rounds.create("pilot", [1])
    desk.window.session.features.people.mode.enter(found)
    desk.press(Qt.Key.Key_L)
    desk.press(Qt.Key.Key_2)
    assert has(desk) == {"negation": "negated"}
    assert all(not view.attributes for view in desk.project.queue.open(1).mentions)
    desk.press(Qt.Key.Key_Z, CTRL)
    assert has(desk) == {}


def test_attributes_of_imported_files_are_listed_and_read_with_one_button(desk: Desk, qtbot: QtBot) -> None:
    folder = desk.world.folder / "brat"
    folder.mkdir()
    (folder / "a.txt").write_text("No fever. Gout.")
    (folder / "a.ann").write_text(
        "T1\tDisease 3 8\tfever\nA1\tNegation T1\nT2\tDisease 10 14\tGout\nA2\tDate T2 2020\n"
    )
    finish(desk.project.importing.documents([folder]))
    desk.window.menus.action("annotate.scheme").trigger()
    dialog = desk.window.findChild(AttributesDialog)
    assert isinstance(dialog, AttributesDialog)
    files = dialog.files
    assert not files.button.isEnabled()
    qtbot.waitUntil(lambda: len(files.table.lines.rows) == 2)
    assert [(one.name, state_words(one)) for one in files.table.lines.rows] == [("Date", "new"), ("Negation", "new")]
    files.table.lines.set_ticked([0], False)
    qtbot.waitUntil(lambda: files.button.accessibleName() == "Read 1 attribute from the files")
    files.button.click()
    qtbot.waitUntil(lambda: [state_words(one) for one in files.table.lines.rows] == ["new", "read"])
    assert [one.name for one in dialog.scheme.shown] == ["Negation"]
    assert "Read attributes of 1 mention from the files: Negation" in desk.said
    dialog.drop.click()  # a draft: reading would lose it
    files.table.lines.set_ticked([0], True)
    files.button.click()
    assert "Press Save" in dialog.problem.text()
    dialog.reject()
    assert desk.project.attributes.scheme().named("Negation").shown[0].name == "yes"


def test_one_key_sets_a_value_for_all_mentions_of_a_string_in_one_step(desk: Desk) -> None:
    desk.project.attributes.save(SCHEME.hidden(2, True))
    others = [one for document in (1, 2) for one in desk.project.queue.open(document).mentions]
    same = [one.mention.id for one in others if one.mention.text == "Lidocaine"]
    desk.project.attributes.set(same[1:], 1, 1)  # another value: listed, not ticked

    def values() -> list[list[str]]:
        views = [one for document in (1, 2) for one in desk.project.queue.open(document).mentions]
        return [[value.name for _, value in one.attributes] for one in views if one.mention.id in same]

    before = values()
    many = desk.bench.many
    desk.press(Qt.Key.Key_L, SHIFT)
    assert [one.text() for one in desk.bench.reasons.buttons] == ["1  affirmed", "2  negated"]
    desk.press(Qt.Key.Key_2)
    assert many.strip.currentWidget() is many.value_panel
    assert "negation: negated" in many.value_panel.title.words
    assert values() == before
    desk.press(Qt.Key.Key_Escape)
    assert (many.is_open, values()) == (False, before)
    for key, modifiers in ((Qt.Key.Key_L, SHIFT), (Qt.Key.Key_2, PLAIN), (Qt.Key.Key_A, PLAIN)):
        desk.press(key, modifiers)
    assert len(many.value_panel.ticked) == len(same) - 1
    desk.press(Qt.Key.Key_Return, SHIFT)
    assert values() == [["negated"]] * len(same)
    assert (many.is_open, desk.word) == (False, "Lidocaine")
    desk.press(Qt.Key.Key_Z, CTRL)
    assert values() == before
