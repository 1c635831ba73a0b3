"""Documents and knowledge bases into the project, in short transactions, visible only when complete."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.documents import Split
from curator.domain.jobs import Progress
from curator.services.events import EventBus
from curator.services.ports import Clock, FormatRegistry, Problem, Store


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem with the file that it is about."""

    file: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. `counts` by word: documents, mentions, decisions, links, nil, unresolved ids, entities, …"""

    files: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[FileProblem, ...] = ()
    seconds: float = 0.0


class ImportService:
    """Each generator yields its progress and returns the report; closing it cancels and leaves nothing visible."""

    def __init__(
        self, store: Store, formats: FormatRegistry, events: EventBus, clock: Clock, *, curator: Callable[[], str]
    ) -> None:
        self._store = store
        self._formats = formats
        self._events = events
        self._clock = clock
        self._curator = curator

    def documents(
        self, paths: Sequence[Path], *, gold: bool = False, split: Split = Split.TRAIN, hold_out: int = 0
    ) -> Generator[Progress, None, ImportReport]:
        """Read document files. With `gold` each annotation becomes a decision by `import:FILE`; `hold_out` documents,
        evenly spread over each file, get the split validation instead. Raises UserError."""
        raise NotImplementedError

    def knowledge_base(self, path: Path) -> Generator[Progress, None, ImportReport]:
        """Read a knowledge base; it replaces the one before when it is complete. Raises UserError."""
        raise NotImplementedError
