"""Opening a project of 10,000 documents from a folder, and the same project from a server, with several logins.

`python -m tests.benchmarks.open_shared [--folder KEPT] [--documents 10000] [--each 50] [--runs 7]`: the project is made
as by `open_project`, and moved to a server on this machine. Folder, owner's login and curator's login take turns.
*Open* lasts from asking for the project until its queue, its counts and its first document are read; the knowledge base
was copied before. The processor time is that of the client; the server's is not in it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from curator.bootstrap import move_project, open_project, roles
from curator.services.ports.address import ProjectPlace, SharedAddress
from curator.services.ports.queue import QueueFilter
from curator.services.ports.storage import Role
from tests.benchmarks.open_project import make
from tests.benchmarks.team_day import SAFE
from tests.postgres import Server

MOST = 2.0
"""A shared project may take so many times as long as a folder."""


def opened(place: ProjectPlace) -> tuple[float, float, float, float]:
    """Seconds of the clock and of this process to open, and then for the facets and figures of all documents."""
    began, worked = time.perf_counter(), time.process_time()
    project = open_project(place, linker=False)
    try:
        under = project.queue.under(QueueFilter())
        first = under.rows()[0]
        under.count()
        project.queue.counts()
        project.queue.open(first.document_id)
        there, done = time.perf_counter(), time.process_time()
        project.facets.cube(QueueFilter())
        project.statistics.read()
        return there - began, done - worked, time.perf_counter() - there, time.process_time() - done
    finally:
        project.close()


def measure(places: dict[str, ProjectPlace], runs: int) -> None:
    found: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in places}
    for number in range(runs + 1):
        for name, place in places.items():
            took = opened(place)
            if number:  # the first one copies the knowledge base and warms caches
                found[name].append(took)
    medians = {name: [statistics.median(column) for column in zip(*some, strict=True)] for name, some in found.items()}
    base = medians["folder"]
    for at, what in ((0, "open"), (2, "facets and figures")):
        for name, one in medians.items():
            clock, worked = one[at], one[at + 1]
            print(
                f"{what:18} {name:16} {clock * 1000:7.0f} ms, {clock / base[at]:.2f} x;"
                f" processor {worked * 1000:7.0f} ms, {worked / base[at + 1]:.2f} x"
            )
    print(f"to be reached: open at most {MOST:.0f} x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="made here, or used again where it is there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="curator-open-") as temporary:
        os.environ["CURATOR_SHARED_DIR"] = str(Path(temporary) / "shared")
        os.environ["CURATOR_BACKUP_DIR"] = ""
        folder = (given.folder or Path(temporary)) / f"large-{given.documents}-{given.each}.curation"
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            make(folder, given.documents, given.each)
        server = Server(SAFE)
        try:
            base = server.new_base()
            owner = SharedAddress.parse(server.address(base))
            began = time.perf_counter()
            move_project(folder, owner)
            print(f"moved in {time.perf_counter() - began:.0f} s")
            server.logins("ada")
            roles(owner).grant("ada", Role.CURATOR)
            curator = SharedAddress.parse(server.address(base, user="ada"))
            measure({"folder": folder, "owner's login": owner, "curator's login": curator}, given.runs)
        finally:
            server.close()


if __name__ == "__main__":
    main()
