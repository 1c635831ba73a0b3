"""The line above the text: document, split, state, and decided share."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.domain.wording import ntr, tr
from curator.services.ports.documents import QueueRow
from curator.ui.kit.row_list import draw_words, scaled
from curator.ui.kit.theme import theme_of
from curator.ui.queue.queue_delegate import draw_state_glyph
from curator.ui.queue.queue_model import SPLIT_WORDS, STATE_WORDS


class DocumentHeader(QWidget):
    """API: `show_row`. Without the title, which the text shows in full."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: QueueRow | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_row(self, row: QueueRow | None) -> None:
        self._row = row
        self.setAccessibleName(self.words)
        self.update()

    @property
    def words(self) -> str:
        row = self._row
        return (
            ""
            if row is None
            else tr(
                "{external_id}, {facts}, {decided} of {mentions} decided",
                external_id=row.external_id,
                facts=self._facts,
                decided=row.decided,
                mentions=row.mentions,
            )
        )

    @property
    def _facts(self) -> str:
        row = self._row
        if row is None:
            return ""
        noted = [tr("{n:,} skipped", n=row.skipped)] if row.skipped else []
        noted += [tr("flagged")] if row.flagged else []
        noted += [ntr("{n} comment", "{n} comments", row.comments)] if row.comments else []
        return " · ".join([tr(STATE_WORDS[row.state]), tr(SPLIT_WORDS[row.split]), *noted])

    def sizeHint(self) -> QSize:
        return QSize(200, int(QFontMetricsF(self.font()).height()) + 18)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, rect = theme_of(self.palette()), QRectF(self.rect())
        painter.fillRect(rect, self.palette().color(QPalette.ColorRole.Window))
        painter.fillRect(QRectF(rect.left(), rect.bottom() - 1, rect.width(), 1), theme.border)
        row = self._row
        if row is not None:
            text = self.palette().color(QPalette.ColorRole.WindowText)
            inner = rect.adjusted(16, 0, -16, 0)
            counts = tr("{decided}/{mentions} decided", decided=row.decided, mentions=row.mentions)
            metrics = QFontMetricsF(self.font())
            glyph = metrics.height()
            if metrics.horizontalAdvance(counts) > inner.width() - glyph - 8:  # the state and figures come first
                counts = f"{row.decided}/{row.mentions}"
            behind = inner.adjusted(glyph + 8, 0, 0, 0)
            used = draw_words(painter, behind, counts, font=self.font(), colour=text, right=True)
            draw_state_glyph(painter, QPointF(inner.left() + glyph / 2, rect.center().y()), glyph, row.state, theme)
            words = inner.adjusted(glyph + 8, 0, -used - 12, 0)
            name = draw_words(painter, words, row.external_id, font=scaled(self.font(), 1.0, bold=True), colour=text)
            facts = words.adjusted(name + 12, 0, 0, 0)
            draw_words(painter, facts, self._facts, font=self.font(), colour=theme.muted)
        painter.end()
