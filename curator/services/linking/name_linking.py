"""Suggestions by spelling alone, from the knowledge base's search, until the first index is in use.

The index of millions of names takes minutes; their search is available when the import ends. Its suggestions are stored
under `BY_NAME`, which is not a bundle's name: they count as stale from the start, have no probability, are never
accepted in bulk, and are replaced by the linker's answers.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from curator.domain.documents import Mention
from curator.domain.facets import only_words
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.domain.wording import UserError
from curator.services.core.keys import active_bundle, branches_for
from curator.services.ports.storage import Store, UnitOfWork

BY_NAME = "by name"
"""Used as the bundle in the stamps of these suggestions."""
NO_BUNDLE = ""  # because the type mapping of its mention changed
K = 20
LEAST, SHORT, SURE = 0.6, 5, 0.9
"""The least similarity of spelling (1: equal) for a name's entity to be a candidate; for mentions of up to `SHORT`
characters, which are probably abbreviations, it is `SURE`."""
MOST_WORDS = 8
"""The most words of a mention for leaving out each word in turn if no name has all of them."""
log = logging.getLogger(__name__)


class NameLinking:
    """`ask` links documents in a separate thread; `found(document_id, mention_ids)` is called there."""

    def __init__(self, store: Store, found: Callable[[int, Sequence[int]], None]) -> None:
        self._store = store
        self._found = found
        self._looked: set[tuple[int, int]] = set()  # (mention, revision); used only in the thread
        self._closed = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="names")

    def ask(self, document_ids: Sequence[int]) -> None:
        """Link the undecided mentions of these documents while no bundle is in use. Returns at once."""
        if not self._closed.is_set():
            for one in document_ids:
                self._pool.submit(self._document, one)

    def settle(self) -> None:
        """Wait until everything requested so far is linked."""
        if not self._closed.is_set():
            self._pool.submit(_nothing).result()

    def forget(self) -> None:
        """The knowledge base or the type mapping changed: repeat the earlier requests."""
        if not self._closed.is_set():
            self._pool.submit(self._looked.clear)  # after earlier requests

    def close(self) -> None:
        """Waits for the mention in progress."""
        self._closed.set()
        self._pool.shutdown(cancel_futures=True)

    def _document(self, document_id: int) -> None:
        try:
            self._link(document_id)
        except UserError as error:  # a full disk or a removed document: the curator can continue without suggestions
            log.warning("Document %d was not linked by name: %s", document_id, error)
        except Exception:
            log.exception("Linking document %d by name failed", document_id)

    def _link(self, document_id: int) -> None:
        with self._store.read() as unit:
            wanted = self._wanted(unit, document_id)
        suggestions = []
        for mention, revision in wanted:
            if (mention.id, revision) in self._looked:
                continue
            if self._closed.is_set():
                return
            with self._store.read() as unit:
                candidates = link_by_name(unit, mention)
            self._looked.add((mention.id, revision))
            if candidates:  # a search without results is not evidence for NIL
                nil = NilEstimate(0.0, is_nil=False, calibrated=False)
                suggestions.append(Suggestion(mention.id, candidates, nil, Stamp(BY_NAME, revision)))
        if suggestions:
            self._save(document_id, suggestions)

    def _wanted(self, unit: UnitOfWork, document_id: int) -> list[tuple[Mention, int]]:
        """Undecided mentions without a bundle's answer, with the document's revision; none if a bundle is in use."""
        if active_bundle(unit.meta) or unit.kb.info() is None:
            return []
        revision = unit.documents.get(document_id).revision
        decided = unit.decisions.current_of_document(document_id)
        answered = {
            number
            for number, one in unit.suggestions.of_document(document_id).items()
            if one.stamp.bundle_id not in (BY_NAME, NO_BUNDLE)
        }
        return [
            (one, revision)
            for one in unit.mentions.of_document(document_id)
            if one.id not in decided and one.id not in answered
        ]

    def _save(self, document_id: int, suggestions: Sequence[Suggestion]) -> None:
        """Save suggestions of mentions that are unchanged and still needed."""
        with self._store.write() as unit:
            wanted = {(one.id, revision) for one, revision in self._wanted(unit, document_id)}
            current = [one for one in suggestions if (one.mention_id, one.stamp.document_revision) in wanted]
            unit.suggestions.save(current)
        if current:
            self._found(document_id, [one.mention_id for one in current])


def _nothing() -> None:
    """Does nothing: submitted last, it ends after everything else."""


def link_by_name(unit: UnitOfWork, mention: Mention) -> tuple[Candidate, ...]:
    """Entities of the mention's types with a similar name, most similar first; if no name has all its words, names with
    all but one."""
    words = mention.text.split()
    found = _spelt_like(unit, mention, [words])
    if not found and 1 < len(words) <= MOST_WORDS:
        found = _spelt_like(unit, mention, [words[:at] + words[at + 1 :] for at in range(len(words))])
    return tuple(sorted(found, key=lambda one: -one.score)[:K])


def _spelt_like(unit: UnitOfWork, mention: Mention, questions: Sequence[Sequence[str]]) -> list[Candidate]:
    from rapidfuzz import fuzz, utils  # imported with the first search, not with the window

    types = unit.meta.type_mapping().types_for(mention.type)
    branches = branches_for(unit, mention.type)
    least = SURE if len(mention.text) <= SHORT else LEAST
    best: dict[str, Candidate] = {}
    for words in questions:
        for match in unit.kb.search(only_words(" ".join(words)), types=types, branches=branches, limit=K):
            likeness = fuzz.token_sort_ratio(mention.text, match.matched, processor=utils.default_process) / 100
            entity = match.entity
            if likeness >= max(least, best[entity.id].score if entity.id in best else 0.0):
                scores = {"lexical": likeness}
                best[entity.id] = Candidate(entity.id, entity.name, entity.types, match.matched, likeness, scores)
    return list(best.values())
