"""Controls bulk acceptance: calculates an offer in a background thread, records the checks, accepts."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, Signal

from curator.domain.jobs import JobOutcome
from curator.domain.wording import UserError
from curator.services.curating.bulk import BulkOffer, BulkReport, BulkService
from curator.services.curating.bulk_plan import Audit, AuditState
from curator.ui.deciding.bulk_panel import BulkPanel, report_words
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.navigator import Navigator
from curator.ui.jobs.jobs import Jobs


class BulkAccepter(QObject):
    """`shown` and `hidden` are emitted when the panel is needed and when it is finished."""

    shown = Signal()
    hidden = Signal()
    said = Signal(str)

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
        super().__init__(parent)
        self._service = service
        self._decider = decider
        self._at = navigator
        self._panel = panel
        self._jobs = jobs
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
