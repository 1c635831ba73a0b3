"""Paints a candidate: key, name, facts, score and bar. Those with a key on two lines, the others on one.

A probability that is not calibrated on the project has a grey bar.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from html import escape

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from curator.domain.suggestions import Candidate, Suggestion
from curator.domain.wording import language, tr
from curator.ui.candidates.candidate_model import BELOW, CandidateRow
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.record_tables import ROW_ROLE
from curator.ui.kit.row_list import (
    PAD,
    SMALL,
    draw_bar,
    draw_focus,
    draw_ground,
    draw_key,
    draw_tag,
    draw_words,
    figure,
    row_height,
    scaled,
    tag_width,
)
from curator.ui.kit.theme import Theme, theme_of

ENTER = "↵"
MOST_SCORES = 0.28
"""The greatest share of a row for scores and leads."""
LEAST_NAME, BEFORE_TAG = 6, 6
"""The least visible letters of a name next to a tag, and the pixels before the tag."""


def key_width(font: QFont) -> float:
    """Width of the column of key caps; the NIL row below aligns with it."""
    return QFontMetricsF(font).horizontalAdvance("00") + 8


def score_width(font: QFont, width: float) -> float:
    """Width of the column of scores and bars in rows of this width; narrow rows have no room for the lead."""
    metrics = QFontMetricsF(font)
    wide = metrics.horizontalAdvance("−0.00 −0.00") + 8
    return wide if wide < width * MOST_SCORES else metrics.horizontalAdvance("−0.00") + 8


KEPT = 48
"""The number of cached row pictures: those of three mentions."""
_LOOKS = QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_HasFocus


class CandidateDelegate(QStyledItemDelegate):
    """Rows of a `CandidateModel`. Pictures of rows are cached: returning to a mention, or going to a prepared one,
    only copies pictures."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._heights: dict[tuple[str, bool], int] = {}
        self._pictures: OrderedDict[Hashable, QPixmap] = OrderedDict()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        row = index.data(ROW_ROLE)
        return QSize(200, self.height(option.font, keyed=isinstance(row, CandidateRow) and row.keyed))

    def height(self, font: QFont, *, keyed: bool) -> int:
        """The height of a row, with or without a digit key."""
        look = font.key(), keyed
        if look not in self._heights:
            self._heights[look] = row_height(font, 2.0) if keyed else row_height(font, 1.0) - 6
        return self._heights[look]

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, CandidateRow):
            return
        ratio = painter.device().devicePixelRatioF()
        if ratio.is_integer():
            painter.drawPixmap(option.rect.topLeft(), self.picture(row, option, ratio))
        else:  # a picture would be blurred
            _paint_row(painter, option, row)

    def picture(self, row: CandidateRow, option: QStyleOptionViewItem, ratio: float) -> QPixmap:
        """The row's current picture, drawn if necessary."""
        size, ground = option.rect.size(), option.palette.color(QPalette.ColorRole.Base)
        state = (option.state & _LOOKS).value
        look = (row.look, size.toTuple(), option.font.key(), ground.rgba(), state, ratio, language())
        found = self._pictures.get(look)
        if found is not None:
            self._pictures.move_to_end(look)
            return found
        drawn = QPixmap(size * ratio)
        drawn.setDevicePixelRatio(ratio)
        drawn.fill(ground)
        painter = QPainter(drawn)
        place = QStyleOptionViewItem(option)
        place.rect = QRect(0, 0, size.width(), size.height())
        _paint_row(painter, place, row)
        painter.end()
        self._pictures[look] = drawn
        if len(self._pictures) > KEPT:
            self._pictures.popitem(last=False)
        return drawn


def _paint_row(painter: QPainter, option: QStyleOptionViewItem, row: CandidateRow) -> None:
    theme = theme_of(option.palette)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_ground(painter, option, theme)
    paint = _paint_large if row.keyed else _paint_small
    paint(painter, QRectF(option.rect), row, option.font, theme)
    draw_focus(painter, option, theme)
    painter.restore()


def _paint_large(painter: QPainter, rect: QRectF, row: CandidateRow, font: QFont, theme: Theme) -> None:
    small, bold, line = scaled(font, SMALL), scaled(font, 1.0, bold=True), QFontMetricsF(font).height()
    keys, scores = key_width(font), score_width(font, rect.width())
    top = rect.top() + 7
    left = rect.left() + PAD + keys + PAD
    right = rect.right() - PAD - scores
    cap = QRectF(rect.left() + PAD, top, keys, line)
    draw_key(painter, cap, str(row.rank), font=small, theme=theme)
    if row.accepted:
        draw_words(painter, cap.translated(7, line), ENTER, font=small, colour=theme.muted)
    text = theme.palette.color(QPalette.ColorRole.Text)
    name = QRectF(left, top, right - PAD - left, line)
    if row.chosen:
        _paint_chosen(painter, name, row.candidate.name, bold, tag=small, theme=theme)
    draw_words(painter, name, row.candidate.name, font=bold, colour=text)
    second = QRectF(left, top + line, right - PAD - left, line)
    if row.opinion:
        paint_opinion(painter, second, small, theme)
    facts = row.facts
    if row.matched and QFontMetricsF(small).horizontalAdvance(facts) > second.width():
        facts = row.short_facts
    draw_words(painter, second, facts, font=small, colour=theme.muted)
    if row.blind:
        return
    value = draw_words(painter, QRectF(right, top, scores, line), figure(row.value), font=font, colour=text, right=True)
    if row.margin is not None and scores > 2 * value:
        lead = f"+{figure(row.margin)}" if row.rank == 1 else figure(row.margin)
        draw_words(painter, QRectF(right, top, scores, line), lead, font=small, colour=theme.muted)
    colour = theme.accent if row.calibrated else theme.muted
    draw_bar(painter, QRectF(right, top + line * 1.5 - 3, scores, 6), row.fraction, colour=colour, theme=theme)


def _paint_small(painter: QPainter, rect: QRectF, row: CandidateRow, font: QFont, theme: Theme) -> None:
    small = scaled(font, SMALL)
    keys, scores = key_width(font), score_width(font, rect.width())
    line = QRectF(rect.left() + PAD, rect.top(), keys, rect.height())
    draw_words(painter, line.adjusted(4, 0, 0, 0), str(row.rank or "·"), font=small, colour=theme.muted)
    left, right = rect.left() + PAD + keys + PAD, rect.right() - PAD - scores
    place = QRectF(left, rect.top(), right - PAD - left, rect.height())
    if row.chosen:
        _paint_chosen(painter, place, row.candidate.name, small, tag=small, theme=theme)
    if row.opinion:
        paint_opinion(painter, place, small, theme)
    ink = theme.muted if row.reason else theme.palette.color(QPalette.ColorRole.Text)
    name = draw_words(painter, place, row.candidate.name, font=small, colour=ink)
    rest = [row.candidate.entity_id]
    if row.reason not in ("", BELOW):
        rest = [tr(row.reason), ", ".join(row.candidate.types), row.candidate.entity_id]
        place.setRight(rect.right() - PAD if not row.rank else place.right())
    words = " · ".join(part for part in rest if part)
    draw_words(painter, place.adjusted(name + PAD, 0, 0, 0), words, font=small, colour=theme.muted)
    if row.blind or not row.rank:
        return
    score = QRectF(right, rect.top(), scores, rect.height())
    draw_words(painter, score, figure(row.value), font=small, colour=theme.muted, right=True)


def _paint_chosen(painter: QPainter, place: QRectF, name: str, font: QFont, *, tag: QFont, theme: Theme) -> None:
    """Paint a tag at the end of the area, which gets shorter; the name has priority."""
    words = chosen_words(place.width(), name, font, tag=tag)
    if words:
        at = QPointF(place.right(), place.center().y())
        taken = draw_tag(painter, at, words, font=tag, theme=theme, state=MentionState.LINKED)
        place.setRight(place.right() - taken - BEFORE_TAG)


def paint_opinion(painter: QPainter, place: QRectF, font: QFont, theme: Theme) -> None:
    """Paint at the end of the area, which gets shorter, that the language model chose this candidate."""
    taken = draw_words(painter, place, tr("◆ model"), font=font, colour=theme.accent, right=True)
    place.setRight(place.right() - taken - PAD)


def chosen_words(room: float, name: str, font: QFont, *, tag: QFont) -> str:
    """The tag of a linked candidate: words next to the whole name, else a sign; '' if that leaves too little of the
    name."""
    metrics = QFontMetricsF(font)
    whole, least = metrics.horizontalAdvance(name), metrics.horizontalAdvance(name[:LEAST_NAME])
    long, short = tr("✓ linked"), "✓"
    if tag_width(long, tag) + BEFORE_TAG + whole <= room:
        return long
    return short if tag_width(short, tag) + BEFORE_TAG + least <= room else ""


# The scores of one candidate as labelled bars: its probability, its lead, and each stage's score.

NOT_CALIBRATED = "not calibrated here"
STAGES = {
    "lexical": "lexical",
    "preferred": "preferred",
    "names": "names",
    "definition": "definition",
    "memory": "memory",
    "document": "document",
    "ranker": "ranker",
}
"""The linker's own stages; a trained stage has its recipe's name."""
WIDTH = 90
"""Pixels of a full bar, for text lines USUAL_LINE pixels high."""
USUAL_LINE = 15


@dataclass(frozen=True, slots=True)
class Bar:
    """`fraction` of the bar that is filled, 0..1; `note` follows the figure."""

    label: str
    value: float
    fraction: float
    note: str = ""
    trusted: bool = True


def candidate_bars(candidate: Candidate, suggestion: Suggestion) -> list[Bar]:
    """The probability first. A stage's bar is its score as a share of 1, or of the best candidate's score if that
    exceeds 1; for a ranker, whose favourite has 0 and others less, 1 plus the score."""
    bars = []
    if any(one.probability for one in suggestion.candidates):
        calibrated = suggestion.nil.calibrated
        note = "" if calibrated else tr(NOT_CALIBRATED)
        chance = candidate.probability
        bars.append(Bar(tr("probability"), chance, _share(chance, 1.0), note, trusted=calibrated))
    for stage, value in candidate.scores.items():
        values = [one.scores.get(stage, 0.0) for one in suggestion.candidates]
        full = max(1.0, *values)
        relative = max(values) <= 0.0 and min(values) < 0.0
        bars.append(Bar(stage_words(stage), value, _share(1.0 + value, 1.0) if relative else _share(value, full)))
    return bars


def stage_words(stage: str) -> str:
    return tr(STAGES[stage]) if stage in STAGES else stage


def lead_words(candidate: Candidate, suggestion: Suggestion) -> str:
    """The lead of the first candidate over the second, or another one's distance to the first."""
    found = suggestion.candidates
    probable = any(one.probability for one in found)
    ordered = sorted(found, key=lambda one: -(one.probability if probable else one.score))
    if len(ordered) < 2:
        return ""
    own, best, second = (one.probability if probable else one.score for one in (candidate, ordered[0], ordered[1]))
    if candidate.entity_id == ordered[0].entity_id:
        return tr("{lead} ahead of {name}", lead=figure(best - second), name=ordered[1].name)
    return tr("{gap} behind {name}", gap=figure(best - own), name=ordered[0].name)


def bars_html(bars: Sequence[Bar], theme: Theme, *, larger: float = 1.0) -> str:
    """A table: label, bar, figure. The bars are cells with a background colour, `larger` times as wide as with the
    usual font size."""
    return "<table cellspacing='0' cellpadding='0'>" + "".join(_row(bar, theme, larger) for bar in bars) + "</table>"


def _row(bar: Bar, theme: Theme, larger: float) -> str:
    muted, filled = theme.muted.name(), (theme.accent if bar.trusted else theme.muted).name()
    whole = round(WIDTH * larger)
    full = round(whole * bar.fraction)
    cells = "".join(
        f"<td width='{width}' bgcolor='{colour}' style='font-size:{round(6 * larger)}px'>&nbsp;</td>"
        for width, colour in ((full, filled), (whole - full, theme.track.name()))
        if width
    )
    above = round(5 * larger)
    note = f" <span style='color:{muted}'>{escape(bar.note)}</span>" if bar.note else ""
    return (
        f"<tr><td style='padding:0 8px 1px 0; color:{muted}; white-space:nowrap'>{escape(bar.label)}</td>"
        f"<td><table cellspacing='0' cellpadding='0' style='margin-top:{above}px'><tr>{cells}</tr></table></td>"
        f"<td style='padding:0 0 1px 8px'>{figure(bar.value)}{note}</td></tr>"
    )


def _share(value: float, full: float) -> float:
    return min(max(value / full, 0.0), 1.0)
