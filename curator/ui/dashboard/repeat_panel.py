"""What a step would decide in other documents, in its contexts: ticked lines that were seen are decided as one step."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from curator.domain.wording import ntr, tr
from curator.services.curating import Others, PropagationScope
from curator.ui.deciding import PropagationPanel
from curator.ui.kit import Glance, rows_in_sight

SCOPES = {
    PropagationScope.DOCUMENT: ("D  Open document", Qt.Key.Key_D),
    PropagationScope.QUEUE: ("Q  Queue as filtered", Qt.Key.Key_Q),
    PropagationScope.SINCE: ("I  Imported since", Qt.Key.Key_I),
    PropagationScope.PROJECT: ("P  Project", Qt.Key.Key_P),
}
NOWHERE = {
    PropagationScope.DOCUMENT: "No other mention of “{text}” in the open document. P searches the whole project.",
    PropagationScope.QUEUE: "No other mention of “{text}” in the filtered queue. P searches the whole project.",
    PropagationScope.SINCE: "No mention of “{text}” in documents imported since. P searches the whole project.",
    PropagationScope.PROJECT: "No other mention of “{text}” with this type in the project.",
}
ONE_UNSEEN = "{n} ticked mention was never on the screen. Look at it, or untick it; nothing was decided."
UNSEEN = "{n:,} ticked mentions were never on the screen. Go through them, or untick them; nothing was decided."


class RepeatPanel(PropagationPanel):
    """API: that of `PropagationPanel`, and `refusal`."""

    def __init__(self, parent: QWidget | None = None, *, glance: Glance) -> None:
        super().__init__(parent, glance=glance, scopes=SCOPES)
        self._glance = glance
        glance.remember(self.list.viewport(), self._lines_shown)

    def show_others(self, others: Others, names: dict[str, str] | None = None) -> None:
        super().show_others(others, names)
        self.list.set_empty_words(tr(NOWHERE[others.scope]).format(text=others.this.text))

    def refusal(self) -> str:
        """Why the ticked mentions cannot be decided yet: some were never on the screen, and the list goes to the first
        of them. '' where all were."""
        unseen = [one for one in self.ticked if self._glance.unseen([_key(one)])]
        if not unseen:
            return ""
        self.list.go_to(self.list.lines.find(unseen[0]) or 0)
        return ntr(ONE_UNSEEN, UNSEEN, len(unseen))

    def _lines_shown(self) -> list[Hashable]:
        rows = (self.list.lines.row(one) for one in rows_in_sight(self.list))
        return [_key(row.context.mention_id) for row in rows if row is not None and row.context is not None]


def _key(mention_id: int) -> Hashable:
    return "again", mention_id
