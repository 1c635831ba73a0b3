"""Small projects: a trained part is also evaluated on documents that it learns from, in turns.

A few hundred held-out links cannot show that a part helps: on a wiki's 1,000 decisions, 223 of them held out, only 50
mentions were not settled by names, and a retriever that made 2.6 points more of the hard ones right was not used. So a
quick recipe trains twice more, each time without half of the training documents, and these are linked with the part
that did not learn from them. The weights are fitted, and the gate judges, on all decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from models.errors import say
from models.linker.answering import ScoredMention
from models.linker.bundle import discard_staging, new_staging
from models.linker.tuning import MIN_COMBINER
from resources.recipe_files import FEW_HELD_OUT, TURNS, Role
from training.data.budget import Budget
from training.data.document_splits import Parts, linked_count, place
from training.data.progress import Event, Phase
from training.data.snapshot import SnapshotDocument
from training.job.preparation import Loaded, Prepared

T = TypeVar("T")
LEAST_MINUTES, SHARE = 10.0, 0.25
"""A time budget that is shorter allows no turns; the share of what is left for one."""

Train = Callable[[Loaded, Prepared, Budget], Generator[Event, None, object]]
"""Trains a part and writes it to the staging folder."""
Score = Callable[[Path, Sequence[SnapshotDocument]], Generator[Event, None, list[ScoredMention]]]
"""Scores documents with the linker in a staging folder."""


def needs_turns(loaded: Loaded, prepared: Prepared, budget: Budget) -> bool:
    """Whether decisions are few, but enough to fit weights on, and time allows it, for a quick recipe of a stage of its
    own. The linker in use must not have learned from them."""
    left = budget.left()
    return (
        loaded.recipe.quick
        and loaded.recipe.role in (Role.RETRIEVER, Role.RANKER)
        and linked_count(loaded.parts.held_out) < FEW_HELD_OUT
        and linked_count(loaded.parts.train) >= MIN_COMBINER
        and bool(prepared.calibration.train)
        and (left is None or left >= 60 * LEAST_MINUTES)
    )


def scored_in_turns(
    loaded: Loaded, prepared: Prepared, budget: Budget, train: Train, score: Score
) -> Generator[Event, None, list[ScoredMention]]:
    """The mentions of the training documents, each scored with a part that did not learn from its document."""
    scored: list[ScoredMention] = []
    known = prepared.calibration.documents
    documents = sorted(loaded.parts.train, key=lambda document: place(document.key, salt="turn"))
    for turn in range(1, TURNS + 1):
        asked = tuple(one for one in documents[turn - 1 :: TURNS] if one.key in known)
        keys = {one.key for one in asked}
        staging = new_staging(loaded.spec.staging)  # goes with it if the job is killed
        left = budget.left()
        try:
            part = replace(
                loaded,
                spec=replace(loaded.spec, staging=staging, work=None, tensorboard=None),
                parts=Parts(tuple(one for one in loaded.decided if one.key not in keys), (asked,)),
            )
            limited = Budget(None if left is None else SHARE * left / 60)
            text = say("Training without half of the documents, to test it on them ({n} of {of})", n=turn, of=TURNS)
            yield Event(Phase.PREPARE, text=text)
            yield from _as_one(train(part, _without(prepared, asked), limited))
            scored += yield from _as_one(score(staging, asked))
        finally:
            discard_staging(staging)
    return scored


def _without(prepared: Prepared, documents: Sequence[SnapshotDocument]) -> Prepared:
    """The same with these documents held out, and the links of those that were held out to learn from."""
    held_out = {mention.key for document in documents for mention in document.mentions}
    every = [*prepared.train, *(one for one in prepared.held_out if one.gold)]
    return replace(
        prepared,
        train=tuple(one for one in every if one.key not in held_out),
        held_out=tuple(one for one in prepared.train if one.key in held_out),
    )


def _as_one(steps: Generator[Event, None, T]) -> Generator[Event, None, T]:
    """The same steps as progress of the preparation, without their figures."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            found: T = stop.value
            return found
        yield Event(Phase.PREPARE)
