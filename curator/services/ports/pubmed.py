"""The port of PubMed over the network, implemented by `curator.io.eutils`. It is used only on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

MOST_FOUND = 9_999
"""The most PMIDs that PubMed lists for one query."""


class NotNowError(Exception):
    """PubMed is busy or cannot be reached: the request may be repeated, after `seconds` if PubMed stated them."""

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """`count` records match a query; `pmids` are the first of them, in PubMed's order."""

    count: int
    pmids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PubMedRecords:
    """`xml` holds the concatenated XML elements of the records, UTF-8, without a root; `pmids` are their PMIDs."""

    pmids: tuple[str, ...]
    xml: bytes


class PubMedPort(Protocol):
    """One request per call, sent at once; the caller keeps `pause` between two."""

    @property
    def host(self) -> str:
        """The host that requests are sent to."""
        ...

    @property
    def pause(self) -> float:
        """Least seconds between the starts of two requests."""
        ...

    def search(self, query: str, *, most: int) -> FoundRecords:
        """At most `MOST_FOUND` PMIDs. Raises UserError for a query or key that is refused, NotNowError."""
        ...

    def records(self, pmids: Sequence[str]) -> PubMedRecords:
        """The existing records. Raises UserError, NotNowError."""
        ...
