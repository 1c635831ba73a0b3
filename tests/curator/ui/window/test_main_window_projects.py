"""Projects, suggestions and the linker as the window meets them: early, late, dead, locked, new, empty."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from curator import bootstrap
from curator.domain.decisions import Change, ChangeKind
from curator.domain.jobs import JobOutcome, JobState, LinkerState, Progress
from curator.domain.suggestions import Candidate, Stamp
from curator.domain.wording import DamagedProjectError
from curator.ui.bench.refresher import EMPTY_KB, EMPTY_PROJECT, NEWER, NO_KB, READ_ONLY
from curator.ui.candidates.candidate_panel import NOT_STORED
from curator.ui.jobs.jobs import JobKind
from curator.ui.kit.key_names import place_of
from curator.ui.safety.backups_dialog import BackupsDialog
from curator.ui.shell import app
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.features import Features
from curator.ui.shell.main_window import MainWindow
from tests.curator.services.fakes import suggestion
from tests.curator.ui.window.fakes import CTRL, Desk, MakeDesk, make_project

Key = Qt.Key


def boxes() -> list[QMessageBox]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox) and one.isVisible()]


def press_button(box: QMessageBox, words: str) -> None:
    next(one for one in box.findChildren(QPushButton) if one.text().replace("&", "") == words).click()


def newer(desk: Desk) -> None:
    """Another answer of the linker for every mention of the open document: the candidates in another order."""
    opened = desk.bench.navigator.opened
    assert opened is not None
    bundle = desk.world.linker.status.bundle_id
    made = [suggestion(one.mention.id, Stamp(bundle, opened.document.revision)) for one in opened.mentions]
    turned = [dataclasses.replace(one, candidates=one.candidates[::-1]) for one in made]
    desk.world.linker.asked[-1].on_document(opened.document.id, turned)


def test_suggestions_appear_when_they_come_and_nothing_was_shown(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(manual=True)
    assert desk.bench.candidates.model.rowCount() == 0
    for asked in list(desk.world.linker.asked):
        desk.world.linker.answer(asked)
    qtbot.waitUntil(lambda: desk.bench.candidates.model.rowCount() == 1)
    desk.press(Key.Key_Return)
    assert desk.decision("Lidocaine") is not None


def test_newer_suggestions_wait_until_the_curator_moves(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(asked=True)
    shown = [one.entity_id for one in desk.bench.navigator.mention.suggestion.candidates]  # type: ignore[union-attr]
    with qtbot.waitSignal(desk.bench.bridge.changed):
        newer(desk)
    assert [one.entity_id for one in desk.bench.navigator.mention.suggestion.candidates] == shown  # type: ignore[union-attr]
    assert desk.note == NEWER
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Up)
    first = desk.bench.navigator.mention.suggestion.candidates[0]  # type: ignore[union-attr]
    assert isinstance(first, Candidate)
    assert first.entity_id == "MESH:D001145"
    assert desk.note == ""


def test_a_decision_on_old_suggestions_records_the_old_ones(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(asked=True)
    with qtbot.waitSignal(desk.bench.bridge.changed):
        newer(desk)
    desk.press(Key.Key_Return)
    decision = desk.decision("Lidocaine")
    assert decision is not None
    assert decision.verdict.entity_ids == ("MESH:D008012",)
    assert [one.entity_id for one in decision.shown.candidates] == ["MESH:D008012"]  # type: ignore[union-attr]


def test_a_dead_linker_is_said_and_deciding_goes_on(desk: Desk, qtbot: QtBot) -> None:
    with qtbot.waitSignal(desk.bench.bridge.linker):
        desk.world.linker.set_status(LinkerState.RESTARTING, message="The linker process ended unexpectedly.")
    assert "crashed, restarting" in desk.window.status.words
    assert desk.note == "The linker process ended unexpectedly."
    desk.press(Key.Key_Return)
    assert desk.decision("Lidocaine") is not None
    with qtbot.waitSignal(desk.bench.bridge.linker):
        desk.world.linker.set_status(LinkerState.READY, desk.world.linker.opened[-1])
    assert "ready" in desk.window.status.words
    assert desk.note == ""


def test_while_only_spelling_is_compared_the_panel_says_so(desk: Desk, qtbot: QtBot) -> None:
    linker = desk.world.linker
    linker.status = dataclasses.replace(linker.status, stages=("lexical",), device="The encoder runs on the processor.")
    with qtbot.waitSignal(desk.bench.bridge.linker):
        for listener in linker.listeners:
            listener(linker.status)
    assert "Only spelling is compared" in desk.note
    assert "lexical only (CPU)" in desk.window.status.words


def test_what_another_thread_changes_is_shown(desk: Desk, qtbot: QtBot) -> None:
    from curator.domain.decisions import Verdict

    mention = desk.world.mentions(1)[1]
    with qtbot.waitSignal(desk.bench.navigator.content_changed):
        desk.project.curation.decide(mention, Verdict.nil())
    assert desk.bench.navigator.opened.view(mention).decision is not None  # type: ignore[union-attr]
    assert desk.word == "Lidocaine"


def test_empty_states_say_what_to_do_next(make_desk: MakeDesk) -> None:
    desk = make_desk(documents=0, kb=False, index=False)
    assert desk.bench.document.empty_words == (EMPTY_KB[0], EMPTY_KB[1].format(way=place_of("project.import_kb")))
    assert desk.note == NO_KB.format(way="Project › Import knowledge base (Ctrl+Shift+I)")
    assert desk.bench.candidates.list.empty_words == "", "there is no mention to click"


OTHER_WORK: dict[str, Callable[[Features], object]] = {
    "the export": lambda it: it.flows.export_gold().accept(),
    "a release": lambda it: it.records.release().accept(),
    "the audit trail": lambda it: it.records.export_audit().accept(),
    "the knowledge base": lambda it: it.records.export_knowledge_base().accept(),
    "the check": lambda it: it.safety.check(),
}


@pytest.mark.parametrize("work", OTHER_WORK)
def test_what_is_no_import_leaves_imports_possible(desk: Desk, qtbot: QtBot, work: str) -> None:
    OTHER_WORK[work](desk.window.session.features)
    assert len(desk.bench.jobs) == 1
    assert not desk.bench.jobs.importing
    assert not desk.bench.state.importing
    qtbot.waitUntil(lambda: len(desk.bench.jobs) == 0)


def test_a_second_check_does_not_start_while_one_runs(desk: Desk, qtbot: QtBot) -> None:
    safety = desk.window.session.features.safety
    safety.check()
    safety.check()
    assert len(desk.bench.jobs) == 1
    qtbot.waitUntil(lambda: len(desk.bench.jobs) == 0)


def test_while_an_import_runs_nothing_asks_for_one(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(documents=0, kb=False, index=False)
    bench = desk.bench
    shown = (lambda: str(bench.document.empty_words), lambda: desk.note, lambda: bench.queue.list.empty_words)
    before = [one() for one in shown]
    tells: list[Callable[[Progress], None]] = []
    ends: list[Callable[[JobOutcome], None]] = []

    def launch(progress: Callable[[Progress], None], end: Callable[[JobOutcome], None]) -> None:
        tells.append(progress)
        ends.append(end)

    bench.jobs.start(JobKind.IMPORT, "Import corpus.txt", launch)
    for one in shown:
        assert "Import some" not in one()
        assert "Begin with" not in one()
        assert "mport is running" in one()
    with qtbot.waitSignal(bench.jobs.progressed):
        tells[0](Progress("knowledge base", 1, 2))
    assert desk.note.startswith("The knowledge base is being imported.")
    with qtbot.waitSignal(bench.jobs.changed):
        ends[0](JobOutcome(JobState.FAILED, "The disk is full."))
    assert [one() for one in shown] == before


def test_a_project_without_documents_says_so_until_some_come(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(documents=0)
    assert desk.bench.document.empty_words == (
        EMPTY_PROJECT[0],
        "Import some with Project › Import documents (Ctrl+I).",
    )
    desk.world.documents(1)
    qtbot.waitUntil(lambda: desk.bench.navigator.opened is not None)
    assert desk.word == "Lidocaine"


def test_without_a_project_only_what_needs_none_is_enabled(window: MainWindow) -> None:
    enabled = {command.id for command in COMMANDS if window.menus.action(command.id).isEnabled()}
    assert {"project.new", "project.open", "help.keys", "edit.settings"} <= enabled
    assert not {"project.import", "mention.accept", "model.retrain", "edit.undo"} & enabled


def test_every_command_has_its_shortcuts_in_the_window(window: MainWindow) -> None:
    for command in COMMANDS:
        action = window.menus.action(command.id)
        assert len(action.shortcuts()) == len(command.shortcuts)
        assert action in window.actions()


def test_an_open_window_has_somebody_for_every_command(desk: Desk) -> None:
    assert [command.id for command in COMMANDS if command not in desk.window.session.commands] == []


def test_a_read_only_window_decides_nothing(window: MainWindow, tmp_path: Path) -> None:
    world = make_project(tmp_path)
    world.kb()
    world.documents(1)
    world.project.close()
    window.session.open(world.project.folder, read_only=True)
    desk = Desk(window, world)
    assert "(read-only)" in window.windowTitle()
    assert window.status.words == "read-only", "not that there is no index yet"
    said = [desk.note, desk.bench.candidates.list.empty_words]
    assert said == [READ_ONLY, NOT_STORED], "not that suggestions are being calculated"
    for key in (Key.Key_Return, Key.Key_N, Key.Key_Delete):
        desk.press(key)
    assert desk.bench.reasons.outcome is None
    assert desk.bench.project.curation.history(1) == []


def test_a_second_window_offers_to_read(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    world = make_project(tmp_path)
    window.session.open(world.project.folder)
    [box] = boxes()
    assert "is open for writing in process" in box.text()
    assert window.bench is None
    press_button(box, "Open read-only")
    qtbot.waitUntil(lambda: window.bench is not None)
    assert window.bench is not None
    assert window.bench.project.read_only
    world.project.close()


def test_a_project_that_cannot_be_written_where_it_is_can_be_read(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_project(tmp_path)
    world.project.close()
    monkeypatch.setattr("curator.storage.db.lock._sees_others", lambda _: False)
    window.session.open(world.project.folder)
    [box] = boxes()
    assert "does not support locks" in box.text()
    press_button(box, "Open read-only")
    qtbot.waitUntil(lambda: window.bench is not None)


@pytest.mark.parametrize("broken", ["newer", "missing"])
def test_what_cannot_be_opened_is_refused_with_a_sentence(window: MainWindow, tmp_path: Path, broken: str) -> None:
    world = make_project(tmp_path)
    world.project.close()
    folder = world.project.folder
    if broken == "newer":
        with sqlite3.connect(folder / "project.sqlite") as db:
            db.execute("PRAGMA user_version = 9999")
            db.execute("UPDATE meta SET value = '9999' WHERE key LIKE '%version%'")
        db.close()
    else:
        folder = tmp_path / "nowhere.curation"
    window.session.open(folder)
    [box] = boxes()
    assert "newer" in box.text() if broken == "newer" else "does not exist" in box.text()
    assert "Traceback" not in box.text()
    press_button(box, "OK")
    assert window.bench is None


@pytest.mark.parametrize("column", ["state", "split"])
def test_a_wrong_value_in_the_list_of_documents_offers_the_backups(
    window: MainWindow, tmp_path: Path, column: str
) -> None:
    world = make_project(tmp_path)
    world.documents(2)
    with world.store.write() as unit:
        unit.connection.exec_driver_sql(f"UPDATE documents SET {column} = 'nonsense' WHERE id = 2")
    world.project.close()
    window.session.open(world.project.folder)
    [dialog] = [one for one in QApplication.topLevelWidgets() if isinstance(one, BackupsDialog) and one.isVisible()]
    assert f"cannot read the value “nonsense” of “{column}” in table “documents”" in dialog.trouble.text()
    assert window.bench is None, "there is nothing that it could show"
    dialog.close()
    bootstrap.open_project(world.project.folder).close()  # its lock is free


def test_damage_met_while_a_project_is_open_is_a_notice_with_the_whole_sentence(desk: Desk) -> None:
    error = DamagedProjectError("Curator cannot read a value. " * 12)
    app._hook(QApplication.instance(), desk.window)(DamagedProjectError, error, None)  # type: ignore[arg-type]
    notice = desk.bench.notices.newest
    assert notice is not None
    assert notice.words == str(error)
    desk.bench.notices.show()
    [dialog] = [one for one in QApplication.topLevelWidgets() if isinstance(one, BackupsDialog) and one.isVisible()]
    assert str(error).strip() in dialog.trouble.text()
    dialog.close()


def test_closing_the_project_frees_its_lock(desk: Desk) -> None:
    folder = desk.project.folder
    desk.press(Key.Key_W, CTRL)
    assert desk.window.bench is None
    assert desk.window.pages.currentWidget() is desk.window.welcome
    bootstrap.open_project(folder, linker=False).close()


def test_what_comes_after_closing_is_dropped(desk: Desk, qtbot: QtBot) -> None:
    events = desk.project.events
    desk.window.session.close()
    events.emit(Change(ChangeKind.IMPORTED, "late", "late"))
    QCoreApplication.processEvents()  # lets queued signals arrive


def test_closing_while_work_runs_asks_first(desk: Desk, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    class Handle:
        cancelled = False

        def cancel(self) -> None:
            self.cancelled = True

        def wait(self, timeout: float | None = None) -> None:
            return None

    handle = Handle()
    desk.bench.jobs.start(JobKind.TRAIN, "Retrain with x", lambda progress, end: handle)
    desk.window.close()
    assert desk.window.isVisible()
    [box] = boxes()
    assert "Retrain with x" in box.text()
    press_button(box, "Cancel")
    assert desk.window.bench is not None
    desk.press(Key.Key_Period, CTRL)
    assert handle.cancelled


def test_zoom_and_colours_are_saved(desk: Desk) -> None:
    from curator.settings.file import load

    desk.press(Key.Key_Plus, CTRL)
    assert load().settings.font_size == 13
    assert desk.bench.document.reading_font.pointSize() == 13
    desk.window.menus.action("view.dark").trigger()
    assert load().settings.theme == "dark"
    assert desk.window.menus.action("view.dark").isChecked()
    desk.window.menus.action("view.light").trigger()


def test_a_yes_to_leaving_closes_the_window(desk: Desk) -> None:
    class Handle:
        def cancel(self) -> None:
            return None

        def wait(self, timeout: float | None = None) -> None:
            return None

    desk.bench.jobs.start(JobKind.TRAIN, "Retrain with x", lambda progress, end: Handle())
    desk.window.close()
    [box] = boxes()
    press_button(box, "Stop it and close")
    assert not desk.window.isVisible()
    assert desk.window.bench is None


def test_the_log_says_at_the_start_which_sqlite_serves(
    window: MainWindow, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "import_module", lambda name: None)
    with caplog.at_level("INFO", "curator"):
        app.open_projects(window, (), read_only=False)
    assert f"SQLite {sqlite3.sqlite_version}" in caplog.text
