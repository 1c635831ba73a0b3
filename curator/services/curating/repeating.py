"""Repeating a decision about a string in chosen documents: the affected mentions are listed first."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from curator.domain.decisions import Outcome, Verdict
from curator.domain.imports import ImportKind
from curator.domain.same_string import string_key
from curator.domain.wording import UserError, tr
from curator.services.curating.propagation import Others, PropagationScope, PropagationService
from curator.services.ports.queue import QueueFilter
from curator.services.ports.storage import Store, UnitOfWork

NOT_ONE = (
    "Step {number} ({text}) is not one step about one string, so it cannot be done again elsewhere. Choose a step "
    "that decided or made mentions with the same text, or changed their type."
)
GONE = "No mention of step {number} ({text}) is still there, so it cannot be done again elsewhere."
NO_DOCUMENT = "No document is open. Open one, or choose other documents."


class RepeatService:
    """Lists the mentions that a step would decide elsewhere; `PropagationService.decide` decides the ticked ones."""

    def __init__(self, store: Store, propagation: PropagationService) -> None:
        self._store = store
        self._propagation = propagation

    def others(
        self,
        number: int,
        *,
        scope: PropagationScope,
        document_id: int | None = None,
        where: QueueFilter | None = None,
    ) -> Others:
        """The mentions of the step's string, of its type, with the verdict that it gave: in the document `document_id`,
        in the filter `where`, in documents imported since, or in the whole project. It reads the context of each: call
        it from a worker thread.

        Raises UserError if the step is not a decision about one string, or if none of its mentions exists any longer.
        """
        with self._store.read() as unit:
            mention_id, verdict, at = _source(unit, number)
            documents = _documents(unit, scope, at, document_id)
        return self._propagation.others(mention_id, verdict, scope=scope, where=where, documents=documents)

    def documents(
        self, unit: UnitOfWork, number: int, *, scope: PropagationScope, document_id: int | None
    ) -> Collection[int] | None:
        """Ids of the documents in which the step is repeated; None: in all. Raises UserError if no document is open."""
        return _documents(unit, scope, unit.decisions.operation(number)[0].at, document_id)


def not_one(unit: UnitOfWork, number: int, *, gone: bool = False) -> UserError:
    """Why a step cannot be repeated: it is not about one string, or its mentions are `gone`."""
    step, _ = unit.decisions.operation(number)
    return UserError(tr(GONE if gone else NOT_ONE, number=number, text=step.text))


def _source(unit: UnitOfWork, number: int) -> tuple[int, Verdict, datetime]:
    """A mention that the step decided, its verdict, and the time."""
    step, _ = unit.decisions.operation(number)
    decisions = unit.decisions.of_operation(number)
    mentions = unit.mentions.get_many([one.mention_id for one in decisions])
    strings = {(string_key(one.text), one.type) for one in mentions.values()}
    verdicts = {one.verdict for one in decisions}
    if step.target is not None or len(strings) != 1 or len(verdicts) != 1:
        raise UserError(tr(NOT_ONE, number=number, text=step.text))
    [verdict] = verdicts
    if verdict.outcome is Outcome.CLEARED:
        raise UserError(tr(NOT_ONE, number=number, text=step.text))
    there = unit.queue.contexts([one.mention_id for one in decisions], bundle_id="")
    if not there:
        raise UserError(tr(GONE, number=number, text=step.text))
    return there[0].mention_id, verdict, step.at


def _documents(
    unit: UnitOfWork, scope: PropagationScope, at: datetime, document_id: int | None
) -> Collection[int] | None:
    """Ids of the documents to search; None: all documents."""
    if scope is PropagationScope.DOCUMENT:
        if document_id is None:
            raise UserError(tr(NO_DOCUMENT))
        return {document_id}
    if scope is not PropagationScope.SINCE:
        return None
    files = {
        one.file.id
        for one in unit.documents.imports()
        if one.kind is not ImportKind.WITHDRAWN and one.at is not None and one.at > at
    }
    return {document for file in files for document in unit.documents.ids_of_file(file)}
