"""Going through a list of work: which mention comes before and after which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curator.services.ports import WorkRow


class WorkOrder:
    """A list of work; falsy when it is empty. From a mention that is not on it one comes to where one was last."""

    def __init__(self, rows: Sequence[WorkRow]) -> None:
        self._rows = tuple(rows)
        self._place = {row.mention_id: at for at, row in enumerate(self._rows)}
        self._last = -1

    def __bool__(self) -> bool:
        return bool(self._rows)

    def beside(self, mention_id: int | None, direction: int) -> WorkRow | None:
        at = self._at(mention_id) + direction
        return self._rows[at] if 0 <= at < len(self._rows) else None

    def behind(self, mention_id: int | None) -> Iterator[WorkRow]:
        """Everything behind the mention, in order."""
        yield from self._rows[self._at(mention_id) + 1 :]

    def other_document(self, mention_id: int | None, document_id: int | None, direction: int) -> WorkRow | None:
        """The nearest of another document."""
        at = self._at(mention_id) + direction
        while 0 <= at < len(self._rows):
            if self._rows[at].document_id != document_id:
                return self._rows[at]
            at += direction
        return None

    def first(self, *, but: int | None = None) -> WorkRow | None:
        """Its head; the next one where that is the mention `but`."""
        return next((row for row in self._rows if row.mention_id != but), None)

    def _at(self, mention_id: int | None) -> int:
        if mention_id in self._place:
            self._last = self._place[mention_id]
        return self._last
