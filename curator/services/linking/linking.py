"""Documents through the linker process, in order, as a generator: shared by `curator link` and the window's export."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from curator.domain.documents import Document, Mention
from curator.domain.entities import TypeMapping, is_new
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus, Progress
from curator.domain.suggestions import Opinion, Suggestion
from curator.domain.wording import LinkerUnavailableError, UserError, ntr, tr
from curator.services.core.keys import branches_for, branches_of
from curator.services.ports.processes import BulkPort, BulkTask, Cluster, LinkDocument, LinkerPort, LinkMention
from curator.services.ports.storage import Store, UnitOfWork

K = 64
PER_REQUEST = 64
TICK = 0.2
"""Seconds between two checks for cancellation while the linker computes."""
NO_INDEX = "There is no index yet. Import a knowledge base and build its index first."
NO_OPINIONS: Mapping[int, Opinion] = MappingProxyType({})
T = TypeVar("T")
Start = Callable[[Callable[[int, list[T]], None], Callable[[JobOutcome], None]], int]
"""Sends a request with these callbacks for each answer and for the end; returns the request's id."""


@dataclass(frozen=True, slots=True)
class DocumentSuggestions:
    """A document's mentions with their suggestions, parallel; mentions without an answer are left out."""

    document: Document
    mentions: tuple[Mention, ...]
    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True)
class LinkReport:
    documents: int
    mentions: int
    seconds: float
    bundle_id: str


def link_document(
    document: Document,
    mentions: Iterable[Mention],
    mapping: TypeMapping,
    opinions: Mapping[int, Opinion] = NO_OPINIONS,
) -> LinkDocument:
    """The document for the linker process: every mention with the knowledge-base types of its candidates, and a
    language model's opinion."""
    said = {one.mention_id: one.entity_id or "" for one in opinions.values()}
    wanted = tuple(LinkMention(one.id, one.spans, mapping.types_for(one.type), said.get(one.id)) for one in mentions)
    return LinkDocument(document.id, document.revision, document.text, wanted)


def stored_document(unit: UnitOfWork, document_id: int, mapping: TypeMapping) -> LinkDocument:
    """The same for a stored document."""
    mentions = unit.mentions.of_document(document_id)
    opinions = unit.suggestions.opinions([one.id for one in mentions])
    return link_document(unit.documents.get(document_id), mentions, mapping, opinions)


def open_linker(linker: LinkerPort, bundle: Path, bundle_id: str) -> Generator[Progress, None, None]:
    """Put a bundle into use and wait until it is. Raises LinkerUnavailableError if it cannot be used, or if another is
    requested meanwhile."""
    before = linker.status
    linker.open(bundle, bundle_id)
    yield from wait_ready(linker, bundle_id, before)


def wait_ready(
    linker: LinkerPort, bundle_id: str = "", before: LinkerStatus | None = None
) -> Generator[Progress, None, None]:
    """Wait until the linker uses `bundle_id`, by default any. `before`: the status when the bundle was requested, which
    says nothing of the request. Raises LinkerUnavailableError if it cannot."""
    changed: queue.SimpleQueue[object] = queue.SimpleQueue()
    end = linker.on_status(changed.put)
    try:
        while True:
            status = linker.status
            if status.state is LinkerState.READY and bundle_id in ("", status.bundle_id):
                return
            refused = status.state is LinkerState.READY and status.opening != bundle_id
            if status is not before and (refused or status.state is LinkerState.FAILED):
                other = refused and (status.opening or (before is not None and status.bundle_id != before.bundle_id))
                why = tr("Another linker was put into use meanwhile.") if other else status.message
                raise LinkerUnavailableError(
                    tr("Linker {bundle_id} cannot be used: {message}", bundle_id=bundle_id, message=why)
                    if bundle_id
                    else why
                )
            yield Progress("start the linker", 0, 0, status.message)
            _next(changed)
    finally:
        end()


def link_documents(
    store: Store,
    linker: LinkerPort,
    document_ids: Sequence[int],
    keep: Callable[[DocumentSuggestions], None],
    *,
    bundle_id: str,
) -> Generator[Progress, None, LinkReport]:
    """Link documents; `keep` gets each answer in the order of the ids, in the caller's thread."""
    started = time.monotonic()
    mentions = 0
    for at in range(0, len(document_ids), PER_REQUEST):
        part = document_ids[at : at + PER_REQUEST]
        answers: dict[int, list[Suggestion]] = {}
        for done in ask(linker, _requests(store, part), answers):
            yield Progress("link", at + done, len(document_ids), _words(linker, mentions))
        for linked in _linked(store, part, answers):
            keep(linked)
            mentions += len(linked.mentions)
    yield Progress("link", len(document_ids), len(document_ids), ntr("{n:,} mention", "{n:,} mentions", mentions))
    return LinkReport(len(document_ids), mentions, time.monotonic() - started, bundle_id)


def link_in_bulk(
    store: Store,
    bulk: BulkPort,
    task: BulkTask,
    document_ids: Sequence[int],
    keep: Callable[[DocumentSuggestions], None],
    cluster: Cluster,
) -> Generator[Progress, None, LinkReport]:
    """Like `link_documents`, with the same answers, by several linkers at once. Raises UserError like `BulkPort`."""
    started, mentions = time.monotonic(), 0
    parts = [document_ids[at : at + PER_REQUEST] for at in range(0, len(document_ids), PER_REQUEST)]

    def receive(ids: Sequence[int], answers: dict[int, list[Suggestion]]) -> None:
        nonlocal mentions
        for linked in _linked(store, ids, answers):
            keep(linked)
            mentions += len(linked.mentions)

    yield from bulk.link(task, (one for part in parts if (one := _requests(store, part))), receive, cluster)
    return LinkReport(len(document_ids), mentions, time.monotonic() - started, task.bundle_id)


def _words(linker: LinkerPort, mentions: int) -> str:
    """The number of linked mentions, or the reason why linking waits."""
    status = linker.status
    if status.state is LinkerState.RESTARTING:
        return status.message
    return ntr("{n:,} mention", "{n:,} mentions", mentions)


def _requests(store: Store, document_ids: Sequence[int]) -> list[LinkDocument]:
    with store.read() as unit:
        mapping = unit.meta.type_mapping()
        found = [stored_document(unit, one, mapping) for one in document_ids]
    return [one for one in found if one.mentions]


def ask(
    linker: LinkerPort,
    documents: Sequence[LinkDocument],
    answers: dict[int, list[Suggestion]],
    *,
    urgent: bool = False,
) -> Generator[int, None, None]:
    """Yield the number of answered documents, at least every TICK; closing it cancels the request. `urgent`: before
    the documents that are linked ahead."""

    def start(receive: Callable[[int, list[Suggestion]], None], end: Callable[[JobOutcome], None]) -> int:
        return linker.link(documents, k=K, urgent=urgent, own=False, on_document=receive, on_end=end)

    with closing(answers_of(linker, start)) as received:
        for answer in received:
            if answer is not None:
                answers.setdefault(answer[0], []).extend(answer[1])
            yield len(answers)


def answers_of(linker: LinkerPort, start: Start[T]) -> Generator[tuple[int, list[T]] | None, None, None]:
    """The answers to a request, by document, as they arrive; None every TICK while there is none. `start` sends the
    request. Closing it cancels the request. Raises UserError if the linker refuses it, LinkerUnavailableError if it
    stops."""
    inbox: queue.SimpleQueue[tuple[int, list[T]] | JobOutcome] = queue.SimpleQueue()
    request = start(lambda document_id, found: inbox.put((document_id, found)), inbox.put)
    outcome = None
    try:
        while outcome is None:
            answer = _next(inbox)
            if isinstance(answer, JobOutcome):
                outcome = answer
            else:
                yield answer
    finally:
        if outcome is None:
            linker.cancel(request)
    _check(outcome)


def _check(outcome: JobOutcome) -> None:
    if outcome.state is JobState.FAILED:
        raise UserError(outcome.message)
    if outcome.state is not JobState.DONE:
        raise LinkerUnavailableError(
            tr("The linker stopped before it had finished: {message} Try again.", message=outcome.message)
        )


def _linked(
    store: Store, document_ids: Sequence[int], answers: dict[int, list[Suggestion]]
) -> Generator[DocumentSuggestions, None, None]:
    for document_id in document_ids:
        answered = answers.get(document_id, ())
        with store.read() as unit:
            document = unit.documents.get(document_id)
            every = unit.mentions.of_document(document_id)
            inside = within_branches(unit, answered, {one.id: one.type for one in every})
        given = {one.mention_id: one for one in inside}
        mentions = [one for one in every if one.id in given]
        yield DocumentSuggestions(document, tuple(mentions), tuple(given[one.id] for one in mentions))


def _next(inbox: queue.SimpleQueue[T]) -> T | None:
    try:
        return inbox.get(timeout=TICK)
    except queue.Empty:
        return None


# Suggestions restricted to branches of the knowledge base: candidates outside of them are left out before storing.
#
# The linker ranks as usual; its process does not know the project's branches. The stored suggestions determine the list
# of candidates, the queue's order and bulk acceptance. Probabilities do not change, so a candidate that was second does
# not become more certain. Provisional entities are in no branch and stay.


def within_branches(unit: UnitOfWork, suggestions: Sequence[Suggestion], types: Mapping[int, str]) -> list[Suggestion]:
    """The suggestions without candidates outside of their mentions' branches; `types` are the mention types by id."""
    if not any(branches_of(unit.meta).of.values()):
        return list(suggestions)
    branches = {one: branches_for(unit, one) for one in set(types.values())}
    return [_within(unit, one, branches.get(types.get(one.mention_id, ""), ())) for one in suggestions]


def _within(unit: UnitOfWork, suggestion: Suggestion, branches: Sequence[str]) -> Suggestion:
    if not branches:
        return suggestion
    inside = unit.kb.below(branches, [one.entity_id for one in suggestion.candidates])
    kept = tuple(one for one in suggestion.candidates if one.entity_id in inside or is_new(one.entity_id))
    return suggestion if len(kept) == len(suggestion.candidates) else replace(suggestion, candidates=kept)
