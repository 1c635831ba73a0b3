"""Checks that bulk acceptance keeps its error bound, on resamples of a corpus's test documents.

`python -m tests.benchmarks.bulk_bound PROJECT.curation [--resamples 200]`: a project whose train documents are the
memory and whose test documents have gold and suggestions (`curator link P --split test`, then `--split validation`, as
in the README's “On a public corpus”). Documents are drawn with replacement; the sample is checked against gold. The
realised error is the share of wrong links among all links accepted unseen. A suggestion is right if it is one of the
gold entities, never for a NIL mention.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from curator.domain.decisions import Outcome
from curator.domain.documents import Split
from curator.services.core.keys import active_bundle
from curator.services.curating.bulk_plan import Audit, AuditState, make_plan
from curator.services.ports.queue import Chance, Tried
from curator.services.ports.storage import Store
from curator.storage import project as storage

ERRORS = (0.01, 0.02, 0.05)
AT_ONCE = 10
"""Marks between two looks at the standing: only how many are checked in vain depends on it."""


@dataclass(frozen=True, slots=True)
class Case:
    probability: float
    right: bool


@dataclass(frozen=True, slots=True)
class Run:
    accepted: int
    wrong: int
    checks: int
    offered: int
    sets: int  # how many thresholds were tried; 0: no plan

    @property
    def error(self) -> float:
        return self.wrong / self.accepted if self.accepted else 0.0


def cases(store: Store, split: Split) -> tuple[list[list[Case]], list[Tried]]:
    """Of each document its mentions with gold and a fresh suggestion of an entity; what validation tells."""
    found = []
    with store.read() as unit:
        bundle_id = active_bundle(unit.meta)
        for document_id in unit.documents.ids(split=split):
            gold = unit.decisions.current_of_document(document_id)
            contexts = unit.queue.contexts(list(gold), bundle_id=bundle_id)
            heads = [(one.head, gold[one.mention_id].verdict) for one in contexts if one.head and one.head.fresh]
            found.append(
                [
                    Case(head.probability, head.entity_id in verdict.entity_ids)
                    for head, verdict in heads
                    if head.entity_id and not head.is_nil and verdict.outcome in (Outcome.LINK, Outcome.NIL)
                ]
            )
        return found, unit.queue.tried(bundle_id=bundle_id)


def play(drawn: Sequence[Case], tried: Sequence[Tried], *, error: float, seed: int) -> Run:
    ordered = sorted(drawn, key=lambda one: -one.probability)
    chances = [Chance(number, 0, one.probability, "") for number, one in enumerate(ordered)]
    audit = Audit(make_plan(chances, tried, error=error, seed=seed))
    while audit.state is AuditState.CHECKING:
        for one in audit.left[:AT_ONCE]:
            audit.mark(one, ordered[one].right)
    accepted = audit.accepted()
    wrong = sum(not ordered[one.mention_id].right for one in accepted)
    sets = min(audit.number + 1, len(audit.plan.sets))
    return Run(len(accepted), wrong, len(audit.marks), len(ordered), sets)


def runs(documents: Sequence[Sequence[Case]], tried: Sequence[Tried], *, error: float, resamples: int) -> Iterator[Run]:
    for seed in range(resamples):
        dice = random.Random(seed)
        drawn = [case for _ in documents for case in dice.choice(documents)]
        yield play(drawn, tried, error=error, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--split", default="test", choices=[one.value for one in Split])
    parser.add_argument("--error", type=float, action="append", help="0…1; may be repeated. Default: 0.01, 0.02, 0.05.")
    given = parser.parse_args()
    store = storage.open_project(given.project, read_only=True)
    try:
        documents, tried = cases(store, Split(given.split))
    finally:
        store.close()
    every = [case for one in documents for case in one]
    right, held = sum(one.right for one in every), sum(one.right for one in tried)
    print(f"{len(every):,} suggestions of {len(documents):,} documents, {right / len(every):.1%} right")
    print(f"{len(tried):,} held-out suggestions, {held / max(len(tried), 1):.1%} right")
    print("bound   within  accepted  of offered  checked  realised mean   worst  plans  none accepted")
    for error in given.error or ERRORS:
        found = list(runs(documents, tried, error=error, resamples=given.resamples))
        within = sum(one.error <= error for one in found) / len(found)
        passed = [one for one in found if one.accepted] or [Run(0, 0, 0, 1, 0)]
        mean = statistics.mean(one.error for one in passed)
        print(
            f"{error:5.0%} {within:8.1%} {statistics.mean(one.accepted for one in found):9,.0f}"
            f" {statistics.mean(one.accepted / one.offered for one in found):11.1%}"
            f" {statistics.mean(one.checks for one in found):8.0f} {mean:14.2%} {max(one.error for one in found):7.2%}"
            f" {statistics.mean(one.sets for one in found):6.2f} {sum(not one.accepted for one in found):6}"
        )


if __name__ == "__main__":
    main()
