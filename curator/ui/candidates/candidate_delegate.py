"""Paints a candidate: key, name, facts, score and bar. Those with a key on two lines, the others on one.

A probability that is not calibrated on the project has a grey bar.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from curator.domain.wording import tr
from curator.ui.candidates.candidate_model import BELOW, ROW_ROLE, CandidateRow
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_painting import (
    PAD,
    draw_bar,
    draw_focus,
    draw_ground,
    draw_key,
    draw_tag,
    draw_words,
    figure,
    row_height,
    scaled,
)
from curator.ui.kit.theme import Theme, theme_of

SMALL = 0.88
ENTER = "↵"
MOST_SCORES = 0.28
"""Of a row: the share that scores and leads may take from the names."""


def key_width(font: QFont) -> float:
    """Width of the column of key caps; the NIL row beneath lines up with it."""
    return QFontMetricsF(font).horizontalAdvance("00") + 8


def score_width(font: QFont, width: float) -> float:
    """Width of the column of scores and bars in rows of this width; a narrow one has no room for the lead."""
    metrics = QFontMetricsF(font)
    wide = metrics.horizontalAdvance("−0.00 −0.00") + 8
    return wide if wide < width * MOST_SCORES else metrics.horizontalAdvance("−0.00") + 8


class CandidateDelegate(QStyledItemDelegate):
    """Rows of a `CandidateTableModel`."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        row = index.data(ROW_ROLE)
        lines = 2.0 if isinstance(row, CandidateRow) and row.keyed else 1.0
        return QSize(200, row_height(option.font, lines) - (6 if lines == 1.0 else 0))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, CandidateRow):
            return
        theme = theme_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_ground(painter, option, theme)
        if row.keyed:
            _paint_large(painter, QRectF(option.rect), row, option.font, theme)
        else:
            _paint_small(painter, QRectF(option.rect), row, option.font, theme)
        draw_focus(painter, option, theme)
        painter.restore()


def _paint_large(painter: QPainter, rect: QRectF, row: CandidateRow, font: QFont, theme: Theme) -> None:
    small, line = scaled(font, SMALL), QFontMetricsF(font).height()
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
        name.setRight(name.right() - _paint_chosen(painter, QPointF(right - PAD, top + line / 2), small, theme) - 6)
    draw_words(painter, name, row.candidate.name, font=scaled(font, 1.0, bold=True), colour=text)
    second = QRectF(left, top + line, right - PAD - left, line)
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
        place.setRight(
            place.right() - _paint_chosen(painter, QPointF(right - PAD, rect.center().y()), small, theme) - 6
        )
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


def _paint_chosen(painter: QPainter, place: QPointF, font: QFont, theme: Theme) -> float:
    return draw_tag(painter, place, tr("✓ linked"), font=font, theme=theme, state=MentionState.LINKED)
