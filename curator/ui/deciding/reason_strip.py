"""The questions of the deciding keys: the reason for NIL, rejecting or skipping; changing a decision; marking a
document with undecided mentions as done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QWidget

from curator.domain.decisions import NilReason, Outcome, RejectReason, Verdict
from curator.domain.wording import ntr, tr
from curator.ui.kit.compose import column, row
from curator.ui.kit.form import sentence
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.mention_state import REASON_WORDS, REASONS, Reason
from curator.ui.kit.row_list import scaled
from curator.ui.kit.theme import theme_of

# A question in one line at the bottom that covers nothing: each answer has a key and a button.

SIDE = 14
"""Pixels left and right of the words."""
SCALES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
"""Font scales of the question and the answers, from wide to narrow."""
LEAST = 0.7
"""The scale at which a question too long for every scale is cut."""
ENTERS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True, slots=True)
class StripAnswer:
    """`cap` is the key shown on the button, '' for none. `enter`: Enter gives this answer too."""

    key: Qt.Key
    cap: str
    words: str
    then: Callable[[], None]
    enter: bool = False


class QuestionStrip(QWidget):
    """`put` asks and takes the keyboard focus; a key or a click answers, Esc cancels (`left`).

    All other keys are ignored, so that a slip decides nothing. After the answer the focus returns to where it was.
    """

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._answers: tuple[StripAnswer, ...] = ()
        self._asked = False
        self._before: QWidget | None = None
        self.question = ElidedLabel(parent=self)
        self.buttons: list[QPushButton] = []
        self.hint = ElidedLabel(parent=self)
        self.hint.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # hidden first if narrow
        self.note = sentence("")
        self.note.hide()
        self._row = row((self.question, 4), (self.hint, 1), spacing=8)
        column(self._row, self.note, of=self, margins=(SIDE, 6, SIDE, 6), spacing=4)
        self.hide()

    @property
    def asked(self) -> bool:
        """Whether it waits for an answer."""
        return self._asked

    def put(self, question: str, answers: Sequence[StripAnswer], *, note: str = "") -> None:
        """Ask. `note` is information needed for the answer; it is shown completely, below the question."""
        if not self._asked:
            self._before = QApplication.focusWidget()
        self._asked, self._answers = True, tuple(answers)
        self.question.set_words(question)
        self.setAccessibleName(question)
        self.setAccessibleDescription(note)
        self.hint.set_words(tr("Esc cancels"))
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self._set_buttons()
        self._fit()
        self.show()
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def dismiss(self) -> None:
        """Hide without an answer."""
        if self._close():
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._asked:
            event.ignore()
        elif event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            answer = self._answer_to(Qt.Key(event.key()))
            if answer is not None:
                self.give(answer)
            event.accept()

    def event(self, event: QEvent) -> bool:
        """Keys that answer are not shortcuts of the window while the strip asks."""
        if event.type() == QEvent.Type.ShortcutOverride and self._asked:
            event.accept()
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()
        elif event.type() == QEvent.Type.StyleChange:  # after other colours the buttons take their usual size
            QTimer.singleShot(0, self, self._fit)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())  # see `_fit`: it never widens the window

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground is painted: its own palette would not follow a change of theme with a style sheet."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme_of(self.palette()).accent_tint)
        painter.end()

    # --- inside ---

    def give(self, answer: StripAnswer) -> None:
        """Close, then perform the answer."""
        if self._close():
            self.left.emit()
            answer.then()

    def _answer_to(self, key: Qt.Key) -> StripAnswer | None:
        return next((one for one in self._answers if one.key == key or (one.enter and key in ENTERS)), None)

    def _set_buttons(self) -> None:
        for button in self.buttons:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        shown = [one for one in self._answers if one.words]
        self.buttons = [self._button(one) for one in shown]
        for place, button in enumerate(self.buttons, start=1):
            self._row.insertWidget(place, button)

    def _button(self, answer: StripAnswer) -> QPushButton:
        cap = f"{answer.cap}  " if answer.cap else ""
        button = QPushButton(f"{cap}{answer.words}{'  ↵' if answer.enter else ''}".replace("&", "&&"), self)
        button.setAccessibleName(f"{answer.cap}: {answer.words}" if answer.cap else answer.words)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda: self.give(answer))
        return button

    def _close(self) -> bool:
        asked, self._asked = self._asked, False
        if asked:
            self.hide()
            self.note.hide()  # the line is as tall as its tallest page
            for one in (self.question, self.hint, self.note):
                one.setFont(QFont())  # as large as the interface's font again
            if self._before is not None:
                self._before.setFocus(Qt.FocusReason.OtherFocusReason)
            self._before = None
        return asked

    def _fit(self) -> None:
        """Fit into a narrow line: first the hint is hidden, then all words get smaller, then the question is cut."""
        if not self._asked:
            return
        room = self.width() - 2 * SIDE - self._row.spacing() * (len(self.buttons) + 1)
        sizes = [(scale, *self._widths(scale)) for scale in SCALES]
        whole = (one for one in sizes if one[1] + one[2] <= room)
        cut = (one for one in reversed(sizes[: SCALES.index(LEAST) + 1]) if one[2] <= room)
        scale, question, answers = next(whole, None) or next(cut, sizes[-1])
        self._widths(scale)
        self.question.setFixedWidth(max(min(question, room - answers), 0))
        least = self.hint.fontMetrics().horizontalAdvance(self.hint.words) + self._row.spacing() + 4
        self.hint.setVisible(room - answers - question >= least)
        self.note.setFixedHeight(max(self.note.heightForWidth(max(self.width() - 2 * SIDE, 0)), 0))

    def _widths(self, scale: float) -> tuple[int, int]:
        """The widths of the question and of the answers at this scale, which is applied."""
        for one in (self.question, self.hint, self.note, *self.buttons):
            one.setFont(scaled(self.font(), scale) if scale < 1 else QFont())
        question = self.question.fontMetrics().horizontalAdvance(self.question.words) + 4
        return question, sum(one.sizeHint().width() for one in self.buttons)


QUESTIONS = {
    Outcome.NIL: "Reason for NIL",
    Outcome.REJECTED: "Reason for rejecting",
    Outcome.SKIPPED: "Reason for skipping",
}
REPEATS = {Outcome.NIL: Qt.Key.Key_N, Outcome.REJECTED: Qt.Key.Key_X, Outcome.SKIPPED: Qt.Key.Key_S}
CHANGE = "“{text}” is decided: {old} ({curator}). Change it to {new}?"
UNDECIDED = "{n:,} of {all:,} mentions is undecided{skipped}. Mark the document done?"
UNDECIDED_MANY = "{n:,} of {all:,} mentions are undecided{skipped}. Mark the document done?"
SKIPPED = "{n:,} of {all:,} mentions is skipped. Mark the document done?"
SKIPPED_MANY = "{n:,} of {all:,} mentions are skipped. Mark the document done?"
WHAT_IS_TAKEN = (
    "Undecided and skipped mentions are not gold: training and evaluation ignore them, and an export keeps the "
    "identifier from their file, if there is one."
)


class ReasonStrip(QuestionStrip):
    """`ask(outcome)` shows the reasons: a digit chooses, Enter chooses the first, Esc cancels.

    `chosen` carries the whole `Verdict`; `repeated`: the outcome's key was pressed again, for the default reason.
    `entity_wanted`: E was pressed for NIL, to create the missing entity.
    """

    chosen = Signal(object)  # Verdict
    repeated = Signal(object)  # Outcome
    entity_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._outcome: Outcome | None = None

    @property
    def outcome(self) -> Outcome | None:
        """The outcome whose reason is requested; None if none is."""
        return self._outcome if self.asked else None

    def ask(self, outcome: Outcome) -> None:
        """Ask for the reason. Raises KeyError for an outcome without reasons."""
        answers = [self._reason(number, one) for number, one in enumerate(REASONS[outcome], start=1)]
        again = StripAnswer(REPEATS[outcome], "", "", lambda: self.repeated.emit(outcome))
        entity = StripAnswer(Qt.Key.Key_E, "E", tr("create a new entity") + "…", self.entity_wanted.emit)
        self._outcome = outcome
        self.put(f"{tr(QUESTIONS[outcome])}:", [*answers, again, *([entity] if outcome is Outcome.NIL else [])])

    def ask_change(self, text: str, *, old: str, curator: str, new: str, then: Callable[[], None]) -> None:
        """Ask before another curator's or an imported decision is changed."""
        self._outcome = None
        question = tr(CHANGE, text=text, old=old, curator=curator, new=new)
        self.put(question, [StripAnswer(Qt.Key.Key_C, "C", tr("change it"), then, enter=True)])

    def ask_done(self, undecided: int, every: int, *, then: Callable[[Verdict | None], None], skipped: int = 0) -> None:
        """Ask what to do with a document's undecided mentions; skipped ones are left as they are. `then(verdict)`: mark
        the document as done and give the undecided ones the verdict; None leaves them undecided."""
        self._outcome = None
        if not undecided:
            question = ntr(SKIPPED, SKIPPED_MANY, skipped, all=every)
            leave = StripAnswer(Qt.Key.Key_L, "L", tr("leave them skipped"), lambda: then(None))
            self.put(question, [leave], note=tr(WHAT_IS_TAKEN))
            return
        leave = StripAnswer(Qt.Key.Key_L, "L", tr("leave them undecided"), lambda: then(None))
        nil = StripAnswer(Qt.Key.Key_N, "N", tr("all as NIL"), lambda: then(Verdict.nil()))
        reject = StripAnswer(Qt.Key.Key_X, "X", tr("all as rejected"), lambda: then(Verdict.reject()))
        others = tr(", {n:,} skipped", n=skipped) if skipped else ""
        question = ntr(UNDECIDED, UNDECIDED_MANY, undecided, all=every, skipped=others)
        self.put(question, [leave, nil, reject], note=tr(WHAT_IS_TAKEN))

    def ask_other(self, question: str, answers: Sequence[StripAnswer]) -> None:
        """Ask a question other than a reason, such as the value of an attribute."""
        self._outcome = None
        self.put(question, answers)

    def _reason(self, number: int, reason: Reason) -> StripAnswer:
        key = Qt.Key(Qt.Key.Key_0 + number)
        verdict = _verdict(reason)
        return StripAnswer(
            key, str(number), tr(REASON_WORDS[reason]), lambda: self.chosen.emit(verdict), enter=number == 1
        )


def _verdict(reason: Reason) -> Verdict:
    if isinstance(reason, NilReason):
        return Verdict.nil(reason)
    return Verdict.reject(reason) if isinstance(reason, RejectReason) else Verdict.skip(reason)
