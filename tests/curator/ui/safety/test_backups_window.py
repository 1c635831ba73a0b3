"""The list of backups in the window, restoring one, and what is offered where a project is damaged."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from curator.bootstrap import backups_of
from curator.domain.decisions import Verdict
from curator.domain.wording import UserError
from curator.storage.safety.backups import Backups
from curator.ui.jobs.jobs import JobKind
from curator.ui.safety.backups_dialog import BackupsDialog
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.recent import opened_before, remember
from tests.curator.storage.safety.conftest import make
from tests.curator.ui.window.conftest import make_desk, window  # noqa: F401 - fixtures
from tests.curator.ui.window.fakes import MakeDesk


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CURATOR_BACKUP_DIR", str(tmp_path / "backups"))
    return tmp_path / "backups"


def press(words: str, parent: object) -> None:
    buttons = [one for one in parent.findChildren(QPushButton) if one.text().replace("&", "") == words]  # type: ignore[attr-defined]
    assert len(buttons) == 1, words
    buttons[0].click()


def test_backups_are_listed_made_and_restored(make_desk: MakeDesk, qtbot: QtBot, root: Path) -> None:  # noqa: F811
    desk = make_desk()
    dialog = desk.window.session.features.safety.show_backups()  # type: ignore[union-attr]
    assert dialog.empty.isVisible()
    press("Back up now", dialog)
    qtbot.waitUntil(lambda: dialog.table.current is not None)
    backup = dialog.table.current
    assert backup is not None
    assert str(backup.path) in dialog.note.text()
    for lacking in (False, True):
        damaged = BackupsDialog(trouble="It is damaged.", lacking=lacking, parent=desk.window)
        assert not damaged.ways.isVisibleTo(damaged)
        damaged.show_backups([backup])
        assert damaged.ways.isVisibleTo(damaged) is not lacking
    press("Back up now", dialog)
    qtbot.waitUntil(lambda: "Nothing changed" in dialog.note.text())
    dialog.close()

    project = desk.project
    mention = project.queue.open(project.queue.ids(_all())[0]).mentions[0].mention.id
    project.curation.decide_many([mention], Verdict.nil())
    assert project.curation.current([mention])
    bench = desk.bench
    rescue = desk.window.session.features.safety.rescue  # type: ignore[union-attr]
    elsewhere = replace(backup, place=root / "other.curation")
    rescue.ask_restore(elsewhere)
    box = desk.window.findChild(QMessageBox)
    assert box is not None
    assert f"was made in {elsewhere.place}, not in this folder" in box.text()
    press("Cancel", box)
    qtbot.waitUntil(lambda: desk.window.findChild(QMessageBox) is None)
    rescue.ask_restore(backup)
    box = desk.window.findChild(QMessageBox)
    assert box is not None
    assert "kept" in box.text()
    assert "not in this folder" not in box.text()
    running = SimpleNamespace(cancel=lambda: None, wait=lambda timeout=None: None)
    bench.jobs.start(JobKind.TRAIN, "Retrain with x", lambda progress, end: running)
    press("Restore", box)
    assert desk.window.session.bench is bench, "it asks before it stops a training"
    press("Stop it and close", desk.window)
    qtbot.waitUntil(lambda: desk.window.session.bench not in (None, bench))
    assert desk.bench.project.curation.current([mention]) == {}
    assert list(desk.bench.project.folder.glob("project.sqlite.before-*"))


def _all() -> object:
    from curator.services.ports.queue import QueueFilter

    return QueueFilter()


def test_a_damaged_project_is_not_opened_and_its_ways_out_are_offered(
    window: MainWindow,  # noqa: F811
    qtbot: QtBot,
    root: Path,
    tmp_path: Path,
) -> None:
    folder = make(tmp_path / "p")
    database = folder / "project.sqlite"
    whole = database.read_bytes()
    database.write_bytes(whole[:8192] + b"\xff" * 8192 + whole[16384:])
    window.session.open(folder)
    assert window.session.bench is None
    (dialog,) = window.findChildren(BackupsDialog)
    assert dialog.empty.isVisible()
    assert "`curator" not in _words(dialog), "in the window the ways out are its buttons"
    assert not dialog.restore.isEnabled()
    rescue = window.session.rescue(folder)
    rescue.dialog = dialog
    out = tmp_path / "out.jsonl"
    rescue.salvage(out)
    qtbot.waitUntil(lambda: "Wrote" in dialog.note.text())
    assert out.exists()
    dialog.close()


def test_a_project_whose_folder_is_gone_is_restored_from_the_first_page(
    window: MainWindow,  # noqa: F811
    qtbot: QtBot,
    root: Path,
    tmp_path: Path,
) -> None:
    Backups(folder := make(tmp_path / "p"), root=lambda: root, most=lambda: 10**9).make(lambda: None)
    shutil.rmtree(folder)
    remember(folder)
    window.welcome.show_recent(opened_before())
    (button,) = (one for one in window.welcome.findChildren(QPushButton) if "not found" in one.text())
    button.click()
    (lost,) = window.findChildren(BackupsDialog)
    assert lost.windowTitle() == "Project not found"
    qtbot.waitUntil(lambda: lost.restore.isEnabled())
    assert [one.text() for one in lost.findChildren(QPushButton) if "decisions" in one.text()] == []
    press("Restore…", lost)
    (box,) = window.findChildren(QMessageBox)
    press("Restore", box)
    qtbot.waitUntil(lambda: window.session.bench is not None)
    assert folder.is_dir()


def test_a_project_that_lacks_steps_opens_without_them_after_a_yes(
    window: MainWindow,  # noqa: F811
    qtbot: QtBot,
    root: Path,
    tmp_path: Path,
) -> None:
    folder, more = make(tmp_path / "p", decided=3), make(tmp_path / "q", decided=9)
    shutil.copy(more / "project.mark", folder / "project.mark")
    assert backups_of(folder) == []
    window.session.open(folder)
    (dialog,) = window.findChildren(BackupsDialog)
    assert "lacks 6 steps" in _words(dialog)
    press("Open what the project contains", dialog)
    qtbot.waitUntil(lambda: window.session.bench is not None)


def _words(dialog: BackupsDialog) -> str:
    from PySide6.QtWidgets import QLabel

    return " ".join(one.text() for one in dialog.findChildren(QLabel))


def test_a_restoration_that_fails_leaves_the_project_open(
    make_desk: MakeDesk,  # noqa: F811
    qtbot: QtBot,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise UserError("The disk is full.")

    desk = make_desk()
    monkeypatch.setattr("curator.bootstrap.restore_project", refuse)
    backup = desk.project.backups.make()
    assert backup is not None
    assert backup.path.is_relative_to(root)
    bench, folder = desk.bench, desk.project.folder
    desk.window.session.features.safety.rescue.ask_restore(backup)  # type: ignore[union-attr]
    press("Restore", desk.window)
    qtbot.waitUntil(lambda: desk.window.session.bench not in (None, bench))
    box = desk.window.findChild(QMessageBox)
    assert box is not None
    assert "The disk is full." in box.text()
    assert desk.window.session.bench is not None
    assert desk.window.session.bench.project.folder == folder
    press("OK", box)
