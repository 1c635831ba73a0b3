"""Backups as they are made, restored and salvaged: what is offered must be whole, and what was there must stay."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from curator import bootstrap
from curator.domain.decisions import Verdict
from tests.durability.acts import Act, all_mentions, command
from tests.durability.folders import base, once, undecided
from tests.durability.judging import rows_of
from tests.durability.world import BACKUPS, Place, Promises, curator, open_project

EARLIER = timedelta(hours=2)
"""The age of the backup that is there before: a command makes one where the last is older than an hour."""
NAME = "%Y%m%dT%H%M%SZ.sqlite"


@contextmanager
def backing_up(place: Place) -> Iterator[None]:
    """In this process and its children, backups are made, in a folder that is watched."""
    before = os.environ[BACKUPS]
    os.environ[BACKUPS] = str(place.root / "backups")
    try:
        yield
    finally:
        os.environ[BACKUPS] = before


def with_backups(act: Act) -> Act:
    def acted(place: Place, promises: Promises) -> None:
        with backing_up(place):
            act(place, promises)

    return acted


@once
def backed_up(place: Place) -> None:
    """A project with one backup, of two hours ago."""
    base(place)
    with backing_up(place):
        project = open_project(place)
        made = project.backups.make()
        project.close()
    assert made is not None
    made.path.rename(made.path.with_name((datetime.now(UTC) - EARLIER).strftime(NAME)))


@once
def changed_since(place: Place) -> None:
    """With decisions that its backup does not have, the last of them in the log alone."""
    backed_up(place)
    curator("decide", place.project, undecided(place)[0], "--nil", "not-in-kb", "--curator", "ada")
    project = open_project(place)
    project.curation.decide(all_mentions(project)[0], Verdict.reject())
    project.disk.settle()
    kept = place.base / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(place.project, kept, ignore=shutil.ignore_patterns("*-shm", "project.lock"))
    project.close()
    shutil.rmtree(place.project)
    shutil.copytree(kept, place.project)


@once
def lost(place: Place) -> None:
    """Only the backups are left."""
    backed_up(place)
    shutil.rmtree(place.project)


def closing(place: Place, promises: Promises) -> None:
    """A session as the window has it, which decides, and ends with a backup in a thread that outlives it."""
    project = open_project(place)
    project.backups.begin()
    project.curation.decide(all_mentions(project)[0], Verdict.reject())
    promises.answered(1)
    project.close()
    promises.saved(1)
    for thread in threading.enumerate():
        if thread.name == "last backup":
            thread.join()


def backing_up_now(place: Place, promises: Promises) -> None:
    """“Back up now”, which says when the backup is there."""
    project = open_project(place)
    project.curation.decide(all_mentions(project)[0], Verdict.reject())
    project.disk.settle()
    promises.saved(1)
    project.backups.make()
    promises.saved(2)
    project.close()


def restoring(place: Place) -> None:
    with backing_up(place):
        curator("restore", place.project, "--number", 1)


def restoring_if_lost(place: Place) -> None:
    """Its own command once more, or another project next to it: both remove what was left."""
    if place.project.exists():
        curator("new", place.root / "q.curation")
        shutil.rmtree(place.root / "q.curation")
    else:
        restoring(place)


def an_hour_later(place: Place) -> None:
    """The next backup removes what killed ones left."""
    past = time.time() - EARLIER.total_seconds()
    for part in (place.root / "backups").rglob("*.part*"):
        os.utime(part, (past, past))
    with backing_up(place):
        project = open_project(place)
        project.backups.make()
        project.close()


def offered(place: Place) -> dict[str, str]:
    """Each backup that would be offered is whole, and holds what the project held then or holds now. Raises
    AssertionError."""
    with backing_up(place):
        found = bootstrap.backups_of(place.project)
    known = datetime.now(UTC) - EARLIER / 2
    earlier = [one for one in found if one.at < known]
    assert len(earlier) == 1, f"{len(earlier)} of the 1 earlier backup"
    assert all(one.decisions is not None for one in found), "a backup that is offered cannot be read"
    rows = [rows_of(one.path) for one in found]
    now = rows_of(place.project / "project.sqlite")
    for one, held in zip(found, rows, strict=True):
        assert one in earlier or held == now, "a backup holds what the project never held"
    return {}


def counted(place: Place) -> dict[str, str]:
    """The same, and how many there are is a part of the state."""
    offered(place)
    with backing_up(place):
        return {"backups": str(len(bootstrap.backups_of(place.project)))}


def kept(place: Place) -> dict[str, str]:
    """The backup is still there, and whole."""
    with backing_up(place):
        found = bootstrap.backups_of(place.project)
    assert len(found) == 1 and found[0].decisions is not None, "the backup is gone"  # noqa: PT018
    rows_of(found[0].path)
    return {}


after_a_command = with_backups(
    lambda place, promises: command("decide", "P", undecided(place)[0], "--nil", "not-in-kb")(place, promises)
)
