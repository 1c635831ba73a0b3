"""Building, training, evaluating and replacing the linker, each in a child process: recipes, runs, bundles, evaluation.

`RetrainingService` holds recipes, previews, trainings, promotion, rollback, index builds and calibration.
`EvaluationService` calculates a bundle's figures on the gold of one split, and `SuspiciousService` lists decisions that
models fitted on other documents find unlikely, both in a child process. `ReplayService` makes decisions from gold like
a curator.

* **Lexical first.** After an import of a knowledge base two untrained bundles are built: a lexical one within seconds,
  which is used at once, and the full one (lexical and dense over names) when its index is ready. Bundles are immutable.
  Each has its own combiner and NIL model: used without dense names, those of the full bundle were 1.7 points of
  recall@1 worse on BC5CDR's dev mentions (88.7 against 90.4).
* **Weights fitted on the project are a bundle too** (`calibration.py`), which shares its large files with the old one
  through hard links. It is built after an index build and whenever the number of links has doubled since the last time,
  with at least 200, and used if its gate allows it. Until NIL can be fitted here (30 NIL, 100 links), the model that
  comes with the program is used (`resources/calibration.json`, made by `tests/benchmarks/nil_fit.py`) and marked as
  not calibrated.
* **A training works in `bundles/.training/ID/`** (specification, snapshot, checkpoints). The folder stays if a process
  or the computer dies or the program is closed, and is removed after success or cancellation.
* **Deleting a bundle** renames its folder into a staging folder first; shared files survive, since they are hard links.
  Every change of the bundle in use is recorded with curator, time and reason.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.services.training.bundle_metrics import (
        NIL,
        DiffKind,
        DiffRow,
        LearningPoint,
        comparison_of,
        count,
        diff_rows,
        diff_words,
        expectation,
        learning_points,
        metric,
        queue_asked,
    )
    from curator.services.training.bundles import BundleSwitch, DiskReport, DiskUse, manifest_text, notes_of, size_words
    from curator.services.training.calibration import Calibrator
    from curator.services.training.embedding_map import (
        EmbeddingMap,
        MapPoint,
        Place,
        has_map,
        nearest_with_map,
        read_map,
    )
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
    from curator.services.training.job_chain import OnEnd, OnProgress
    from curator.services.training.recipes import CONTEXT, FIRST, FIT, NAMES, Recipe, find_recipe, grouped
    from curator.services.training.replay import ReplayService
    from curator.services.training.retraining import RESUMABLE, InterruptedTraining, RetrainingService, TrainingPreview
    from curator.services.training.speeds import RULE, SPREADS, Speeds, slower_now
    from curator.services.training.suspicious import SuspiciousGold, SuspiciousList, SuspiciousService
    from curator.services.training.training_runs import TrainingRuns
    from curator.services.training.workplace import JobDesk, JobOptions, Workplace

__all__ = [
    "CONTEXT",
    "FIRST",
    "FIT",
    "HTML",
    "NAMES",
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
    "LearningPoint",
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
    "TrainingRuns",
    "Workplace",
    "check_place",
    "comparison_of",
    "count",
    "diff_rows",
    "diff_words",
    "expectation",
    "find_recipe",
    "grouped",
    "has_map",
    "learning_points",
    "manifest_text",
    "metric",
    "nearest_with_map",
    "notes_of",
    "queue_asked",
    "read_map",
    "save_report",
    "size_words",
    "slower_now",
    "without_html",
]

__getattr__ = opened_late(
    __name__,
    bundle_metrics="DiffKind DiffRow LearningPoint NIL comparison_of count diff_rows diff_words expectation "
    "learning_points metric queue_asked",
    bundles="BundleSwitch DiskReport DiskUse manifest_text notes_of size_words",
    calibration="Calibrator",
    job_chain="OnEnd OnProgress",
    embedding_map="EmbeddingMap MapPoint Place has_map nearest_with_map read_map",
    evaluation="EvaluationService EvaluationWish HTML ReplayWish check_place save_report without_html",
    indexing="IndexBuilder",
    recipes="CONTEXT FIRST FIT NAMES Recipe find_recipe grouped",
    replay="ReplayService",
    retraining="InterruptedTraining RESUMABLE RetrainingService TrainingPreview",
    speeds="RULE SPREADS Speeds slower_now",
    suspicious="SuspiciousGold SuspiciousList SuspiciousService",
    training_runs="TrainingRuns",
    workplace="JobDesk JobOptions Workplace",
)
