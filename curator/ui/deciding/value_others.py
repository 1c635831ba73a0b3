"""The other mentions of a string, to give them the same value of an attribute as the current mention, in one step."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import QObject

from curator.domain.attributes import Attribute, AttributeValue
from curator.domain.wording import UserError, ntr, tr
from curator.services.curating.attributes import AttributeService
from curator.services.curating.propagation import PropagationScope, PropagationService, ValueOthers
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.kwic_list import KwicRow, TickList
from curator.ui.deciding.navigator import Navigator
from curator.ui.deciding.propagation import PanelControl, PropagationPanel

ALONE = "“{text}” does not occur anywhere else."
STEP = "{n:,} other mention is ticked. Shift+Enter sets it together with this one, Esc sets nothing."
STEPS = "{n:,} other mentions are ticked. Shift+Enter sets them together with this one in one step, Esc sets nothing."
ONE_UNSEEN = "{n} ticked mention was never on the screen. Look at it, or untick it; nothing was decided."
UNSEEN = "{n:,} ticked mentions were never on the screen. Go through them, or untick them; nothing was decided."
ONLY_THIS = "No other mention is ticked. Space ticks a line, A ticks all of them; Esc sets nothing."


class ValueList(TickList):
    """`of`: the value that its lines may get, so that lines seen for another one are not seen for it."""

    of: tuple[int, int | None] = (0, None)

    def key_of(self, row: KwicRow) -> Hashable:
        return *self.of, super().key_of(row)


class ValuePanel(PropagationPanel):
    """API: `show_values`, `ticked`, `refusal`."""

    list_class = ValueList

    def show_values(self, others: ValueOthers) -> None:
        """Show them with the initial ticks."""
        assert isinstance(self.list, ValueList)
        self.list.of = others.attribute.id, others.value.id if others.value is not None else None
        self._show(others, given_words(others))

    def refusal(self) -> str:
        """Why the ticked mentions cannot be decided yet: some were never on the screen, and the list goes to the first
        of these. '' if all were."""
        if unseen := self.list.unseen:
            self.list.go_to(unseen[0])
        return ntr(ONE_UNSEEN, UNSEEN, len(unseen)) if unseen else ""

    def _name_button(self, ticked: int) -> None:
        self.button.setText(tr("Set {ticked:,}  ⇧↵", ticked=ticked))
        words = ntr("Set the value of the ticked mention", "Set the value of the {n:,} ticked mentions", ticked)
        self.button.setAccessibleName(words)
        self.button.setEnabled(ticked > 0)


class ValueSetter(PanelControl):
    """Lists the others of a string, and gives those that are ticked a value of an attribute."""

    def __init__(
        self,
        propagation: PropagationService,
        attributes: AttributeService,
        decider: Decider,
        navigator: Navigator,
        panel: ValuePanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(decider, navigator, parent)
        self._service, self._attributes, self._panel = propagation, attributes, panel
        self.scope = PropagationScope.QUEUE
        panel.decide_wanted.connect(self._set)
        panel.scope_wanted.connect(self._rescope)
        panel.preview_wanted.connect(navigator.open)
        panel.left.connect(self.leave)
        panel.said.connect(self.said)

    def show_others(self, mention_id: int, attribute: Attribute, value: AttributeValue | None) -> None:
        """List the other mentions of the string; without any, only the mention gets the value, with a message."""
        found = self._found(mention_id, attribute, value, self.scope)
        if found is not None and not found.lines and self.scope is not PropagationScope.PROJECT:
            found = self._found(mention_id, attribute, value, PropagationScope.PROJECT)
        if found is None:
            return
        if not found.lines:
            number = value.id if value is not None else None
            if self._decider.act(lambda: self._attributes.set([mention_id], attribute.id, number)) is not None:
                self.said.emit(tr(ALONE, text=found.this.text))
            return
        self._at.open(found.this.document_id, mention_id)
        self._panel.show_values(found)
        self.shown.emit()
        ticked = len(self._panel.ticked)
        self.said.emit(ntr(STEP, STEPS, ticked) if ticked else tr(ONLY_THIS))

    def leave(self, *, back: bool = True) -> None:
        """Close the list without setting anything; with `back` return to the mention."""
        others, self._panel.others = self._panel.others, None
        if others is None:
            return
        self.hidden.emit()
        if back:
            self._at.open(others.this.document_id, others.this.mention_id)

    def _found(
        self, mention_id: int, attribute: Attribute, value: AttributeValue | None, scope: PropagationScope
    ) -> ValueOthers | None:
        try:
            return self._service.others_for_value(mention_id, attribute, value, scope=scope, where=self._at.where)
        except UserError as error:
            self.said.emit(str(error))
            return None

    def _rescope(self, scope: PropagationScope) -> None:
        others = self._panel.others
        if isinstance(others, ValueOthers):
            self.scope = scope
            found = self._found(others.this.mention_id, others.attribute, others.value, scope)
            if found is not None:
                self._panel.show_values(found)

    def _set(self) -> None:
        others, ids = self._panel.others, self._panel.ticked
        if not isinstance(others, ValueOthers):
            return
        if refusal := self._panel.refusal():
            self.said.emit(refusal)
            return
        change = self._decider.several(lambda: self._service.set_value(others, ids, self._attributes))
        if change is not None:
            self.leave()
            self.said.emit(change.text)


def given_words(others: ValueOthers) -> str:
    """“negation: negated”, or the words for clearing it."""
    if others.value is None:
        return tr("clear {attribute}", attribute=others.attribute.name)
    return f"{others.attribute.name}: {others.value.name}"
