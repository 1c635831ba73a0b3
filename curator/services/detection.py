"""Dictionary detection of mentions, through the linker process."""

from __future__ import annotations

from collections.abc import Sequence

from curator.services.ports import JobHandle
from curator.services.retraining import OnEnd, OnProgress


class DetectionService:
    def documents_without_mentions(self) -> list[int]:
        raise NotImplementedError

    def start(
        self,
        document_ids: Sequence[int] | None = None,
        *,
        types: Sequence[str] = (),
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Mark names and synonyms, longest match, in these documents (None: all without mentions); one undoable
        operation a document. `types` are knowledge-base types (empty: all)."""
        raise NotImplementedError
