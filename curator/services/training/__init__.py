"""The linker is built, trained, judged and replaced: recipes, runs, bundles, evaluation. Each works in a child
process."""

from curator.services.training.bundles import BundleSwitch, DiskReport, DiskUse, manifest_text, notes_of, size_words
from curator.services.training.calibration import Calibrator
from curator.services.training.chain import OnEnd, OnProgress
from curator.services.training.embedding_map import EmbeddingMap, MapPoint, Place, has_map, nearest_with_map, read_map
from curator.services.training.evaluation import (
    HTML,
    EvaluationService,
    EvaluationWish,
    ReplayWish,
    check_place,
    save_report,
    without_html,
)
from curator.services.training.indexing import IndexBuilder
from curator.services.training.promotion_diff import (
    NIL,
    DiffKind,
    DiffRow,
    comparison_of,
    count,
    diff_rows,
    diff_words,
    queue_asked,
)
from curator.services.training.recipes import Recipe, find_recipe, grouped
from curator.services.training.replay import ReplayService
from curator.services.training.retraining import RESUMABLE, InterruptedTraining, RetrainingService, TrainingPreview
from curator.services.training.speeds import RULE, SPREADS, Speeds, busy_now
from curator.services.training.suspicious import SuspiciousGold, SuspiciousList, SuspiciousService
from curator.services.training.workplace import JobDesk, JobOptions, Workplace

__all__ = [
    "HTML",
    "NIL",
    "RESUMABLE",
    "RULE",
    "SPREADS",
    "BundleSwitch",
    "Calibrator",
    "DiffKind",
    "DiffRow",
    "DiskReport",
    "DiskUse",
    "EmbeddingMap",
    "EvaluationService",
    "EvaluationWish",
    "IndexBuilder",
    "InterruptedTraining",
    "JobDesk",
    "JobOptions",
    "MapPoint",
    "OnEnd",
    "OnProgress",
    "Place",
    "Recipe",
    "ReplayService",
    "ReplayWish",
    "RetrainingService",
    "Speeds",
    "SuspiciousGold",
    "SuspiciousList",
    "SuspiciousService",
    "TrainingPreview",
    "Workplace",
    "busy_now",
    "check_place",
    "comparison_of",
    "count",
    "diff_rows",
    "diff_words",
    "find_recipe",
    "grouped",
    "has_map",
    "manifest_text",
    "nearest_with_map",
    "notes_of",
    "queue_asked",
    "read_map",
    "save_report",
    "size_words",
    "without_html",
]
