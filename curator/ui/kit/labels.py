"""Small labels: one elided line, the state of a mention as a chip, a note on a tinted background; and a search
field."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QApplication, QBoxLayout, QLineEdit, QPushButton, QSizePolicy, QWidget

from curator.domain.wording import tr
from curator.ui.kit.compose import button, row
from curator.ui.kit.foreign_text import PlainLabel, tip
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_list import draw_tag, draw_words, scaled
from curator.ui.kit.theme import theme_of


class ElidedLabel(QWidget):
    """One line, cut with an ellipsis if it does not fit; its tooltip has the full text."""

    def __init__(
        self, *, scale: float = 1.0, bold: bool = False, muted: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._scale, self._bold, self._muted, self._words = scale, bold, muted, ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def words(self) -> str:
        return self._words

    def set_words(self, words: str) -> None:
        if words != self._words:
            self._words = words
            self.setAccessibleName(words)
            self.setToolTip(tip(words) if len(words) > 20 else "")
            self.update()

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        height = int(QFontMetricsF(scaled(self.font(), self._scale, bold=self._bold)).height()) + 2
        return QSize(40, height + margins.top() + margins.bottom())

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        text = self.palette().color(QPalette.ColorRole.WindowText)
        colour = theme_of(self.palette()).muted if self._muted else text
        font = scaled(self.font(), self._scale, bold=self._bold)
        draw_words(painter, QRectF(self.contentsRect()), self._words, font=font, colour=colour)
        painter.end()


class NotedLabel(ElidedLabel):
    """One line with the note background while it has text; it keeps its space while empty."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if not self._words:
            return
        painter, theme = QPainter(self), theme_of(self.palette())
        painter.fillRect(self.rect(), theme.note)
        font = scaled(self.font(), self._scale, bold=self._bold)
        draw_words(painter, QRectF(self.contentsRect()), self._words, font=font, colour=theme.note_ink)
        painter.end()


class ScaledLabel(PlainLabel):
    """A label whose font is a multiple of the interface's, including later changes."""

    def __init__(self, words: str = "", *, scale: float, bold: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(words, parent)
        self._scale, self._bold = scale, bold
        self._fit()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() is QEvent.Type.ApplicationFontChange:  # with its own size, it would miss the other changes
            self._fit()
        return done

    def _fit(self) -> None:
        self.setFont(scaled(QApplication.font(), self._scale, bold=self._bold))


class StateChip(QWidget):
    """The state of a mention as a tinted word."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state: MentionState | None = None
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_state(self, state: MentionState | None) -> None:
        self._state = state
        self.setAccessibleName(tr("State: {word}", word=state.word) if state is not None else "")
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(scaled(self.font(), 0.88))
        widest = max(metrics.horizontalAdvance(state.word) for state in MentionState)
        return QSize(int(widest) + 16, int(metrics.height()) + 6)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if self._state is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        place = QPointF(self.width() - 1.0, self.height() / 2)
        theme = theme_of(self.palette())
        draw_tag(painter, place, self._state.word, font=scaled(self.font(), 0.88), theme=theme, state=self._state)
        painter.end()


class NoteLabel(PlainLabel):
    """A sentence on the note background; hidden while empty. `framed` if it overlaps other parts."""

    def __init__(self, parent: QWidget | None = None, *, framed: bool = False) -> None:
        super().__init__(parent=parent)
        self._framed = framed
        self.setWordWrap(True)
        self.setContentsMargins(12, 6, 12, 6)
        self.hide()

    def set_note(self, note: str) -> None:
        if note != self.text():
            self.setText(note)
            self.setVisible(bool(note))

    def fit(self, widest: int) -> None:
        """Make it as wide as the sentence in one line if there is room."""
        margins = self.contentsMargins()
        words = QFontMetricsF(self.font()).boundingRect(QRectF(0, 0, 1e6, 1e6), 0, self.text()).width()
        width = min(int(words) + margins.left() + margins.right() + 4, widest)
        self.resize(width, self.heightForWidth(width))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Paint by hand: QLabel takes its colours from the application's style sheet, not the palette."""
        painter = QPainter(self)
        theme = theme_of(self.palette())
        painter.fillRect(self.rect(), theme.note)
        painter.setPen(theme.note_ink)
        if self._framed:
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.setFont(self.font())
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(self.contentsRect(), int(flags), self.text())
        painter.end()


# A non-modal line above the text with the state of the window and possible actions.


class Banner(QWidget):
    """Text on the note background with buttons on the right; hidden while empty."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.label = NoteLabel(self)
        self.label.setContentsMargins(0, 2, 0, 2)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.buttons: list[QPushButton] = []
        self._line = row()
        self._whole = row((self.label, 1), self._line, of=self, margins=(12, 6, 8, 6), spacing=8)
        self.hide()

    def add_button(self, words: str, then: Callable[[], object]) -> QPushButton:
        added = button(words, then, parent=self)
        added.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click does not change the focus
        self._line.addWidget(added)
        self.buttons.append(added)
        return added

    def say(self, words: str) -> None:
        """Show the words; '' hides the banner."""
        self.label.set_note(words)
        self.setVisible(bool(words))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the text above the buttons if there is little room next to them."""
        super().resizeEvent(event)
        narrow = 2 * self._line.sizeHint().width() > self.width()
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if way is not self._whole.direction():
            self._whole.setDirection(way)

    @property
    def words(self) -> str:
        return self.label.text()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme_of(self.palette()).note)
        painter.end()


# A search field for a window whose default button would take Enter.


class FindLine(QLineEdit):
    """A search field that keeps Enter, so that it does not close the window."""

    def __init__(self, name: str, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self.setClearButtonEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
