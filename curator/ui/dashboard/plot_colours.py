"""Where a plot is drawn, and its series' colours: outcomes have those of the text, the rest what eyes tell apart."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette

from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.theme import Theme, blend

ROLES = {
    "link": MentionState.LINKED,
    "nil": MentionState.NIL,
    "rejected": MentionState.REJECTED,
    "skipped": MentionState.SKIPPED,
}
OTHERS = (MentionState.UNDECIDED, MentionState.LINKED, MentionState.NIL, MentionState.SKIPPED)
BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Ink:
    """`line` is at least 3:1 on Base, `tint` a ground for marks and bands."""

    line: QColor
    tint: QColor


@dataclass(frozen=True, slots=True)
class Canvas:
    """Where and how it is drawn. `cursor` is the place whose values are told, None for none."""

    painter: QPainter
    box: QRectF
    font: QFont
    theme: Theme
    cursor: int | None = None

    @property
    def text(self) -> QColor:
        return self.theme.palette.color(QPalette.ColorRole.Text)

    def metrics(self) -> QFontMetricsF:
        return QFontMetricsF(self.font)


def ink_of(theme: Theme, role: str, number: int) -> Ink:
    """The colour of the series `number`; the first is the accent."""
    base = theme.palette.color(QPalette.ColorRole.Base)
    if role in ROLES:
        return Ink(theme.states[ROLES[role]].line, theme.states[ROLES[role]].tint)
    if role == BEFORE:
        return Ink(theme.muted, blend(theme.muted, base, 0.25))
    if number == 0 or role:
        return Ink(theme.accent, blend(theme.accent, base, 0.2))
    state = theme.states[OTHERS[(number - 1) % len(OTHERS)]]
    return Ink(state.line, state.tint)
