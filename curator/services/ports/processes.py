"""Ports of child processes, jobs and bundles: what `curator.jobs` implements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from curator.domain.documents import (
    Span,
)
from curator.domain.entities import Entity
from curator.domain.jobs import BundleInfo, JobOutcome, LinkerStatus, Progress
from curator.domain.suggestions import Contrast, Suggestion


@dataclass(frozen=True, slots=True)
class LinkMention:
    id: int
    spans: tuple[Span, ...]
    types: tuple[str, ...]  # knowledge-base types it is restricted to; empty: any
    opinion: str | None = None  # a language model's: an entity's id, '' for none of the candidates; None: not asked


@dataclass(frozen=True, slots=True)
class LinkDocument:
    """What the linker process gets for one document."""

    id: int
    revision: int
    text: str
    mentions: tuple[LinkMention, ...]


@dataclass(frozen=True, slots=True)
class DecidedMention:
    """A decided mention; no entities is NIL."""

    mention: LinkMention
    entity_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """What the linker's memory is to hold of one document; without mentions it is to be forgotten."""

    id: int
    text: str
    mentions: tuple[DecidedMention, ...]


@dataclass(frozen=True, slots=True)
class DetectedMention:
    span: Span
    types: tuple[str, ...]
    entity_id: str  # the first of its entities; empty where only the memory knows the mention


class LinkerPort(Protocol):
    """The linker process. All callbacks come from one background thread, never from the caller's."""

    @property
    def status(self) -> LinkerStatus: ...

    def on_status(self, listener: Callable[[LinkerStatus], None]) -> None: ...

    def open(self, bundle: Path, bundle_id: str) -> None:
        """Load a bundle; the one in use stays in use until the new one is ready. Returns at once."""
        ...

    def link(
        self,
        documents: Sequence[LinkDocument],
        *,
        k: int,
        urgent: bool,
        on_document: Callable[[int, list[Suggestion]], None],
        on_end: Callable[[JobOutcome], None],
        own: bool = True,
    ) -> int:
        """Queue documents; urgent requests overtake others. With `own` a document's other decisions answer too,
        without it none of its own (as a fair comparison needs it). Returns a request id. If the process dies the
        request is sent again once after the restart, then ends as CRASHED."""
        ...

    def remember(self, documents: Sequence[DecidedDocument], *, on_end: Callable[[JobOutcome], None]) -> int:
        """Take decisions into the memory, each document in place of what was known of it. It outlives a change of
        bundle, not the process (`LinkerStatus.process`)."""
        ...

    def detect(
        self,
        texts: Sequence[tuple[int, str]],
        *,
        types: Sequence[str],
        on_document: Callable[[int, list[DetectedMention]], None],
        on_end: Callable[[JobOutcome], None],
    ) -> int: ...

    def contrast(
        self,
        document: LinkDocument,
        *,
        mention_id: int,
        entity_ids: tuple[str, str],
        on_answer: Callable[[Contrast], None],
        on_end: Callable[[JobOutcome], None],
    ) -> int:
        """Which words of the context speak for each of two candidates of a mention. Returns a request id; ends as
        FAILED where one of them is no candidate any more."""
        ...

    def change_entities(
        self, *, upsert: Sequence[Entity], remove: Sequence[str], on_end: Callable[[JobOutcome], None]
    ) -> int:
        """Add or change entities, and take others out by their primary ids, in the bundle that is open: the next
        answer feels it. They are changed again whenever its process is restarted, and forgotten with the bundle.
        Returns a request id."""
        ...

    def cancel(self, request_id: int) -> None: ...

    def close(self) -> None:
        """End the process; idempotent."""
        ...


class JobHandle(Protocol):
    def cancel(self) -> None:
        """Acknowledged at once; the outcome follows."""
        ...

    def wait(self, timeout: float | None = None) -> JobOutcome | None:
        """The outcome, or None when the time is over."""
        ...


class JobPort(Protocol):
    """Child processes that build or train; `kind` is `index`, `train` or `evaluate`, `spec` is JSON data."""

    def start(
        self,
        kind: str,
        spec: Mapping[str, Any],
        *,
        on_progress: Callable[[Progress], None],
        on_end: Callable[[JobOutcome], None],
    ) -> JobHandle: ...

    def run_here(
        self,
        work: Callable[[], Iterator[Progress]],
        *,
        on_progress: Callable[[Progress], None],
        on_end: Callable[[JobOutcome], None],
    ) -> JobHandle:
        """Run a generator of progress in a worker thread; cancelled between two steps. Its return value (a
        mapping) is the outcome's result."""
        ...

    def close(self) -> None: ...


class BundleStore(Protocol):
    """The `bundles/` folder: read manifests, move the staging folder into place, delete what was left behind."""

    def all(self, *, active: str | None) -> list[BundleInfo]: ...

    def new_staging(self) -> Path: ...

    def promote(self, staging: Path) -> BundleInfo:
        """Rename the complete staging folder to its bundle id. The active pointer is the caller's."""
        ...

    def discard(self, staging: Path) -> None: ...

    def clean(self) -> int:
        """Remove staging folders that no living process owns."""
        ...

    def path(self, bundle_id: str) -> Path: ...

    def forget(self, bundle_id: str) -> None:
        """The bundle's folder was removed."""
        ...


class BundleVault(Protocol):
    """The linkers that a shared project keeps for everybody."""

    def has(self, name: str) -> bool:
        """Whether a linker is there whole."""
        ...

    def keep(self, name: str, folder: Path) -> None:
        """Send a linker's files. Raises UserError; then it is not there."""
        ...

    def fetch(self, name: str, folder: Path) -> None:
        """Write a linker's files to an empty folder. Raises UserError and OSError, and leaves what it wrote."""
        ...

    def forget(self, name: str) -> None:
        """Remove a linker; one that is not there is none."""
        ...


class Clock(Protocol):
    def now(self) -> datetime: ...
