"""*Mention > NIL mentions and new entities*: a separate window for handling NILs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QTabWidget, QWidget

from curator.domain.entities import EntityDraft
from curator.domain.wording import tr
from curator.services.ports.queue import MentionContext
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_panel import SearchPane
from curator.ui.candidates.search_rows import Search
from curator.ui.entities.entities_page import EntitiesPage
from curator.ui.entities.entity_form import EntityForm, SameNamed
from curator.ui.entities.nil_page import Contexts, NilPage
from curator.ui.kit.form import ShowDialog
from curator.ui.kit.labels import NoteLabel


class EntitiesWindow(ShowDialog):
    """Two lists in tabs; a form or a search replaces them temporarily, and nothing else is modal.

    `ask_entity(heading, …, then)` and `ask_search(text, then)` call `then` with the input, and return to the lists.
    """

    def __init__(
        self,
        *,
        contexts: Contexts,
        linked: Callable[[str], list[MentionContext]],
        same_named: SameNamed,
        search: Search,
        lookup: Lookup,
        writable: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("NIL mentions and new entities"), parent)
        self.setWindowModality(Qt.WindowModality.NonModal)
        self.nils = NilPage(contexts, writable=writable, parent=self)
        self.entities = EntitiesPage(linked, writable=writable, parent=self)
        self.form = EntityForm(same_named, self)
        self.search = SearchPane(search, lookup, self)
        self.note = NoteLabel(self)
        self.tabs = QTabWidget(self)
        self.tabs.addTab(self.nils, tr("NIL mentions"))
        self.tabs.addTab(self.entities, tr("New entities"))
        self.pages = QStackedWidget(self)
        for page in (self.tabs, self.form, self.search):
            self.pages.addWidget(page)
        self.body.addWidget(self.note)
        self.body.addWidget(self.pages, 1)
        self._then: Callable[[EntityDraft], bool] | None = None
        self._chosen: Callable[[str], bool] | None = None
        self.form.submitted.connect(self._submitted)
        self.form.link_wanted.connect(self._found)
        self.form.left.connect(self.back)
        self.search.linked.connect(self._found)
        self.search.left.connect(self.back)
        self.resize(900, 640)

    def say(self, words: str) -> None:
        """Show a sentence above the lists; '' hides it."""
        self.note.set_note(words)

    @property
    def listing(self) -> bool:
        """Whether the lists are shown."""
        return self.pages.currentWidget() is self.tabs

    def ask_entity(
        self,
        heading: str,
        draft: EntityDraft,
        *,
        types: Sequence[str],
        ok: str,
        then: Callable[[EntityDraft], bool],
        but: str = "",
        link: Callable[[str], bool] | None = None,
    ) -> None:
        """Show the form; `then` returns whether it may close, and so does `link`, which links to an existing entity
        instead."""
        self._then, self._chosen = then, link
        self.say("")
        self.pages.setCurrentWidget(self.form)
        self.form.ask(heading, draft, types=types, ok=ok, but=but, linkable=link is not None)

    def ask_search(self, text: str, *, then: Callable[[str], bool]) -> None:
        self._chosen = then
        self.say("")
        self.pages.setCurrentWidget(self.search)
        self.search.start(text)

    def back(self) -> None:
        """Return to the lists, with the keyboard focus in the current one."""
        self._then = self._chosen = None
        self.pages.setCurrentWidget(self.tabs)
        page = self.tabs.currentWidget()
        table = self.nils.table if page is self.nils else self.entities.table
        table.setFocus(Qt.FocusReason.OtherFocusReason)

    def reject(self) -> None:
        """Esc first returns to the lists."""
        if self.pages.currentWidget() is not self.tabs:
            self.back()
        else:
            super().reject()

    def done(self, result: int) -> None:
        self.search.panel.close_search()
        super().done(result)

    def _submitted(self, draft: EntityDraft) -> None:
        if self._then is not None and self._then(draft):
            self.back()

    def _found(self, entity_id: str) -> None:
        if self._chosen is not None and self._chosen(entity_id):
            self.back()
