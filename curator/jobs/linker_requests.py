"""What is asked of the linker's process, and where each question stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from curator.domain.jobs import JobOutcome
from curator.jobs.child import ChildProcess


@dataclass(slots=True)
class Request:
    id: int
    on_end: Callable[[JobOutcome], None]
    receive: Callable[[Any], None]
    urgent: bool
    left: int = 0  # batches not yet answered
    ended: bool = False


@dataclass(slots=True)
class Batch:
    request: Request
    message: Mapping[str, object]  # of `wire`; its `batch` is set when it is sent
    attempts: int = 0


@dataclass(slots=True)
class State:
    """What the keeper owns."""

    child: ChildProcess | None = None
    generation: int = 0
    ready: bool = False
    bundle: tuple[str, str] | None = None  # (path, id) that should serve
    requests: dict[int, Request] = field(default_factory=dict)
    urgent: deque[Batch] = field(default_factory=deque)
    waiting: deque[Batch] = field(default_factory=deque)
    sent: dict[int, Batch] = field(default_factory=dict)
    deaths: deque[float] = field(default_factory=deque)
    changes: list[Mapping[str, object]] = field(default_factory=list)  # of the bundle's entities, for every child anew
