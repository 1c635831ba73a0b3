"""Measures the time from a key press to the painted next mention with its candidates, in the real window.

`python -m tests.benchmarks.key_latency PROJECT [--keys 400] [--beside] [--relations 500]`: the project (a copy of it:
keys decide) has documents with stored suggestions and undecided mentions; `make bench` makes one of BC5CDR. With
`--beside` a training and linking of other documents run meanwhile, started through the project as the window does. With
`--relations`, only ↓ and ↑ are measured, in the document with the most mentions: without relations, and with that many
of them, drawn and listed.

Keys come as a curator sends them: mostly ↓ and Enter, some digits, ↑, and NIL with its reason (N, Enter), PgDn where a
document is decided. The window has a moment between two keys, in which it looks up what it shows late. Clock times are
those of this machine at this hour; the window's own CPU time next to them changes little on a busy machine.
"""

from __future__ import annotations

import argparse
import random
import statistics
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

from PySide6.QtCore import Qt

from curator.bootstrap import Project, open_project
from curator.domain.documents import Split
from curator.domain.jobs import JobOutcome, LinkerState, Progress
from curator.services.ports.queue import QueueFilter
from curator.services.queue.queue import MentionView
from tests.benchmarks.copies import copied
from tests.benchmarks.real_window import Answer, Desk, desk, display
from tests.benchmarks.targets import measured, quantile, tell

PAUSE = 0.2
"""Seconds between two keys: late work of 150 ms has begun, as it has when somebody reads."""
MIX = [("↓", 8), ("Enter", 8), ("2", 2), ("↑", 1), ("N Enter", 1)]
KEYS = {
    "↓": Qt.Key.Key_Down,
    "↑": Qt.Key.Key_Up,
    "Enter": Qt.Key.Key_Return,
    "2": Qt.Key.Key_2,
    "PgDn": Qt.Key.Key_PageDown,
}
MOST_TIMES = 1.2
"""A key with relations, in times of the same key without."""
IDLE, BESIDE = {50: 8.0, 95: 12.0, 99: 16.0}, {95: 50.0}
MOST_BESIDE = 1.25
"""The slowest of a hundred keys beside training and linking, in times of the same without."""


def kinds(seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    names, weights = zip(*MIX, strict=True)
    while True:
        yield chance.choices(names, weights)[0]


def at_the_end(one: Desk) -> bool:
    """Whether nothing is left to decide here, so that the next key is PgDn."""
    opened = one.bench.navigator.opened
    return opened is None or opened.next_undecided(one.bench.navigator.mention_id) is None


def can(one: Desk, kind: str) -> bool:
    """Whether the key goes to another mention and paints text and candidates: a step over an end paints nothing, and
    one to a mention without candidates only the text."""
    at = one.bench.navigator
    opened, view = at.opened, at.mention
    assert opened is not None
    if view is None or shown(view) < {"Enter": 1, "2": 2}.get(kind, 0):
        return False
    mentions = {other.mention.id: other for other in opened.mentions}
    ids = list(mentions)
    if kind in "↓↑":
        number = ids.index(view.mention.id) + (1 if kind == "↓" else -1)
        return 0 <= number < len(ids) and shown(mentions[ids[number]]) > 0
    after = opened.next_undecided(view.mention.id)
    return after is None or shown(mentions[after]) > 0


def shown(view: MentionView) -> int:
    """How many candidates it shows; a held-out mention shows none."""
    return 0 if view.suggestion is None else len(view.suggestion.candidates)


def pressed(one: Desk, kind: str) -> Answer:
    """The key, after N where the kind says so."""
    if kind == "N Enter":
        one.press(Qt.Key.Key_N)
        one.rest(PAUSE)
    return one.timed_press(KEYS[kind.split()[-1]])


def work(one: Desk, keys: int, seed: int) -> dict[str, list[Answer]]:
    """So many keys; of each kind what they took. Keys that had nothing to paint are pressed and not counted; those that
    decided nothing, because what they would have decided had just appeared, are reported."""
    found: dict[str, list[Answer]] = {}
    refused = Counter[str]()
    for kind in kinds(seed):
        if sum(map(len, found.values())) >= keys:
            for words, number in refused.items():
                print(f"  besides {number} keys: {words}")
            return found
        kind = "PgDn" if at_the_end(one) else kind
        if kind != "PgDn" and not can(one, kind):
            continue
        answer = pressed(one, kind)
        if answer.painted:
            found.setdefault(kind, []).append(answer)
        elif answer.said:
            refused[answer.said.partition(":")[0]] += 1
        one.rest(PAUSE)
    return found


def report(title: str, found: dict[str, list[Answer]]) -> None:
    print(title)
    every = [one for some in found.values() for one in some]
    for name, some in (*sorted(found.items()), ("all", every)):
        clock, thread = [one.clock for one in some], [one.thread for one in some]
        line = "   ".join(f"p{at} {quantile(clock, at / 100):6.1f}" for at in (50, 95, 99))
        worked = "   ".join(f"p{at} {quantile(thread, at / 100):6.1f}" for at in (50, 95, 99))
        print(f"  {name:8} {len(some):4} keys   clock ms {line}   processor ms {worked}")


def told(title: str, found: dict[str, list[Answer]], targets: dict[int, float]) -> None:
    every: Sequence[Answer] = [one for some in found.values() for one in some]
    for at, most in targets.items():
        figure = quantile([one.clock for one in every], at / 100)
        worked = quantile([one.thread for one in every], at / 100)
        tell(f"key → next mention painted, {title}, p{at}", figure, "ms", most=most, note=f"processor {worked:.1f} ms")


def idle(folder: Path, keys: int) -> float:
    """The project's linker is not started: everything is linked. Returns the 99th percentile, in milliseconds."""
    with desk(open_project(folder, linker=False, curator="ada"), rule=True) as one:
        work(one, 20, seed=0)
        found = work(one, keys, seed=1)
        report("idle", found)
        told("idle", found, IDLE)
        every = [one for some in found.values() for one in some]
        measured("processor time of the window's thread a key", statistics.mean(one.thread for one in every), "ms")
        return quantile([one.clock for one in every], 0.99)


def beside(folder: Path, keys: int, idle_ms: float) -> None:
    """While a training works in its process and train's documents are linked in the linker's, begun as ever."""
    ended = threading.Event()
    steps: list[Progress] = []
    with desk(open_project(folder, curator="ada"), rule=True) as one:
        project = one.bench.project
        one.until(lambda: project.suggestions.status().state is LinkerState.READY, 300)
        linking = threading.Thread(target=_link_on, args=(project, ended), daemon=True)
        linking.start()
        outcomes: list[JobOutcome] = []
        job = project.retraining.start("curator", on_progress=steps.append, on_end=outcomes.append)
        one.until(lambda: len(steps) > 2 or bool(outcomes), 300)
        work(one, 20, seed=2)
        found = work(one, keys, seed=3)
        if outcomes or not linking.is_alive():
            print("  the training or the linking ended before the keys did:", [one.message for one in outcomes])
        report("beside a training and linking", found)
        told("beside training and linking", found, BESIDE)
        slowest = quantile([one.clock for some in found.values() for one in some], 0.99)
        what = "key beside training and linking, p99 in times of idle"
        tell(what, slowest / idle_ms, "", most=MOST_BESIDE, note=f"{idle_ms:.1f} → {slowest:.1f} ms")
        print(f"  meanwhile {len(steps)} messages of the training, the last: {steps[-1] if steps else 'none'}")
        ended.set()
        job.cancel()
        one.until(lambda: bool(outcomes), 60)


def _link_on(project: Project, ended: threading.Event) -> None:
    """Link train's documents again and again."""
    while not ended.is_set():
        for _ in project.suggestions.link_split(Split.TRAIN):
            if ended.is_set():
                return


def related(folder: Path, keys: int, number: int) -> None:
    """↓ and ↑ in one document, without and with relations between its mentions, in the panel and as lines."""
    with desk(open_project(folder, linker=False, curator="ada"), rule=True) as one:
        bench = one.bench
        project = bench.project
        crowded = max(project.queue.ids(QueueFilter()), key=lambda it: project.queue.row(it).mentions)
        bench.navigator.open(crowded)
        mentions = [view.mention.id for view in project.queue.open(crowded).mentions]
        for there in project.relations.of_document(crowded):
            if not there.fixed:
                project.relations.delete(crowded, there.name)
        bench.relations.toggle_lines()
        bench.relations.toggle_panel()
        bench.focus_document()
        medians = []
        for wanted in (0, number):
            pairs = list(permutations(mentions, 2))
            for first, second in random.Random(0).sample(pairs, wanted):
                project.relations.add(first, second, "CID")
            bench.navigator.reload()
            one.until(lambda wanted=wanted: len(bench.relations.panel.model.rows) == wanted)
            bench.focus_document()
            up_and_down(one, 10)
            found = up_and_down(one, keys)
            report(f"{len(mentions)} mentions, {len(bench.relations.panel.model.rows)} relations", found)
            medians.append(statistics.median(each.thread for some in found.values() for each in some))
        words = f"{medians[0]:.1f} → {medians[1]:.1f} ms of the processor"
        tell(
            f"a key with {number} relations, times one without",
            medians[1] / medians[0],
            "",
            most=MOST_TIMES,
            note=words,
        )


def up_and_down(one: Desk, keys: int) -> dict[str, list[Answer]]:
    """So many steps down, and at the last mention up again."""
    found: dict[str, list[Answer]] = {"↓": [], "↑": []}
    kind = "↓"
    while sum(map(len, found.values())) < keys:
        if not can(one, kind):
            kind = "↑" if kind == "↓" else "↓"
        answer = one.timed_press(KEYS[kind])
        if answer.painted:
            found[kind].append(answer)
        one.rest(PAUSE)
    return {name: some for name, some in found.items() if some}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--keys", type=int, default=400)
    parser.add_argument("--beside", action="store_true", help="beside a training and linking, too")
    parser.add_argument("--relations", type=int, default=0, help="only ↓ and ↑, with so many relations in a document")
    given = parser.parse_args()
    with display(), copied(given.project) as folder:
        if given.relations:
            related(folder, given.keys, given.relations)
            return
        idle_ms = idle(folder, given.keys)
        if given.beside:
            beside(folder, given.keys, idle_ms)


if __name__ == "__main__":
    main()
