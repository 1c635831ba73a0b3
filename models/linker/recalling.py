"""The memory in the pipeline: decisions are taken in, and recalled for the mentions of a batch of documents.

Texts are compared by the vectors that the names stage has already made. Contexts are encoded only if equal strings were
decided in several ways; each mention's is encoded once and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.core.queries import MentionQuery, document_queries
from models.encoders.cache import EmbeddingCache
from models.encoders.contexts import encode_contexts
from models.encoders.encoders import Encoder
from models.linker.stages import Stages
from models.names.candidates import NAMES, CandidateTable, PreparedLookup
from models.names.names import NamesRetriever, encode_once
from models.retrievers.fusion import MEMORY
from models.retrievers.memory import MentionMemory
from models.retrievers.recalled import Place, Recalled, RecallQuery, RememberedDecision
from models.text.normalise import sorted_key
from models.types import DecidedDocument, DocumentInput

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
SAMPLE = 512
Surface = tuple[str, tuple[str, ...], tuple[str, ...]]
"""The text of a decided mention as written, its types, and its entities."""


class Recollection:
    """A linker's memory with its encoder; without a names stage only equal strings are recalled."""

    def __init__(self, stages: Stages) -> None:
        names = stages.names.stages.get(NAMES)
        self._encoder: Encoder | None = names.encoder if isinstance(names, NamesRetriever) else None
        background = _background(names.index) if isinstance(names, NamesRetriever) else 0.0
        self.memory = MentionMemory(self._encoder.dimension if self._encoder else 1, background=background)
        self._documents: dict[str, DocumentInput] = {}
        self._contexts: dict[Place, FLOATS] = {}
        self._surfaces: dict[str, list[Surface]] = {}
        self._known = names.known if isinstance(names, NamesRetriever) else {}
        self._cache: EmbeddingCache | None = None

    def keep_vectors(self, root: Path | None) -> None:
        """Store vectors of many new texts in the embedding cache at ``root`` (None: the usual one), so that the same
        decisions are learnt quickly when the linker restarts."""
        if self._encoder is not None:
            self._cache = EmbeddingCache(self._encoder, root=root, dtype="float32")

    def give_back(self) -> None:
        """Release what was read from the encoder's file."""
        release: Any = getattr(self._encoder.module.transformer, "give_back", None) if self._encoder else None
        if release is not None:
            release()

    @property
    def encoder_name(self) -> str:
        """The fingerprint of the encoder that compares texts, empty without one."""
        return self._encoder.fingerprint if self._encoder else ""

    def learn(self, decided: Sequence[DecidedDocument]) -> None:
        """Add documents, each replacing its earlier decisions; a document without decisions is forgotten."""
        queries = [document_queries(one.document) for one in decided]
        vectors = self._vectors([_text(query) for group in queries for query in group])
        at = 0
        for one, group in zip(decided, queries, strict=True):
            self.forget(one.document.key)
            own = [
                (RememberedDecision(query.key, sorted_key(_text(query)), query.types, ids), vectors[at + place])
                for place, (query, ids) in enumerate(zip(group, one.outcomes, strict=True))
                if query.variants
            ]
            at += len(group)
            if own:
                self._surfaces[one.document.key] = _decided_surfaces(one)
                self._documents[one.document.key] = one.document
                self.memory.learn(one.document.key, [each for each, _ in own], np.stack([row for _, row in own]))

    def surfaces(self, kb: KnowledgeBase) -> list[tuple[str, tuple[str, ...]]]:
        """The texts of decided mentions, linked or NIL, as written, each with its types: those of its entities if it
        may be of any type."""
        found = sorted({each for group in self._surfaces.values() for each in group})
        return [(text, types or _types_of(kb, ids)) for text, types, ids in found]

    def forget(self, document: str) -> None:
        """Drop the decisions of one document."""
        gone = self._documents.pop(document, None)
        self._surfaces.pop(document, None)
        self.memory.forget(document)
        for mention in gone.mentions if gone else ():
            self._contexts.pop((document, mention.key), None)

    def recall(
        self,
        batch: Sequence[DocumentInput],
        queries: Sequence[Sequence[MentionQuery]],
        lookups: Sequence[Sequence[PreparedLookup]],
        *,
        own: bool,
    ) -> list[list[Recalled]]:
        """The memory's decisions about every mention; with ``own`` its document's other decisions are used too."""
        result = []
        for document, group, prepared in zip(batch, queries, lookups, strict=True):
            asked = [_asked(document, query, own=own) for query in group]
            contexts = self._rival_contexts(document, asked)

            def likeness(place: Place, others: Sequence[Place], contexts: dict[Place, FLOATS] = contexts) -> float:
                return max((float(contexts[place] @ contexts[other]) for other in others), default=0.0)

            # equal strings have equal answers if neither contexts nor a mention's own decision count
            apart = bool(contexts) or (own and document.key in self._documents)
            alike = [
                at if apart else (one.text, one.types, id(lookup))
                for at, (one, lookup) in enumerate(zip(asked, prepared, strict=True))
            ]
            first = {look: at for at, look in reversed(list(enumerate(alike)))}
            places = list(first.values())
            vectors = np.asarray([self._query_vector(prepared[at]) for at in places], dtype=np.float32)
            known = self.memory.recall([asked[at] for at in places], vectors, likeness=likeness if contexts else None)
            found = dict(zip(first, known, strict=True))
            result.append([found[look] for look in alike])
        return result

    def _rival_contexts(self, document: DocumentInput, asked: Sequence[RecallQuery]) -> dict[Place, FLOATS]:
        """Context vectors of mentions that only contexts can distinguish, and of the decisions to compare with."""
        rivals = {one.key: self.memory.rivals(one) for one in asked}
        doubtful = {key for key, places in rivals.items() if places}
        if not doubtful or self._encoder is None:
            return {}
        wanted = {place for places in rivals.values() for place in places} - self._contexts.keys()
        self._contexts |= self._encode([_only(self._documents[key], wanted) for key in sorted({k for k, _ in wanted})])
        present = self._encode([_only(document, {(document.key, key) for key in doubtful})])
        return self._contexts | present

    def _encode(self, documents: Sequence[DocumentInput]) -> dict[Place, FLOATS]:
        if not documents:
            return {}
        assert self._encoder is not None
        places = [(document.key, mention.key) for document in documents for mention in document.mentions]
        return dict(zip(places, encode_contexts(self._encoder, documents).mentions, strict=True))

    def _vectors(self, texts: Sequence[str]) -> FLOATS:
        if self._encoder is None:
            return np.zeros((len(texts), 1), dtype=np.float32)
        return encode_once(self._encoder, texts, self._known, cache=self._cache)

    def _query_vector(self, lookup: PreparedLookup) -> FLOATS:
        """The vector of the first wording."""
        found = lookup.encoded.get(NAMES)
        if self._encoder is None or found is None or not len(found):
            return np.zeros(self._encoder.dimension if self._encoder else 1, dtype=np.float32)
        return np.asarray(found[0], dtype=np.float32)


def with_recalled(
    stages: Stages, lookups: Sequence[PreparedLookup], recalled: Sequence[Recalled]
) -> list[PreparedLookup]:
    """The lookups with the recalled entities added to their candidates; unchanged if they are already there. Equal
    pairs share one lookup."""
    found: dict[tuple[int, int], PreparedLookup] = {}
    for lookup, known in zip(lookups, recalled, strict=True):
        pair = (id(lookup), id(known))
        if pair not in found:
            rows = np.union1d(lookup.rows, np.asarray(list(_scores(stages, known)), dtype=np.int64))
            found[pair] = replace(lookup, rows=rows) if len(rows) > len(lookup.rows) else lookup
    return [found[id(lookup), id(known)] for lookup, known in zip(lookups, recalled, strict=True)]


def add_memory(stages: Stages, table: CandidateTable, recalled: Recalled) -> CandidateTable:
    """Add the stage "memory": the score of each recalled candidate, 0 for the others."""
    values = np.zeros(len(table.rows), dtype=np.float32)
    scores = _scores(stages, recalled)
    if scores and len(values):
        rows = np.asarray(list(scores), dtype=np.int64)
        places = np.minimum(np.searchsorted(table.rows, rows), len(values) - 1)
        there = table.rows[places] == rows
        values[places[there]] = np.asarray(list(scores.values()), dtype=np.float32)[there]
    return table.with_scores(MEMORY, values)


def _scores(stages: Stages, recalled: Recalled) -> dict[int, float]:
    """Row → recalled score, for the entities in the knowledge base."""
    return {stages.kb.rows[one]: recalled.score(one) for one in recalled.entities if one in stages.kb.rows}


def _background(index: Any) -> float:
    """Mean cosine of names sampled from the whole knowledge base."""
    rows = np.unique(np.linspace(0, len(index) - 1, min(len(index), SAMPLE)).astype(np.int64))
    vectors = np.asarray(index.vectors(rows), dtype=np.float32)
    count = len(rows)
    return float(((vectors @ vectors.T).sum() - count) / (count * (count - 1))) if count > 1 else 0.0


def _decided_surfaces(decided: DecidedDocument) -> list[Surface]:
    document = decided.document
    pairs = zip(document.mentions, decided.outcomes, strict=True)
    return [(mention.surface(document.text), mention.types, ids) for mention, ids in pairs]


def _types_of(kb: KnowledgeBase, ids: Sequence[str]) -> tuple[str, ...]:
    rows = (kb.rows[one] for one in ids if one in kb.rows)
    return tuple(dict.fromkeys(kind for row in rows for kind in kb.entities[row].types))


def _asked(document: DocumentInput, query: MentionQuery, *, own: bool) -> RecallQuery:
    return RecallQuery(query.key, sorted_key(_text(query)), query.types, document.key, whole_document=not own)


def _text(query: MentionQuery) -> str:
    """The wording that is remembered, with expanded abbreviations."""
    return query.variants[0].text if query.variants else ""


def _only(document: DocumentInput, wanted: set[Place]) -> DocumentInput:
    mentions = tuple(mention for mention in document.mentions if (document.key, mention.key) in wanted)
    return replace(document, mentions=mentions)
