"""Deciding many at once: the panels below the text, their controllers, and when they are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from curator.domain.attributes import Attribute, AttributeValue
from curator.domain.decisions import Change, Outcome
from curator.domain.wording import tr
from curator.ui.deciding.bulk_panel import HINTS as BULK_HINTS
from curator.ui.deciding.bulk_panel import BulkAccepter, BulkPanel
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.navigator import Navigator
from curator.ui.deciding.propagation import HINTS as OTHERS_HINTS
from curator.ui.deciding.propagation import PropagationPanel, Propagator, default_verdict
from curator.ui.deciding.value_others import ValuePanel, ValueSetter
from curator.ui.jobs.jobs import Jobs
from curator.ui.kit.key_names import is_plain
from curator.ui.kit.sight import Glance

if TYPE_CHECKING:
    from curator.bootstrap import Project

ALONE = "In a round or an adjudication, mentions are decided one at a time. Leave it first."


class GroupDecider(QObject):
    """`strip` is below the text and hidden until something is shown in it; `closed` returns the keyboard focus."""

    closed = Signal()
    said = Signal(str)
    keyboard = Signal()  # a list here got or lost the focus: other keys apply
    in_sight_wanted = Signal()  # the text became lower: the current mention should stay visible

    def __init__(
        self,
        project: Project,
        decider: Decider,
        navigator: Navigator,
        jobs: Jobs,
        parent: QWidget | None = None,
        *,
        glance: Glance,
    ) -> None:
        super().__init__(parent)
        self.strip = QStackedWidget(parent)
        self.strip.hide()
        self._decider, self._navigator = decider, navigator
        self.others = PropagationPanel(self.strip, glance=glance)
        self.bulk_panel = BulkPanel(self.strip, glance=glance)
        self.value_panel = ValuePanel(self.strip, glance=glance)
        for panel in (self.others, self.bulk_panel, self.value_panel):
            self.strip.addWidget(panel)
            panel.list.keyboard.connect(self.keyboard)
        self.same = Propagator(project.propagation, decider, navigator, self.others, self)
        self.bulk = BulkAccepter(project.bulk, decider, navigator, self.bulk_panel, jobs=jobs, parent=self)
        self.values = ValueSetter(
            project.propagation, project.attributes, decider, navigator, self.value_panel, parent=self
        )
        self._alone = False
        lists = (self.same, self.others), (self.bulk, self.bulk_panel), (self.values, self.value_panel)
        for steered, panel in lists:
            steered.shown.connect(lambda one=panel: self._show(one))
            steered.hidden.connect(self._hide)
            steered.said.connect(self.said)

    def set_alone(self, alone: bool) -> None:
        """Set whether a round or an adjudication is active, in which each decision is for one mention."""
        self._alone = alone
        if alone:
            self.same.leave_undecided()
            self.values.leave(back=False)
            self.bulk.leave(back=False)  # from now on the text belongs to the round

    def press(self, act: Callable[[], Change | None]) -> None:
        """Handle a deciding key: `act` returns its change. If the setting says so, the others of the string are
        listed."""
        change = act()
        if change is not None and not self._alone and self.same.always:
            verdict = self._decider.verdict_of(change.mention_ids[0])
            if verdict is not None:
                self.same.show_others(change.mention_ids[0], verdict, silent=True)

    def list_all(self, outcome: Outcome | None = None) -> None:
        """List the current mention and the others of its string, and decide none of them. `outcome`: to give them its
        usual verdict, instead of the mention's decision or first suggestion."""
        if self._alone:
            self.said.emit(tr(ALONE))
        else:
            self.same.show_current(default_verdict(outcome) if outcome is not None else None)

    def usual(self, outcome: Outcome) -> None:
        """Decide NIL, rejected or skipped with the default reason."""
        self.press(lambda: self._decider.decide(default_verdict(outcome)))

    def accept_in_bulk(self) -> None:
        if self._alone:
            self.said.emit(tr(ALONE))
        else:
            self.same.leave_undecided()
            self.values.leave()
            self.bulk.open()

    def set_values(self, mention_id: int, attribute: Attribute, value: AttributeValue | None) -> None:
        """List the other mentions of the string, to give them a value together with this one; None clears it."""
        self.same.leave_undecided()
        self.values.show_others(mention_id, attribute, value)

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        """The keys of the list with the keyboard focus; () while the text has it."""
        lists = (
            (self.others, tr("decide"), OTHERS_HINTS),
            (self.bulk_panel, tr("accept"), BULK_HINTS),
            (self.value_panel, tr("set"), OTHERS_HINTS),
        )
        for panel, act, hints in lists:
            if panel.list.hasFocus() or (panel is self.bulk_panel and self._checking):
                return (("⇧↵", act), *hints)
        return ()

    def takes(self, event: QKeyEvent) -> bool:
        """Whether a key is for the sample of bulk acceptance, although another part of the window has the keyboard."""
        return self._checking and is_plain(event)

    def take(self, event: QKeyEvent) -> None:
        """Give the sample such a key. If the text shows another mention than its current line, the key only goes back
        to it."""
        sample = self.bulk_panel.list
        line = sample.current.context if sample.current is not None else None
        here = line is None or line.mention_id == self._navigator.mention_id or event.key() == Qt.Key.Key_Escape
        sample.setFocus(Qt.FocusReason.OtherFocusReason)
        sample.keyPressEvent(event) if here else sample.rest()
        event.accept()

    @property
    def _checking(self) -> bool:
        return self.is_open and self.strip.currentWidget() is self.bulk_panel

    @property
    def refusal(self) -> str:
        """Why several mentions cannot be decided at once now; '' if they can."""
        return tr(ALONE) if self._alone else ""

    @property
    def is_open(self) -> bool:
        return not self.strip.isHidden()

    def _show(self, panel: QWidget) -> None:
        if panel in (self.others, self.value_panel):
            self.bulk.leave(back=False)  # the curator chose another mention
        if panel is self.others:
            self.values.leave(back=False)
        self.strip.setCurrentWidget(panel)
        self.strip.show()
        panel.setFocus()
        QTimer.singleShot(0, self, self.in_sight_wanted.emit)

    def _hide(self) -> None:
        self.strip.hide()
        self.closed.emit()
