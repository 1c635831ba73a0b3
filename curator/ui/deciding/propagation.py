"""Lists the other mentions of a string that was decided, and decides the ticked ones in one step."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from curator.domain.decisions import Outcome, Verdict
from curator.domain.errors import UserError
from curator.domain.wording import ntr, tr
from curator.services.curating.propagation import PropagationScope, PropagationService
from curator.services.curating.propagation_groups import GroupKind
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.navigator import Navigator
from curator.ui.deciding.propagation_panel import PropagationPanel

NONE = "“{text}” stands nowhere else."
STEP = "{n:,} other mention of “{text}” is ticked. Shift+Enter decides it, Esc leaves it."
STEPS = "{n:,} other mentions of “{text}” are ticked. Shift+Enter decides them in one step, Esc leaves them."
UNDECIDED = "Decide this mention first; then its other mentions are listed."
USUAL = {Outcome.NIL: Verdict.nil(), Outcome.REJECTED: Verdict.reject(), Outcome.SKIPPED: Verdict.skip()}


class Propagator(QObject):
    """Steers the panel. `shown` and `hidden` say when the panel is wanted and when it has done its work."""

    shown = Signal()
    hidden = Signal()
    said = Signal(str)

    def __init__(
        self,
        service: PropagationService,
        decider: Decider,
        navigator: Navigator,
        panel: PropagationPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._decider = decider
        self._at = navigator
        self._panel = panel
        self.scope = PropagationScope.QUEUE
        self.always = False  # whether every decision lists the others by itself
        panel.decide_wanted.connect(self._decide)
        panel.scope_wanted.connect(self._rescope)
        panel.preview_wanted.connect(navigator.open)
        panel.left.connect(self.leave)
        panel.said.connect(self.said)

    def show_of_current(self) -> None:
        """Shift+Enter: an undecided mention is decided first."""
        view = self._at.mention
        if view is None:
            return
        if view.decision is not None and view.decision.verdict.outcome is not Outcome.CLEARED:
            self.show_others(view.mention.id)
        elif (change := self._decider.choose(0)) is not None:
            self.show_others(change.mention_ids[0])

    def show_others(self, mention_id: int, *, silent: bool = False) -> None:
        """List the other mentions of a decided one. Where there are none it is said, or with `silent` nothing is."""
        verdict = self._decider.verdict_of(mention_id)
        if verdict is None:
            self.said.emit(tr(UNDECIDED))
            return
        try:
            found = self._service.others(mention_id, verdict, scope=self.scope, where=self._at.where)
            if not found.lines and self.scope is not PropagationScope.PROJECT:
                wider = self._service.others(mention_id, verdict, scope=PropagationScope.PROJECT)
                found = found if wider.lines else wider
        except UserError as error:
            self.said.emit(str(error))
            return
        open_ones = any(group.kind < GroupKind.DECIDED_ALIKE for group in found.groups)
        if silent and not open_ones:
            return
        if not found.lines and found.scope is PropagationScope.PROJECT:
            self.said.emit(tr(NONE, text=found.this.text))
            return
        self._at.open(found.this.document_id, mention_id)
        self._panel.show_others(found)
        self.shown.emit()
        if ticked := len(self._panel.ticked):
            self.said.emit(ntr(STEP, STEPS, ticked, text=found.this.text))

    def leave(self) -> None:
        """Back to where deciding goes on, without deciding anything more."""
        if (others := self._panel.others) is None:
            return
        self._panel.others = None
        self.hidden.emit()
        self._at.open(others.this.document_id, others.this.mention_id)
        self._at.go_on()

    # --- inside ---

    def _decide(self) -> None:
        others, ids = self._panel.others, self._panel.ticked
        if others is not None and self._decider.several(lambda: self._service.decide(others, ids)) is not None:
            self.leave()

    def _rescope(self, scope: PropagationScope) -> None:
        others = self._panel.others
        if others is None:
            return
        self.scope = scope
        try:
            found = self._service.others(others.this.mention_id, others.verdict, scope=scope, where=self._at.where)
        except UserError as error:
            self.said.emit(str(error))
            return
        self._panel.show_others(found)


def default_verdict(outcome: Outcome) -> Verdict:
    """With the usual reason, as Enter gives it."""
    return USUAL[outcome]
