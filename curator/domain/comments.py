"""Comments: what curators say to each other about a mention or a document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Comment:
    """On a mention, or on the whole document where `mention_id` is None. A deleted one stays in the records."""

    id: int
    document_id: int
    mention_id: int | None
    author: str
    at: datetime
    text: str
    deleted: bool = False
