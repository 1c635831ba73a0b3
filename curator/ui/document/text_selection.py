"""The caret and the selection of the document view as code points."""

from __future__ import annotations

from dataclasses import dataclass

from curator.domain.documents import Span


@dataclass(frozen=True, slots=True)
class TextSelection:
    """The selection is between `anchor` and `caret`. A caret moved with keys is visible."""

    anchor: int = 0
    caret: int = 0
    by_keyboard: bool = False

    @property
    def span(self) -> Span | None:
        return None if self.anchor == self.caret else Span(min(self.anchor, self.caret), max(self.anchor, self.caret))

    def span_in(self, text: str) -> Span | None:
        """The span without white space at its ends; None if nothing else is selected."""
        if self.span is None:
            return None
        part = text[self.span.start : self.span.end]
        start = self.span.start + len(part) - len(part.lstrip())
        end = start + len(part.strip())
        return Span(start, end) if end > start else None

    def at(self, offset: int, *, keep: bool = False) -> TextSelection:
        """No selection, with the caret at `offset`; `keep` changes nothing."""
        return self if keep else TextSelection(offset, offset)

    def to(self, offset: int, *, by_keyboard: bool = False) -> TextSelection:
        """The selection extended to `offset`."""
        return TextSelection(self.anchor, offset, by_keyboard or self.by_keyboard)
