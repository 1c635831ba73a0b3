"""The composition root: what opening takes and what closing gives back."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from curator.bootstrap import create_project, curator_name, open_project
from curator.domain.jobs import LinkerState
from curator.domain.wording import ProjectLockedError, UserError
from curator.project import backup_root
from curator.settings.file import save
from curator.settings.schema import Settings
from curator.storage.safety.backups import Backups


def test_closing_frees_the_lock_and_ends_the_threads(tmp_path: Path) -> None:
    threads = set(threading.enumerate())
    project = create_project(tmp_path / "a.curation", curator="ada")
    assert (project.name, project.curation.curator, project.read_only) == ("a", "ada", False)
    assert project.suggestions.status().state is LinkerState.OFF, "there is was not found in to serve yet"
    with pytest.raises(ProjectLockedError):
        open_project(tmp_path / "a.curation")
    reading = open_project(tmp_path / "a.curation", read_only=True)
    assert reading.read_only
    reading.close()
    project.close()
    assert set(threading.enumerate()) == threads
    open_project(tmp_path / "a.curation").close()


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    create_project(tmp_path / "a.curation").close()
    for name in ("bundles/.staging-1", "jobs/2"):
        (tmp_path / "a.curation" / name).mkdir(parents=True)
    open_project(tmp_path / "a.curation", read_only=True).close()
    assert (tmp_path / "a.curation/jobs/2").is_dir(), "its owner may be alive"
    open_project(tmp_path / "a.curation").close()
    assert not (tmp_path / "a.curation/jobs").exists()
    assert not (tmp_path / "a.curation/bundles/.staging-1").exists()


def test_a_project_that_was_not_closed_is_checked_however_often_it_was_closed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_BACKUP_DIR", str(tmp_path / "backups"))
    project = create_project(tmp_path / "a.curation", linker=False)
    killed = tmp_path / "killed.curation"
    project.backups._store.settle()
    shutil.copytree(project.folder, killed)
    project.close()

    def due() -> bool:
        opened = open_project(killed, linker=False)
        found = opened.backups._backups.check_due(datetime.now(UTC))
        opened.close()
        return found

    for folder in (project.folder, killed):
        Backups(folder, root=backup_root, most=lambda: 1).check(lambda: None)
    assert due()
    assert due(), "it was closed properly, and not checked since"
    checked = open_project(killed, linker=False)
    assert checked.backups.check().findings == ()
    checked.close()
    assert not due()


def test_a_folder_that_does_not_answer_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of a network whose connection is lost: no error of the program."""
    folder = tmp_path / "p.curation"
    create_project(folder, linker=False).close()
    real = Path.stat

    def stat(path: Path, **options: Any) -> os.stat_result:
        if path.name == "project.sqlite":
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(UserError, match=r"cannot read .*project\.sqlite: Input/output error"):
        open_project(folder, linker=False)


def test_who_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    assert curator_name(Settings(curator_name=" grace "), "") == "grace"
    assert curator_name(Settings(curator_name="grace"), "ada") == "ada"
    assert curator_name(Settings())
    project = create_project(tmp_path / "a.curation", linker=False)
    save(Settings(curator_name="grace"))
    assert project.curation.curator == "grace", "a changed setting is felt at once"
    project.close()


@pytest.mark.parametrize(
    "step", ["curator.project.StatisticsService.__init__", "curator.project.SuggestionService.start"]
)
def test_a_project_that_cannot_be_opened_leaves_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    create_project(tmp_path / "a.curation", linker=False).close()
    threads = set(threading.enumerate())

    def fail(*_: object, **__: object) -> None:
        raise UserError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(step, fail)
        with pytest.raises(UserError, match="no space left"):
            open_project(tmp_path / "a.curation")
    assert {one.name for one in set(threading.enumerate()) - threads} <= {"last backup"}
    open_project(tmp_path / "a.curation", linker=False).close()


def test_a_step_of_closing_that_fails_keeps_none_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set(threading.enumerate())
    project = create_project(tmp_path / "a.curation")

    def fail() -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(project.efforts, "flush", fail)
    with pytest.raises(RuntimeError):
        project.close()
    assert {one.name for one in set(threading.enumerate()) - threads} <= {"last backup"}
    open_project(tmp_path / "a.curation", linker=False).close()
