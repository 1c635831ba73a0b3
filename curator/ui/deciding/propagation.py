"""Lists the other mentions of a decided string, and decides the ticked ones in one step."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QButtonGroup, QWidget

from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.wording import UserError, localised, ntr, tr
from curator.services.curating.propagation import (
    Group,
    GroupKind,
    Line,
    Others,
    PropagationScope,
    PropagationService,
    SameString,
)
from curator.ui.deciding.decider import Decider, shown_in
from curator.ui.deciding.kwic_list import CheckMark, KwicRow, TickList, rule
from curator.ui.deciding.navigator import Navigator
from curator.ui.jobs.jobs_bar import KeyHints
from curator.ui.kit.compose import button, column
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.mention_state import verdict_words
from curator.ui.kit.sight import Glance
from curator.ui.kit.sizing import FlowRow

# The other mentions of a string, below the text: ticked if they are similar to the decided one.

SCOPES = {
    PropagationScope.DOCUMENT: ("D  Document", Qt.Key.Key_D),
    PropagationScope.QUEUE: ("Q  Queue as filtered", Qt.Key.Key_Q),
    PropagationScope.PROJECT: ("P  Project", Qt.Key.Key_P),
}
NOWHERE = {
    PropagationScope.DOCUMENT: "No other mention of “{text}” in this document. Q searches the queue, P the project.",
    PropagationScope.QUEUE: "No other mention of “{text}” in the filtered queue. P searches the whole project.",
    PropagationScope.PROJECT: "No other mention of “{text}” with this type in the project.",
}
NONE_TICKED = "Nothing is ticked. Space ticks a line, A ticks all of them, Esc closes without deciding."
TOO_SOON = "Nothing was decided: the list had only just appeared. Press the key again."
MOVE_FIRST = (
    "Nothing was decided. Shift+Enter decides the ticked mentions; Enter does so only after you have moved in the list."
)
HINTS = (("↑↓", "go"), ("Space", "tick"), ("G", "group"), ("A", "all"), ("Esc", "leave"))


class PropagationPanel(QWidget):
    """API: `show_others`, `ticked`. It takes the keyboard focus; the text and the candidates stay visible."""

    decide_wanted = Signal()
    scope_wanted = Signal(object)  # PropagationScope
    preview_wanted = Signal(int, int)  # document id, mention id
    left = Signal()
    said = Signal(str)
    list_class = TickList

    def __init__(self, parent: QWidget | None = None, *, glance: Glance | None = None) -> None:
        super().__init__(parent)
        self.others: SameString | None = None
        self.setAccessibleName(tr("Other mentions of the same string"))
        self.title = ElidedLabel(bold=True, parent=self)
        self.count = ElidedLabel(muted=True, parent=self)
        self.list = self.list_class(tr("Other mentions of the same string"), self, glance=glance)
        self.button = button("", self._decide, parent=self)
        self.close_button = button(tr("Close"), self.left.emit, parent=self)
        self.hints = KeyHints(self, gives_way=True)
        self.hints.set_hints(HINTS)
        self.scopes = QButtonGroup(self)
        self._compose()
        self.setFocusProxy(self.list)
        self.list.acted.connect(self._key)
        self.list.ticks_changed.connect(self._say)
        self.list.previewed.connect(self.preview_wanted)
        self.list.stepped.connect(self._decide)
        self.list.too_soon.connect(lambda: self.said.emit(tr(TOO_SOON)))

    def _compose(self) -> None:
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        letters = self.fontMetrics().horizontalAdvance("0")
        self.title.setMinimumWidth(20 * letters)
        self.count.setMinimumWidth(12 * letters)
        head = FlowRow(self.title)
        head.setContentsMargins(12, 8, 12, 4)
        for number, (scope, (words, _)) in enumerate(SCOPES.items()):
            then = partial(self.scope_wanted.emit, scope)
            chosen = button(tr(words), then, name=tr(words).partition("  ")[2], parent=self)
            chosen.setCheckable(True)
            chosen.setFlat(True)
            chosen.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.scopes.addButton(chosen, number)
            head.addWidget(chosen)
        foot = FlowRow(self.button, self.close_button, self.count, self.hints)
        foot.setContentsMargins(12, 4, 12, 6)
        column(rule(self), head, (self.list, 1), foot, of=self, spacing=0)

    def show_others(self, others: Others) -> None:
        """Show them with the initial ticks."""
        names = dict(zip(others.verdict.entity_ids, others.names, strict=True))
        self._show(others, verdict_words(others.verdict, names))

    def _show(self, others: SameString, given: str) -> None:
        """Show them with the words for the verdict or value (`given`)."""
        self.others = others
        with_itself = bool(others.groups) and others.groups[0].kind is GroupKind.ITSELF
        title = "Mentions of “{words}”: {verdict}" if with_itself else "Other mentions of “{words}”: {verdict}"
        self.title.set_words(tr(title, words=others.this.text, verdict=given))
        for number, scope in enumerate(SCOPES):
            self.scopes.button(number).setChecked(scope is others.scope)
        self.list.set_empty_words(tr(NOWHERE[others.scope]).format(text=others.this.text))
        self.list.show_rows([row for group in others.groups for row in _rows(group)])
        self._say()

    @property
    def ticked(self) -> list[int]:
        """Mention ids, in the order of the list."""
        return self.list.ticked_ids

    def _key(self, key: int) -> None:
        scope = next((one for one, (_, letter) in SCOPES.items() if letter == key), None)
        at = self.list.currentIndex().row()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._decide() if self.list.moved_in else self.said.emit(tr(MOVE_FIRST))
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        elif scope is not None:
            self.scope_wanted.emit(scope)
        elif at >= 0 and key == Qt.Key.Key_G:
            self.list.toggle(self.list.lines.section(at))

    def _decide(self) -> None:
        if not self.list.saw():
            return
        if self.ticked:
            self.decide_wanted.emit()
        else:
            self.said.emit(tr(NONE_TICKED))

    def _say(self) -> None:
        assert self.others is not None
        ticked, every = len(self.ticked), len(self.list.lines.lines)
        self._name_button(ticked)
        words = tr("{ticked:,} of {every:,} ticked", ticked=ticked, every=every)
        if self.others.beyond:
            words += tr("; {beyond:,} more are not shown and stay unchanged", beyond=self.others.beyond)
        self.count.set_words(words if every else "")

    def _name_button(self, ticked: int) -> None:
        self.button.setText(tr("Decide {ticked:,}  ⇧↵", ticked=ticked))
        words = ntr("Decide the ticked mention", "Decide the {n:,} ticked mentions", ticked)
        self.button.setAccessibleName(words)
        self.button.setEnabled(ticked > 0)


def _rows(group: Group) -> list[KwicRow]:
    heading = KwicRow(f"{group.title[:1].upper()}{group.title[1:]} · {localised(len(group.lines), ',')}")
    lines = [
        KwicRow(_end(line, group), line.context, CheckMark.TICKED if line.ticked else CheckMark.UNTICKED)
        for line in group.lines
    ]
    return [heading, *lines]


def _end(line: Line, group: Group) -> str:
    """Why a line is not ticked, if its group does not state it; else its suggestion."""
    if line.why and line.why != group.title:
        return line.why
    head = line.context.head
    return "" if head is None else "NIL" if head.is_nil or not head.entity_id else head.name


NONE = "“{text}” does not occur anywhere else."
STEP = "{n:,} mention of “{text}” is ticked. Shift+Enter decides it, Esc leaves it as it is."
STEPS = "{n:,} mentions of “{text}” are ticked. Shift+Enter decides them in one step, Esc leaves them as they are."
USUAL = {Outcome.NIL: Verdict.nil(), Outcome.REJECTED: Verdict.reject(), Outcome.SKIPPED: Verdict.skip()}


class PanelControl(QObject):
    """Steers a panel below the text. `shown` and `hidden` are emitted when it is needed and when it is finished."""

    shown = Signal()
    hidden = Signal()
    said = Signal(str)

    def __init__(self, decider: Decider, navigator: Navigator, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._decider, self._at = decider, navigator


class Propagator(PanelControl):
    """Lists the others of a string, and decides those that are ticked."""

    def __init__(
        self,
        service: PropagationService,
        decider: Decider,
        navigator: Navigator,
        panel: PropagationPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(decider, navigator, parent)
        self._service, self._panel = service, panel
        self.scope = PropagationScope.QUEUE
        self.always = False  # whether every decision lists the others automatically
        self._shown: Shown | None = None  # what was shown for the mention when its list was opened
        panel.decide_wanted.connect(self._decide)
        panel.scope_wanted.connect(self._rescope)
        panel.preview_wanted.connect(navigator.open)
        panel.left.connect(self.leave_undecided)
        panel.said.connect(self.said)

    def show_current(self, verdict: Verdict | None = None) -> None:
        """List the current mention, if it does not have the verdict, and the others of its string; decide nothing. None
        means its decision, or else the first suggestion."""
        view = self._at.mention
        if view is None:
            return
        seen: tuple[Hashable, ...] = ()
        if verdict is None and view.decision is not None:
            verdict = view.decision.verdict
        elif verdict is None:
            first = self._decider.suggested()
            verdict, seen = (first[0], first[1:]) if first is not None else (None, ())
        if verdict is not None and self._decider.ready(*seen):
            self._shown = shown_in(view)
            self.show_others(view.mention.id, verdict)

    def show_others(self, mention_id: int, verdict: Verdict, *, silent: bool = False) -> None:
        """List a mention, if it does not have the verdict, and the others of its string. If there are none, a message
        is shown, unless `silent`."""
        try:
            found = self._found(mention_id, verdict, self.scope)
            if not found.groups or found.groups[-1].kind is GroupKind.ITSELF:
                wider = self._found(mention_id, verdict, PropagationScope.PROJECT)
                found = wider if len(wider.lines) > len(found.lines) else found
        except UserError as error:
            self.said.emit(str(error))
            return
        open_ones = any(group.kind < GroupKind.DECIDED_ALIKE for group in found.groups)
        if silent and not open_ones:
            return
        if not found.lines:
            self.said.emit(tr(NONE, text=found.this.text))
            return
        self._at.open(found.this.document_id, mention_id)
        self._panel.show_others(found)
        self.shown.emit()
        if ticked := len(self._panel.ticked):
            self.said.emit(ntr(STEP, STEPS, ticked, text=found.this.text))

    def _found(self, mention_id: int, verdict: Verdict, scope: PropagationScope) -> Others:
        return self._service.others(mention_id, verdict, scope=scope, where=self._at.where, with_itself=True)

    def leave(self) -> None:
        """Close the panel and return to deciding: at the mention, or the next if it is decided."""
        if (others := self._panel.others) is None:
            return
        self._panel.others = None
        self.hidden.emit()
        self._at.open(others.this.document_id, others.this.mention_id)
        if self._at.mention is not None and self._at.mention.decision is not None:
            self._at.go_on()

    def leave_undecided(self) -> None:
        """Hide the panel with its messages."""
        if self._panel.others is not None:
            self.said.emit("")
        self.leave()

    # --- inside ---

    def _decide(self) -> None:
        others, ids, shown = self._panel.others, self._panel.ticked, self._shown
        if isinstance(others, Others):
            change = self._decider.several(lambda: self._service.decide(others, ids, shown_of_itself=shown))
            if change is not None:
                self.leave()

    def _rescope(self, scope: PropagationScope) -> None:
        others = self._panel.others
        if not isinstance(others, Others):
            return
        self.scope = scope
        try:
            found = self._found(others.this.mention_id, others.verdict, scope)
        except UserError as error:
            self.said.emit(str(error))
            return
        self._panel.show_others(found)


def default_verdict(outcome: Outcome) -> Verdict:
    """The verdict with the default reason, as given by Enter."""
    return USUAL[outcome]
