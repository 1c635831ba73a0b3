"""Linking on Ray with one actor and with two: how much faster two are, and whether the answers are the same bytes.

    python -m tests.benchmarks.scale.ray_actors PROJECT.curation [--split test] [--runs 3]

One and two actors take turns, with one thread each; the project's suggestions are replaced (give it a copy). *From the
first blocks* is the speed after every actor has answered one block: Ray's start and the loading of the linkers are left
out. Other programs on the computer change the clock's figures. The actors' processor time per mention changes little:
with two cores for two actors, they are faster by twice its quotient.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from curator.bootstrap import open_project
from curator.domain.documents import Split
from curator.services.ports.bulk import Cluster
from curator.storage import project as storage
from curator.storage.db.schema import SuggestionRow

ACTOR = b"MapBatches(Actor)"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Run:
    whole: float  # seconds of the clock, with the start of Ray
    steady: float  # blocks per second after every actor has answered one
    processor: float  # seconds of all actors from their first blocks on, per block
    answers: str  # hash of all stored suggestions


def actors_time() -> float:
    """Processor seconds of all living actors."""
    total = 0.0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and ACTOR in (entry / "cmdline").read_bytes():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                total += (int(fields[11]) + int(fields[12])) / TICKS
        except OSError:  # it has ended
            continue
    return total


def answers(place: Path) -> str:
    store = storage.open_project(place, read_only=True)
    try:
        with store.read() as unit:
            columns = [one for one in SuggestionRow.__table__.columns if one.name != "id"]
            rows = unit.connection.execute(select(*columns).order_by(SuggestionRow.mention_id)).all()
    finally:
        store.close()
    return hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest()[:16]


def linked(place: Path, split: Split | None, actors: int) -> Run:
    project = open_project(place, linker=False)
    marks: list[tuple[float, float]] = []
    began = time.perf_counter()
    try:
        for step in project.suggestions.link_split(split, memory=False, cluster=Cluster("", actors)):
            if step.phase == "link" and step.done > len(marks):
                now = time.perf_counter(), actors_time()
                marks += [now] * (step.done - len(marks))
    finally:
        project.close()
    whole = time.perf_counter() - began
    (first, worked), (last, done) = marks[2], marks[-2]  # after the last block, the actors end
    blocks = len(marks) - 4
    return Run(whole, blocks / (last - first), (done - worked) / blocks, answers(place))


def runs(place: Path, split: Split | None, number: int) -> Iterator[tuple[int, Run]]:
    for _ in range(number):
        for actors in (1, 2):
            yield actors, linked(place, split, actors)


def main() -> None:
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - or actors give way to every other program
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--split", choices=[one.value for one in Split], help="all documents without it")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    found: dict[int, list[Run]] = {1: [], 2: []}
    for actors, run in runs(given.project, Split(given.split) if given.split else None, given.runs):
        found[actors].append(run)
        print(
            f"{actors} actors: {run.whole:.1f} s, {run.steady:.2f} blocks/s from the first blocks, "
            f"{run.processor:.2f} s of processor time per block, answers {run.answers}",
            flush=True,
        )
    one, two = ({name: statistics.median(getattr(run, name) for run in found[n]) for name in FIGURES} for n in (1, 2))
    print(f"two against one: {one['whole'] / two['whole']:.2f} x with the start of Ray, ", end="")
    print(f"{two['steady'] / one['steady']:.2f} x from the first blocks, ", end="")
    print(f"{2 * one['processor'] / two['processor']:.2f} x by processor time")
    print("the same answers:", len({run.answers for some in found.values() for run in some}) == 1)


FIGURES = ("whole", "steady", "processor")


if __name__ == "__main__":
    main()
