"""The reason for NIL, rejecting or skipping, asked for in one line that covers nothing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from curator.domain.decisions import NilReason, Outcome, RejectReason, Verdict
from curator.domain.wording import tr
from curator.ui.mention_state import REASON_WORDS, REASONS, Reason
from curator.ui.theme import theme_of

QUESTIONS = {
    Outcome.NIL: "NIL, because it is",
    Outcome.REJECTED: "Rejected, because it is",
    Outcome.SKIPPED: "Skipped, because it is",
}
REPEATS = {Outcome.NIL: Qt.Key.Key_N, Outcome.REJECTED: Qt.Key.Key_X, Outcome.SKIPPED: Qt.Key.Key_S}


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
        self.setAutoFillBackground(True)
        self.setAccessibleName(tr("Reason"))
        self._outcome: Outcome | None = None
        self._before: QWidget | None = None
        self.question = QLabel(self)
        self.buttons: list[QPushButton] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(14, 6, 14, 6)
        self._row.setSpacing(8)
        self._row.addWidget(self.question)
        hint = QLabel(tr("Esc leaves"), self)
        hint.setSizePolicy(
            QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred
        )  # the first to go where it is narrow
        hint.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(hint, 1)
        self._colour()
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

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.ApplicationPaletteChange:
            self._colour()

    def _colour(self) -> None:
        palette = QPalette(QApplication.palette())
        palette.setColor(QPalette.ColorRole.Window, theme_of(palette).accent_tint)
        self.setPalette(palette)


def _verdict(reason: Reason) -> Verdict:
    if isinstance(reason, NilReason):
        return Verdict.nil(reason)
    return Verdict.reject(reason) if isinstance(reason, RejectReason) else Verdict.skip(reason)
