"""The reason for NIL, rejecting or skipping, asked for in one line that covers nothing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QWidget

from curator.domain.decisions import NilReason, Outcome, RejectReason, Verdict
from curator.domain.wording import tr
from curator.ui.mention_state import REASON_WORDS, REASONS, Reason
from curator.ui.row_painting import scaled
from curator.ui.theme import theme_of

QUESTIONS = {
    Outcome.NIL: "NIL, because it is",
    Outcome.REJECTED: "Rejected, because it is",
    Outcome.SKIPPED: "Skipped, because it is",
}
REPEATS = {Outcome.NIL: Qt.Key.Key_N, Outcome.REJECTED: Qt.Key.Key_X, Outcome.SKIPPED: Qt.Key.Key_S}
SIDE = 14
"""Pixels left and right of the words."""
FITTING = (
    (True, True, 1.0),
    (False, True, 1.0),
    *((False, False, scale) for scale in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)),
)
"""Whether the hint and the question are shown, and the size of the reasons' words: from wide to narrow."""


class ReasonStrip(QWidget):
    """`ask(outcome)` shows the reasons and takes the keyboard: a digit chooses, Enter takes the first, Esc leaves.

    `chosen` carries the whole `Verdict`; `repeated` says that the outcome's own key was pressed again (the doubled
    key: all identical mentions), `entity_wanted` that E was pressed for NIL, `left` that nothing was chosen. The
    keyboard goes back to where it was.
    """

    chosen = Signal(object)  # Verdict
    repeated = Signal(object)  # Outcome
    left = Signal()
    entity_wanted = Signal()  # in place of NIL: make the entity that is missing

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Reason"))
        self._outcome: Outcome | None = None
        self._before: QWidget | None = None
        self.question = QLabel(self)
        self.buttons: list[QPushButton] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(SIDE, 6, SIDE, 6)
        self._row.setSpacing(8)
        self._row.addWidget(self.question)
        self._row.addStretch(1)
        self._hint = QLabel(tr("Esc leaves"), self)
        self._row.addWidget(self._hint)
        self.hide()

    @property
    def outcome(self) -> Outcome | None:
        """The outcome that is asked about; None while hidden."""
        return self._outcome

    def ask(self, outcome: Outcome) -> None:
        """Raises KeyError for an outcome without reasons."""
        reasons = REASONS[outcome]
        if self._outcome is None:
            self._before = QApplication.focusWidget()
        self._outcome = outcome
        self.question.setText(f"{tr(QUESTIONS[outcome])}:")
        self._set_buttons(reasons)
        self._fit()
        self.show()
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _set_buttons(self, reasons: tuple[Reason, ...]) -> None:
        for button in self.buttons:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = []
        for number, reason in enumerate(reasons, start=1):
            button = QPushButton(f"{number}  {tr(REASON_WORDS[reason])}{'  ↵' if number == 1 else ''}", self)
            button.setAccessibleName(f"{number}: {tr(REASON_WORDS[reason])}")
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.clicked.connect(lambda _=False, one=reason: self._answer(one))
            self._row.insertWidget(number, button)
            self.buttons.append(button)
        if self._outcome is Outcome.NIL:
            self._add_entity_button(len(reasons) + 1)

    def _add_entity_button(self, place: int) -> None:
        words = tr("make it a new entity")
        button = QPushButton(f"E  {words}…", self)
        button.setAccessibleName(f"E: {words}")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(self._want_entity)
        self._row.insertWidget(place, button)
        self.buttons.append(button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())  # see `_fit`: it never widens the window

    def _fit(self) -> None:
        """Where the line is narrow the hint goes first, then the question, then words get smaller: none is cut."""
        room = self.width() - 2 * SIDE - self._row.spacing() * (len(self.buttons) + 2)
        for hint, question, scale in FITTING:
            self._hint.setVisible(hint)
            self.question.setVisible(question)
            for button in self.buttons:
                button.setFont(scaled(self.font(), scale))
            shown = (*self.buttons, *(label for label in (self._hint, self.question) if not label.isHidden()))
            if sum(one.sizeHint().width() for one in shown) <= room:
                return

    def _want_entity(self) -> None:
        if self._close() is not None:
            self.left.emit()
            self.entity_wanted.emit()

    def dismiss(self) -> None:
        """Hide without an answer."""
        if self._close() is not None:
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._outcome is None:
            event.ignore()
            return
        reasons, key = REASONS[self._outcome], event.key()
        digit = key - Qt.Key.Key_1
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._answer(reasons[0])
        elif 0 <= digit < len(reasons):
            self._answer(reasons[digit])
        elif key == REPEATS[self._outcome]:
            self.repeated.emit(self._outcome)
        elif key == Qt.Key.Key_E and self._outcome is Outcome.NIL:
            self._want_entity()
        elif key == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            event.accept()  # any other key is neither an answer nor the window's: a slip decides nothing

    def event(self, event: QEvent) -> bool:
        """Keys that answer are not shortcuts of the window while the strip is asked."""
        if event.type() == QEvent.Type.ShortcutOverride and self._outcome is not None:
            event.accept()
            return True
        return super().event(event)

    def _answer(self, reason: Reason) -> None:
        if self._close() is not None:
            self.chosen.emit(_verdict(reason))

    def _close(self) -> Outcome | None:
        outcome, self._outcome = self._outcome, None
        if outcome is not None:
            self.hide()
            if self._before is not None:
                self._before.setFocus(Qt.FocusReason.OtherFocusReason)
            self._before = None
        return outcome

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground is painted: a palette of its own would not follow a change of theme under a style sheet."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme_of(self.palette()).accent_tint)
        painter.end()


def _verdict(reason: Reason) -> Verdict:
    if isinstance(reason, NilReason):
        return Verdict.nil(reason)
    return Verdict.reject(reason) if isinstance(reason, RejectReason) else Verdict.skip(reason)
