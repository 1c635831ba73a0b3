"""Geometry of a document for reading: paragraphs as text layouts in one column, mapping between code points and
positions.

All offsets in the interface count code points of the stored text; UTF-16, which Qt counts, is used only internally.
Text is never read back from Qt. One `QTextLayout` per paragraph, laid out once; 20,000 tokens take some 20 ms.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QTextLayout, QTextLine, QTextOption

from curator.domain.documents import Passage, Span, Utf16Map
from curator.domain.spans import word_at

# The layout style of paragraphs: fonts, distances and the width of the column.

COLUMN = 72
"""The most characters per line; 60 to 80 read best (Bringhurst, The Elements of Typographic Style, 2.1.2)."""
LINE_HEIGHT = 1.5
SAMPLE = "the quick brown fox jumps over the lazy dog while seven patients slept"


@dataclass(frozen=True, slots=True)
class Style:
    """The layout style of one kind of paragraph. Sizes are in pixels."""

    font: QFont
    line_height: float
    ascent: float
    descent: float
    space_after: float

    @classmethod
    def of(cls, font: QFont, *, line_height: float, space_after: float) -> Style:
        metrics = QFontMetricsF(font)
        size = metrics.height() / 1.17  # the em of common fonts, in any unit
        height = max(line_height * size, metrics.height() + 2)
        return cls(font, height, metrics.ascent(), metrics.descent(), space_after * size)


@dataclass(frozen=True, slots=True)
class Styles:
    title: Style
    body: Style
    label: Style

    @classmethod
    def of(cls, font: QFont, *, line_height: float = LINE_HEIGHT) -> Styles:
        """The styles for the reading font, with lines `line_height` ems apart. The title is larger and bold, section
        labels are small capitals."""
        title, label = QFont(font), QFont(font)
        title.setPointSizeF(font.pointSizeF() * 1.3)
        title.setWeight(QFont.Weight.DemiBold)
        label.setPointSizeF(font.pointSizeF() * 0.78)
        label.setWeight(QFont.Weight.DemiBold)
        label.setCapitalization(QFont.Capitalization.AllUppercase)
        label.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 106)
        return cls(
            Style.of(title, line_height=line_height * 0.9, space_after=0.9),
            Style.of(font, line_height=line_height, space_after=0.75),
            Style.of(label, line_height=1.5, space_after=0.1),
        )


def column_width(font: QFont, columns: int = COLUMN) -> float:
    """The width in pixels of this many characters of running text."""
    return columns * QFontMetricsF(font).horizontalAdvance(SAMPLE) / len(SAMPLE)


def baseline(style: Style, top: float) -> float:
    """The baseline of a line that begins at `top`; the same for every line of a style."""
    return top + (style.line_height - style.ascent - style.descent) / 2 + style.ascent


# Characters that would break a line or be invisible are shown as others of the same UTF-16 length, so that offsets do
# not shift.
_SHOWN_AS = dict.fromkeys((*range(32), 127, 133, 8232, 8233), " ")
_ODD = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Block:
    """A paragraph: code points `start`..`end` of the document, `label` set above it."""

    start: int
    end: int
    start16: int
    style: Style
    label: str
    layout: QTextLayout
    top: float = 0.0
    text_top: float = 0.0
    bottom: float = 0.0
    lines: int = 0
    line_starts: list[int] = field(default_factory=list)  # UTF-16 offsets within the block


@dataclass(frozen=True, slots=True)
class LinePiece:
    """The part of a span that is on one line of a block; `rect` is the line's full height."""

    block: int
    line: int
    rect: QRectF
    baseline: float


class DocumentLayout:
    """Paragraphs of one document in a column of `width` pixels, from y = 0 down."""

    def __init__(self, text: str, passages: Sequence[Passage], styles: Styles, *, title: str = "") -> None:
        """`title` is shown above the text if the text has no title passage; it cannot be selected."""
        self.text = text
        self.styles = styles
        self.width = 0.0
        self.height = 0.0
        self._map = Utf16Map(text)
        self._title = QTextLayout(shown_text(title), styles.title.font) if title else None
        self.title_height = 0.0
        self.blocks = [self._block(s, e, p, first) for s, e, p, first in _paragraphs(text, passages)]
        self._starts = [block.start for block in self.blocks]
        self._tops: list[float] = []
        self._line_tops: dict[int, float] = {}  # by code point, as asked for since lines were broken

    def _block(self, start: int, end: int, passage: Passage | None, first: bool) -> Block:
        is_title = passage is not None and passage.kind == "title"
        style = self.styles.title if is_title else self.styles.body
        layout = QTextLayout(shown_text(self.text[start:end]), style.font)
        label = passage.label if passage is not None and first else ""
        return Block(start, end, self._map.to_utf16(start), style, label, layout)

    def lay_out(self, width: float) -> None:
        """Break lines again for `width` pixels."""
        self.width = width
        y = self._lay_out_title(width)
        for block in self.blocks:
            block.top = y
            if block.label:
                y += self.styles.label.line_height + self.styles.label.space_after
            block.text_top = y
            block.line_starts = _break_lines(block.layout, block.style, width)
            block.lines = len(block.line_starts)
            y += block.lines * block.style.line_height
            block.bottom = y
            y += block.style.space_after
        self.height = y
        self._tops = [block.top for block in self.blocks]
        self._line_tops.clear()

    def _lay_out_title(self, width: float) -> float:
        if self._title is None:
            return 0.0
        style = self.styles.title
        lines = len(_break_lines(self._title, style, width))
        self.title_height = lines * style.line_height + style.space_after
        return self.title_height

    @property
    def title_layout(self) -> QTextLayout | None:
        return self._title

    def blocks_between(self, top: float, bottom: float) -> range:
        """Indexes of the blocks that touch the band."""
        first = max(bisect_right(self._tops, top) - 1, 0)
        return range(first, max(bisect_right(self._tops, bottom), first))

    def inked(self, area: QRectF) -> bool:
        """Whether letters or a label are in the area."""
        if area.top() < self.title_height:
            return True
        for block in (self.blocks[one] for one in self.blocks_between(area.top(), area.bottom())):
            if block.label and block.top < area.bottom() and block.text_top > area.top():
                return True
            for number in range(block.lines):
                top, line = block.text_top + number * block.style.line_height, block.layout.lineAt(number)
                high, low = top + 0.2 * block.style.line_height, top + 0.9 * block.style.line_height
                if high < area.bottom() and low > area.top() and line.naturalTextWidth() > area.left():
                    return True
        return False

    def block_index(self, offset: int) -> int:
        """The block that holds code point `offset`, or the previous one if it is between paragraphs."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    def lines(self, span: Span) -> Iterator[tuple[int, int]]:
        """(block, line) of a span's lines; much cheaper than their pieces."""
        for index, start, end in self._parts(span):
            starts = self.blocks[index].line_starts
            first, last = bisect_right(starts, start) - 1, bisect_left(starts, end)
            yield from ((index, number) for number in range(max(first, 0), last))

    def line_span(self, block: int, line: int) -> Span:
        """The code points of one line."""
        found = self.blocks[block]
        start, following = found.line_starts[line], line + 1
        end = found.line_starts[following] if following < found.lines else None
        last = found.end if end is None else self._global(found, end)
        return Span(self._global(found, start), max(last, self._global(found, start) + 1))

    def pieces(self, span: Span) -> Iterator[LinePiece]:
        """The pieces of a span, line by line, from the top."""
        for index, start, end in self._parts(span):
            yield from self._pieces_in(index, start, end)

    def _parts(self, span: Span) -> Iterator[tuple[int, int, int]]:
        """(block, UTF-16 start and end within it) of a span."""
        index = self.block_index(span.start)
        while index < len(self.blocks) and self.blocks[index].start < span.end:
            block = self.blocks[index]
            start, end = max(span.start, block.start), min(span.end, block.end)
            if start < end:
                yield index, self._local(block, start), self._local(block, end)
            index += 1

    def _pieces_in(self, index: int, start: int, end: int) -> Iterator[LinePiece]:
        block = self.blocks[index]
        number = max(bisect_right(block.line_starts, start) - 1, 0)
        while number < block.lines and block.line_starts[number] < end:
            line = block.layout.lineAt(number)
            first = max(start, line.textStart())
            last = min(end, line.textStart() + line.textLength())
            x0, x1 = sorted((x_of(line, first), x_of(line, last)))
            x1 = min(x1, max(line.naturalTextWidth(), x0 + 1))  # white space at a line's end is not marked
            top = block.text_top + number * block.style.line_height
            rect = QRectF(x0, top, max(x1 - x0, 2.0), block.style.line_height)
            yield LinePiece(index, number, rect, baseline(block.style, top))
            number += 1

    def offset_at(self, point: QPointF, *, nearest: bool = True) -> int:
        """The code-point offset at a point: the nearest gap between characters, or the character under the point."""
        if not self.blocks:
            return 0
        index = max(bisect_right(self._tops, point.y()) - 1, 0)
        block = self.blocks[index]
        if block.lines == 0:
            return block.start
        number = int((point.y() - block.text_top) // block.style.line_height)
        line = block.layout.lineAt(min(max(number, 0), block.lines - 1))
        where = (
            QTextLine.CursorPosition.CursorBetweenCharacters if nearest else QTextLine.CursorPosition.CursorOnCharacter
        )
        return self._global(block, line.xToCursor(point.x(), where))

    def word_at(self, offset: int) -> Span | None:
        """The word around a code point; None on white space."""
        return word_at(self.text, offset)

    def step(self, offset: int, *, by_word: bool, forward: bool) -> int:
        """The next or previous caret position: by grapheme or by word, across paragraphs."""
        index = self.block_index(offset)
        block = self.blocks[index]
        local = self._local(block, min(max(offset, block.start), block.end))
        mode = QTextLayout.CursorMode.SkipWords if by_word else QTextLayout.CursorMode.SkipCharacters
        layout = block.layout
        moved = layout.nextCursorPosition(local, mode) if forward else layout.previousCursorPosition(local, mode)
        if moved != local:
            return self._global(block, moved)
        index += 1 if forward else -1
        if not 0 <= index < len(self.blocks):
            return offset
        return self.blocks[index].start if forward else self.blocks[index].end

    def caret(self, offset: int) -> QRectF:
        """The line-high rectangle of a caret before `offset`."""
        block = self.blocks[self.block_index(offset)]
        local = self._local(block, min(max(offset, block.start), block.end))
        number = max(bisect_right(block.line_starts, local) - 1, 0)
        top = block.text_top + number * block.style.line_height
        return QRectF(x_of(block.layout.lineAt(number), local), top, 2.0, block.style.line_height)

    def edge(self, piece: LinePiece, offset: int) -> float:
        """The x at which the code point `offset` begins, or ends its line, on the line of a piece."""
        block = self.blocks[piece.block]
        line = block.layout.lineAt(piece.line)
        local = min(self._local(block, offset), line.textStart() + line.textLength())
        return x_of(line, max(local, line.textStart()))

    def line_of(self, offset: int) -> tuple[int, int]:
        """(block, line) of a code point."""
        index = self.block_index(offset)
        block = self.blocks[index]
        local = self._local(block, min(max(offset, block.start), block.end))
        return index, max(bisect_right(block.line_starts, local) - 1, 0)

    def line_end(self, offset: int) -> int:
        """The position after the last character of a code point's line, before a space that breaks it."""
        index, line = self.line_of(offset)
        end = self.line_span(index, line).end
        last = line == self.blocks[index].lines - 1
        return end if last or not self.text[end - 1].isspace() else end - 1

    def y_of(self, offset: int) -> float:
        """The top of a code point's line; kept, since every decision asks for those of all matches."""
        top = self._line_tops.get(offset)
        if top is None:
            index, line = self.line_of(offset)
            top = self.blocks[index].text_top + line * self.blocks[index].style.line_height
            self._line_tops[offset] = top
        return top

    def beside_line(self, offset: int, lines: int) -> int:
        """The code point `lines` below (or above) at the same x; the text's ends if there is no such line."""
        here = self.caret(offset)
        at = QPointF(here.left(), here.center().y())
        index, line = self.line_of(offset)
        for _ in range(abs(lines)):
            line += 1 if lines > 0 else -1
            if not 0 <= line < self.blocks[index].lines:
                index += 1 if lines > 0 else -1
                if not 0 <= index < len(self.blocks):
                    return self.blocks[-1].end if lines > 0 else self.blocks[0].start
                line = 0 if lines > 0 else self.blocks[index].lines - 1
        block = self.blocks[index]
        at.setY(block.text_top + (line + 0.5) * block.style.line_height)
        return self.offset_at(at)

    def _local(self, block: Block, offset: int) -> int:
        return self._map.to_utf16(offset) - block.start16

    def _global(self, block: Block, local: int) -> int:
        return min(self._map.to_code_point(block.start16 + local), block.end)


def x_of(line: QTextLine, local: int) -> float:
    """The x of a UTF-16 offset in a line (the binding also returns the offset)."""
    found: Any = line.cursorToX(local)
    return float(found[0] if isinstance(found, tuple) else found)


def shown_text(text: str) -> str:
    return _SURROGATES.sub("\ufffd", text.translate(_SHOWN_AS)) if _ODD.search(text) else text


def _break_lines(layout: QTextLayout, style: Style, width: float) -> list[int]:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setCacheEnabled(True)
    starts: list[int] = []
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        # every baseline on the grid, even if a fallback font (emoji, CJK) is taller
        line.setPosition(QPointF(0.0, baseline(style, len(starts) * style.line_height) - line.ascent()))
        starts.append(line.textStart())
    layout.endLayout()
    return starts


def _paragraphs(text: str, passages: Sequence[Passage]) -> Iterator[tuple[int, int, Passage | None, bool]]:
    """(start, end, passage, is the passage's first) of each visible paragraph, in text order."""
    at = 0
    for passage in sorted(passages, key=lambda one: one.start):
        if passage.start > at:
            yield from ((s, e, None, False) for s, e in _lines(text, at, passage.start))
        first = True
        for start, end in _lines(text, max(passage.start, at), min(passage.end, len(text))):
            yield start, end, passage, first
            first = False
        at = max(at, passage.end)
    yield from ((s, e, None, False) for s, e in _lines(text, at, len(text)))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        if text[start:stop].strip():
            yield start, stop
        start = stop + 1
