"""Accepting in bulk, below the text: the accepted error, the sample to check one by one, its result, its control."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QScrollArea, QSpinBox, QWidget

from curator.domain.jobs import JobOutcome
from curator.domain.wording import UserError, localised, ntr, tr
from curator.services.curating.bulk import BulkOffer, BulkReport, BulkService
from curator.services.curating.bulk_plan import MOST_CHECKS, Audit, AuditState, percent_up, tally
from curator.services.ports.queue import MentionContext
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.kwic_list import CheckMark, KwicList, KwicRow, rule
from curator.ui.deciding.navigator import Navigator
from curator.ui.deciding.propagation import PanelControl
from curator.ui.jobs.jobs import Jobs
from curator.ui.jobs.jobs_bar import KeyHints
from curator.ui.kit import compose
from curator.ui.kit.compose import button, column, labelled
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.key_names import way_to
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.row_list import row_height
from curator.ui.kit.sight import Glance, rows_in_sight
from curator.ui.kit.sizing import FlowRow

# Sentences of bulk acceptance about its plan, its checks and its bound.

WAITING = "Calculating…"
NOTHING = "No undecided mention in the queue has a current suggestion of an entity."
TOO_FEW = (
    "None of the {undecided:,} undecided mentions with a suggestion can be accepted unchecked at "
    "{error:g} %: too few suggestions are confident enough, or nearly all would have to be checked. "
    "Choose a larger error, allow more checks, or decide the mentions one by one."
)
OFFER = (
    "{size:,} of {undecided:,} undecided mentions have a confident enough suggestion. Check {checks:,} "
    "of them, drawn at random. If no more than {allowed:,} are wrong, the other {rest:,} can be "
    "accepted: at most {error:g} % of them are wrong, with 95 % confidence."
)
NO_GAIN = (
    "This saves little: you check {checks:,} mentions to accept {saved:,} others. Deciding all {size:,} "
    "one by one takes about as long."
)
HELD_OUT = "Of {tried:,} validation mentions with suggestions this confident, {wrong:,} were wrong."
UNCALIBRATED = "The probabilities are not calibrated for this project, so only the sample counts."
UNSUGGESTED = "{number:,} more have no current suggestion yet."
CHECKING = "{done:,} of {checks:,} checked, {wrong:,} wrong"
DONE = "{done:,} checked, {wrong:,} wrong"
SHRUNK = (
    "Too many in the larger set were wrong. The set is now the {size:,} most confident suggestions, of "
    "which {rest:,} can be accepted. Your checks of these still count."
)
PASSED = (
    "{checks:,} checked, {wrong:,} wrong: of the other {rest:,}, at most {limit:.1f} % are wrong, with "
    "95 % confidence. Shift+Enter accepts them."
)
FAILED = (
    "{wrong:,} of {done:,} checked mentions were wrong. More than {error:g} % of the others may be "
    "wrong, so none of them is accepted. The {right:,} that you marked right are decided."
)
ACCEPTED = "Accepted {number:,} mentions in one step; {undo} undoes it."
LEFT_OUT = (
    " {number:,} were left out because their suggestion changed in the meantime. Of those accepted, at most "
    "{limit:.1f} % are wrong, with 95 % confidence."
)


def offer_words(offer: BulkOffer) -> str:
    """The suggestions that could be accepted, and the required checks."""
    error = offer.plan.error * 100
    if not offer.undecided:
        words = tr(NOTHING)
    elif not offer.plan.sets:
        words = tr(TOO_FEW, undecided=offer.undecided, error=error)
    else:
        first = offer.plan.sets[0]
        words = tr(
            OFFER,
            size=first.size,
            undecided=offer.undecided,
            checks=first.checks,
            allowed=first.allowed,
            rest=first.saved,
            error=error,
        )
        if not offer.pays:
            words = f"{tr(NO_GAIN, checks=first.checks, saved=first.saved, size=first.size)}\n{words}"
    return " ".join([words, *_remarks(offer)])


def _remarks(offer: BulkOffer) -> list[str]:
    tried, wrong = offer.plan.held_out
    remarks = [tr(UNSUGGESTED, number=offer.unsuggested)] if offer.unsuggested else []
    if not offer.plan.sets:
        return remarks
    if not offer.calibrated:
        return [*remarks, tr(UNCALIBRATED)]
    return [*remarks, tr(HELD_OUT, tried=tried, wrong=wrong)] if tried else remarks


def outcome_words(audit: Audit) -> str:
    """The result of the checked sample; '' while it is being checked."""
    found = audit.set
    right, wrong = tally(audit.marks)
    if found is None:
        return tr(FAILED, wrong=wrong, done=right + wrong, error=audit.plan.error * 100, right=right)
    if audit.state is AuditState.PASSED:
        rest = len(audit.accepted())
        return tr(PASSED, checks=found.checks, wrong=audit.wrong, rest=rest, limit=percent_up(audit.limit, 1))
    return tr(SHRUNK, size=found.size, rest=found.saved) if audit.number else ""


def audit_words(audit: Audit) -> str:
    """The progress of the checks, in a few words."""
    found = audit.set
    if found is None:
        right, wrong = tally(audit.marks)
        return tr(DONE, done=right + wrong, wrong=wrong)
    done = len(audit.sample) - len(audit.left)
    return tr(CHECKING, done=done, checks=found.checks, wrong=audit.wrong)


def chance_words(probability: float) -> str:
    """A probability in per cent, never 100 %."""
    most = 99.9
    percent = localised(min(probability * 100, most), ".1f")
    return f"> {percent} %" if probability * 100 > most else f"{percent} %"


def report_words(report: BulkReport) -> str:
    words = tr(ACCEPTED, number=report.accepted, undo=way_to("edit.undo"))
    if not report.left_out:
        return words
    return words + tr(LEFT_OUT, number=report.left_out, limit=percent_up(report.limit, 1))


SIDE = 12
"""Pixels left and right of the words."""
USUAL = (1.0, 2.0, 5.0)
HINTS = (("R", "right"), ("W", "wrong"), ("↑↓", "go"), ("Esc", "leave"))
TOO_SOON = "Not marked: this line had only just become the current one. Press the key again."
EMPTY = "Choose an acceptable error; the mentions to check are listed here."


class BulkPanel(QWidget):
    """API: `begin`, `show_offer`, `show_sample`, `show_marks`, `error`, `most_checks`."""

    wanted = Signal()  # another error, or another number of checks: a new offer
    checked = Signal(int, bool)  # mention id, whether right
    accept_wanted = Signal()
    preview_wanted = Signal(int, int)  # document id, mention id
    left = Signal()

    def __init__(self, parent: QWidget | None = None, *, glance: Glance | None = None) -> None:
        super().__init__(parent)
        self._glance = glance or Glance(None)
        self.setAccessibleName(tr("Accept in bulk"))
        self.error_box = QDoubleSpinBox(self)
        self.checks_box = QSpinBox(self)
        self.usual = [
            button(
                f"{localised(one, 'g')} %",
                partial(self.error_box.setValue, one),
                name=tr("Error of {value:g} per cent", value=one),
                parent=self,
            )
            for one in USUAL
        ]
        self.words = PlainLabel(parent=self)
        self._told = QScrollArea(self)
        self.standing = ElidedLabel(bold=True, parent=self)
        self.list = KwicList(tr("Sample to check"), self, glance=glance)
        self.button = button("", self._accept, parent=self)
        self.close_button = button(tr("Close"), self.left.emit, parent=self)
        self.hints = KeyHints(self, gives_way=True)
        self.hints.set_hints(HINTS)
        self._passed = False
        self._set_up()
        self._compose()
        self.setFocusProxy(self.list)
        self._connect()
        self._glance.log(self.list.viewport(), self._line_shown)
        self._glance.log(self.button, lambda: [("accept", self.button.text())])

    def _set_up(self) -> None:
        self.error_box.setRange(0.1, 50.0)
        self.error_box.setDecimals(1)
        self.error_box.setSuffix(" %")
        self.error_box.setValue(2.0)
        self.error_box.setAccessibleName(tr("Acceptable error, in per cent"))
        self.error_box.setKeyboardTracking(False)
        self.checks_box.setRange(20, 5000)
        self.checks_box.setSingleStep(50)
        self.checks_box.setValue(MOST_CHECKS)
        self.checks_box.setAccessibleName(tr("Maximum number of mentions to check"))
        self.checks_box.setKeyboardTracking(False)
        self.words.setWordWrap(True)
        self._told.setWidget(self.words)
        self._told.setWidgetResizable(True)
        self._told.setFrameShape(QFrame.Shape.NoFrame)
        self._told.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one in (self._told, self._told.viewport(), self.words):
            one.setBackgroundRole(QPalette.ColorRole.Base)
        self.list.set_empty_words(tr(EMPTY))

    def _compose(self) -> None:
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        error = labelled(tr("Acceptable &error:"), self.error_box, margins=(0, 0, 8, 0))
        checks = labelled(tr("&Check at most:"), self.checks_box, margins=(0, 0, 8, 0))
        head = FlowRow(error, *self.usual, checks)
        head.setContentsMargins(12, 8, 12, 2)
        told = compose.row(self._told, margins=(SIDE, 2, SIDE, 4))
        self.standing.setMinimumWidth(self.fontMetrics().horizontalAdvance("0" * 30))
        foot = FlowRow(self.button, self.close_button, self.standing, self.hints)
        foot.setContentsMargins(12, 4, 12, 6)
        self._rows = (head, foot)
        column(rule(self), head, told, (self.list, 1), foot, of=self, spacing=0)

    def _connect(self) -> None:
        self.error_box.valueChanged.connect(lambda: self.wanted.emit())
        self.checks_box.valueChanged.connect(lambda: self.wanted.emit())
        self.list.pressed.connect(self._key)
        self.list.clicked_mark.connect(self._clicked)
        self.list.previewed.connect(self.preview_wanted)
        self.list.stepped.connect(self._accept)

    def sizeHint(self) -> QSize:
        return QSize(600, 330)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_words()

    def _tell(self, words: str) -> None:
        self.words.setText(words)
        self._fit_words()

    def _fit_words(self) -> None:
        """Show the words completely if two lines of the list stay visible; else they scroll."""
        width = self.width() - 2 * SIDE
        beside = sum(one.heightForWidth(self.width()) for one in self._rows) + 2 * row_height(self.font(), 1.0)
        room = max(self.height() - beside - SIDE, 2 * self.fontMetrics().lineSpacing())
        self._told.setFixedHeight(max(min(self.words.heightForWidth(width), room), 0))

    @property
    def error(self) -> float:
        """The chosen error, 0…1."""
        return self.error_box.value() / 100

    @property
    def most_checks(self) -> int:
        return self.checks_box.value()

    def begin(self) -> None:
        """Show that an offer is being calculated."""
        self._tell(tr(WAITING))
        self.standing.set_words("")
        self.list.show_rows([])
        self._say_button(0, passed=False)

    def show_offer(self, offer: BulkOffer) -> None:
        self._tell(offer_words(offer))

    def show_sample(self, contexts: Sequence[MentionContext], audit: Audit) -> None:
        """Show the lines to check, with existing checks, at the first open one."""
        rows = [KwicRow(_said(one), one, _mark(audit, one.mention_id)) for one in contexts]
        first = next((at for at, row in enumerate(rows) if row.mark is CheckMark.OPEN), None)
        self.list.show_rows(rows, at=first)
        self.show_marks(audit)
        if first is not None:
            self.list.rest()

    def show_marks(self, audit: Audit) -> None:
        found = {self.list.lines.find(one): _mark(audit, one) for one in audit.marks}
        self.list.lines.set_marks({at: mark for at, mark in found.items() if at is not None})
        if words := outcome_words(audit):
            self._tell(words)
        self.standing.set_words(audit_words(audit))
        self._say_button(len(audit.accepted()), passed=audit.state is AuditState.PASSED)

    def go_to_open(self) -> bool:
        """Go to the next unchecked line, wrapping around; False if there is none."""
        model, at = self.list.lines, self.list.currentIndex().row()
        lines = list(model.lines)
        order = [one for one in lines if one > at] + [one for one in lines if one <= at]
        found = next((one for one in order if (row := model.row(one)) is not None and row.mark is CheckMark.OPEN), None)
        if found is not None:
            self.list.go_to(found)
        return found is not None

    def _key(self, key: int) -> None:
        row = self.list.current
        if key == Qt.Key.Key_Escape:
            self.left.emit()
        elif row is not None and row.context is not None and key in (Qt.Key.Key_R, Qt.Key.Key_W):
            if self._glance.saw(_line_key(row.context.mention_id)):
                self.checked.emit(row.context.mention_id, key == Qt.Key.Key_R)
            else:
                self.standing.set_words(tr(TOO_SOON))

    def _accept(self) -> None:
        if self._passed and self._glance.saw(("accept", self.button.text())):
            self.accept_wanted.emit()

    def _line_shown(self) -> list[Hashable]:
        """The current line, if it is visible: R and W apply to it."""
        row = self.list.current
        shown = row is not None and self.list.currentIndex().row() in rows_in_sight(self.list)
        return [_line_key(row.context.mention_id)] if shown and row is not None and row.context is not None else []

    def _clicked(self, number: int) -> None:
        row = self.list.lines.row(number)
        if row is not None and row.context is not None:
            self.checked.emit(row.context.mention_id, row.mark is not CheckMark.RIGHT)

    def _say_button(self, number: int, *, passed: bool) -> None:
        self._passed = passed
        self.button.setText(tr("Accept {number:,}  ⇧↵", number=number) if passed else tr("Accept"))
        self.button.setAccessibleName(
            ntr(
                "Accept the other mention",
                "Accept the other {n:,} mentions",
                number,
            )
            if passed
            else tr("Accept; check the sample first")
        )
        self.button.setEnabled(passed and number > 0)


def _line_key(mention_id: int) -> Hashable:
    return "line", mention_id


def _mark(audit: Audit, mention_id: int) -> CheckMark:
    right = audit.marks.get(mention_id)
    return CheckMark.OPEN if right is None else CheckMark.RIGHT if right else CheckMark.WRONG


def _said(context: MentionContext) -> str:
    head = context.head
    return f"{head.name} ({chance_words(head.probability)})" if head is not None and head.entity_id else ""


class BulkAccepter(PanelControl):
    """Calculates the offer, shows the sample, stores its checks, and accepts."""

    def __init__(
        self,
        service: BulkService,
        decider: Decider,
        navigator: Navigator,
        panel: BulkPanel,
        *,
        jobs: Jobs,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(decider, navigator, parent)
        self._service, self._panel, self._jobs = service, panel, jobs
        self._asked = 0
        self._open = False
        self._began: tuple[int, int | None] | None = None  # the document and mention at opening
        self.audit: Audit | None = None
        panel.wanted.connect(self._ask)
        panel.checked.connect(self._check)
        panel.accept_wanted.connect(self._accept)
        panel.preview_wanted.connect(navigator.open)
        panel.left.connect(self.leave)

    def open(self) -> None:
        """Show the panel with an offer for the queue's current filter."""
        if not self._open and self._at.opened is not None:
            self._began = self._at.opened.document.id, self._at.mention_id
        self._open = True
        self.shown.emit()
        self._ask()

    def leave(self, *, back: bool = True) -> None:
        """Close the panel; mentions checked as right stay decided. With `back` the text returns to its position at
        opening."""
        if self._open:
            self._open, self.audit = False, None
            self._asked += 1  # a running offer is dropped
            if back:
                self._go_back()
            self.hidden.emit()

    # --- inside ---

    def _go_back(self) -> None:
        began, self._began = self._began, None
        if began is not None:
            with suppress(UserError):  # the document was removed meanwhile
                self._at.open(*began)

    def _ask(self) -> None:
        if not self._open:
            return
        self._asked += 1
        self.audit = None
        self._panel.begin()
        where, error, most = self._at.where, self._panel.error, self._panel.most_checks

        def work() -> dict[str, BulkOffer]:
            return {"offer": self._service.offer(where, error=error, most_checks=most)}

        self._jobs.ask(work, then=partial(self._answered, self._asked))

    def _answered(self, asked: int, outcome: JobOutcome) -> None:
        if asked != self._asked:
            return
        offer: BulkOffer | None = outcome.result.get("offer")
        if offer is None:
            self.said.emit(outcome.message)
            return
        self._panel.show_offer(offer)
        if offer.plan.sets:
            self.audit = Audit(offer.plan)
            self._show_sample()

    def _show_sample(self) -> None:
        assert self.audit is not None
        self._panel.show_sample(self._service.contexts(self.audit.sample), self.audit)

    def _check(self, mention_id: int, right: bool) -> None:
        audit = self.audit
        if audit is None or audit.set is None:
            return
        number = audit.number
        try:
            change = self._service.check(audit, mention_id, right)
        except UserError as error:
            self._decider.refused.emit(str(error))
            return
        if change is not None:
            self._decider.several(lambda: change)
        if audit.number != number and audit.state is not AuditState.FAILED:
            self._show_sample()
        else:
            self._panel.show_marks(audit)
            self._panel.go_to_open()

    def _accept(self) -> None:
        audit = self.audit
        if audit is None or audit.state is not AuditState.PASSED:
            return
        try:
            report: BulkReport = self._service.accept(audit)
        except UserError as error:
            self._decider.refused.emit(str(error))
            return
        if (change := report.change) is not None:
            self._decider.several(lambda: change)
        self.leave()
        self.said.emit(report_words(report))
