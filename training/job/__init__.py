"""A job from recipe to verdict: what is given, trained, assembled, fitted and judged."""

from training.job.calibration import run_calibration
from training.job.evaluate_job import run_evaluation, run_replay
from training.job.job import run_training
from training.job.suspicious import run_suspicious

__all__ = [
    "run_calibration",
    "run_evaluation",
    "run_replay",
    "run_suspicious",
    "run_training",
]
