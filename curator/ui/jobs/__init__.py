"""Display of background work: running jobs, remaining time, results, and the figures of a running training."""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.jobs.jobs import JobKind, Jobs, Launch, RunningJob, range_words
    from curator.ui.jobs.jobs_bar import BottomBar, KeyHints, flat, words_of
    from curator.ui.jobs.jobs_dock import JobsDock
    from curator.ui.jobs.training_panel import TrainingPanel

__all__ = [
    "BottomBar",
    "JobKind",
    "Jobs",
    "JobsDock",
    "KeyHints",
    "Launch",
    "RunningJob",
    "TrainingPanel",
    "flat",
    "range_words",
    "words_of",
]

__getattr__ = opened_late(
    __name__,
    jobs="JobKind Jobs Launch RunningJob range_words",
    jobs_bar="BottomBar KeyHints flat words_of",
    jobs_dock="JobsDock",
    training_panel="TrainingPanel",
)
