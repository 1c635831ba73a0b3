"""Flows about one entity: from a candidate or a record to all its uses, and to its page at its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QTextEdit, QWidget

from curator.domain.decisions import ChangeKind, Verdict
from curator.domain.entity_pages import registry_of
from curator.domain.wording import tr
from curator.settings.schema import PageOpening
from curator.ui.bench.workbench import Workbench
from curator.ui.candidates.entity_card import EntityCard
from curator.ui.deciding.mention_listing import ListingFlow
from curator.ui.entities.page_opener import PageOpener
from curator.ui.entities.uses_window import UsesWindow

NO_ENTITY = "No entity is highlighted. Highlight a candidate first, or search for one."


class UseFlows(ListingFlow[UsesWindow]):
    """*Queue > All uses of the entity*; *Tools > All uses of another entity, Page of the entity*."""

    renewing = ListingFlow.renewing | {ChangeKind.DOCUMENT_STATE, ChangeKind.SUGGESTIONS}

    def __init__(self, bench: Workbench, *, prefer: Callable[[PageOpening], None]) -> None:
        """`prefer` saves how addresses of pages are handled from now on."""
        super().__init__(bench)
        self.opener = PageOpener(prefer, self)
        self.opener.said.connect(self.say)
        panel, search = bench.candidates, bench.search
        self._offer_menu(panel.list, self._candidate_at)
        self._offer_menu(search.panel.list, self._match_at)
        for card in (panel.card, search.card):
            self._offer_menu(card, partial(_shown_in, card))
            card.offer_links()
            card.uses_wanted.connect(self.show_uses_of)
            card.page_wanted.connect(self._page_of)

    # --- which entity ---

    @property
    def entity_id(self) -> str | None:
        """The highlighted entity in the search or among the candidates; else the mention's linked entity."""
        if self._bench.searching:
            return self._bench.search.card.entity_id
        view = self._bench.navigator.mention
        linked = view.decision.verdict.entity_ids if view is not None and view.decision is not None else ()
        return self._bench.candidates.highlighted or next(iter(linked), None)

    def _candidate_at(self, place: QPoint) -> str | None:
        panel = self._bench.candidates
        row = panel.model.row(panel.list.indexAt(place).row())
        return row.candidate.entity_id if row is not None else panel.highlighted

    def _match_at(self, place: QPoint) -> str | None:
        panel = self._bench.search.panel
        match = panel.model.found(panel.list.indexAt(place).row())
        return match.entity.id if match is not None else self._bench.search.card.entity_id

    def _offer_menu(self, view: QAbstractScrollArea, entity_at: Callable[[QPoint], str | None]) -> None:
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

        def show(place: QPoint) -> None:
            entity_id = entity_at(place)
            if entity_id is not None:
                self.show_menu(entity_id, view, view.viewport().mapToGlobal(place))

        view.customContextMenuRequested.connect(show)

    def show_menu(self, entity_id: str, over: QWidget, place: QPoint) -> QMenu:
        """Show the context menu of an entity at a position on the screen."""
        menu = over.createStandardContextMenu() if isinstance(over, QTextEdit) else QMenu(over)
        menu.addSeparator()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        uses = menu.addAction(tr("All uses of the entity…"), lambda: self.show_uses_of(entity_id))
        uses.setEnabled(not self._bench.judging)
        registry = registry_of(entity_id)
        words = tr("Page in {registry}…", registry=registry) if registry else tr("Page of the entity at its source…")
        menu.addAction(words, lambda: self._page_of(entity_id))
        copy = tr("Copy {id}", id=entity_id)
        menu.addAction(copy, lambda: QGuiApplication.clipboard().setText(entity_id))
        menu.popup(place)
        return menu

    # --- its page ---

    def open_page(self) -> None:
        entity_id = self.entity_id
        if entity_id is None:
            self._bench.say(tr(NO_ENTITY))
        else:
            self._page_of(entity_id)

    def _page_of(self, entity_id: str) -> None:
        window = self._window
        over = window if window is not None and window.isActiveWindow() else self._bench.window()
        self.opener.open(entity_id, over)

    # --- its uses ---

    def show_uses(self) -> UsesWindow | None:
        """Show the uses of the highlighted entity; if there is none, ask for one."""
        entity_id = self.entity_id
        return self.find_uses() if entity_id is None else self.show_uses_of(entity_id)

    def show_uses_of(self, entity_id: str) -> UsesWindow | None:
        """Show the uses of an entity; None in a round."""
        return self.open(lambda window: window.show_entity(entity_id))

    def find_uses(self) -> UsesWindow | None:
        return self.open(lambda window: window.ask_entity())

    def make(self) -> UsesWindow:
        project = self._bench.project
        window = UsesWindow(
            project.uses.of,
            search=self._bench.search_everywhere(),
            lookup=project.knowledge.entity,
            curator=lambda: project.curation.curator,
            writable=not project.read_only,
            parent=self._bench.window(),
        )
        window.mention_wanted.connect(self.preview)
        window.open_wanted.connect(self.go)
        window.change_wanted.connect(self._change)
        window.page_wanted.connect(self._page_of)
        window.linker_wanted.connect(self._ask_linker)
        return window

    def _change(self, mention_ids: Sequence[int], to: Verdict) -> None:
        uses = self._window.uses if self._window is not None else None
        if uses is not None:
            self.settle(lambda: self._bench.project.uses.change(uses, mention_ids, to))

    def _ask_linker(self, document_ids: Sequence[int]) -> None:
        """Request suggestions in a background thread, since each document is read."""
        ids, suggestions = list(document_ids), self._bench.project.suggestions

        def ask() -> dict[str, object]:
            suggestions.request(ids, urgent=False)
            return {}

        self._bench.jobs.ask(ask, then=lambda _: None)


def _shown_in(card: EntityCard, _: QPoint) -> str | None:
    return card.entity_id
