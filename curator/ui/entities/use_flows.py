"""Flows about one entity: from a candidate or a record to all its uses, and to its page at its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QTextEdit, QWidget

from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.entity_pages import registry_of
from curator.domain.wording import DamagedTextError, UserError, tr
from curator.settings.choices import PageOpening
from curator.ui.bench.workbench import Workbench
from curator.ui.candidates.entity_card import EntityCard
from curator.ui.entities.entity_flows import add_undo_key, bring_up
from curator.ui.entities.page_opener import PageOpener
from curator.ui.entities.uses_window import UsesWindow
from curator.ui.kit.key_names import way_to

RENEW_MS = 500
"""Milliseconds after a change before the list is read again, together with later changes."""
RENEWING = {
    ChangeKind.DECIDED,
    ChangeKind.ENTITIES,
    ChangeKind.MENTIONS,
    ChangeKind.DOCUMENT_STATE,
    ChangeKind.SUGGESTIONS,
    ChangeKind.KNOWLEDGE_BASE,
}
JUDGING = "In a round you do not see what is decided in the project. Leave the round first."
NO_ENTITY = "No entity is highlighted. Highlight a candidate first, or search for one."
GONE = "This mention is no longer there. The list is read again."


class UseFlows(QObject):
    """*Queue > All uses of the entity*; *Tools > All uses of another entity, Page of the entity*."""

    def __init__(self, bench: Workbench, *, prefer: Callable[[PageOpening], None]) -> None:
        """`prefer` saves how addresses of pages are handled from now on."""
        super().__init__(bench)
        self._bench = bench
        self._window: UsesWindow | None = None
        self._built: UsesWindow | None = None  # the same, and the one that was closed
        self.opener = PageOpener(prefer, self)
        self.opener.said.connect(self._say)
        self._later = QTimer(self, singleShot=True, interval=RENEW_MS)
        self._later.timeout.connect(self._renew)
        bench.bridge.changed.connect(self._changed)
        bench.bridge.stepped.connect(self._changed, Qt.ConnectionType.QueuedConnection)  # after the key's effect
        bench.state_changed.connect(self._state_changed)
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

    def _say(self, words: str) -> None:
        """Show a message in the window that the curator is using."""
        if self._window is not None and self._window.isActiveWindow():
            self._window.say(words)
        else:
            self._bench.say(words)

    # --- its uses ---

    def show_uses(self) -> UsesWindow | None:
        """Show the uses of the highlighted entity; if there is none, ask for one."""
        entity_id = self.entity_id
        return self.find_uses() if entity_id is None else self.show_uses_of(entity_id)

    def show_uses_of(self, entity_id: str) -> UsesWindow | None:
        """Show the uses of an entity. None while the curator judges in a round and must not see decisions."""
        if self._bench.judging:
            self._bench.say(tr(JUDGING))
            return None
        window = self._opened(entity_id)
        window.show_entity(entity_id)
        bring_up(window)
        return window

    def prepare_window(self) -> None:
        """Build the window in advance, without showing it."""
        if self._built is None and not self._bench.judging:
            self._built = self._made("")

    def prepare_reading(self) -> None:
        """Read the uses of one entity in the background: this prepares everything for later reads."""
        if self._built is not None and self._window is None and (entity_id := self.entity_id) is not None:
            self._built.warm_up(entity_id)

    def find_uses(self) -> UsesWindow:
        window = self._opened()
        window.ask_entity()
        bring_up(window)
        return window

    def _opened(self, first: str = "") -> UsesWindow:
        if self._window is None:
            if self._built is None:
                self._built = self._made(first)
            else:
                self._built.renew(first)
            self._window = self._built
        return self._window

    def _made(self, first: str) -> UsesWindow:
        project = self._bench.project
        window = UsesWindow(
            project.uses.of,
            search=self._bench.search_everywhere(),
            lookup=project.knowledge.entity,
            curator=lambda: project.curation.curator,
            writable=not project.read_only,
            first=first,
            parent=self._bench.window(),
        )
        window.mention_wanted.connect(self._preview)
        window.open_wanted.connect(self._go)
        window.change_wanted.connect(self._change)
        window.page_wanted.connect(self._page_of)
        window.linker_wanted.connect(self._ask_linker)
        window.finished.connect(lambda _: self._window_gone())
        add_undo_key(window, self._bench, window.say)
        return window

    def _window_gone(self) -> None:
        self._window = None

    def _change(self, mention_ids: Sequence[int], to: Verdict) -> None:
        """Change uses as the window's own step; refusals are shown in it."""
        window, project = self._window, self._bench.project
        if window is None or window.uses is None:
            return
        try:
            if refusal := self._bench.many.refusal:
                raise UserError(refusal)
            change = project.uses.change(window.uses, mention_ids, to)
        except UserError as error:
            window.back()
            window.say(str(error))
            window.reload()
            return
        self._bench.decider.several(lambda: change)
        window.back()
        window.say(tr("{done}. {undo} undoes it.", done=change.text, undo=way_to("edit.undo")))
        window.reload()

    def _ask_linker(self, document_ids: Sequence[int]) -> None:
        """Request suggestions in a background thread, since each document is read."""
        ids, suggestions = list(document_ids), self._bench.project.suggestions

        def ask() -> dict[str, object]:
            suggestions.request(ids, urgent=False)
            return {}

        self._bench.jobs.ask(ask, then=lambda _: None)

    # --- the mentions ---

    def _preview(self, document_id: int, mention_id: int) -> None:
        """Show a mention in the main window; the keyboard focus does not move."""
        try:
            self._bench.navigator.open(document_id, mention_id)
        except UserError as error:
            self._say(str(error) if isinstance(error, DamagedTextError) else tr(GONE))
            self._renew()

    def _go(self, document_id: int, mention_id: int) -> None:
        self._preview(document_id, mention_id)
        self._bench.window().raise_()
        self._bench.window().activateWindow()
        self._bench.focus_document()

    # --- what changes meanwhile ---

    def _changed(self, change: Change) -> None:
        if self._window is not None and change.kind in RENEWING and not self._later.isActive():
            self._later.start()

    def _renew(self) -> None:
        if self._window is not None and self._window.worker.busy:
            self._later.start()  # what is being read would never be shown while a team works
        elif self._window is not None:
            self._window.reload()

    def _state_changed(self) -> None:
        """Close the window in a round, in which decisions must not be visible."""
        if self._bench.judging:
            self.close_windows()

    def close_windows(self) -> None:
        """Close the windows with the project."""
        self._later.stop()
        if self._window is not None:
            self._window.done(0)
        if self._built is not None:
            self._built.shut()
            self._built = None


def _shown_in(card: EntityCard, _: QPoint) -> str | None:
    return card.entity_id
