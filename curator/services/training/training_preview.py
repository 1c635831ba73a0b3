"""Preview of a training: its data, its time, and obstacles."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator.domain.documents import Split
from curator.domain.jobs import BundleInfo
from curator.domain.same_string import folded, names_decide
from curator.domain.wording import percent, tr
from curator.services.ports.storage import Store, UnitOfWork
from curator.services.training.bundle_metrics import expectation
from curator.services.training.recipes import FIT, learns_from_nil
from curator.services.training.snapshots import SnapshotCounts, count_gold
from resources.recipe_files import JUDGED_MENTIONS, LEAST_REFITTED, Recipe

LEAST_DECISIONS = 20
HARD_SHARE = 0.1
"""The share of links whose names do not decide from which on a recipe for the context is recommended."""
TRAINING = (Split.TRAIN, Split.VALIDATION)  # never TEST


@dataclass(frozen=True, slots=True)
class TrainingPreview:
    """The data of a training run. `seconds` is how long the last run of the recipe took in this project; 0 before it.

    `nils` is the number of NIL decisions that its loss uses, `left_out` that of unused ones: all or none. `passed_over`
    counts the candidates that curators saw and did not choose; `outside` the linked entities no longer in the knowledge
    base, whose links are not used. At most `judged_at_most` links of the validation documents evaluate a quick recipe
    (0: all of them). `problem` is '' or the reason why it cannot start. `in_turn`: no network is trained, the counts
    are those of train and validation together, and each document is evaluated with weights fitted on the others.
    `expects` describes the expected effect. `context` is '' or the reason why the recipe CONTEXT is the second
    recommendation.
    """

    documents: int
    links: int
    nils: int
    entities: int
    validation_documents: int
    validation_decisions: int
    problem: str = ""
    left_out: int = 0
    passed_over: int = 0
    outside: int = 0
    test_documents: int = 0
    seconds: float = 0.0
    judged_at_most: int = 0
    in_turn: bool = False
    expects: str = ""
    context: str = ""


def preview(
    store: Store,
    recipe: Recipe,
    values: Mapping[str, Any],
    *,
    bundles: Sequence[BundleInfo] = (),
) -> TrainingPreview:
    """The preview. It reads every document of two splits: call it from a worker thread. `bundles` of this knowledge
    base give the learning curve and the time."""
    nil = learns_from_nil(recipe, values)
    train, held_out = (count_gold(store, split) for split in TRAINING)
    in_turn = recipe.role == FIT
    links = train.links + held_out.links
    problem = refit_problem(links) if in_turn else ""
    if in_turn:
        train, held_out = train.joined(held_out), SnapshotCounts()
    with store.read() as unit:
        info = unit.kb.info()
        outside = len(train.entities - set(unit.kb.resolve(train.entities))) if info is not None else 0
        by_split = unit.documents.counts().documents_by_split
        context = context_words(*hard_links(unit))
    return TrainingPreview(
        documents=train.documents,
        links=train.links,
        nils=train.nils if nil or in_turn else 0,
        left_out=0 if nil or in_turn else train.nils,
        entities=len(train.entities),
        validation_documents=held_out.documents,
        validation_decisions=held_out.decisions,
        problem=problem
        or decisions_problem(train, held_out, documents=sum(by_split.values()), outside=outside)
        or folder_problem(store.folder),
        passed_over=train.passed_over,
        outside=outside,
        test_documents=by_split.get(Split.TEST, 0),
        seconds=next((one.seconds for one in reversed(bundles) if one.recipe == recipe.id), 0.0),
        judged_at_most=JUDGED_MENTIONS if recipe.quick and held_out.links > JUDGED_MENTIONS else 0,
        in_turn=in_turn,
        expects=expectation(bundles, recipe, links=links),
        context=context,
    )


def hard_links(unit: UnitOfWork) -> tuple[int, int]:
    """The number of train and validation links whose words are only part of a name of their entity, or other words, and
    of all links to known entities."""
    rows = unit.decisions.linked_strings(TRAINING)
    entities = unit.kb.get_many(sorted({entity for _, ids, _ in rows for entity in ids}))
    names = {one.id: [folded(name) for name in (one.name, *one.synonyms)] for one in entities.values()}
    hard = known = 0
    for text, ids, number in rows:
        surface = folded(text)
        decide = [names_decide(surface, names[one]) for one in ids if one in names]
        known += number if decide else 0
        hard += number if decide and not any(decide) else 0
    return hard, known


def context_words(hard: int, links: int) -> str:
    """Why a recipe for the context is recommended; '' if it is not."""
    if links < LEAST_DECISIONS or hard <= HARD_SHARE * links:
        return ""
    return tr(
        "In {share} of the links in train and validation documents ({hard:,} of {links:,}), the words are only part of "
        "a name of the entity, or no name of it at all. There the context must decide, and this training learns to use "
        "it.",
        share=percent(hard / links),
        hard=hard,
        links=links,
    )


def refit_problem(links: int) -> str:
    """Why the weights cannot be refitted with this number of train and validation links; '' if they can."""
    if links >= LEAST_REFITTED:
        return ""
    return tr(
        "Refitting needs {least} links in train and validation documents; there are {links}. Link more "
        "mentions there, or import documents with gold.",
        least=LEAST_REFITTED,
        links=links,
    )


def decisions_problem(train: SnapshotCounts, held_out: SnapshotCounts, *, documents: int, outside: int = 0) -> str:
    """Why the decisions do not suffice, and what to do; '' if they do. Without decided validation documents, a fifth of
    the train documents is used for evaluation."""
    if documents == 1:
        return tr(
            "The project has only one document. The result has to be measured on others: import more, some "
            "of them into the split “validation”."
        )
    if not train.decisions:
        return tr(
            "No mention in a train document is decided yet. Decide some mentions, or import documents "
            "with gold; training needs at least {least} links.",
            least=LEAST_DECISIONS,
        )
    if train.links < LEAST_DECISIONS:
        return tr(
            "Training needs at least {least} links in train documents; there are {links}.",
            least=LEAST_DECISIONS,
            links=train.links,
        )
    if train.entities and outside == len(train.entities):
        return tr(
            "No entity linked in train documents is in the knowledge base. Import the knowledge base that the "
            "decisions were made with, then train."
        )
    if held_out.decisions and not held_out.links:
        return tr(
            "No validation document has a link. Link some mentions there, or move other documents to "
            "the split “validation”."
        )
    if train.documents + held_out.documents < 2:
        return tr(
            "All decisions are in one document. Decide mentions in others too, so that the result can be "
            "measured on them."
        )
    return ""


def folder_problem(project: Path) -> str:
    """Why no bundle could be written into the project; '' if it can."""
    folder = project / "bundles"
    place = folder if folder.is_dir() else project
    if os.access(place, os.W_OK | os.X_OK):
        return ""
    return tr(
        "Nothing can be written to {place}, where the new linker is saved. Check the folder's "
        "permissions and the free disk space.",
        place=place,
    )
