"""A project on a small disk that becomes full: `python -m tests.durability.full_disks FOLDER KB WHEN`.

The disk is full `before` the project is opened, or `later`, or becomes full by a `large` transaction of its own, or the
rest is used up by others while the project is open, which is then closed (`closing`).

Exits with 0 if every step was saved or refused with a sentence, and everything that was saved is there afterwards. The
system ends it with SIGBUS if a memory map is written where the disk has no room.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from curator.domain.wording import UserError
from curator.storage.db.engine import FOLD_BYTES
from curator.storage.project import create_project, open_project
from curator.storage.store import SqlStore

STEPS = 600


def fill(disk: Path, leave: int) -> None:
    """Fill the disk until `leave` bytes are left."""
    with (disk / "filler").open("ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1 << 10):
            with suppress(OSError):
                while free(disk) > leave + size:
                    file.write(bytes(size))
                    if size >= 1 << 20 or free(disk) <= leave + size:
                        os.fsync(file)


def free(disk: Path) -> int:
    found = os.statvfs(disk)
    return found.f_bavail * found.f_frsize


def main(disk: Path, leave: int, *, later: bool) -> None:
    create_project(disk / "p.curation", name="p").close()
    kept = -1
    with suppress(UserError):
        if not later:
            fill(disk, leave)
        store = open_project(disk / "p.curation")
        if later:
            fill(disk, leave)
        try:
            for number in range(STEPS):
                _step(store, number)
                kept = number
        finally:
            with suppress(UserError):
                store.close()
    _judge(disk, kept)


def closing(disk: Path) -> None:
    """All is on disk, and its caches are clean, when others use up the rest."""
    create_project(disk / "p.curation", name="p").close()
    store = open_project(disk / "p.curation")
    _step(store, 0)
    with store.read() as unit:
        assert unit.meta.get("step 0")
    os.sync()
    fill(disk, 0)
    with suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:  # a quota is not seen by `fill`
        while True:
            file.write(bytes(1 << 12))
            os.fsync(file)
    os.sync()
    kept = 0
    with suppress(UserError):
        _step(store, 1)
        kept = 1
    store.close()
    _judge(disk, kept)


def large(disk: Path, leave: int) -> None:
    """A transaction of `STEPS` MB meets a disk with less room; afterwards small ones go on."""
    create_project(disk / "p.curation", name="p").close()
    fill(disk, leave)
    with open_project(disk / "p.curation") as store:
        _step(store, 0)
        said = ""
        try:
            with store.write() as unit:
                for number in range(STEPS):
                    unit.meta.set(f"large {number}", "x" * 1_000_000)
        except UserError as error:
            said = str(error)
        assert said.startswith("The disk is full: nothing of this step was saved in"), said
        length = (disk / "p.curation" / "project.sqlite-wal").stat().st_size
        assert length < FOLD_BYTES, "what was refused stays in the log"
        _step(store, 1)
        with store.read() as unit:
            assert unit.meta.get("large 0") is None
    _judge(disk, 1)


def _step(store: SqlStore, number: int) -> None:
    with store.write() as unit:
        unit.meta.set(f"step {number}", "x" * 3000)
    store.settle()


def _judge(disk: Path, kept: int) -> None:
    with open_project(disk / "p.curation", read_only=True) as store, store.read() as unit:
        assert all(unit.meta.get(f"step {number}") for number in range(kept + 1))
    (disk / "filler").unlink(missing_ok=True)
    with open_project(disk / "p.curation") as store, store.read() as unit:
        assert all(unit.meta.get(f"step {number}") for number in range(kept + 1))
    print(kept + 1, "steps")


if __name__ == "__main__":
    place, room, how = Path(sys.argv[1]), int(sys.argv[2]) << 10, sys.argv[3]
    if how == "large":
        large(place, room)
    elif how == "closing":
        closing(place)
    else:
        main(place, room, later=how == "later")
