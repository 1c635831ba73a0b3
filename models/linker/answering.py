"""From the scores of all stages to the answer for one mention: order, probabilities, NIL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.core.queries import MentionQuery
from models.names.candidates import DEFINITION, LEXICAL, NAMES, PREFERRED, CandidateTable
from models.rankers.combiner import Combiner, HeadFeatures, Wording, head_features
from models.rankers.conventions import Conventions, Elsewhere
from models.rankers.nil import NilFeatures, NilModel
from models.rankers.stage_weights import OPINION, favourites, nil_columns, opinion_lead, rise_of, stage_columns
from models.retrievers.fusion import DOCUMENT, LEAD, MEMORY, FusionWeights, comparable, ranking
from models.retrievers.recalled import NOTHING, Recalled, Votes
from models.text.normalise import normalise
from models.types import NO_CANDIDATES, CandidateList, DocumentInput, LinkedMention, NilEstimate

FLOATS = NDArray[np.float32]
EXACT = 0.9999
CLOSE = 0.05
NO_VOTES = Votes()


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The values that do not depend on the combiner's coefficients: ``order`` (c,) by the fused scores, and the
    head."""

    order: tuple[int, ...]
    fused: FLOATS
    bare: FLOATS
    head: HeadFeatures | None


@dataclass(frozen=True, slots=True, eq=False)
class ScoredMention:
    """A mention with the scores of all stages, before fusion. Weights and NIL are fitted on these.

    ``entity_ids`` and the arrays of ``table.scores`` run parallel; no order is implied. ``recalled`` comes from the
    memory, ``beside`` from the document's other mentions, and ``beside_bare`` is the same with an empty memory.
    ``opinion`` as in ``MentionInput``.
    """

    document: DocumentInput
    query: MentionQuery
    table: CandidateTable
    entity_ids: tuple[str, ...]
    recalled: Recalled = NOTHING
    beside: Elsewhere | None = None
    beside_bare: Elsewhere | None = None
    opinion: str | None = None
    laid_out: dict[object, Layout] = field(init=False, default_factory=dict)
    """A cache for fitting, which tries many linkers; its keys are the fusion weights and the stages in use."""
    bare: list[ScoredMention] = field(init=False, default_factory=list)

    @property
    def content_key(self) -> tuple[object, ...]:
        """A key that is equal for mentions with equal answers: mentions of a document with the same wording share all
        arrays."""
        shared = (self.document, self.table, self.recalled, self.beside, self.beside_bare)
        return (*map(id, shared), self.query.surface, self.query.expanded, self.query.types, self.opinion)

    def without_memory(self) -> ScoredMention:
        """The same mention with an empty memory (candidates found only by the memory stay)."""
        if not self.bare:
            self.bare.append(self._without_memory())
        return self.bare[0]

    def _without_memory(self) -> ScoredMention:
        table = self.table.with_scores(MEMORY, np.zeros(len(self.entity_ids), dtype=np.float32))
        if self.beside_bare is not None:
            table = table.with_scores(DOCUMENT, self.beside_bare.same)
        return replace(self, recalled=NOTHING, table=table, beside=self.beside_bare)


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """``order`` (c,) positions best first; ``probabilities`` (c,) given that it is not NIL, 0 after the head."""

    order: tuple[int, ...]
    fused: FLOATS
    bare: FLOATS
    probabilities: FLOATS
    head: HeadFeatures | None


@dataclass(frozen=True, slots=True, eq=False)
class Answerer:
    """Fusion, combiner and NIL model over one knowledge base."""

    kb: KnowledgeBase
    fusion: FusionWeights
    combiner: Combiner
    nil: NilModel

    def answers(self, mentions: Sequence[ScoredMention], *, k: int) -> list[LinkedMention]:
        """One for each mention; mentions with equal keys are ranked once."""
        first = {mention.content_key: mention for mention in reversed(mentions)}
        found = {key: self.answer(mention, k=k) for key, mention in first.items()}
        return [replace(found[mention.content_key], key=mention.query.key) for mention in mentions]

    def answer(self, mention: ScoredMention, *, k: int) -> LinkedMention:
        """The ``k`` best candidates and the NIL estimate; a mention without candidates is NIL with certainty."""
        ranked = self.rank(mention)
        score = self.nil.score(self.nil_features(mention, ranked)) if ranked.order else 1.0
        flagged = not ranked.order or score >= self.nil.threshold
        nil = NilEstimate(score, flagged, self.nil.calibrated)
        candidates = self._candidates(mention, ranked, nil, k=k) if ranked.order else NO_CANDIDATES
        return LinkedMention(mention.query.key, mention.query.surface, mention.query.expanded, candidates, nil)

    def rank(self, mention: ScoredMention) -> Ranked:
        """Rank by fused scores, ties by exact match, then by entity id; the combiner reorders the head."""
        key = (*sorted(self.fusion.weights.items()), *sorted(self.fusion.scales.items()), *self.combiner.stage_weights)
        if key not in mention.laid_out:
            mention.laid_out[key] = self._layout(mention)
        found = mention.laid_out[key]
        order, head = found.order, found.head
        probabilities = np.zeros(len(found.fused), dtype=np.float32)
        if head is None:
            return Ranked(order, found.fused, found.bare, probabilities, None)
        chances = self.combiner.probabilities(head.matrix, head.stages)
        places = sorted(range(len(chances)), key=lambda place: (-chances[place], place))
        probabilities[head.order] = chances
        first = [int(head.order[place]) for place in places]
        ahead = set(first)
        others = (at for at in order if at not in ahead)
        return Ranked((*first, *others), found.fused, found.bare, probabilities, head)

    def _layout(self, mention: ScoredMention) -> Layout:
        scores = mention.table.scores
        fused, bare = self.fusion.fuse(scores), self.fusion.fuse({k: v for k, v in scores.items() if k != MEMORY})
        exact = scores.get(LEXICAL, np.zeros(len(fused), dtype=np.float32)) >= EXACT
        order = tuple(ranking(fused, exact, mention.entity_ids))
        if not order:
            return Layout((), fused, bare, None)
        table = mention.table
        wording = Wording(_text(mention), self.kb.names, table.matched, table.rows, self.kb.name_starts)
        leads, habits = self.leads(mention, self.combiner.stage_weights), self._conventions(mention)
        head = head_features(
            scores, order, fused, bare, mention.entity_ids, wording, habits, recalled=mention.recalled, leads=leads
        )
        trained = [own for stage, own in leads.items() if stage != OPINION]
        return Layout(united(order, trained), fused, bare, head)

    def _conventions(self, mention: ScoredMention) -> Conventions:
        recalled, rows = mention.recalled, self.kb.rows
        decided = {rows[one]: recalled.score(one) for one in recalled.entities if one in rows}
        return Conventions(self.kb.hierarchy, mention.table.rows, decided, mention.beside)

    def leads(self, mention: ScoredMention, stages: Collection[str]) -> dict[str, NDArray[np.float64]]:
        """The leads of trained stages, and of a language model, for the candidates, (c,) each: 0 for the favourite,
        less for the others. A trained stage that was not asked about the mention has none."""
        scores = mention.table.scores
        found = {
            stage: comparable(stage, scores[stage], self.fusion.scales.get(stage, LEAD))
            for stage in stages
            if stage in scores
        }
        leads = {stage: own - own.max(initial=-np.inf) for stage, own in found.items() if len(own) and own.any()}
        if OPINION in stages and mention.opinion is not None and mention.entity_ids:
            said = opinion_lead(mention.entity_ids, mention.opinion)
            leads |= {} if said is None else {OPINION: said}
        return leads

    def nil_features(self, mention: ScoredMention, ranked: Ranked | None = None) -> NilFeatures:
        """The features that NIL is fitted on, from the order without the trained stages in use.

        A trained stage has a favourite even if no entity fits. Its features for NIL are separate, in ``stages``.
        """
        found = self._ablated().rank(mention) if self.combiner.stage_weights else ranked or self.rank(mention)
        if not found.order or found.head is None:
            return NilFeatures()
        first, text, recalled = found.order[0], _text(mention), mention.recalled
        place = int(np.flatnonzero(found.head.order == first)[0])
        matched = found.head.named(place)
        entity = mention.entity_ids[first]
        return NilFeatures(
            top=float(found.bare[first]),
            margin=_lead(found.fused, first),
            probability=float(found.probabilities[first]),
            lexical=_score(mention, LEXICAL, first),
            best_lexical=float(mention.table.scores[LEXICAL].max()) if LEXICAL in mention.table.scores else 0.0,
            names=_score(mention, NAMES, first),
            preferred=_score(mention, PREFERRED, first),
            exact=matched["exact"],
            covers=matched["covers"],
            covered=matched["covered"],
            document=_score(mention, DOCUMENT, first),
            definition=_score(mention, DEFINITION, first),
            rivals=min(1.0, float((found.fused > found.fused[first] - CLOSE).sum()) / 10),
            length=min(1.0, len(text) / 50),
            words=min(1.0, len(normalise(text).split()) / 8),
            digits=sum(c.isdigit() for c in text) / max(1, len(text)),
            capitals=sum(c.isupper() for c in text) / max(1, len(text)),
            symbol=float(len(text) <= 6 and text.upper() == text),
            seen=float(np.log1p(recalled.total)) / 3,
            share=recalled.share.get(entity, 0.0),
            nil_share=recalled.nil_share,
            near=max(recalled.nearest.values(), default=0.0),
            nil_near=recalled.nil_nearest,
            types=mention.query.types or self.kb.entities[mention.table.rows[first]].types,
            stages={
                stage: self._nil_columns(stage, own, found, recalled.total == 0)
                for stage, own in self.leads(mention, self.nil.stage_weights).items()
            },
        )

    def _nil_columns(self, stage: str, lead: NDArray[np.float64], bare: Ranked, new: bool) -> tuple[float, ...]:
        head, own = bare.head, self.combiner.stage_weights.get(stage)
        rise = 0.0
        if head is not None and own is not None:
            logits = self.combiner.ablated().logits(head.matrix)
            columns = stage_columns(stage, lead, head.order, new=new, exact=head.exact)
            rise = rise_of(logits, columns, own)
        return tuple(map(float, nil_columns(lead, bare.order[0], rise)))

    def _ablated(self) -> Answerer:
        return replace(self, combiner=self.combiner.ablated())

    def _candidates(self, mention: ScoredMention, ranked: Ranked, nil: NilEstimate, *, k: int) -> CandidateList:
        chosen = np.asarray(ranked.order[:k], dtype=np.intp)
        entities = [self.kb.entities[row] for row in mention.table.rows[chosen].tolist()]
        names = self.kb.names
        votes = mention.recalled.votes
        decided = [votes.get(entity.id, NO_VOTES) for entity in entities]
        score = ranked.probabilities[chosen].astype(np.float64)
        return CandidateList(
            [entity.id for entity in entities],
            [entity.name for entity in entities],
            [entity.types for entity in entities],
            [names[at] for at in mention.table.matched[chosen].tolist()],
            score.tolist(),
            {name: values[chosen].tolist() for name, values in mention.table.scores.items()},
            (score * (1.0 - nil.score)).tolist(),
            [(vote.times, vote.documents) for vote in decided],
        )


def united(order: Sequence[int], leads: Sequence[NDArray[np.float64]]) -> tuple[int, ...]:
    """The (c,) positions by their best place in ``order`` or by one of the (c,) ``leads``, so that candidates of a
    trained stage are among the first too. A stage that was not asked prefers none."""
    best = np.empty(len(order))
    best[list(order)] = np.arange(len(order))
    for lead in leads:
        if not len(favourites(lead)):
            continue
        own = np.argsort(-lead, kind="stable")
        best[own] = np.minimum(best[own], np.arange(len(order)) + 0.5)
    return tuple(np.argsort(best, kind="stable").tolist())


def _text(mention: ScoredMention) -> str:
    return mention.query.expanded or mention.query.surface


def _score(mention: ScoredMention, stage: str, at: int) -> float:
    values = mention.table.scores.get(stage)
    return 0.0 if values is None else float(values[at])


def _lead(fused: FLOATS, first: int) -> float:
    """How far the first candidate is ahead of the best other one; negative if the combiner overruled the fusion."""
    others = np.delete(fused, first)
    return float(fused[first] - others.max()) if len(others) else float(fused[first])
