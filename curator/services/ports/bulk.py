"""The port of bulk work: many documents through several linkers at once, on this computer or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from curator.domain.entities import Entity
from curator.domain.jobs import Progress
from curator.domain.suggestions import Suggestion
from curator.services.ports.processes import DecidedDocument, LinkDocument


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
