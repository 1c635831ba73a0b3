"""The line below the candidates that says how many more there are and why, and unfolds them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from curator.domain.wording import tr
from curator.ui.candidates.candidate_delegate import SMALL, key_width
from curator.ui.kit.key_names import key_of
from curator.ui.kit.row_painting import PAD, draw_key, draw_words, scaled
from curator.ui.kit.theme import theme_of


class HiddenRow(QAbstractButton):
    """Always of one height, so that nothing moves when it has nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.show_counts(below=0, others=0, unfolded=False)

    def show_counts(self, *, below: int, others: int, unfolded: bool) -> None:
        """Candidates `below` the limit, and entities of `others` types than the mention may link to."""
        words = hidden_words(below, others, unfolded=unfolded)
        if words != self.text() or self.isEnabled() != bool(below or others):
            self.setText(words)
            self.setAccessibleName(words or tr("No hidden candidates"))
            self.setEnabled(bool(below or others))
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, int(QFontMetricsF(scaled(self.font(), SMALL)).height()) + 10)

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, small, rect = theme_of(self.palette()), scaled(self.font(), SMALL), QRectF(self.rect())
        ground = (
            theme.hover if self.underMouse() and self.isEnabled() else self.palette().color(QPalette.ColorRole.Base)
        )
        painter.fillRect(rect, ground)
        keys = key_width(self.font())
        if self.text():  # a line over nothing would look like an empty row
            painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), theme.border)
        if self.text() and (key := key_of("mention.hidden")):
            draw_key(painter, QRectF(PAD, 4, keys, rect.height() - 7), key, font=small, theme=theme)
        left = PAD + keys + PAD
        place = QRectF(left, 0, rect.width() - left - PAD, rect.height())
        draw_words(painter, place, self.text(), font=small, colour=theme.muted)
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 3, 3)
        painter.end()


def hidden_words(below: int, others: int, *, unfolded: bool) -> str:
    """'' where nothing is hidden."""
    more = tr("{below} more", below=below) if below else ""
    other = tr("{others} of another type", others=others) if others else ""
    counted = ", ".join(part for part in (more, other) if part)
    if not counted:
        return ""
    return tr("Hide again: {counted}", counted=counted) if unfolded else tr("{counted}: show", counted=counted)
