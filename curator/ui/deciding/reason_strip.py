"""The questions of the deciding keys: the reason for NIL, rejecting or skipping; a decision that is to be changed; a
document that is to be done with undecided mentions."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from curator.domain.decisions import NilReason, Outcome, RejectReason, Verdict
from curator.domain.wording import ntr, tr
from curator.ui.deciding.question_strip import QuestionStrip, StripAnswer
from curator.ui.kit.mention_state import REASON_WORDS, REASONS, Reason

QUESTIONS = {
    Outcome.NIL: "NIL, because it is",
    Outcome.REJECTED: "Rejected, because it is",
    Outcome.SKIPPED: "Skipped, because it is",
}
REPEATS = {Outcome.NIL: Qt.Key.Key_N, Outcome.REJECTED: Qt.Key.Key_X, Outcome.SKIPPED: Qt.Key.Key_S}
CHANGE = "“{text}” is decided: {old} ({curator}). Change it to {new}?"
UNDECIDED = "{n:,} mention of {all:,} is undecided. Mark the document done?"
UNDECIDED_MANY = "{n:,} mentions of {all:,} are undecided. Mark the document done?"
WHAT_IS_TAKEN = (
    "Undecided mentions are not gold: training and evaluation leave them out, an export writes them with the "
    "identifier of their file, or with none."
)


class ReasonStrip(QuestionStrip):
    """`ask(outcome)` shows the reasons: a digit chooses, Enter takes the first, Esc leaves.

    `chosen` carries the whole `Verdict`; `repeated` says that the outcome's own key was pressed again: the usual
    reason. `entity_wanted`: E was pressed for NIL, to make the entity that is missing.
    """

    chosen = Signal(object)  # Verdict
    repeated = Signal(object)  # Outcome
    entity_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._outcome: Outcome | None = None

    @property
    def outcome(self) -> Outcome | None:
        """The outcome whose reason is asked for; None while none is."""
        return self._outcome if self.asked else None

    def ask(self, outcome: Outcome) -> None:
        """Raises KeyError for an outcome without reasons."""
        answers = [self._reason(number, one) for number, one in enumerate(REASONS[outcome], start=1)]
        again = StripAnswer(REPEATS[outcome], "", "", lambda: self.repeated.emit(outcome))
        entity = StripAnswer(Qt.Key.Key_E, "E", tr("make it a new entity") + "…", self.entity_wanted.emit)
        self._outcome = outcome
        self.put(f"{tr(QUESTIONS[outcome])}:", [*answers, again, *([entity] if outcome is Outcome.NIL else [])])

    def ask_change(self, text: str, *, old: str, curator: str, new: str, then: Callable[[], None]) -> None:
        """Ask before another curator's or an imported decision is changed."""
        self._outcome = None
        question = tr(CHANGE, text=text, old=old, curator=curator, new=new)
        self.put(question, [StripAnswer(Qt.Key.Key_C, "C", tr("change it"), then, enter=True)])

    def ask_done(self, undecided: int, every: int, *, then: Callable[[Verdict | None], None]) -> None:
        """Ask what becomes of a document's undecided mentions. `then(verdict)`: the document is done, and they get the
        verdict; None leaves them undecided."""
        self._outcome = None
        leave = StripAnswer(Qt.Key.Key_L, "L", tr("leave them undecided"), lambda: then(None))
        nil = StripAnswer(Qt.Key.Key_N, "N", tr("all as NIL"), lambda: then(Verdict.nil()))
        reject = StripAnswer(Qt.Key.Key_X, "X", tr("all as rejected"), lambda: then(Verdict.reject()))
        question = ntr(UNDECIDED, UNDECIDED_MANY, undecided, all=every)
        self.put(question, [leave, nil, reject], note=tr(WHAT_IS_TAKEN))

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
