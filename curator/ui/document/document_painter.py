"""Paints a laid-out document: tints under the text, the text, then lines by state and the frame of the current mention.

Each state has its own colour and form, so that either suffices to distinguish them: undecided dotted, linked solid, NIL
dashed, rejected struck through, skipped wavy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import ceil

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette, QPen, QPolygonF, QRegion

from curator.domain.documents import Span
from curator.ui.document.document_find import Found
from curator.ui.document.document_layout import Block, DocumentLayout, LinePiece, baseline
from curator.ui.document.mention_handles import Handle, paint_handles
from curator.ui.document.mention_marks import Marks, MentionMark
from curator.ui.document.relation_lines import RelationLayers
from curator.ui.kit.foreign_text import escaped
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.note_marks import draw_notes, notes_width
from curator.ui.kit.theme import StateColours, Theme, theme_of

# Words of the document tinted by the candidate they support, for the contrast of two candidates.


@dataclass(frozen=True, slots=True)
class Tint:
    """A word in the colour of side 0 or 1; `words` is the tooltip with the reason."""

    span: Span
    side: int
    words: str

    @property
    def tooltip(self) -> str:
        """Rich text, so that a long sentence is broken into lines."""
        return f"<qt>{escaped(self.words)}</qt>"


def tint_at(tints: Sequence[Tint], offset: int) -> Tint | None:
    """The tint over a code point."""
    return next((one for one in tints if one.span.start <= offset < one.span.end), None)


def paint_tints(
    painter: QPainter, layout: DocumentLayout, block: Block, tints: Sequence[Tint], *, theme: Theme
) -> None:
    """Paint tints under the text of one block: a background with a line below, thick for the first side and double for
    the second, so that colours are not needed to distinguish them."""
    for tint in tints:
        if not (block.start <= tint.span.start and tint.span.end <= block.end):
            continue
        colours = theme.sides[tint.side]
        for piece in layout.pieces(tint.span):
            bottom = piece.baseline + 4.0
            top = piece.rect.top() + 2.0
            painter.fillRect(QRectF(piece.rect.left() - 1, top, piece.rect.width() + 2, bottom - top), colours.tint)
            painter.setPen(QPen(colours.line, 2.0 if tint.side == 0 else 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for y in (bottom,) if tint.side == 0 else (bottom - 1.5, bottom + 1.5):
                painter.drawLine(QLineF(piece.rect.left(), y, piece.rect.right(), y))


LANE = 3.5
"""Pixels from one lane of lines under the text to the next."""
LINE = 2.0
UNDER = 3.5
"""Pixels from the letters' feet to the first line."""
LETTERS, NOTE, LEAST_NOTE = 0.82, 0.5, 6.0
"""Shares of a font's ascent: the tallest letters, and a flag or bubble if there is room; and its least pixels."""
CORNER = 5.0
"""Pixels of the frame's upper edge before the marks."""
WAVE = 2.0
DOTS = [0.01, 2.0]
"""A round dot and the way to the next one, in widths of the line."""
STRIP = 256
"""Widths of images of dots are multiples of this, in pixels."""
REACH = 0.3
"""How far marks reach above their line, and lanes below it, in lines."""
FRAME = 1.2
"""Pixels of the current mention's frame at its sides, between two letters."""
DIMMED = 0.3
"""Opacity of the marks of mentions that the filter excludes."""
LANES = 4
"""Deeper overlaps share the lowest lane; clicking again still selects each."""


NOTHING_FOUND = Found()


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is painted. `origin` is the column's top left corner in the viewport."""

    layout: DocumentLayout
    marks: Marks
    origin: QPointF
    palette: QPalette
    current: int | None
    selected: Sequence[Span]
    caret: int | None  # None: no keyboard focus, no caret
    tints: Sequence[Tint] = ()
    found: Found = NOTHING_FOUND
    handles: Sequence[Handle] = ()
    relations: RelationLayers | None = None
    included: frozenset[int] | None = None  # by the queue's filter; other mentions are dimmed; None: all

    def opacity(self, mark: MentionMark) -> float:
        return 1.0 if self.included is None or mark.id in self.included else DIMMED


def paint(painter: QPainter, scene: Scene, exposed: QRectF) -> None:
    """Paint what `exposed` (viewport pixels) needs."""
    theme = theme_of(scene.palette)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(scene.origin)
    band = exposed.translated(-scene.origin)
    if scene.layout.title_layout is not None and band.top() < scene.layout.title_height:
        painter.setPen(scene.palette.color(QPalette.ColorRole.Text))
        scene.layout.title_layout.draw(painter, QPointF(0, 0))
    reach = REACH * scene.layout.styles.title.line_height
    for index in scene.layout.blocks_between(band.top(), band.bottom() + reach):
        if index < len(scene.layout.blocks):
            _paint_block(painter, scene, theme, index, band)
    if scene.relations is not None:
        scene.relations.paint(painter, band, theme, scene.layout.styles.label.font)
    _paint_frame(painter, scene, theme)
    paint_handles(painter, scene.handles, theme)
    if scene.caret is not None:
        painter.fillRect(scene.layout.caret(scene.caret).adjusted(0, 3, 0, -3), theme.accent)


def _paint_block(painter: QPainter, scene: Scene, theme: Theme, index: int, band: QRectF) -> None:
    block = scene.layout.blocks[index]
    if block.label:
        _paint_label(painter, scene, theme, block)
    numbers = _visible_lines(block, band)
    on_lines = [(number, scene.marks.on_line(index, number)) for number in numbers]
    for number, marks in on_lines:
        for mark in marks:
            painter.setOpacity(scene.opacity(mark))
            _paint_tints(painter, mark, _on(mark.pieces, index, number), theme.states[mark.state])
    painter.setOpacity(1.0)
    if scene.tints:
        paint_tints(painter, scene.layout, block, scene.tints, theme=theme)
    if numbers and scene.found.spans:
        _paint_found(painter, scene, theme, index, numbers)
    for span in scene.selected:
        _paint_selection(painter, scene.layout, theme, span, index)
    painter.setPen(scene.palette.color(QPalette.ColorRole.Text))
    for number in numbers:
        block.layout.lineAt(number).draw(painter, QPointF(0, block.text_top))
    for number, marks in on_lines:
        for mark in marks:
            pieces = _on(mark.pieces, index, number)
            painter.setOpacity(scene.opacity(mark))
            _paint_lines(painter, mark, pieces, theme, width=scene.layout.width)
            if _is_noted(mark) and mark.id != scene.current and pieces and pieces[0] == mark.pieces[0]:
                _paint_notes(painter, mark, block, theme)
    painter.setOpacity(1.0)


def _visible_lines(block: Block, band: QRectF) -> range:
    """Lines with anything in the band: marks of a line reach slightly into the neighbouring lines."""
    height = block.style.line_height
    first = max(int((band.top() - block.text_top - REACH * height) // height), 0)
    return range(first, min(int((band.bottom() - block.text_top + REACH * height) // height) + 1, block.lines))


def _on(pieces: Sequence[LinePiece], block: int, line: int) -> list[LinePiece]:
    return [piece for piece in pieces if piece.block == block and piece.line == line]


def _paint_label(painter: QPainter, scene: Scene, theme: Theme, block: Block) -> None:
    style = scene.layout.styles.label
    painter.setFont(style.font)
    painter.setPen(theme.muted)
    painter.drawText(QPointF(0, baseline(style, block.top)), block.label)


def _tint_rect(mark: MentionMark, piece: LinePiece) -> QRectF:
    """The height of letters; enclosing mentions are taller, so that their edges are visible around inner ones."""
    grow = 2.0 * min(mark.lane, LANES - 1)
    top, bottom = piece.baseline - _cap(piece) - 3.0 - grow, piece.baseline + _drop(piece) + grow
    return QRectF(piece.rect.left() - 1.0, top, piece.rect.width() + 2.0, bottom - top)


def _cap(piece: LinePiece) -> float:
    return (piece.baseline - piece.rect.top()) * 0.72


def _drop(piece: LinePiece) -> float:
    return (piece.rect.bottom() - piece.baseline) * 0.62


def _paint_tints(painter: QPainter, mark: MentionMark, pieces: Iterable[LinePiece], colours: StateColours) -> None:
    painter.setBrush(colours.tint)
    painter.setPen(QPen(colours.line, 0.8) if mark.crowded else Qt.PenStyle.NoPen)
    for piece in pieces:
        painter.drawRoundedRect(_tint_rect(mark, piece), 3.0, 3.0)


def _paint_found(painter: QPainter, scene: Scene, theme: Theme, block: int, lines: range) -> None:
    """Paint matches with a background and a frame; the current one's frame is thick."""
    layout = scene.layout
    start, end = layout.line_span(block, lines.start).start, layout.line_span(block, lines.stop - 1).end
    painter.setBrush(theme.note)
    for span in scene.found.within(start, end):
        painter.setPen(QPen(theme.note_ink, 2.2 if span == scene.found.current else 0.8))
        for piece in layout.pieces(span):
            if piece.block == block:
                painter.drawRoundedRect(piece.rect.adjusted(-1, 2, 1, -2), 3.0, 3.0)


def _paint_selection(painter: QPainter, layout: DocumentLayout, theme: Theme, span: Span, index: int) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.selection)
    block = layout.blocks[index]
    if span.start < block.end and block.start < span.end:
        part = Span(max(span.start, block.start), min(span.end, block.end))
        for piece in layout.pieces(part):
            painter.drawRect(piece.rect.adjusted(0, 1, 0, -1))


def _paint_lines(
    painter: QPainter, mark: MentionMark, pieces: Sequence[LinePiece], theme: Theme, *, width: float
) -> None:
    colour = theme.states[mark.state].line
    for piece in pieces:
        left, right = piece.rect.left(), piece.rect.right()
        y = _line_y(mark, piece)
        if mark.state is MentionState.REJECTED:
            middle = piece.baseline - _cap(piece) * 0.42
            painter.setPen(QPen(colour, 1.6))
            painter.drawLine(QLineF(left - 1, middle, right + 1, middle))
        elif mark.state is MentionState.SKIPPED:
            painter.setPen(QPen(colour, 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolyline(_wave(left, right, y))
        elif mark.state is MentionState.UNDECIDED:
            paint_dots(painter, left + 1, right - 1, y, colour)
        else:
            painter.setPen(pen_of(mark.state, colour))
            painter.drawLine(QLineF(left + 1, y, right - 1, y))
    _paint_joints(painter, mark, pieces, colour, width=width)
    if mark.maybe_nil and mark.pieces and pieces and pieces[-1] == mark.pieces[-1]:
        _paint_nil_flag(painter, mark, pieces[-1], theme)


def _line_y(mark: MentionMark, piece: LinePiece) -> float:
    return piece.baseline + UNDER + LANE * min(mark.lane, LANES - 1)


def pen_of(state: MentionState, colour: QColor) -> QPen:
    """The pen of an underline: solid for linked, dashed for NIL, round dots for undecided."""
    pen = QPen(colour, LINE)
    if state is MentionState.NIL:
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([3.0, 1.6])
    elif state is MentionState.UNDECIDED:
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setDashPattern(DOTS)
    return pen


def paint_dots(painter: QPainter, left: float, right: float, y: float, colour: QColor) -> None:
    """Paint an underline of whole dots from an image of them."""
    step = LINE * sum(DOTS)
    width = int(max(right - left, 0.0) / step) * step + 2 * LINE
    ratio = painter.device().devicePixelRatioF()
    image = _dots(colour.rgba(), ratio, ceil(width / STRIP) * STRIP)
    painter.drawImage(QPointF(left - LINE, y - LINE), image, QRectF(0, 0, width * ratio, 2 * LINE * ratio))


@lru_cache(maxsize=16)
def _dots(colour: int, ratio: float, width: int) -> QImage:
    """Dots in a row, the first at (`LINE`, `LINE`). To stroke them for each mention took as long as all else of it."""
    image = QImage(ceil(width * ratio), ceil(2 * LINE * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen_of(MentionState.UNDECIDED, QColor.fromRgba(colour)))
    painter.drawLine(QLineF(LINE, LINE, width, LINE))
    painter.end()
    return image


def _wave(left: float, right: float, y: float) -> QPolygonF:
    steps = max(int((right - left) / (2 * WAVE)), 2)
    width = (right - left) / steps
    return QPolygonF([QPointF(left + i * width, y + (WAVE / 2 if i % 2 else -WAVE / 2)) for i in range(steps + 1)])


def _paint_joints(
    painter: QPainter, mark: MentionMark, pieces: Sequence[LinePiece], colour: QColor, *, width: float
) -> None:
    """Paint a thin line between the parts of a discontinuous mention; to the column's edge if they are on two lines."""
    if len(mark.view.mention.spans) < 2 or not pieces:
        return
    painter.setPen(QPen(colour, 1.0))
    ordered = sorted(pieces, key=lambda piece: piece.rect.left())
    for one, other in pairwise(ordered):
        y = _line_y(mark, one)
        painter.drawLine(QLineF(one.rect.right(), y, other.rect.left(), y))
    here, y = (pieces[0].block, pieces[0].line), _line_y(mark, pieces[0])
    if here < (mark.pieces[-1].block, mark.pieces[-1].line):
        painter.drawLine(QLineF(ordered[-1].rect.right(), y, width, y))
    if here > (mark.pieces[0].block, mark.pieces[0].line):
        painter.drawLine(QLineF(0.0, y, ordered[0].rect.left(), y))


def _paint_nil_flag(painter: QPainter, mark: MentionMark, piece: LinePiece, theme: Theme) -> None:
    """Paint a small empty-set sign at the end of a mention that the linker expects to be NIL."""
    rect = _tint_rect(mark, piece)
    centre = QPointF(rect.right() - 0.5, rect.top() - 1.0)
    painter.setPen(QPen(theme.states[MentionState.NIL].line, 1.3))
    painter.setBrush(theme.palette.color(QPalette.ColorRole.Base))
    painter.drawEllipse(centre, 3.2, 3.2)
    painter.drawLine(QLineF(centre + QPointF(-2.8, 2.8), centre + QPointF(2.8, -2.8)))


def _is_noted(mark: MentionMark) -> bool:
    return bool(mark.view.mention.flagged or mark.view.comments or mark.view.attributes)


def _notes_box(mark: MentionMark, block: Block) -> QRectF:
    """The box of flag, bubble and label over the beginning of a mention with a flag, comments or attributes, between
    its letters and the line above: as large as possible without hiding either. It leaves room for the frame's corner if
    possible."""
    piece, style, noted = mark.pieces[0], block.style, mark.view
    letters, usual = LETTERS * style.ascent, NOTE * style.ascent
    gap = style.line_height - style.descent - letters - 2.0
    free = piece.line == 0 and not block.label  # nothing is above a paragraph's first line
    height = usual if free else min(max(gap, LEAST_NOTE), usual)
    flagged, commented = noted.mention.flagged, bool(noted.comments)
    width = notes_width(height, flagged=flagged, commented=commented, attributed=bool(noted.attributes))
    inside = CORNER if piece.rect.width() >= width + 2 * CORNER else 0.0
    return QRectF(piece.rect.left() + inside, piece.baseline - letters - 1.0 - height, width, height)


def _paint_notes(painter: QPainter, mark: MentionMark, block: Block, theme: Theme) -> None:
    view, box = mark.view, _notes_box(mark, block)
    flagged, commented = view.mention.flagged, bool(view.comments)
    attributed, foot = bool(view.attributes), box.bottomLeft()
    draw_notes(painter, foot, box.height(), theme, flagged=flagged, commented=commented, attributed=attributed)


def frame_rects(mark: MentionMark) -> list[QRectF]:
    """The frames around a mention's pieces. Their sides are exactly at its ends, so that following punctuation is not
    hidden; above and below there is a margin."""
    rects = (_tint_rect(mark, piece) for piece in mark.pieces)
    return [rect.adjusted(1.0 + FRAME / 4, -1.5, -1.0 - FRAME / 4, 2.0) for rect in rects]


def painted_rects(mark: MentionMark) -> list[QRectF]:
    """The area to repaint if a mention changes: frames, marks above, lines below."""
    return [
        rect.adjusted(-3, -3 - REACH * piece.rect.height(), 8, 5)
        for rect, piece in zip(frame_rects(mark), mark.pieces, strict=True)
    ]


def _paint_frame(painter: QPainter, scene: Scene, theme: Theme) -> None:
    mark = scene.marks.get(scene.current)
    if mark is None:
        return
    noted = scene.layout.blocks[mark.pieces[0].block] if _is_noted(mark) and mark.pieces else None
    painter.save()
    if noted is not None:  # the frame is open at the marks
        everywhere = QRectF(0, 0, scene.layout.width, scene.layout.height).adjusted(-50, -50, 50, 50)
        marks = _notes_box(mark, noted).adjusted(-2.0, -1.0, -1.0, 1.0)  # its end is empty
        painter.setClipRegion(
            QRegion(everywhere.toAlignedRect()) - QRegion(marks.toAlignedRect()), Qt.ClipOperation.IntersectClip
        )
    painter.setBrush(Qt.BrushStyle.NoBrush)
    ink = theme.palette.color(QPalette.ColorRole.Text)
    painter.setPen(QPen(ink, FRAME))
    for rect in frame_rects(mark):
        painter.drawRoundedRect(rect, 3.0, 3.0)
        for y in (rect.top(), rect.bottom()):
            painter.fillRect(QRectF(rect.left() + 2.0, y - FRAME, rect.width() - 4.0, 2 * FRAME), ink)
    painter.restore()
    if noted is not None:
        _paint_notes(painter, mark, noted, theme)
    if mark.maybe_nil and mark.pieces:
        _paint_nil_flag(painter, mark, mark.pieces[-1], theme)
