"""Progress and typed outcomes of long work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


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


class LinkerState(StrEnum):
    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    RESTARTING = "restarting"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LinkerStatus:
    """`device` is the sentence shown in *Help > About*; `stages` are the retrievers that answer; `process` counts
    starts: another number is another process, with an empty memory."""

    state: LinkerState
    message: str
    bundle_id: str = ""
    device: str = ""
    stages: tuple[str, ...] = ()
    process: int = 0
