"""Suggestions inside a round: decisions of the same document are not used, and nothing is stored in the project."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from curator.domain.decisions import Change, ChangeKind
from curator.domain.documents import Document
from curator.domain.jobs import JobOutcome, LinkerState, LinkerStatus
from curator.domain.rounds import Round, RoundKind
from curator.domain.suggestions import Suggestion
from curator.domain.wording import ntr
from curator.services.core.events import EventBus
from curator.services.core.keys import active_bundle
from curator.services.linking.linking import K, link_document, within_branches
from curator.services.ports.processes import LinkerPort
from curator.services.ports.storage import Store

AHEAD = 3
"""Documents of the round that are linked before the curator reaches them."""


class RoundSuggestions:
    """Suggestions made without decisions of the same document, kept in memory during the round.

    An unaided round has none. Answers arrive in the linker's thread and are emitted as `SUGGESTIONS`.
    """

    def __init__(self, store: Store, linker: LinkerPort, events: EventBus, found: Round, curator: str) -> None:
        self._store = store
        self._linker = linker
        self._events = events
        self._round = found
        self._curator = curator
        self._lock = threading.Lock()
        self._known: dict[int, tuple[int, dict[int, Suggestion]]] = {}  # document -> its revision, the answers
        self._asked: set[tuple[int, int, str]] = set()
        self._waiting: tuple[int, ...] = ()  # requested while no linker was in use
        self._closed = False
        self._unsubscribe = linker.on_status(self._status_changed)

    def of_document(self, document: Document) -> dict[int, Suggestion]:
        with self._lock:
            revision, found = self._known.get(document.id, (-1, {}))
        return found if revision == document.revision else {}

    def request(self, document_ids: Sequence[int], *, urgent: bool = True) -> None:
        """Link these documents, and the next ones of the round after the last. Returns at once."""
        if self._round.kind is RoundKind.UNAIDED or self._closed or not document_ids:
            return
        self._waiting = () if self._serves() else tuple(document_ids)
        if self._waiting:
            return
        with self._store.read() as unit:
            every = unit.rounds.document_ids(self._round.id)
        self._send(document_ids, urgent=urgent)
        self._send([one for one in every if one > document_ids[-1]][:AHEAD], urgent=False)

    def close(self) -> None:
        """Stop; later answers are dropped."""
        self._closed = True
        self._unsubscribe()

    def _serves(self) -> bool:
        status = self._linker.status
        with self._store.read() as unit:
            return status.state is LinkerState.READY and status.bundle_id == active_bundle(unit.meta)

    def _status_changed(self, status: LinkerStatus) -> None:
        if status.state is LinkerState.READY and self._waiting and not self._closed:
            self.request(self._waiting)

    def _send(self, document_ids: Sequence[int], *, urgent: bool) -> None:
        with self._store.read() as unit:
            bundle = active_bundle(unit.meta)
            mapping = unit.meta.type_mapping()
            wanted = []
            for one in document_ids:
                document = unit.documents.get(one)
                key = (one, document.revision, bundle)
                if key not in self._asked:
                    self._asked.add(key)
                    mentions = [item.mention for item in unit.rounds.mentions(self._round.id, one)]
                    wanted.append(link_document(document, mentions, mapping))
        if wanted:
            revisions = {one.id: one.revision for one in wanted}
            self._linker.link(
                wanted,
                k=K,
                urgent=urgent,
                own=False,
                on_document=lambda document_id, found: self._answered(document_id, revisions[document_id], found),
                on_end=_ignore,
            )

    def _answered(self, document_id: int, revision: int, found: list[Suggestion]) -> None:
        if self._closed:
            return
        with self._store.read() as unit:
            types = {one.mention.id: one.mention.type for one in unit.rounds.mentions(self._round.id, document_id)}
            found = within_branches(unit, found, types)
        with self._lock:
            last, known = self._known.get(document_id, (revision, {}))
            same = known if last == revision else {}
            self._known[document_id] = revision, same | {one.mention_id: one for one in found}
        ids = tuple(one.mention_id for one in found)
        text = ntr("Linked {n} mention", "Linked {n} mentions", len(ids))
        self._events.emit(Change(ChangeKind.SUGGESTIONS, "linker", text, (document_id,), ids))


def _ignore(outcome: JobOutcome) -> None:
    """Does nothing: a failing linker reports it in its status, and the curator can search."""
