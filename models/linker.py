"""The linker: documents in, ranked candidates and NIL estimates out, in batches.

For each mention: abbreviations and other wordings → retrieval by every stage → exact scores of every
candidate by every stage → coherence with the document's other mentions → fusion → re-ranking → NIL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.bundle import Bundle, open_bundle
from models.candidates import DEFINITION, LEXICAL, NAMES, CandidateTable
from models.coherence import add_coherence
from models.detection import Detector
from models.device import Device, choose_device
from models.fusion import FusionWeights, ranking
from models.nil import NilFeatures, NilModel
from models.normalise import sorted_key
from models.overlay import change_entities
from models.queries import MentionQuery, document_queries
from models.reranking import add_ranker
from models.retrieving import add_trained
from models.stages import StageLoader, Stages
from models.types import (
    DetectedMention,
    DocumentInput,
    EntityRecord,
    LinkedDocument,
    LinkedMention,
    NilEstimate,
    ScoredCandidate,
)

BATCH_DOCUMENTS = 16
FLOATS = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredMention:
    """A mention with the scores of all stages, before fusion: what weights and NIL are fitted on.

    ``entity_ids`` and the arrays of ``table.scores`` run parallel; no order is implied.
    """

    document: DocumentInput
    query: MentionQuery
    table: CandidateTable
    entity_ids: tuple[str, ...]


class Linker:
    """A loaded bundle. ``Linker.load`` reads it; one instance is used by one thread."""

    def __init__(self, bundle: Bundle, stages: Stages, *, device: Device, fusion: FusionWeights, nil: NilModel) -> None:
        self.bundle = bundle
        self.stages = stages
        self.device = device
        self.fusion = fusion
        self.nil = nil
        self._detector: Detector | None = None

    @classmethod
    def load(cls, bundle_path: Path | str, *, device: str | Device = "auto") -> Linker:
        """Open a bundle (or a sealed staging folder); ModelError says what is wrong with it."""
        bundle = open_bundle(bundle_path)
        place = choose_device(device) if isinstance(device, str) else device
        stages = StageLoader(bundle, place).load()
        fusion = FusionWeights.from_json(bundle.manifest.fusion)
        fusion = FusionWeights(fusion.weights, {**stages.scales, **fusion.scales}, fusion.fitted_on)
        return cls(bundle, stages, device=place, fusion=fusion, nil=NilModel.from_json(bundle.manifest.nil))

    def with_weights(self, *, fusion: FusionWeights | None = None, nil: NilModel | None = None) -> Linker:
        """The same stages under other weights; nothing is loaded again."""
        weights = fusion or self.fusion
        scaled = FusionWeights(weights.weights, {**self.stages.scales, **weights.scales}, weights.fitted_on)
        return Linker(self.bundle, self.stages, device=self.device, fusion=scaled, nil=nil or self.nil)

    def entity(self, entity_id: str) -> EntityRecord | None:
        """By primary or alternate id."""
        primary = self.stages.kb.resolved.get(entity_id)
        return None if primary is None else self.stages.kb.entities[self.stages.kb.rows[primary]]

    def upsert(self, *entities: EntityRecord) -> None:
        """Add entities, or change those of the same ids; the next query feels it. ModelError for one without a name."""
        self.change_entities(upsert=entities)

    def remove(self, *entity_ids: str) -> None:
        """Take entities out by their primary ids; the next query feels it. ModelError for one that is not there."""
        self.change_entities(remove=entity_ids)

    def change_entities(self, *, upsert: Iterable[EntityRecord] = (), remove: Iterable[str] = ()) -> None:
        """Both at once, removals first, or nothing where ModelError is raised. The bundle's files stay as they are."""
        self.stages = change_entities(self.stages, upsert=upsert, remove=remove)
        self._detector = None

    def link(self, documents: Iterable[DocumentInput], *, k: int = 64) -> Iterator[LinkedDocument]:
        """Answers in the order of ``documents``, at most ``k`` candidates a mention, batch by batch."""
        for batch in _batches(documents, BATCH_DOCUMENTS):
            for document, scored in zip(batch, self._score_batch(batch, k=k), strict=True):
                yield LinkedDocument(document.key, tuple(self._answer(mention, k=k) for mention in scored))

    def score(self, documents: Iterable[DocumentInput], *, k: int = 64) -> Iterator[ScoredMention]:
        """Every mention with the scores of all stages, for fitting weights and NIL."""
        for batch in _batches(documents, BATCH_DOCUMENTS):
            for scored in self._score_batch(batch, k=k):
                yield from scored

    def finish(self, mention: ScoredMention, *, k: int = 64) -> LinkedMention:
        """The answer for a mention scored before, under this linker's weights."""
        return self._answer(mention, k=k)

    def nil_features(self, mention: ScoredMention) -> NilFeatures:
        """The features on which NIL is fitted, under this linker's fusion weights."""
        fused, order = self._ranked(mention)
        return self._nil_features(mention, fused, order)

    def detect(self, text: str, types: Sequence[str] = ()) -> list[DetectedMention]:
        """Names of the knowledge base in a text, longest match; ``types`` restricts the entities."""
        if self._detector is None:
            self._detector = Detector.build(self.stages.kb)
        return self._detector.detect(text, types=types)

    def describe(self) -> tuple[str, ...]:
        """A sentence each: device, every stage, fusion, NIL."""
        nil = "calibrated on this project" if self.nil.calibrated else "not calibrated on this project"
        return (self.device.sentence, *self.stages.sentences, self.fusion.sentence(), f"NIL is {nil}.")

    def _score_batch(self, batch: Sequence[DocumentInput], *, k: int) -> list[list[ScoredMention]]:
        queries = [document_queries(document) for document in batch]
        prepared = self.stages.names.find([query for group in queries for query in group], k=k)
        tables = {lookup: item.table() for lookup, item in prepared.items()}
        found = [[tables[(query.variants, query.types)] for query in group] for group in queries]
        if self.stages.trained:
            found = add_trained(self.stages, batch, queries, prepared, k=k)
        found = [add_coherence(group, tables) for group, tables in zip(queries, found, strict=True)]
        if self.stages.ranker is not None:  # last, so that the margins it goes by are those of all other stages
            found = add_ranker(self.stages, self.fusion, batch, found)
        return [
            [self._scored(document, query, table) for query, table in zip(group, group_tables, strict=True)]
            for document, group, group_tables in zip(batch, queries, found, strict=True)
        ]

    def _scored(self, document: DocumentInput, query: MentionQuery, table: CandidateTable) -> ScoredMention:
        ids = tuple(self.stages.kb.entities[row].id for row in table.rows)
        return ScoredMention(document, query, table, ids)

    def _ranked(self, mention: ScoredMention) -> tuple[FLOATS, list[int]]:
        fused = self.fusion.fuse(mention.table.scores)
        exact = mention.table.scores.get(LEXICAL, np.zeros(len(fused), dtype=np.float32)) >= 0.9999
        return fused, ranking(fused, exact, mention.entity_ids)

    def _answer(self, mention: ScoredMention, *, k: int) -> LinkedMention:
        fused, order = self._ranked(mention)
        score = self.nil.score(self._nil_features(mention, fused, order)) if order else 1.0
        nil = NilEstimate(score, not order or score >= self.nil.threshold, self.nil.calibrated)
        candidates = tuple(self._candidate(mention, at, float(fused[at])) for at in order[:k])
        return LinkedMention(mention.query.key, mention.query.surface, mention.query.expanded, candidates, nil)

    def _candidate(self, mention: ScoredMention, at: int, score: float) -> ScoredCandidate:
        kb, table = self.stages.kb, mention.table
        entity = kb.entities[table.rows[at]]
        scores = {name: float(values[at]) for name, values in table.scores.items()}
        return ScoredCandidate(entity.id, entity.name, entity.types, kb.names[table.matched[at]], score, scores)

    def _nil_features(self, mention: ScoredMention, fused: FLOATS, order: Sequence[int]) -> NilFeatures:
        if not order:
            return NilFeatures()
        first = order[0]
        top, second = float(fused[first]), float(fused[order[1]]) if len(order) > 1 else 0.0
        scores = mention.table.scores
        text = mention.query.expanded or mention.query.surface
        matched = self.stages.kb.names[mention.table.matched[first]]
        return NilFeatures(
            top=top,
            margin=top - second,
            lexical=float(scores[LEXICAL][first]) if LEXICAL in scores else 0.0,
            names=float(scores[NAMES][first]) if NAMES in scores else 0.0,
            exact=float(sorted_key(matched) == sorted_key(text)),
            length=min(1.0, len(text) / 50),
            digits=sum(c.isdigit() for c in text) / max(1, len(text)),
            symbol=float(len(text) <= 6 and text.upper() == text),
            definition=float(scores[DEFINITION][first]),
            rivals=min(1.0, float((fused > top - 0.05).sum()) / 10),
            types=mention.query.types or self.stages.kb.entities[mention.table.rows[first]].types,
        )


def _batches(documents: Iterable[DocumentInput], size: int) -> Iterator[list[DocumentInput]]:
    source = iter(documents)
    while batch := list(islice(source, size)):
        yield batch
