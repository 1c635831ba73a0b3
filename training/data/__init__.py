"""Decisions as the input of a training job: the snapshot, gold, the split of documents, and the time budget."""

from training.data.budget import CAUTION, FIXED_RESERVE, Budget, Rates, Workload, reserve, trains_entities
from training.data.document_splits import TURNS, Parts, divide, in_turn, linked_count, place
from training.data.domains import Domain, Domains, Untyped, common
from training.data.examples import (
    EntityTexts,
    Example,
    decided_documents,
    make_examples,
    shuffled_labels,
    worth_learning,
)
from training.data.gold import NIL_MARKERS, GoldMention, GoldSet, Resolve, fold, resolve_gold
from training.data.progress import Event, Phase, note
from training.data.snapshot import Snapshot, SnapshotDocument, SnapshotMention, Split, read_snapshot
from training.data.spec import EvaluationSpec, ReplaySpec, TrainingSpec

__all__ = [
    "CAUTION",
    "FIXED_RESERVE",
    "NIL_MARKERS",
    "TURNS",
    "Budget",
    "Domain",
    "Domains",
    "EntityTexts",
    "EvaluationSpec",
    "Event",
    "Example",
    "GoldMention",
    "GoldSet",
    "Parts",
    "Phase",
    "Rates",
    "ReplaySpec",
    "Resolve",
    "Snapshot",
    "SnapshotDocument",
    "SnapshotMention",
    "Split",
    "TrainingSpec",
    "Untyped",
    "Workload",
    "common",
    "decided_documents",
    "divide",
    "fold",
    "in_turn",
    "linked_count",
    "make_examples",
    "note",
    "place",
    "read_snapshot",
    "reserve",
    "resolve_gold",
    "shuffled_labels",
    "trains_entities",
    "worth_learning",
]
