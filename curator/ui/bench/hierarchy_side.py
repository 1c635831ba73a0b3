"""The hierarchy of the knowledge base, a tree shown instead of the candidates. Created when first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from curator.domain.decisions import Change, ChangeKind
from curator.domain.entities import Entity, EntityMatch
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import ntr, tr
from curator.ui.candidates.tree_pane import TreePane
from curator.ui.kit.key_names import way_to
from curator.ui.kit.messages import choose
from curator.ui.kit.sight import Sight

if TYPE_CHECKING:
    from curator.ui.bench.workbench import Workbench

RESTRICTED = "Candidates and search for mentions of the type {type} are restricted to: {names}."
UNRESTRICTED = "Candidates and search for mentions of the type {type} are not restricted."
RESTRICT = "Restrict mentions of the type {type} to “{name}” and what is below it? Their suggestions are made again."
RESTRICTED_ALL = "Candidates and search in the whole project are restricted to: {names}."
UNRESTRICTED_ALL = "Candidates and search in the whole project are not restricted."
RESTRICT_ALL = (
    "Restrict the whole project to “{name}” and what is below it? Suggestions are made again. Types with branches of "
    "their own keep them."
)
NAMED = 5
"""The most branches listed in the question; there may be hundreds."""
ALONE = "No entity is below it."
NO_ENTITY = "No entity is highlighted. Search for one ({search}), or browse the hierarchy from the top ({tree})."


class HierarchySide(QObject):
    """`focus` is the widget to focus while the side shows the hierarchy, else None."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self.tree: TreePane | None = None
        bench.bridge.changed.connect(self._changed)
        bench.bridge.stepped.connect(self._changed, Qt.ConnectionType.QueuedConnection)  # after the key's effect

    # --- what the curator asks for ---

    def turn(self) -> None:
        """Show the tree, opened at the highlighted entity; while it is shown, go back to the candidates."""
        bench = self._bench
        if self.tree is not None and bench.side.currentWidget() is self.tree:
            bench.focus_document()
            return
        entity_id = self._highlighted()
        tree = self._made_tree()
        bench.side.setCurrentWidget(tree)
        bench.state_changed.emit()
        if entity_id is None:
            tree.browse()
        else:
            tree.open_at(entity_id)

    def ask_branches(self) -> QMessageBox | None:
        """Ask whether to restrict mentions of the current type to the highlighted entity and its descendants, add these
        to the restriction, or lift it; the same for the whole project."""
        view, entity_id = self._bench.navigator.mention, self._highlighted()
        return self._ask_branches(view.mention.type if view is not None else "", entity_id)

    def _ask_branches(self, kind: str, entity_id: str | None) -> QMessageBox | None:
        """Ask for the branches of one type of mentions, or under '' of the whole project."""
        bench, project = self._bench, self._bench.project
        entity = project.knowledge.entity(entity_id) if entity_id is not None else None
        branches = project.branches.branches()
        own, now = branches.of.get(kind, ()), branches.of_type(kind)
        if entity is None and not any(branches.of.values()):
            bench.say(tr(NO_ENTITY, search=way_to("mention.search"), tree=way_to("view.hierarchy")))
            return None
        words = [self._state_words(kind, now)]
        answers: dict[str, Callable[[], None]] = {}
        if entity is not None:
            question = tr(RESTRICT, name=entity.name, type=kind) if kind else tr(RESTRICT_ALL, name=entity.name)
            words.append(" ".join(one for one in (question, self._below_words(entity.id)) if one))
            answers[tr("Restrict")] = partial(self._restrict, kind, [entity.id])
            if own and entity.id not in own:
                answers[tr("Add")] = partial(self._restrict, kind, [*own, entity.id])
        if now:
            answers[tr("Lift")] = partial(self._restrict, kind if own else "", [])
        if kind:
            answers[tr("Whole project…")] = lambda: self._ask_whole(entity_id)
        answers[tr("Cancel")] = lambda: None
        return choose(bench.window(), tr("Restrict to branches"), "\n\n".join(words), answers)

    def _ask_whole(self, entity_id: str | None) -> None:
        self._ask_branches("", entity_id)

    def _state_words(self, kind: str, now: Sequence[str]) -> str:
        """The current restriction in words."""
        entity = self._bench.project.knowledge.entity
        names = "; ".join(found.name if (found := entity(one)) else one for one in now[:NAMED])
        if len(now) > NAMED:
            names = ntr("{names} and {n:,} more", "{names} and {n:,} more", len(now) - NAMED, names=names)
        if kind:
            return tr(RESTRICTED, type=kind, names=names) if now else tr(UNRESTRICTED, type=kind)
        return tr(RESTRICTED_ALL, names=names) if now else tr(UNRESTRICTED_ALL)

    def _below_words(self, entity_id: str) -> str:
        """The number of other entities in the branch; '' if there are too many to count."""
        node = self._bench.project.hierarchy.way(entity_id).nodes[-1]
        if node.below is None:
            return ""
        return ntr("{n:,} entity is below it.", "{n:,} entities are below it.", node.below) if node.below else tr(ALONE)

    def _restrict(self, mention_type: str, entity_ids: Sequence[str]) -> None:
        """Restrict in a worker thread, since every document with a mention of the type changes."""
        bench, service = self._bench, self._bench.project.branches

        def work() -> dict[str, Any]:
            return {"message": service.restrict(mention_type, entity_ids).text}

        def then(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                bench.say(outcome.message)
            else:
                bench.notices.add_outcome(tr("Restrict to branches"), outcome)

        bench.jobs.ask(work, then=then)

    @property
    def focus(self) -> QWidget | None:
        shown = self._bench.side.currentWidget()
        if self.tree is not None and shown is self.tree:
            return self.tree.focus_widget()
        return None

    def close(self) -> None:
        """Show nothing more of running reads; called before the project is closed."""
        if self.tree is not None:
            self.tree.close_tree()

    # --- inside ---

    def _highlighted(self) -> str | None:
        """The id of the highlighted entity in the visible view."""
        bench, shown = self._bench, self._bench.side.currentWidget()
        entity: Entity | None = None
        if shown is bench.candidates:
            return bench.candidates.highlighted
        if shown is bench.search:
            entity = bench.search.card.entity
        elif self.tree is not None and shown is self.tree:
            entity = self.tree.entity
        return entity.id if entity is not None else None

    def _made_tree(self) -> TreePane:
        if self.tree is None:
            bench, hierarchy = self._bench, self._bench.project.hierarchy
            self.tree = tree = TreePane(
                lambda entity_id, start: hierarchy.narrower(entity_id, start=start),
                hierarchy.way,
                self._search,
                bench.project.knowledge.entity,
                bench,
                glance=bench.glance,
            )
            bench.side.addWidget(tree)
            bench.desk.follow(tree.card)
            tree.linked.connect(bench.link_found)
            tree.left.connect(bench.focus_document)
            if (sight := Sight.of_process()) is not None:
                sight.watch(tree)
        return self.tree

    def _search(self, query: str) -> Sequence[EntityMatch]:
        """Called in a background thread."""
        mention, knowledge = self._bench.navigator.mention, self._bench.project.knowledge
        kind = mention.mention.type if mention is not None else None
        return knowledge.search(query, mention_type=kind, everywhere=True)

    def _changed(self, change: Change) -> None:
        if change.kind is ChangeKind.KNOWLEDGE_BASE and self.tree is not None:
            self.tree.forget()
