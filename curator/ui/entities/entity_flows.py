"""Flows for NILs: from NIL mentions to new entities, and to entities of a new knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QBoxLayout

from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.entities import EntityDraft, ProvisionalEntity
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import UserError, ntr, tr
from curator.services.curating.deciding import shown_of
from curator.services.knowledge.nil_clusters import NilCluster
from curator.services.knowledge.provisional import Made
from curator.services.knowledge.remapping import RemapKind, Remapping, RemapPlan
from curator.ui.bench.workbench import Workbench
from curator.ui.deciding.mention_listing import add_undo_key, done_words
from curator.ui.kit.form import OneWindow
from curator.ui.kit.labels import Banner

if TYPE_CHECKING:
    from curator.ui.entities.entities_window import EntitiesWindow
    from curator.ui.entities.remap_window import RemapWindow

RENEWING = {ChangeKind.DECIDED, ChangeKind.ENTITIES, ChangeKind.MENTIONS, ChangeKind.KNOWLEDGE_BASE}


class EntityFlows(QObject):
    """*Mention > NIL mentions, New entity, Knowledge-base update*, and the line that announces an update."""

    def __init__(self, bench: Workbench) -> None:
        from curator.ui.entities.entity_form import EntityForm

        super().__init__(bench)
        self._bench = bench
        self._nils, self._remap = OneWindow(self._make_window), OneWindow(self._make_remap)
        self._mention: int | None = None  # that an entity is being made for
        self._drafts: dict[int, EntityDraft] = {}  # of mentions whose form was left for something else
        self.form = EntityForm(bench.project.provisional.same_named, bench)
        bench.side.addWidget(self.form)
        self.banner = Banner(tr("Knowledge-base update"), bench)
        self.banner.add_button(tr("Review them…"), self.show_update)
        self.banner.add_button(tr("Later"), lambda: self.banner.say(""))
        layout = bench.layout()
        assert isinstance(layout, QBoxLayout)
        layout.insertWidget(layout.count() - 1, self.banner)
        self.form.submitted.connect(self._submitted)
        self.form.left.connect(self._leave)
        self.form.link_wanted.connect(self._link_instead)
        bench.side.currentChanged.connect(lambda _: self._side_changed())
        bench.reasons.entity_wanted.connect(lambda: self.make_for_mention())
        bench.search.unknown.connect(self.make_for_mention)
        bench.navigator.mention_changed.connect(self._other_mention)
        bench.bridge.changed.connect(self._changed)
        bench.bridge.stepped.connect(self._changed, Qt.ConnectionType.QueuedConnection)  # after the key's effect

    # --- an entity for the mention on show ---

    def make_for_mention(self, identifier: str = "") -> None:
        """Ask for the entity's name in a form instead of the candidates; the text stays visible. `identifier`: one that
        was searched without success. A form that was left for something else continues."""
        view = self._bench.navigator.mention
        if view is None or self._bench.project.read_only or not self._bench.decider.ready():
            return
        if self._bench.drafting and self._mention == view.mention.id:
            (self.form.focusWidget() or self.form.name).setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self._mention = view.mention.id
        expanded = view.suggestion.expanded if view.suggestion is not None else ""
        name, synonyms = (expanded, (view.mention.text,)) if expanded else (view.mention.text, ())
        new = EntityDraft(name, self._types(view.mention.type), synonyms=synonyms, id=identifier)
        kept = self._drafts.pop(self._mention, None)
        self._bench.side.setCurrentWidget(self.form)
        self.form.ask(
            tr("New entity for “{text}”", text=view.mention.text),
            kept if kept is not None and not identifier else new,
            types=self._known_types(),
            ok=tr("Create and link"),
            linkable=True,
        )

    def _leave(self) -> None:
        """Close the form without making anything."""
        self._mention = None
        self._bench.focus_document()

    def _side_changed(self) -> None:
        """Keep what was filled in when something else takes the form's place."""
        drafting = self._bench.side.currentWidget() is self.form
        if not drafting and self._mention is not None:
            self._drafts[self._mention] = self.form.draft
            self._mention = None
        self._bench.set_drafting(drafting)

    def _link_instead(self, entity_id: str) -> None:
        """Link to an existing entity with the name."""
        view = self._bench.navigator.mention
        if view is not None and view.mention.id == self._mention and self._bench.decider.ready():
            self._mention = None
            self._bench.link_found(entity_id)

    def _submitted(self, draft: EntityDraft) -> None:
        view = self._bench.navigator.mention
        if view is None or view.mention.id != self._mention:
            self._bench.focus_document()
            return
        if not self._bench.decider.saw():
            return  # the mention was scrolled away while the form was filled in; the form stays
        suggestion = view.suggestion
        seen = shown_of(suggestion, limit=len(suggestion.candidates)) if suggestion is not None else None
        shown = {view.mention.id: seen} if seen is not None else None
        try:
            draft.tidied()
        except UserError as error:
            self.form.say(str(error))
            return
        service, mention_id = self._bench.project.provisional, view.mention.id
        change = self._bench.decider.several(lambda: service.make(draft, [mention_id], shown=shown).change)
        if change is not None:
            self._mention = None  # a second press makes nothing
            self._bench.show_search(False)
        self._bench.focus_document()
        if change is not None:
            self._bench.navigator.go_on()

    def _other_mention(self) -> None:
        """Close the form, since an entity begun for one mention must not be created for another."""
        view = self._bench.navigator.mention
        if self._bench.drafting and (view is None or view.mention.id != self._mention):
            self._bench.show_search(False)

    # --- the window of NIL mentions and new entities ---

    @property
    def _window(self) -> EntitiesWindow | None:
        return self._nils.window

    def show_nils(self) -> EntitiesWindow:
        window = self._nils.show()
        window.tabs.setCurrentWidget(window.nils)
        self._renew_nils()
        self._renew_entities()
        return window

    def show_entities(self) -> EntitiesWindow:
        window = self.show_nils()
        window.tabs.setCurrentWidget(window.entities)
        return window

    def _make_window(self) -> EntitiesWindow:
        from curator.ui.entities.entities_window import EntitiesWindow  # only on demand

        project = self._bench.project
        window = EntitiesWindow(
            contexts=project.nils.contexts,
            linked=project.provisional.contexts,
            same_named=project.provisional.same_named,
            search=self._bench.search_everywhere(),
            lookup=project.knowledge.entity,
            writable=not project.read_only,
            parent=self._bench.window(),
        )
        nils, entities = window.nils, window.entities
        nils.wanted.connect(lambda _: self._renew_nils())
        nils.make_wanted.connect(self._make_of_cluster)
        nils.link_wanted.connect(self._link_cluster)
        entities.make_wanted.connect(self._make_alone)
        entities.edit_wanted.connect(self._edit)
        entities.merge_wanted.connect(self._merge)
        entities.delete_wanted.connect(self._delete)
        for page in (nils, entities):
            page.mention_wanted.connect(self._go)
        add_undo_key(window, self._bench)
        return window

    def _renew_nils(self) -> None:
        """Update the clusters in a worker thread, since every NIL mention is read."""
        window = self._window
        if window is None:
            return
        nils, decided = self._bench.project.nils, window.nils.decided.isChecked()

        def then(found: Any) -> None:
            if self._window is window and window.nils.decided.isChecked() is decided:
                window.nils.show_clusters(found)

        self._ask(lambda: nils.clusters(decided=decided), then)

    def _renew_entities(self, *, at: str = "") -> None:
        if self._window is not None:
            self._window.entities.show_entities(self._bench.project.provisional.all(), at=at)

    def _make_of_cluster(self, cluster: NilCluster, mention_ids: Sequence[int]) -> None:
        assert self._window is not None
        ids = list(mention_ids)
        mentions = ntr("{n} mention", "{n} mentions", len(ids))
        self._window.ask_entity(
            tr("New entity for {mentions}", mentions=mentions),
            EntityDraft(cluster.name, self._types(cluster.type), synonyms=cluster.synonyms),
            types=self._known_types(),
            ok=tr("Create and link"),
            then=lambda draft: self._make(draft, ids),
            link=lambda entity: self._link(entity, ids),
        )

    def _make_alone(self) -> None:
        assert self._window is not None
        self._window.ask_entity(
            tr("New entity"),
            EntityDraft(""),
            types=self._known_types(),
            ok=tr("Create"),
            then=lambda draft: self._make(draft, []),
        )

    def _make(self, draft: EntityDraft, mention_ids: Sequence[int]) -> bool:
        made: list[Made] = []

        def act() -> Change:
            made.append(self._bench.project.provisional.make(draft, mention_ids))
            return made[0].change

        return self._step(act, at=lambda: made[0].entity_id)

    def _link_cluster(self, mention_ids: Sequence[int]) -> None:
        assert self._window is not None
        ids, current = list(mention_ids), self._window.nils.table.current
        self._window.ask_search(current.name if current is not None else "", then=lambda one: self._link(one, ids))

    def _link(self, entity_id: str, mention_ids: Sequence[int]) -> bool:
        curation = self._bench.project.curation
        return self._step(lambda: curation.decide_many(mention_ids, Verdict.link(entity_id)))

    def _edit(self, found: ProvisionalEntity) -> None:
        assert self._window is not None
        service = self._bench.project.provisional
        self._window.ask_entity(
            tr("Edit the new entity {id}", id=found.id),
            found.draft,
            types=self._known_types(),
            ok=tr("Save"),
            then=lambda draft: self._step(lambda: service.edit(found.id, draft), at=lambda: found.id),
            but=found.id,
        )

    def _merge(self, found: ProvisionalEntity) -> None:
        assert self._window is not None
        service = self._bench.project.provisional
        self._window.ask_search(
            found.entity.name, then=lambda into: self._step(lambda: service.merge(found.id, into), at=lambda: into)
        )

    def _delete(self, found: ProvisionalEntity) -> None:
        """Delete at once: undo restores it with its links."""
        self._step(lambda: self._bench.project.provisional.delete(found.id))

    def _step(self, action: Callable[[], Change], *, at: Callable[[], str] = lambda: "") -> bool:
        """Do it as the window's own step; refusals are shown next to the form."""
        window = self._window
        assert window is not None
        try:
            change = action()
        except UserError as error:
            (window.form.say if window.pages.currentWidget() is window.form else window.say)(str(error))
            return False
        self._bench.decider.several(lambda: change)
        window.say(done_words(change.text))
        self._renew_nils()
        self._renew_entities(at=at())
        return True

    # --- a new version of the knowledge base ---

    def show_update(self) -> RemapWindow:
        self.banner.say("")
        window = self._remap.show()
        self._renew_plan()
        return window

    def _make_remap(self) -> RemapWindow:
        from curator.ui.entities.remap_window import RemapWindow  # only on demand

        window = RemapWindow(
            search=self._bench.search_everywhere(),
            lookup=self._bench.project.knowledge.entity,
            writable=not self._bench.project.read_only,
            parent=self._bench.window(),
        )
        window.apply_wanted.connect(self._apply)
        window.mentions_wanted.connect(self._open_first)
        add_undo_key(window, self._bench)
        return window

    def _renew_plan(self, *, tell: bool = False) -> None:
        """Update the plan in a worker thread; with `tell` the banner reports it, unless the window is open."""

        def then(plan: RemapPlan) -> None:
            if self._remap.window is not None:
                self._remap.window.show_plan(plan)
            elif tell:
                self.banner.say(banner_words(plan) if plan.lines else "")

        self._ask(self._bench.project.remapping.plan, then)

    def _apply(self, lines: Sequence[Remapping]) -> None:
        to = {one.key: one.proposed.id for one in lines if one.proposed is not None}
        self._bench.decider.several(lambda: self._bench.project.remapping.apply(lines, to=to))

    def _open_first(self, line: Remapping) -> None:
        project = self._bench.project
        ids = list(line.mention_ids)
        if line.kind is not RemapKind.NIL:
            ids = [one.mention_id for one in project.provisional.contexts(line.key)]
        document = project.queue.document_of(ids[0]) if ids else None
        if document is not None:
            self._go(document, ids[0])

    # --- inside ---

    def _changed(self, change: Change) -> None:
        if change.kind is ChangeKind.KNOWLEDGE_BASE:
            self._renew_plan(tell=True)
        elif change.kind is ChangeKind.ENTITIES and self._remap.window is not None:
            self._renew_plan()
        if change.kind in RENEWING and self._window is not None and self._window.listing:
            self._renew_nils()
            self._renew_entities()

    def _go(self, document_id: int, mention_id: int) -> None:
        """Show a mention in the main window; the keyboard focus does not move."""
        self._bench.navigator.open(document_id, mention_id)

    def _types(self, mention_type: str) -> tuple[str, ...]:
        """The initial types of a new entity for such a mention: its mapped type, if there is one, else to be ticked."""
        mapped = self._bench.project.knowledge.mapping().types_for(mention_type)
        return mapped if len(mapped) == 1 else ()

    def _known_types(self) -> tuple[str, ...]:
        info = self._bench.project.knowledge.info()
        return info.types if info is not None else ()

    def _ask(self, question: Callable[[], Any], then: Callable[[Any], None]) -> None:
        def end(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                then(outcome.result["answer"])
            elif outcome.state is not JobState.CANCELLED:
                self._bench.say(outcome.message)

        self._bench.jobs.ask(lambda: {"answer": question()}, then=end)

    def close_windows(self) -> None:
        """Close the windows with the project."""
        for window in (self._nils.window, self._remap.window):
            if window is not None:
                window.back()
                window.close()


def banner_words(plan: RemapPlan) -> str:
    mentions = ntr("{n} mention", "{n} mentions", plan.mentions)
    return tr(
        "{now}: the decisions on {mentions} refer to entities that this version removed or added. Nothing was changed.",
        now=plan.now,
        mentions=mentions,
    )
