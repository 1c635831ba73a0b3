"""Links documents ahead of the curator, stores the answers, drops those that come too late."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from curator.domain.documents import Document, Mention, Split
from curator.domain.jobs import LinkerStatus, Progress
from curator.domain.suggestions import Suggestion
from curator.services.events import EventBus
from curator.services.ports import BundleStore, LinkerPort, Store

K = 64


@dataclass(frozen=True, slots=True)
class LinkedDocument:
    document: Document
    mentions: tuple[Mention, ...]
    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True)
class LinkReport:
    documents: int
    mentions: int
    seconds: float
    bundle_id: str


class SuggestionService:
    def __init__(
        self, store: Store, linker: LinkerPort, bundles: BundleStore, events: EventBus, *, ahead: Callable[[], int]
    ) -> None:
        self._store = store
        self._linker = linker
        self._bundles = bundles
        self._events = events
        self._ahead = ahead

    def status(self) -> LinkerStatus:
        raise NotImplementedError

    def on_status(self, listener: Callable[[LinkerStatus], None]) -> None:
        """Called from a background thread with each new status of the linker process."""
        raise NotImplementedError

    def request(self, document_ids: Sequence[int], *, urgent: bool = True) -> None:
        """Link these documents where a suggestion is missing or stale; urgent ones overtake. Returns at once."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Open the active bundle where another serves, and link stale documents in queue order. Returns at once."""
        raise NotImplementedError

    def pending(self) -> int:
        """Documents that are asked for and not yet answered."""
        raise NotImplementedError

    def link_split(
        self, split: Split | None, *, save: bool = True, sink: Callable[[LinkedDocument], None] | None = None
    ) -> Generator[Progress, None, LinkReport]:
        """Link all documents of a split (None: all), decided mentions too; `sink` gets each answer in order."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
