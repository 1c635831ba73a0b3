from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.bootstrap import open_project
from curator.domain.decisions import Verdict
from curator.domain.wording import UserError
from curator.services.ports.safety import Checked, Finding
from curator.services.records import keeping
from curator.services.records.keeping import BackupService
from curator.storage.db.mark import mark_as_it_is
from tests.curator.services.fakes import context
from tests.curator.storage.safety.conftest import make

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
YEAR = 365 * 24 * 60
"""In minutes: so far is a backup in the future after the clock was set back."""


class Backups:
    """Counts what is asked of it; `fails` is raised instead."""

    def __init__(self) -> None:
        self.made = self.checked = 0
        self.wanted, self.due = True, False
        self.place_warning = ""
        self.fails: Exception | None = None
        self.last: datetime | None = None
        self.findings: tuple[Finding, ...] = ()
        self.news = threading.Condition()

    def make(self, rest):
        rest()
        with self.news:
            self.made += 1
            self.news.notify_all()
        if self.fails is not None:
            raise self.fails

    def newest(self):
        return self.last

    def check_due(self, now):
        return self.due

    def check(self, rest):
        self.checked += 1
        return Checked(Path("p"), self.findings, {})

    def wait_for(self, number):
        with self.news:
            assert self.news.wait_for(lambda: self.made >= number, 10)


@pytest.fixture
def backups(monkeypatch):
    for name in ("SETTLED", "REST"):
        monkeypatch.setattr(keeping, name, 0.001)
    return Backups()


def service(backups, *, last=None, imported=None, **store):
    @contextmanager
    def read():
        found = [SimpleNamespace(operation=SimpleNamespace(at=last))] if last else []
        yield SimpleNamespace(
            operations=SimpleNamespace(steps=lambda where, limit: found),
            imports=SimpleNamespace(all=lambda: [SimpleNamespace(at=imported)]),
        )

    store = SimpleNamespace(**{"read": read, "read_only": False, "written": 5, "folder": Path("none"), **store})
    return BackupService(context(store, clock=SimpleNamespace(now=lambda: NOW)), backups)


def test_a_failure_is_said_once_and_tried_again(backups, monkeypatch):
    monkeypatch.setattr(keeping, "HOUR", 0.001)
    backups.fails, said = UserError("The disk is full."), []
    one = service(backups)
    one.on_trouble(said.append)
    one.begin()
    backups.wait_for(3)
    one.close()
    assert said == ["The disk is full."]


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("The clock cannot be read.", ["The clock cannot be read.", "The disk is full."]),
        ("The disk is full.", ["The disk is full."]),
    ],
    ids=["another reason", "the same reason"],
)
def test_a_backup_that_fails_is_said_also_after_another_step_failed(backups, monkeypatch, first, said):
    monkeypatch.setattr(keeping, "HOUR", 0.001)

    def read() -> None:
        raise UserError(first)

    backups.fails, heard = UserError("The disk is full."), []
    one = service(backups, read=read)
    one.on_trouble(heard.append)
    one.begin()
    backups.wait_for(3)
    one.close()
    assert heard == said


def test_what_a_check_finds_is_said_also_to_who_listens_later(backups):
    backups.due, backups.findings = True, (Finding("x", "Decision 3 was changed."),)
    one, said = service(backups), []
    seen = threading.Event()
    one.on_trouble(lambda words: seen.set() if "Decision 3" in words else None)
    one.begin()
    assert seen.wait(10)
    one.on_trouble(said.append)
    one.close()
    assert "Decision 3 was changed." in said[0]


def test_what_no_backup_holds_yet_is_backed_up_soon_after_the_opening_and_a_failure_is_said_at_each(backups):
    backups.fails = UserError("The disk is full.")
    for number in (1, 2):
        one, said = service(backups), []
        one.on_trouble(said.append)
        one.begin()
        backups.wait_for(number)
        one.close()
        assert said == ["The disk is full."]


def test_none_is_tried_where_none_are_wanted(backups, monkeypatch):
    monkeypatch.setattr(keeping, "HOUR", 0.001)
    backups.fails, backups.wanted, backups.due = UserError("The server makes them."), False, True
    backups.findings = (Finding("x", "Decision 3 was changed."),)
    one, said, seen = service(backups), [], threading.Event()
    one.on_trouble(lambda words: (said.append(words), seen.set()))
    one.begin()
    assert seen.wait(10)
    one.close()
    assert (backups.made, len(said)) == (0, 1)


def test_a_session_makes_a_last_backup_after_its_end_and_a_read_only_one_none(backups, monkeypatch):
    monkeypatch.setattr(keeping, "SETTLED", 60)
    one = service(backups)
    one.begin()
    one.close()
    one.after()
    backups.wait_for(1)
    other = service(backups, read_only=True)
    other.begin()
    other.close()
    other.after()
    assert backups.made == 1


@pytest.mark.parametrize("case", ["unusable", "full", "damaged", "none"])
def test_the_failure_of_a_session_s_last_backup_is_said_at_the_next_opening(tmp_path, monkeypatch, case):
    root, folder = tmp_path / "backups", make(tmp_path / "p")
    monkeypatch.setenv("CURATOR_BACKUP_DIR", str(root))

    def session(*, work: bool, settled: float) -> list[str]:
        """What the window says; with `work`, something is decided. The last backup is made before it returns."""
        monkeypatch.setattr(keeping, "SETTLED", settled)
        tried, said = threading.Event(), []
        project = open_project(folder, linker=False, curator="ada")
        store = project.backups._backups
        made = store.make

        def tell(rest):
            try:
                return made(rest)
            finally:
                tried.set()

        monkeypatch.setattr(store, "make", tell)
        project.backups.on_trouble(said.append)
        project.backups.begin()
        if work:
            project.curation.decide(50, Verdict.nil())
        else:
            assert tried.wait(20)
        project.close()
        for thread in threading.enumerate():
            if thread.name == "last backup":
                thread.join()
        return said

    assert session(work=False, settled=0.001) == []
    if case == "unusable":
        shutil.rmtree(root)
        root.write_text("a file")
    if case == "full":
        usage = SimpleNamespace(total=1, used=1, free=2 * 2**20)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    if case == "damaged":  # where the opening of a large project does not look
        monkeypatch.setattr("curator.storage.db.engine.FULL_CHECK_BYTES", 0)
        with closing(sqlite3.connect(folder / "project.sqlite")) as conn:
            (page,) = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = 'document_texts'").fetchone()
            (size,) = conn.execute("PRAGMA page_size").fetchone()
        with (folder / "project.sqlite").open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * 8)
        mark_as_it_is(folder / "project.sqlite")
    assert session(work=True, settled=60) == []
    words = {"unusable": "could be written", "full": "less free space", "damaged": "no backup was made of it"}
    for _ in range(2):
        said = session(work=False, settled=0.001)
        assert len([one for one in said if words.get(case, "?") in one]) == (case != "none")
    monkeypatch.undo()
    if case == "full":
        monkeypatch.setenv("CURATOR_BACKUP_DIR", str(root))
        assert session(work=False, settled=0.001) == []


def test_a_command_makes_one_at_most_every_hour(backups):
    for minutes, written, made in ((30, 5, 0), (61, 1, 0), (61, 5, 1), (-10, 5, 1), (-YEAR, 5, 2)):
        backups.last = NOW - timedelta(minutes=minutes)
        service(backups, written=written).after()
        assert backups.made == made
    backups.wanted = False
    service(backups).after()
    assert backups.made == 2


def test_a_clock_that_is_behind_the_last_step_is_said(backups):
    for ahead, words in ((-60, ""), (30, ""), (YEAR, "it says 04 May 2026")):
        one = service(backups, last=NOW + timedelta(minutes=ahead))
        assert words in one.clock_warning()
        assert bool(one.clock_warning()) == bool(words)
    said = []
    one.on_trouble(said.append)
    one.begin()
    one.close()
    assert said == [one.clock_warning()]
    backups.place_warning, said[:] = "in one folder", []
    one.on_trouble(said.append)
    one.begin()
    one.close()
    assert said[-1] == "in one folder"
    assert service(backups, read_only=True).place_warning() == ""
    assert service(backups, imported=NOW + timedelta(days=365)).clock_warning() == one.clock_warning()
    assert service(backups, imported=NOW).clock_warning() == ""
    assert service(backups, last=NOW + timedelta(days=365), read_only=True).clock_warning() == ""


def test_a_step_that_fails_ends_none_of_the_others(backups, monkeypatch):
    """The server is away when the clock is compared, and a check has a bug: backups are made all the same."""
    monkeypatch.setattr(keeping, "HOUR", 0.001)
    one, said = service(backups, read=lambda: exec("raise UserError('The server does not answer.')")), []
    backups.due = True
    backups.check = lambda rest: 1 // 0
    one.on_trouble(said.append)
    one.begin()
    backups.wait_for(3)
    one.close()
    assert said[0] == "The server does not answer."
    assert "ZeroDivisionError" in said[1]
