"""A project on a small disk that becomes full: `python -m tests.durability.full_disks FOLDER KB LATER`.

Exits with 0 if every step was saved or refused with a sentence, and everything that was saved is there afterwards. The
system ends it with SIGBUS if a memory map is written where the disk has no room.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from curator.domain.wording import UserError
from curator.storage import create_project, open_project

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
    """The disk becomes full before the project is opened, or `later`."""
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
                with store.write() as unit:
                    unit.meta.set(f"step {number}", "x" * 3000)
                store.settle()
                kept = number
        finally:
            with suppress(UserError):
                store.close()
    with open_project(disk / "p.curation", read_only=True) as store, store.read() as unit:
        assert all(unit.meta.get(f"step {number}") for number in range(kept + 1))
    (disk / "filler").unlink(missing_ok=True)
    with open_project(disk / "p.curation") as store, store.read() as unit:
        assert all(unit.meta.get(f"step {number}") for number in range(kept + 1))
    print(kept + 1, "steps")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) << 10, later=sys.argv[3] == "later")
