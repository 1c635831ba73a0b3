"""The line below the candidates: a contradiction of the highlighted candidate, or else of the decision just made; and
the replacement of an obsolete linked entity.

Read in a worker thread, a moment after the frame that shows the mention: no key waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from PySide6.QtCore import QObject, QTimer, Slot

from curator.domain.audit import Contradiction
from curator.domain.decisions import Change, ChangeKind, Outcome, Verdict
from curator.domain.entities import Replacement
from curator.domain.suggestions import CandidateOrder
from curator.domain.wording import UserError, tr
from curator.services.queue.queue import MentionView
from curator.services.records.inconsistencies import InconsistencyService, decided_words
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.key_names import key_of
from curator.ui.kit.worker import Worker

LATE_MS = 60
"""Delay before reading: after the frame that shows the mention, and not during fast key presses."""
HERE = "In this document: {other} ({number:,} of {of:,})."
ELSEWHERE = "In the project: {other} ({number:,} of {of:,})."
DECIDED_HERE = "“{text}” in that document: {other} ({number:,} of {of:,})."
DECIDED_ELSEWHERE = "“{text}” in the project: {other} ({number:,} of {of:,})."
USE = "“{name}” is obsolete: use {entities}."
NO_USE = "“{name}” is obsolete and has no replacement."
LISTS = "{key} lists them."

Obsolete: TypeAlias = Callable[[str], Replacement | None]


@dataclass(frozen=True, slots=True)
class Question:
    """The subject of the line: a mention with its links and the proposed decision, and a mention just decided."""

    mention_id: int | None = None
    verdict: Verdict | None = None
    linked: tuple[str, ...] = ()
    decided: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    mention_id: int | None = None  # the mention with the contradiction
    found: Contradiction | Replacement | None = None


class ContradictionLine(QObject):
    """API: `mention_id`, `close`. It stays empty in rounds and wherever it would influence a measurement."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._service = bench.project.inconsistencies
        self._label = bench.candidates.contradiction
        self.worker = Worker(self)
        self._decided: int | None = None
        self._asked = Question()
        self._shown = Answer(Question())
        self._late = QTimer(self, singleShot=True, interval=LATE_MS)
        self._late.timeout.connect(self._look)
        bench.navigator.mention_changed.connect(self._begin)
        bench.navigator.document_changed.connect(self._forget)
        bench.candidates.list.selectionModel().currentChanged.connect(self._begin)
        bench.bridge.stepped.connect(self._stepped)
        bench.bridge.changed.connect(self._changed)

    @property
    def mention_id(self) -> int | None:
        """The mention of the line; None while the line is empty."""
        return self._shown.mention_id if self._label.words else None

    def close(self) -> None:
        """Stop reading; called before the project is closed."""
        self._late.stop()
        self.worker.close()

    # --- what it is about ---

    @Slot()
    def _begin(self) -> None:
        view = self._bench.navigator.mention
        if self._label.words and (view is None or view.mention.id != self._shown.question.mention_id):
            self._label.set_words("")  # of another mention
            self._asked = Question()
        self._late.start()

    @Slot()
    def _forget(self) -> None:
        self._decided = None
        self._begin()

    @Slot(object)
    def _stepped(self, change: Change) -> None:
        if change.kind is ChangeKind.DECIDED:
            self._decided = change.mention_ids[0] if len(change.mention_ids) == 1 else None
        self._changed(change)

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.kind in (ChangeKind.DECIDED, ChangeKind.MENTIONS, ChangeKind.NOTES):
            self._asked = Question()  # the answer may have changed
            self._late.start()

    def _question(self) -> Question:
        view, bench = self._bench.navigator.mention, self._bench
        shuffled = bench.navigator.candidate_order is CandidateOrder.SHUFFLED
        if view is None or bench.judging or shuffled or view.held_out:
            return Question()
        decided = self._decided if self._decided != view.mention.id else None
        linked = view.decision.verdict.entity_ids if view.decision is not None else ()
        return Question(view.mention.id, _verdict(view, bench.candidates.highlighted), linked, decided)

    @Slot()
    def _look(self) -> None:
        question = self._question()
        if question == self._asked:
            return
        self._asked = question
        if question.verdict is None and not question.linked and question.decided is None:
            self._show(Answer(question))
        else:
            service, obsolete = self._service, self._bench.project.knowledge.obsolete
            self.worker.ask(lambda: _answer(service, obsolete, question), self._show)

    # --- what it says ---

    def _show(self, answer: Answer) -> None:
        if answer.question != self._asked:
            return
        self._shown = answer
        self._label.set_words(_words(answer) if answer.found is not None else "")


def _verdict(view: MentionView, highlighted: str | None) -> Verdict | None:
    """The verdict of the current decision if its entity is highlighted, else of the highlighted candidate, or NIL if
    Return accepts it."""
    decided = view.decision.verdict if view.decision is not None else None
    if decided is not None and (highlighted is None or highlighted in decided.entity_ids or not decided.entity_ids):
        return decided if decided.outcome in (Outcome.LINK, Outcome.NIL) else None
    first = next(iter(view.suggestion.candidates), None) if view.suggestion is not None else None
    if view.suggestion is not None and view.suggestion.nil.is_nil and (first is None or first.entity_id == highlighted):
        return Verdict.nil()
    return Verdict.link(highlighted) if highlighted is not None else None


def _answer(service: InconsistencyService, obsolete: Obsolete, question: Question) -> Answer:
    """Called in the background. The current mention comes before the one just decided."""
    try:
        return _replaced(obsolete, question) or _found(service, obsolete, question)
    except UserError:  # the mention was deleted meanwhile
        return Answer(question)


def _replaced(obsolete: Obsolete, question: Question) -> Answer | None:
    """The replacement if the mention is linked to an obsolete entity."""
    found = next((new for one in question.linked if (new := obsolete(one)) is not None), None)
    return Answer(question, question.mention_id, found) if found is not None else None


def _found(service: InconsistencyService, obsolete: Obsolete, question: Question) -> Answer:
    if question.mention_id is not None and question.verdict is not None:
        found = service.contradiction(question.mention_id, question.verdict)
        if found is not None and not _renews(obsolete, found.verdict, question.verdict):
            return Answer(question, question.mention_id, found)
    found = service.contradiction_of_current(question.decided) if question.decided is not None else None
    return Answer(question, question.decided if found is not None else None, found)


def _renews(obsolete: Obsolete, old: Verdict, new: Verdict) -> bool:
    """Whether one links to the replacement of the other's obsolete entity, which is no contradiction."""
    found = obsolete(old.entity_ids[0]) if len(old.entity_ids) == 1 else None
    return found is not None and new.entity_ids in [(one.id,) for one in (*found.replaced_by, *found.consider)]


def _words(answer: Answer) -> str:
    found, key = answer.found, key_of("tools.inconsistencies")
    assert found is not None
    lists = f" {tr(LISTS, key=key)}" if key else ""
    if isinstance(found, Replacement):
        new = " / ".join(one.name for one in (*found.replaced_by, *found.consider))
        words = tr(USE, name=found.old.name, entities=new) if new else tr(NO_USE, name=found.old.name)
        return words + lists
    named = [name or id_ for id_, name in zip(found.verdict.entity_ids, found.names, strict=True)]
    other = " + ".join(named) or decided_words(found.verdict, {})
    parts = {"text": found.text, "other": other, "number": found.number, "of": found.of}
    if answer.mention_id == answer.question.decided:
        words = tr(DECIDED_HERE, **parts) if found.here else tr(DECIDED_ELSEWHERE, **parts)
    else:
        words = tr(HERE, **parts) if found.here else tr(ELSEWHERE, **parts)
    return words + lists
