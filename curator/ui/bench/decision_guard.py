"""Checks between a key and a decision: whether the mention was visible, whether another person's decision would change,
whether anything is left.

The decider calls it; the answers come from the views painted in the workbench and from the strip at the bottom.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from curator.ui.deciding.decider import Leftover, Revision, candidate_key, document_key, mention_key, nil_key, said_key
from curator.ui.kit.mention_state import verdict_words
from curator.ui.kit.sight import rows_in_sight

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.ui.bench.workbench import Workbench


class DecisionGuard(QObject):
    """Records what text and candidates have painted, and asks before a decision that needs confirmation."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        glance, candidates = bench.glance, bench.candidates
        glance.log(bench.document.viewport(), self._text_shown)
        glance.log(candidates.list.viewport(), self._candidates_shown)
        glance.log(candidates.nil_row, self._nil_shown)
        message = bench.bottom.message
        glance.log(message, lambda: [said_key(message.words)])
        bench.decider.revision_wanted.connect(self._ask_change)
        bench.decider.leftover_wanted.connect(self._ask_done)
        bench.decider.unseen.connect(self._bring_into_sight)

    # --- what is on the screen ---

    def _text_shown(self) -> list[Hashable]:
        text, opened = self._bench.document, self._bench.navigator.opened
        framed = [mention_key(text.current)] if text.current is not None and text.is_in_sight(text.current) else []
        return [*framed, *([document_key(opened.document.id)] if opened is not None else [])]

    def _candidates_shown(self) -> list[Hashable]:
        view, panel = self._bench.navigator.mention, self._bench.candidates
        if view is None:
            return []
        rows = ((at, panel.model.row(at)) for at in rows_in_sight(panel.list))
        return [candidate_key(view.mention.id, at, row.candidate.entity_id) for at, row in rows if row is not None]

    def _nil_shown(self) -> list[Hashable]:
        view = self._bench.navigator.mention
        suggested = view is not None and view.suggestion is not None and view.suggestion.nil.is_nil
        return [nil_key(view.mention.id)] if suggested and view is not None else []

    def _bring_into_sight(self, hidden: object) -> None:
        """Scroll to the mention or candidate of a key that had been scrolled away."""
        kind, *ids = hidden if isinstance(hidden, tuple) else ("",)
        if kind == "candidate":
            self._bench.candidates.bring_into_sight(ids[1])
        elif kind == "mention":
            self._bench.document.set_current(self._bench.navigator.mention_id)

    # --- questions ---

    def _ask_change(self, revision: Revision) -> None:
        """Show another person's or an imported decision before it is changed."""
        bench, view, old = self._bench, revision.view, revision.view.decision
        if old is None:
            return
        names = self._names(*old.verdict.entity_ids, *revision.verdict.entity_ids)
        bench.line.setCurrentWidget(bench.reasons)
        bench.reasons.ask_change(
            view.mention.text,
            old=verdict_words(old.verdict, names),
            curator=old.curator,
            new=verdict_words(revision.verdict, names),
            then=lambda: bench.decider.revise(revision),
        )

    def _ask_done(self, leftover: Leftover) -> None:
        bench = self._bench
        if bench.judging:
            bench.decider.finish(leftover, None)  # a round refuses it with its own message
            return
        bench.line.setCurrentWidget(bench.reasons)
        undecided = len(leftover.mention_ids)
        bench.reasons.ask_done(
            undecided,
            leftover.every,
            then=lambda verdict: bench.decider.finish(leftover, verdict),
            skipped=leftover.skipped,
        )

    def _names(self, *entity_ids: str) -> dict[str, str]:
        return named(self._bench.project, entity_ids)


def named(project: Project, entity_ids: Iterable[str]) -> dict[str, str]:
    """Names of entities that are or were in the knowledge base, without others."""
    found = {one: project.knowledge.name_of(one) for one in entity_ids}
    return {one: name for one, name in found.items() if name != one}
