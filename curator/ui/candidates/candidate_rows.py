"""The last line of the candidates: not in the knowledge base. It is always visible, even while the list above it
scrolls."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from curator.domain.suggestions import NilEstimate
from curator.domain.wording import tr
from curator.ui.candidates.candidate_delegate import ENTER, key_width, paint_opinion, score_width
from curator.ui.candidates.candidate_model import BY_MODEL
from curator.ui.kit.key_names import key_of
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_list import PAD, SMALL, draw_bar, draw_key, draw_tag, draw_words, figure, row_height, scaled
from curator.ui.kit.theme import theme_of


class NilRow(QAbstractButton):
    """A button that looks like a candidate's row. `chosen`: the mention is decided NIL."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._estimate: NilEstimate | None = None
        self._chosen = self._blind = self._opinion = False
        self._inset = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.setToolTip(tr("The knowledge base has no entity for this mention (0; or N, then a key for the reason)."))
        self.show_estimate(None)

    def show_estimate(
        self,
        estimate: NilEstimate | None,
        *,
        chosen: bool = False,
        undecided: bool = True,
        blind: bool = False,
        opinion: bool = False,
    ) -> None:
        """Show the NIL estimate, and the key Enter if NIL is suggested for an `undecided` mention. With `blind` neither
        the figure is shown nor whether NIL is suggested. `opinion`: a language model chose NIL."""
        self._estimate, self._chosen, self._blind = None if blind else estimate, chosen, blind
        self._undecided = undecided
        self._opinion = opinion and not blind
        said = f", {tr(BY_MODEL)}" if self._opinion else ""
        name = tr("N or 0: not in the knowledge base. {second_line}", second_line=self.second_line)
        self.setAccessibleName(name + said)
        self.update()

    @property
    def second_line(self) -> str:
        """Whether NIL is suggested, and how reliable that is."""
        if self._estimate is None:
            return tr("estimate hidden while candidates are shuffled") if self._blind else tr("no estimate yet")
        suggested = tr("suggested by the linker") if self._estimate.is_nil else tr("not suggested")
        return suggested if self._estimate.calibrated else tr("{suggested} · not calibrated here", suggested=suggested)

    def set_right_inset(self, pixels: int) -> None:
        """Leave space for the width of the scroll bar above, so that scores are aligned."""
        if pixels != self._inset:
            self._inset = pixels
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, row_height(self.font()))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, font = theme_of(self.palette()), self.font()
        nil = theme.states[MentionState.NIL]
        small, line, rect = scaled(font, SMALL), QFontMetricsF(font).height(), QRectF(self.rect())
        suggested = self._estimate is not None and self._estimate.is_nil
        ground = nil.tint if suggested else theme.hover if self.underMouse() else None
        painter.fillRect(rect, ground or self.palette().color(QPalette.ColorRole.Base))
        painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), theme.border)
        text = self.palette().color(QPalette.ColorRole.Text)
        keys, scores, top = key_width(font), score_width(font, rect.width() - self._inset), rect.top() + 7
        cap = QRectF(PAD, top, keys, line)
        draw_key(painter, cap, key_of("mention.nil"), font=small, theme=theme)
        if key := key_of("mention.nil_usual"):
            draw_key(painter, cap.translated(0, line + 2), key, font=small, theme=theme)
        left, right = PAD + keys + PAD, rect.right() - self._inset - PAD - scores
        name = QRectF(left, top, right - PAD - left, line)
        if self._chosen:
            place = QPointF(right - PAD, top + line / 2)
            name.setRight(
                name.right() - draw_tag(painter, place, "✓ NIL", font=small, theme=theme, state=MentionState.NIL) - 6
            )
        draw_words(painter, name, tr("Not in the knowledge base"), font=scaled(font, 1.0, bold=True), colour=text)
        second = QRectF(left, top + line, right - PAD - left, line)
        if self._opinion:
            paint_opinion(painter, second, small, theme)
        words = f"{ENTER} {self.second_line}" if suggested and self._undecided else self.second_line
        draw_words(painter, second, words, font=small, colour=text if suggested else theme.muted)
        if self._estimate is not None:
            score = self._estimate.score
            draw_words(painter, QRectF(right, top, scores, line), figure(score), font=font, colour=text, right=True)
            draw_bar(painter, QRectF(right, top + line * 1.5 - 3, scores, 6), score, colour=nil.line, theme=theme)
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(1, 2, -1, -1), 3, 3)
        painter.end()


# The line below the candidates with the number of hidden ones and the reason, which unfolds them.


class HiddenRow(QAbstractButton):
    """It has a constant height, so that nothing moves when it is empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.show_counts(below=0, others=0, unfolded=False)

    def show_counts(self, *, below: int, others: int, unfolded: bool, outside: int = 0) -> None:
        """Candidates `below` the limit, entities of types that the mention may not link to (`others`), and those
        `outside` of its branches."""
        words = hidden_words(below, others, unfolded=unfolded, outside=outside)
        if words != self.text() or self.isEnabled() != bool(words):
            self.setText(words)
            self.setAccessibleName(words or tr("No hidden candidates"))
            self.setEnabled(bool(words))
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


def hidden_words(below: int, others: int, *, unfolded: bool, outside: int = 0) -> str:
    """The words; '' if nothing is hidden."""
    more = tr("{below} more", below=below) if below else ""
    other = tr("{others} of another type", others=others) if others else ""
    apart = tr("{outside} outside the branches", outside=outside) if outside else ""
    counted = ", ".join(part for part in (more, other, apart) if part)
    if not counted:
        return ""
    return tr("Hide again: {counted}", counted=counted) if unfolded else tr("{counted}: show", counted=counted)
