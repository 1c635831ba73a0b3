"""Progress and typed outcomes of long jobs."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from curator.domain.wording import UserError


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` units (total 0: unknown). `data` carries live figures such as the loss."""

    phase: str
    done: int
    total: int
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fraction(self) -> float | None:
        return self.done / self.total if self.total else None


class JobState(StrEnum):
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"  # the user's or the environment's: `message` says what to do
    CRASHED = "crashed"  # a bug or a killed process: `detail` keeps the traceback


@dataclass(frozen=True, slots=True)
class JobOutcome:
    state: JobState
    message: str
    result: Mapping[str, Any] = field(default_factory=dict)
    detail: str = ""

    @classmethod
    def of_error(cls, error: BaseException) -> JobOutcome:
        """The outcome of work that raised this error."""
        if isinstance(error, UserError):
            return cls(JobState.FAILED, str(error))
        return cls(JobState.CRASHED, repr(error), detail="".join(traceback.format_exception(error)))


UNRESPONSIVE = "unresponsive"
"""Key of an outcome's result: the job's process stopped responding and was ended."""
ANSWER_MENTIONS = 512
"""The most mentions in one answer of the linker process: with their candidates as objects, 8,000 mentions take 400 MB
in the window's process."""


class LinkerState(StrEnum):
    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LinkerStatus:
    """`device` is the sentence shown in *Help > About*; `stages` are the retrievers that answer; `process` counts
    starts: a new number means a new process, with an empty memory. `hears_opinions`: second opinions influence
    answers. `opening`: the bundle that is loaded while another is in use, '' if none is."""

    state: LinkerState
    message: str
    bundle_id: str = ""
    device: str = ""
    on_gpu: bool = False
    stages: tuple[str, ...] = ()
    process: int = 0
    hears_opinions: bool = False
    opening: str = ""


# Bundles as the project sees them: immutable model folders, one of which is active.


class GateVerdict(StrEnum):
    PROMOTE = "promote"
    NO_GAIN = "no_gain"
    REFUSED = "refused"
    NOT_GATED = "not_gated"  # untrained bundles need no gate


@dataclass(frozen=True, slots=True)
class BundleInfo:
    """A line of *Model > Bundles*. `metrics` holds the manifest's figures of the old and the new linker."""

    id: str
    recipe: str  # "untrained-lexical", "untrained", or a recipe's id
    created_at: datetime
    path: str
    active: bool
    verdict: GateVerdict
    summary: str
    stages: tuple[str, ...] = ()
    kb_hash: str = ""
    calibrated: bool = False  # NIL fitted on this project's validation decisions
    metrics: Mapping[str, Any] = field(default_factory=dict)
    parent: str = ""  # the bundle it was made from; '' for an untrained one
    seconds: float = 0.0  # of its training; 0 if unknown


class ActivationKind(StrEnum):
    """Who put a bundle into use."""

    JOB = "job"  # the job that made it, after its gate
    CURATOR = "curator"  # a curator's explicit choice
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class Activation:
    """One entry of the history: since when a bundle was in use, who put it into use, and the reason if given."""

    bundle_id: str
    at: datetime
    actor: str
    kind: ActivationKind
    reason: str = ""
