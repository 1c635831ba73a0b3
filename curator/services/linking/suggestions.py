"""Links documents ahead of the curator, stores the suggestions and drops outdated ones.

The queue ahead is linked in small requests: when one ends, the next documents are chosen, so that the curator's
position, a new bundle or a restarted linker simply changes the next request. Callbacks arrive in the linker's thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Sequence

from curator.boundary import logged
from curator.domain.decisions import Change, ChangeKind
from curator.domain.documents import Split
from curator.domain.jobs import ANSWER_MENTIONS, JobOutcome, JobState, LinkerState, LinkerStatus, Progress
from curator.domain.suggestions import Stamp, Suggestion
from curator.domain.wording import UnreadableError, UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.core.keys import active_bundle
from curator.services.linking.linking import (
    NO_INDEX,
    DocumentSuggestions,
    K,
    LinkReport,
    link_documents,
    link_in_bulk,
    open_linker,
    stored_document,
    within_branches,
)
from curator.services.linking.name_linking import NameLinking
from curator.services.linking.remembering import taught_documents, teach, teach_entities, wanted_entities
from curator.services.ports.processes import BulkPort, BulkTask, BundleStore, Cluster, LinkDocument, LinkerPort
from curator.services.ports.storage import UnitOfWork

BATCH = 32
ACTOR = "linker"
RELINK = {ChangeKind.BUNDLE, ChangeKind.KNOWLEDGE_BASE, ChangeKind.TYPE_MAPPING}
GONE = (
    "Linker {bundle}, which was in use, is missing from the project's folder. Decisions are safe. A new "
    "index is being built; to use another linker, choose Model › Linkers."
)
log = logging.getLogger(__name__)

__all__ = ["DocumentSuggestions", "LinkReport", "SuggestionService"]


class SuggestionService(Service):
    """`start` listens to changes and begins linking ahead; without it only `link_split` works (the command line)."""

    def __init__(
        self,
        context: Context,
        linker: LinkerPort,
        bundles: BundleStore,
        *,
        bulk: BulkPort,
        ahead: Callable[[], int],
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        """`give_way` waits while a key is handled; it is called before each step of storing an answer."""
        super().__init__(context)
        self._linker = linker
        self._bulk = bulk
        self._bundles = bundles
        self._ahead = ahead
        self._give_way = give_way
        self._lock = threading.Lock()
        self._waiting: dict[int, int] = {}  # requested documents without a whole answer yet: mentions to be answered
        self._stored: dict[int, list[int]] = {}  # mentions of the parts of a document's answer so far
        self._tried: set[tuple[int, Stamp, int]] = set()  # requested once with these: not again automatically
        self._fetched: set[str] = set()  # bundles that were downloaded from a shared project, or not found there
        self._memory = 0  # grows with every change of the linker's memory
        self._memory_of: dict[int, int] = {}  # the memory with which a document was last linked
        self._answered_again: set[int] = set()  # documents with an opinion that is newer than their suggestions
        self._urgent: list[int] = []  # requested while no bundle was in use
        self._busy = False  # whether documents are being linked ahead
        self._background: int | None = None  # that request
        self._position = 0  # the current document
        self._closed = False
        self._trouble = ""
        self._names = NameLinking(context.store, self._tell)

    def start(self) -> None:
        """Listen to changes, open the active bundle, link ahead. Does nothing in a read-only project."""
        if self._store.read_only:
            return
        self._linker.on_status(self._status_changed)
        self._events.subscribe(self._changed)
        self.refresh()

    def status(self) -> LinkerStatus:
        return self._linker.status

    def trouble(self) -> str:
        """Why answers could not be stored or a document could not be linked; '' if there is no problem."""
        return self._trouble

    def on_status(self, listener: Callable[[LinkerStatus], None]) -> Callable[[], None]:
        """Called from a background thread with each new status of the linker process, until the returned function is
        called."""
        return self._linker.on_status(listener)

    def pending(self) -> int:
        """Requested documents without an answer yet."""
        with self._lock:
            return len(self._waiting) + len(self._urgent)

    def request(self, document_ids: Sequence[int], *, urgent: bool = True) -> None:
        """Link those of these documents with a missing or stale suggestion; urgent ones first. Returns at once."""
        if self._store.read_only or not document_ids:
            return
        if urgent:
            self._position = document_ids[-1]
        if not self._serves():
            with self._lock:
                self._urgent += [one for one in document_ids if one not in self._urgent]
            self._names.ask(document_ids)
            return
        self._send(self._stale(document_ids, remembered=urgent), urgent=urgent)
        self._pump()

    def memory_changed(self) -> None:
        """The linker learnt decisions: link the curator's document again, and every other one when it is opened."""
        self._memory += 1
        if self._position and not self._closed:
            self.request([self._position])

    def refresh(self) -> None:
        """Open the active bundle if another is in use, and link stale documents in queue order. Returns at once."""
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
        if bundle_id and self._linker.status.bundle_id != bundle_id:
            self._open(bundle_id)
        else:
            self._pump()

    def restart(self) -> None:
        """Restart a linker that was given up, with the active bundle."""
        with self._lock:
            self._tried.clear()
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
        if bundle_id:
            self._open(bundle_id)

    def _open(self, bundle_id: str) -> None:
        """Open a bundle; if its folder is missing, nothing is linked, and the rest of the project works as before."""
        try:
            path = self._bundles.path(bundle_id)
        except UserError as error:
            if self._store.team is not None and bundle_id not in self._fetched:  # another computer made it
                self._fetched.add(bundle_id)
                threading.Thread(target=self._fetch, args=(bundle_id,), name="fetch linker", daemon=True).start()
                return
            self._trouble = str(error) if isinstance(error, UnreadableError) else tr(GONE, bundle=bundle_id)
            log.warning("The active bundle %s cannot be opened: %s", bundle_id, error)
            return
        self._linker.open(path, bundle_id)

    def _fetch(self, bundle_id: str) -> None:
        """Download the bundle in use, then open it."""
        with logged(log, "The active bundle %s was not fetched", bundle_id):  # the server is away, or the disk is full
            self._bundles.all(active=bundle_id)
        if not self._closed:
            self._open(bundle_id)

    def link_split(
        self,
        split: Split | None,
        *,
        save: bool = True,
        memory: bool = True,
        sink: Callable[[DocumentSuggestions], None] | None = None,
        cluster: Cluster | None = None,
    ) -> Generator[Progress, None, LinkReport]:
        """Link all documents of a split (None: all), including decided mentions; `sink` gets each answer in order.

        Decisions of train documents are used through the `memory`, except for mentions of the same document. With
        `cluster`, several linkers on Ray give the same answers instead of the linker process, all at the end.

        Raises UserError if there is no bundle or the linker cannot use it. Closing the generator cancels.
        """
        with self._store.read() as unit:
            ids = unit.documents.ids(split=split)
            bundle_id = active_bundle(unit.meta)
        if not bundle_id:
            raise UserError(tr(NO_INDEX))

        def keep(linked: DocumentSuggestions) -> None:
            if save:
                self._save(linked.document.id, linked.suggestions)
            if sink is not None:
                sink(linked)

        path = self._bundles.path(bundle_id)
        if cluster is not None:
            decided = taught_documents(self._store) if memory else []
            task = BulkTask(path, bundle_id, K, decided, tuple(wanted_entities(self._store).values()))
            return (yield from link_in_bulk(self._store, self._bulk, task, ids, keep, cluster))
        yield from open_linker(self._linker, path, bundle_id)
        yield from teach_entities(self._linker, self._store)
        if memory:
            yield from teach(self._linker, self._store)
        return (yield from link_documents(self._store, self._linker, ids, keep, bundle_id=bundle_id))

    def check(self, cluster: Cluster | None) -> None:
        """Raises UserError if linking there is impossible."""
        if cluster is not None:
            self._bulk.check(cluster)

    def close(self) -> None:
        """Stop; later answers are dropped. The linker itself is closed by its owner."""
        self._closed = True
        with self._lock:
            background, self._background = self._background, None
        if background is not None:
            self._linker.cancel(background)
        self._names.close()

    # --- linking ahead ---------------------------------------------------------------------------------------

    def _serves(self) -> bool:
        status = self._linker.status
        with self._store.read() as unit:
            return status.state is LinkerState.READY and status.bundle_id == active_bundle(unit.meta)

    def _status_changed(self, status: LinkerStatus) -> None:
        if status.state is not LinkerState.READY or self._closed:
            return
        with self._lock:
            urgent, self._urgent = self._urgent, []
        try:
            self._send(self._stale(urgent, remembered=True), urgent=True)
        except UserError as error:  # a lost server: they are requested with the next status
            log.warning("Documents were not linked: %s", error)
            self._trouble = str(error)
            with self._lock:
                self._urgent = [*urgent, *self._urgent]
        self._pump()

    def _changed(self, change: Change) -> None:
        if self._closed:
            return
        if change.kind is ChangeKind.MENTIONS:
            self.request(change.document_ids)
        elif change.kind is ChangeKind.OPINIONS and self._linker.status.hears_opinions:
            with self._lock:
                self._answered_again |= set(change.document_ids)
            self.request(change.document_ids, urgent=False)
        elif change.kind in RELINK:
            self._forget()
            self.refresh()
            if self._position:
                self.request([self._position])
        elif change.kind is ChangeKind.IMPORTED:
            self._pump()

    def _forget(self) -> None:
        """Forget running and finished requests, which belong to the previous bundle or type mapping."""
        with self._lock:
            background, self._background = self._background, None
            self._tried.clear()
        self._names.forget()
        if background is not None:
            self._linker.cancel(background)

    def _pump(self) -> None:
        """Ask for the next stale documents unless a background request is running."""
        with self._lock:
            if self._closed or self._busy:
                return
            self._busy = True
        sent = False
        try:
            documents = self._ahead_of_curator() if self._serves() else []
            if documents:
                self._background = self._send(documents, urgent=False)
                sent = self._background is not None
        except UserError as error:  # a lost server: the next change or document asks again
            log.warning("No documents were linked ahead: %s", error)
            self._trouble = str(error)
        finally:
            if not sent:  # else its end, which may have come, says so
                self._busy = False

    def _ahead_of_curator(self) -> list[LinkDocument]:
        """Stale documents among the next ones in the queue, from the curator's position once around."""
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
            stale = unit.suggestions.stale_documents(bundle_id, position=self._position, ahead=self._ahead())
        return self._stale(stale, limit=BATCH)

    def _stale(
        self, document_ids: Sequence[int], *, limit: int | None = None, remembered: bool = False
    ) -> list[LinkDocument]:
        """Requests for the documents with a missing or stale suggestion that were not requested yet.

        With `remembered`, documents with an undecided mention that were linked with an older memory are stale, too.
        """
        found: list[LinkDocument] = []
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
            mapping = unit.meta.type_mapping()
            for document_id in document_ids:
                if limit is not None and len(found) >= limit:
                    break
                if self._is_wanted(unit, document_id, bundle_id, remembered=remembered):
                    found.append(stored_document(unit, document_id, mapping))
        return [one for one in found if one.mentions]

    def _is_wanted(self, unit: UnitOfWork, document_id: int, bundle_id: str, *, remembered: bool) -> bool:
        stamp = Stamp(bundle_id, unit.documents.get(document_id).revision)
        older = remembered and self._memory_of.get(document_id, 0) < self._memory
        with self._lock:
            if document_id in self._answered_again:
                self._answered_again.discard(document_id)
                return True
            asked = document_id in self._waiting and not older
            if asked or (document_id, stamp, self._memory) in self._tried:
                return False
        stored = unit.suggestions.of_document(document_id)
        mentions = unit.mentions.of_document(document_id)
        decided = unit.decisions.current_of_document(document_id) if older else {}
        if older and any(one.id not in decided for one in mentions):
            return True
        return any(one.id not in stored or stored[one.id].stamp != stamp for one in mentions)

    def _send(self, documents: Sequence[LinkDocument], *, urgent: bool) -> int | None:
        if not documents or self._closed:
            return None
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
        with self._lock:
            self._waiting |= {one.id: len(one.mentions) for one in documents}
            self._tried |= {(one.id, Stamp(bundle_id, one.revision), self._memory) for one in documents}
            self._memory_of |= {one.id: self._memory for one in documents}
        return self._linker.link(
            documents,
            k=K,
            urgent=urgent,
            on_document=self._answered,
            on_end=lambda outcome: self._ended(documents, outcome, urgent=urgent),
        )

    def _answered(self, document_id: int, suggestions: list[Suggestion]) -> None:
        """Store an answer, and announce it when it is whole: an open document with it is read again."""
        if self._closed:
            return
        with self._lock:
            left = self._waiting.pop(document_id, 0) - len(suggestions)
            more = left > 0 and len(suggestions) == ANSWER_MENTIONS
            if more:
                self._waiting[document_id] = left
        try:
            kept = self._save(document_id, suggestions)
        except UserError as error:  # a full disk: the curator can continue, and gets a message
            log.warning("Suggestions were not stored: %s", error)
            self._trouble = str(error)
            return
        if more:
            self._stored.setdefault(document_id, []).extend(kept)
        elif kept := [*self._stored.pop(document_id, ()), *kept]:
            self._tell(document_id, kept)

    def _tell(self, document_id: int, mention_ids: Sequence[int]) -> None:
        text = ntr("Linked {n} mention", "Linked {n} mentions", len(mention_ids))
        self._events.emit(Change(ChangeKind.SUGGESTIONS, ACTOR, text, (document_id,), tuple(mention_ids)))

    def _ended(self, documents: Sequence[LinkDocument], outcome: JobOutcome, *, urgent: bool) -> None:
        with self._lock:
            for one in documents:
                self._waiting.pop(one.id, None)
                self._stored.pop(one.id, None)
            if not urgent:
                self._busy = False
        if self._closed:
            return
        if outcome.state is JobState.DONE:
            self._trouble = ""
        elif outcome.state is not JobState.CANCELLED:  # else it continues with another bundle or type mapping
            log.warning("Linking %d documents failed: %s", len(documents), outcome.message)
            self._trouble = outcome.message
        if outcome.state is JobState.CRASHED and len(documents) > 1:
            for one in documents:  # only the document that kills the linker stays without suggestions
                self._send([one], urgent=True)
        self._pump()

    def _save(self, document_id: int, suggestions: Sequence[Suggestion]) -> list[int]:
        """Store answers that are still current; returns the mention ids. Outdated answers are dropped."""
        with self._store.read() as unit:
            types = {one.id: one.type for one in unit.mentions.of_document(document_id)}
            inside = within_branches(unit, suggestions, types)
            packed: list[Suggestion] = []
            for one in inside:
                self._give_way()
                packed += unit.suggestions.packed([one])
        self._give_way()
        with self._store.write() as unit:
            stamp = Stamp(active_bundle(unit.meta), unit.documents.get(document_id).revision)
            living = {one.id for one in unit.mentions.of_document(document_id)}
            current = [one for one in packed if one.stamp == stamp and one.mention_id in living]
            if current:
                unit.suggestions.save(current)
        return [one.mention_id for one in current]
