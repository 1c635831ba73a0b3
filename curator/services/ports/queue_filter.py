"""What the queue may be narrowed to."""

from __future__ import annotations

from dataclasses import dataclass, field

from curator.domain.documents import DocumentState, Split
from curator.domain.facets import Facets


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """None means any. `text` matches external id or title, case-insensitively; `facets` are about mentions: a document
    is in the queue when one of its mentions matches."""

    state: DocumentState | None = None
    split: Split | None = None
    text: str = ""
    facets: Facets = field(default_factory=Facets)
