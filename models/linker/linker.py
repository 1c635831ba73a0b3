"""The linker: documents in, ranked candidates and NIL estimates out, in batches.

For each mention: abbreviations and other wordings → retrieval by every stage and the memory → exact scores of every
candidate by every stage → coherence with the document's other mentions → fusion → re-ranking → combiner → NIL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from models.core.device import Device, choose_device
from models.core.queries import MentionQuery, document_queries
from models.errors import say
from models.linker.answering import Answerer, Ranked, ScoredMention
from models.linker.bundle import Bundle, open_bundle
from models.linker.coherence import add_coherence
from models.linker.overlay import change_entities
from models.linker.recalling import Recollection, add_memory, with_recalled
from models.linker.reranking import RANKER, ask
from models.linker.retrieving import add_trained
from models.linker.stages import StageLoader, Stages
from models.names.candidates import CandidateTable, PreparedLookup, regroup
from models.names.detection import Detector
from models.rankers.combiner import DEFAULT_COMBINER, Combiner, default_combiner
from models.rankers.nil import NilFeatures, NilModel
from models.retrievers.fusion import FusionWeights
from models.retrievers.memory import MentionMemory
from models.retrievers.recalled import Recalled
from models.tracing import span
from models.types import (
    DecidedDocument,
    DetectedMention,
    DocumentInput,
    EntityRecord,
    LinkedDocument,
    LinkedMention,
)

BATCH_DOCUMENTS, BATCH_MENTIONS = 16, 128
"""Documents encoded at once, or more if they have fewer than this number of mentions together."""


class Linker:
    """A loaded bundle. ``Linker.load`` reads it; one instance is used by one thread."""

    def __init__(
        self,
        bundle: Bundle,
        stages: Stages,
        *,
        device: Device,
        fusion: FusionWeights,
        nil: NilModel,
        combiner: Combiner = DEFAULT_COMBINER,
        recollection: Recollection | None = None,
    ) -> None:
        self.bundle = bundle
        self.stages = stages
        self.device = device
        self.fusion = fusion
        self.nil = nil
        self.combiner = combiner
        self.recollection = recollection or Recollection(stages)
        self._detector: Detector | None = None
        self._detector_knows = False  # everything in the memory

    @classmethod
    def load(
        cls,
        bundle_path: Path | str,
        *,
        device: str | Device = "auto",
        before_indexes: Callable[[], None] = lambda: None,
    ) -> Linker:
        """Open a bundle (or a sealed staging folder); `before_indexes` is called before any index is read. Raises
        ModelError if it cannot be used."""
        bundle = open_bundle(bundle_path)
        place = choose_device(device) if isinstance(device, str) else device
        stages = StageLoader(bundle, place).load(before_indexes)
        fusion = FusionWeights.from_json(bundle.manifest.fusion)
        fusion = FusionWeights(fusion.weights, {**stages.scales, **fusion.scales}, fusion.fitted_on)
        return cls(
            bundle,
            stages,
            device=place,
            fusion=fusion,
            nil=NilModel.from_json(bundle.manifest.nil),
            combiner=Combiner.from_json(bundle.manifest.combiner) or default_combiner(stages.names.stages),
        )

    def with_weights(
        self, *, fusion: FusionWeights | None = None, nil: NilModel | None = None, combiner: Combiner | None = None
    ) -> Linker:
        """The same stages and memory with other weights; nothing is loaded again."""
        weights = fusion or self.fusion
        scaled = FusionWeights(weights.weights, {**self.stages.scales, **weights.scales}, weights.fitted_on)
        return Linker(
            self.bundle,
            self.stages,
            device=self.device,
            fusion=scaled,
            nil=nil or self.nil,
            combiner=combiner or self.combiner,
            recollection=self.recollection,
        )

    @property
    def memory(self) -> MentionMemory:
        """The decisions used in answers; see ``remember``."""
        return self.recollection.memory

    def remember(self, *decided: DecidedDocument) -> None:
        """Add decisions, effective from the next query on: each document replaces its earlier decisions."""
        self.recollection.learn(decided)
        self._detector_knows = False

    def give_back(self) -> None:
        """Release the memory of what was read from the files of the names' encoder; it is mapped again when needed."""
        self.recollection.give_back()

    def shares_memory_with(self, other: Linker) -> bool:
        """Whether both use the same encoder for the memory's texts."""
        return self.recollection.encoder_name == other.recollection.encoder_name

    def adopt_memory(self, other: Linker) -> None:
        """Share the memory of another linker, see ``shares_memory_with``."""
        self.recollection = other.recollection

    def forget(self, *documents: str) -> None:
        """Drop the decisions of documents, by their keys; unknown documents are ignored."""
        for document in documents:
            self.recollection.forget(document)
        self._detector_knows = False

    def entity(self, entity_id: str) -> EntityRecord | None:
        """The entity with this primary or alternate id."""
        primary = self.stages.kb.resolved.get(entity_id)
        return None if primary is None else self.stages.kb.entities[self.stages.kb.rows[primary]]

    def upsert(self, *entities: EntityRecord) -> None:
        """Add entities, or change those with the same ids, effective from the next query on. Raises ModelError for an
        entity without a name."""
        self.change_entities(upsert=entities)

    def remove(self, *entity_ids: str) -> None:
        """Remove entities by their primary ids, effective from the next query on. Raises ModelError for an unknown
        entity."""
        self.change_entities(remove=entity_ids)

    def change_entities(self, *, upsert: Iterable[EntityRecord] = (), remove: Iterable[str] = ()) -> None:
        """Remove and add entities at once, removals first; if ModelError is raised, nothing changes. The bundle's files
        do not change."""
        self.stages = change_entities(self.stages, upsert=upsert, remove=remove)
        self._detector = None

    def link(self, documents: Iterable[DocumentInput], *, k: int = 64, own: bool = False) -> Iterator[LinkedDocument]:
        """Answers in the order of ``documents``, at most ``k`` candidates a mention, batch by batch.

        With ``own`` a document's other decisions are used too, as a curator expects; without it they are not, as
        fitting and evaluation need it. Trained stages with no weight are not run.
        """
        answerer, stages = self.answerer(), self._weighed()
        for batch in batches(documents):
            scored = self._score_batch(stages, batch, k=k, own=own, fits=False)
            with span("answer"):
                answers = [tuple(answerer.answers(group, k=k)) for group in scored]
            for document, mentions in zip(batch, answers, strict=True):
                yield LinkedDocument(document.key, mentions)

    def score(
        self, documents: Iterable[DocumentInput], *, k: int = 64, weighted_only: bool = False
    ) -> Iterator[ScoredMention]:
        """Every mention with the scores of all stages, for fitting weights and NIL; no document sees its own decisions.
        With ``weighted_only`` trained stages with no weight are left out, as in ``link``."""
        stages = self._weighed() if weighted_only else self.stages
        for batch in batches(documents):
            for scored in self._score_batch(stages, batch, k=k, own=False, fits=True):
                yield from scored

    def finish(self, mention: ScoredMention, *, k: int = 64) -> LinkedMention:
        """The answer for an already scored mention, with this linker's weights."""
        return self.answerer().answer(mention, k=k)

    def rank(self, mention: ScoredMention) -> Ranked:
        """Order, scores and head features of an already scored mention, with this linker's weights."""
        return self.answerer().rank(mention)

    def nil_features(self, mention: ScoredMention) -> NilFeatures:
        """The features that NIL is fitted on, with this linker's weights."""
        return self.answerer().nil_features(mention)

    def detect(self, text: str, types: Sequence[str] = ()) -> list[DetectedMention]:
        """Names of the knowledge base and remembered mentions in a text, by longest match; ``types`` restricts them."""
        if self._detector is None:
            self._detector, self._detector_knows = Detector.build(self.stages.kb), False
        if not self._detector_knows:
            self._detector = self._detector.remembering(self.recollection.surfaces(self.stages.kb))
            self._detector_knows = True
        return self._detector.detect(text, types=types)

    def describe(self) -> tuple[str, ...]:
        """One sentence each about device, every stage, fusion, and NIL."""
        calibrated = self.nil.calibrated
        nil = (
            say("NIL is calibrated for this project.") if calibrated else say("NIL is not calibrated for this project.")
        )
        orders = (self.fusion.sentence(), self.combiner.sentence())
        return (self.device.sentence, *self.stages.sentences, *orders, nil)

    def answerer(self) -> Answerer:
        """Calculates answers from scores, with this linker's weights."""
        return Answerer(self.stages.kb, self.fusion, self.combiner, self.nil)

    def _weighed(self) -> Stages:
        """The stages without trained retrievers and rankers that have no weight."""
        trained = tuple(one for one in self.stages.trained if self.uses_stage(one.name))
        return replace(self.stages, trained=trained, ranker=self.stages.ranker if self.uses_stage(RANKER) else None)

    def uses_stage(self, stage: str) -> bool:
        """Whether a trained stage, or a second opinion, changes any answer: it has a weight in fusion or in the
        combiner."""
        return bool(self.fusion.weights.get(stage)) or stage in self.combiner.stage_weights

    def _trained(
        self,
        stages: Stages,
        batch: Sequence[DocumentInput],
        queries: Sequence[Sequence[MentionQuery]],
        lookups: Sequence[Sequence[PreparedLookup]],
        recalled: Sequence[Sequence[Recalled]],
        *,
        k: int,
    ) -> list[list[CandidateTable]]:
        """With trained retrievers. If one has a weight for settled texts, or weights yet to be fitted, they are asked
        about those that the memory does not know as well."""
        hears_settled = any(self.combiner.stage_weights.get(one.name, (1.0,))[-1] > 0 for one in stages.trained)
        doubted = [hears_settled and not known.total for group in recalled for known in group]
        return add_trained(stages, batch, queries, lookups, k=k, doubted=doubted)

    def _score_batch(
        self, stages: Stages, batch: Sequence[DocumentInput], *, k: int, own: bool, fits: bool
    ) -> list[list[ScoredMention]]:
        with span("queries", documents=len(batch)):
            queries = [document_queries(document) for document in batch]
        with span("find by name", mentions=sum(map(len, queries))):
            prepared = stages.names.find([query for group in queries for query in group], k=k)
            lookups = [[prepared[(query.variants, query.types)] for query in group] for group in queries]
        with span("recall"):
            recalled = self.recollection.recall(batch, queries, lookups, own=own)
        with span("score candidates"):
            lookups = [with_recalled(stages, *parts) for parts in zip(lookups, recalled, strict=True)]
            found = (
                self._trained(stages, batch, queries, lookups, recalled, k=k) if stages.trained else _tables(lookups)
            )
        with span("coherence"):
            scored = [self._scored(*parts, fits=fits) for parts in zip(batch, queries, found, recalled, strict=True)]
        if stages.ranker is None:
            return scored
        # last, so that its margins come from all other stages
        return regroup(ask(stages, self.answerer(), [one for group in scored for one in group]), scored)

    def _scored(
        self,
        document: DocumentInput,
        queries: Sequence[MentionQuery],
        tables: Sequence[CandidateTable],
        recalled: Sequence[Recalled],
        *,
        fits: bool,
    ) -> list[ScoredMention]:
        """A document's mentions with memory and coherence; equal mentions share their arrays. ``fits``: weights may be
        fitted on them, so all features are needed."""
        alike = [(id(table), id(known)) for table, known in zip(tables, recalled, strict=True)]
        first = {look: at for at, look in reversed(list(enumerate(alike)))}
        places = list(first.values())
        with_memory = [add_memory(self.stages, tables[at], recalled[at]) for at in places]
        asked = [queries[at] for at in places]
        coherent = add_coherence(
            document.text, asked, with_memory, self.fusion, self.stages.kb, relates=fits or self.combiner.relates
        )
        shared = {}
        for at, table, beside, alone in zip(places, *coherent, strict=True):
            ids = tuple(self.stages.kb.entities[row].id for row in table.rows.tolist())
            counted = self.memory.counted(recalled[at], ids, without=document.key)
            shared[alike[at]] = (table, ids, counted, beside, alone)
        opinions = {mention.key: mention.opinion for mention in reversed(document.mentions)}
        return [
            ScoredMention(document, query, *shared[look], opinions.get(query.key))
            for query, look in zip(queries, alike, strict=True)
        ]


def _tables(lookups: Sequence[Sequence[PreparedLookup]]) -> list[list[CandidateTable]]:
    """The scores of the lookups; equal lookups are scored once."""
    distinct = {id(lookup): lookup for group in lookups for lookup in group}
    tables = {key: lookup.table() for key, lookup in distinct.items()}
    return [[tables[id(lookup)] for lookup in group] for group in lookups]


def batches(documents: Iterable[DocumentInput]) -> Iterator[list[DocumentInput]]:
    batch: list[DocumentInput] = []
    mentions = 0
    for document in documents:
        batch.append(document)
        mentions += len(document.mentions)
        if len(batch) >= BATCH_DOCUMENTS and mentions >= BATCH_MENTIONS:
            yield batch
            batch, mentions = [], 0
    if batch:
        yield batch
