"""Ports of child processes, jobs and bundles, implemented by `curator.jobs`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
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
    """A document in the form sent to the linker process."""

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
    """The decisions of one document for the linker's memory; a document without mentions is forgotten."""

    id: int
    text: str
    mentions: tuple[DecidedMention, ...]


@dataclass(frozen=True, slots=True)
class DetectedMention:
    span: Span
    types: tuple[str, ...]
    entity_id: str  # the first of its entities; empty if only the memory knows the mention


class LinkerPort(Protocol):
    """The linker process. All callbacks come from one background thread, never from the caller's."""

    @property
    def status(self) -> LinkerStatus: ...

    def on_status(self, listener: Callable[[LinkerStatus], None]) -> Callable[[], None]:
        """Call `listener` from any thread with each new status, until the returned function is called."""
        ...

    def open(self, bundle: Path, bundle_id: str) -> None:
        """Load a bundle; the current one stays in use until the new one is ready. Returns at once."""
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
        """Queue documents; urgent requests overtake others. `on_document` gets the suggestions of a document, in
        several parts if it has more than `ANSWER_MENTIONS`. With `own`, a document's other decisions are used too;
        without it they are not, for a fair comparison. Returns a request id. If the process dies the request is sent
        again once after the restart, then ends as CRASHED."""
        ...

    def remember(self, documents: Sequence[DecidedDocument], *, on_end: Callable[[JobOutcome], None]) -> int:
        """Add decisions to the memory, each document replacing its earlier decisions. The memory survives a change of
        bundle, but not of the process (`LinkerStatus.process`)."""
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
        """Request the words of the context that support each of two candidates of a mention. Returns a request id; ends
        as FAILED if one of them is no longer a candidate."""
        ...

    def change_entities(
        self, *, upsert: Sequence[Entity], remove: Sequence[str], on_end: Callable[[JobOutcome], None]
    ) -> int:
        """Add or change entities, and remove others by their primary ids, in the open bundle, effective from the next
        answer on. The changes are repeated whenever its process is restarted, and forgotten with the bundle. Returns a
        request id."""
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
        """The outcome, or None after the timeout."""
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
    """The `bundles/` folder: read manifests, publish staging folders, delete leftovers."""

    def all(self, *, active: str | None) -> list[BundleInfo]: ...

    def new_staging(self) -> Path: ...

    def promote(self, staging: Path) -> BundleInfo:
        """Rename the complete staging folder to its bundle id. The caller sets the active bundle."""
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
    """The linkers stored in a shared project."""

    def has(self, name: str) -> bool:
        """Whether a linker is completely stored."""
        ...

    def keep(self, name: str, folder: Path) -> None:
        """Upload a linker's files. On a UserError it is not stored."""
        ...

    def fetch(self, name: str, folder: Path) -> None:
        """Write a linker's files to an empty folder. Raises UserError and OSError, leaving files already written."""
        ...

    def forget(self, name: str) -> None:
        """Remove a linker; an unknown one is ignored."""
        ...


class Clock(Protocol):
    def now(self) -> datetime: ...


# The port of bulk work: many documents through several linkers at once, on this computer or on a cluster.


@dataclass(frozen=True, slots=True)
class Cluster:
    """The place for bulk work: '' is this computer, otherwise the address of a Ray cluster (`ray://head:10001`), which
    reads and writes the project's folder at the same path. `actors` 0: one per processor or GPU."""

    address: str = ""
    actors: int = 0


@dataclass(frozen=True, slots=True)
class BulkTask:
    """Everything except the documents that determines the answers: the linker in use, its memory, added entities."""

    bundle: Path
    bundle_id: str
    k: int
    decided: Sequence[DecidedDocument] = ()
    entities: Sequence[Entity] = ()


class BulkPort(Protocol):
    def link(
        self,
        task: BulkTask,
        requests: Iterable[Sequence[LinkDocument]],
        receive: Callable[[Sequence[int], dict[int, list[Suggestion]]], None],
        cluster: Cluster,
    ) -> Generator[Progress, None, None]:
        """Answer every request like the linker process, in the same batches. `receive` gets the documents' ids and
        suggestions, request by request, when all are finished. The next run with the same task reuses the answers of a
        stopped run.

        Raises UserError if Ray is not installed or cannot be reached, or an answer is damaged.
        """
        ...

    def check(self, cluster: Cluster) -> None:
        """Raises UserError if bulk work cannot run; this is cheap."""
        ...
