"""Matching strings, such as a table's column or a typed text, with entities by the linker in use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from curator.domain.curies import look_up_key
from curator.domain.documents import Span
from curator.domain.entities import Entity, EntityMatch, MatchKind
from curator.domain.jobs import LinkerState, Progress
from curator.domain.suggestions import Band, Candidate, Suggestion
from curator.domain.wording import UserError, tr
from curator.services.core.context import Context, Service
from curator.services.core.keys import active_bundle
from curator.services.linking.linking import K, ask, open_linker
from curator.services.linking.remembering import teach, teach_entities
from curator.services.linking.restricting import within_branches
from curator.services.ports.processes import BundleStore, LinkDocument, LinkerPort, LinkMention

USUAL = 5
"""The default number of matches for a query."""
LONGEST = 1000
"""The most characters of a query; a longer text is not a name."""
LONGEST_CONTEXT = 20_000
SURE = 100.0
MEANT, AT_LEAST, LEAST = 8, 3, 0.05
"""The most candidates for a typed text; after the first three, those with this probability."""
READY = LinkerState.READY
NO_INDEX = "There is no index yet. Run `curator index P` first."


@dataclass(frozen=True, slots=True)
class WordQuery:
    """`types` are knowledge-base types: a match has one of them, or all with `every_type`; empty: any. `context` is a
    text that contains the words, '' for none. `identifier` names the entity; unknown ones are ignored."""

    words: str
    types: tuple[str, ...] = ()
    every_type: bool = False
    limit: int = USUAL
    context: str = ""
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class WordMatch:
    """`score` from 0 to 100: the probability in percent. `certain`: the linker is certain enough to accept it
    unseen."""

    entity: Entity
    score: float
    certain: bool
    features: Mapping[str, float] = field(default_factory=dict)


class ReconciliationService(Service):
    """Read-only. Call `start` before `match`, which may be called from several threads, as `meant`, which takes the
    linker as it is."""

    def __init__(self, context: Context, linker: LinkerPort, bundles: BundleStore) -> None:
        super().__init__(context)
        self._linker = linker
        self._bundles = bundles

    def start(self) -> Generator[Progress, None, str]:
        """Open the linker in use and give it the memory of the decisions so far. Returns the linker's id.

        Raises UserError if there is no index, and LinkerUnavailableError.
        """
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
        if not bundle_id:
            raise UserError(tr(NO_INDEX))
        yield from open_linker(self._linker, self._bundles.path(bundle_id), bundle_id)
        yield from teach_entities(self._linker, self._store)
        yield from teach(self._linker, self._store)
        return bundle_id

    def match(self, queries: Sequence[WordQuery]) -> list[list[WordMatch]]:
        """The matches of each query, best first; none for empty words. An identifier matches its entity: the query's
        own, or its words.

        Raises LinkerUnavailableError.
        """
        named = self._by_identifier(queries)
        asked: dict[WordQuery, list[int]] = defaultdict(list)  # queries that differ only in their limit are linked once
        for number, query in enumerate(queries):
            if number not in named and query.words.strip() and len(query.words) <= LONGEST:
                asked[replace(query, limit=0, every_type=False, identifier="")].append(number)
        suggestions = self._linked(list(asked))
        wanted = {one.entity_id for found in suggestions.values() for one in found.candidates}
        with self._store.read() as unit:
            entities = unit.kb.get_many(sorted(wanted))
        found: list[list[WordMatch]] = [[] for _ in queries]
        for number, entity in named.items():
            found[number] = [WordMatch(entity, SURE, certain=True, features={"identifier": 1.0})]
        for at, numbers in enumerate(asked.values()):
            if (suggestion := suggestions.get(at)) is not None:
                for number in numbers:
                    found[number] = _matches(suggestion, queries[number], entities)
        return found

    def meant(
        self, words: str, *, mention_type: str = "", wanted: Callable[[], bool] = lambda: True
    ) -> list[EntityMatch]:
        """The first candidates of the linker in use for a typed text, restricted like those of a mention of this type;
        none if the linker is not ready, or once the answer is no longer `wanted`. Raises UserError and
        LinkerUnavailableError."""
        with self._store.read() as unit:
            types = unit.meta.type_mapping().types_for(mention_type) if mention_type else ()
            bundle_id = active_bundle(unit.meta)
        status = self._linker.status
        if not words.strip() or len(words) > LONGEST or (status.state, status.bundle_id) != (READY, bundle_id):
            return []
        answers: dict[int, list[Suggestion]] = {}
        with closing(ask(self._linker, [_as_document(-1, WordQuery(words, types))], answers, urgent=True)) as steps:
            for _ in steps:
                if not wanted():
                    return []
        with self._store.read() as unit:
            inside = within_branches(unit, answers.get(-1, []), {-1: mention_type})
            first = [one for suggestion in inside for one in suggestion.candidates[:MEANT]]
            candidates = [one for place, one in enumerate(first) if place < AT_LEAST or one.probability >= LEAST]
            entities = unit.kb.get_many([one.entity_id for one in candidates])
        return [
            EntityMatch(entities[one.entity_id], one.matched, 0.0, MatchKind.MEANING, one.probability)
            for one in candidates
            if one.entity_id in entities
        ]

    def _by_identifier(self, queries: Sequence[WordQuery]) -> dict[int, Entity]:
        with self._store.read() as unit:
            meant = unit.kb.resolve({one for query in queries for one in (query.identifier, query.words.strip())})
            given = unit.kb.get_many(sorted(set(meant.values())))
        found = {}
        for number, query in enumerate(queries):
            stated, named = (given.get(meant.get(one, "")) for one in (query.identifier, query.words.strip()))
            if stated is None and named is not None and _is_named(named, query.words):
                stated = named
            if stated is not None and _fits(stated, query):
                found[number] = stated
        return found

    def _linked(self, queries: Sequence[WordQuery]) -> dict[int, Suggestion]:
        """Linked words by their positions; documents and mentions get negative ids, which the project does not use."""
        documents = [_as_document(-number - 1, query) for number, query in enumerate(queries)]
        answers: dict[int, list[Suggestion]] = {}
        if documents:
            for _ in ask(self._linker, documents, answers):
                pass
        given = [suggestion for found in answers.values() for suggestion in found]
        with self._store.read() as unit:
            inside = within_branches(unit, given, {one.mention_id: "" for one in given})
        return {-one.mention_id - 1: one for one in inside}


def _as_document(number: int, query: WordQuery) -> LinkDocument:
    words = query.words.strip()
    text = query.context[:LONGEST_CONTEXT]
    at = text.casefold().find(words.casefold()) if len(text.casefold()) == len(text) else text.find(words)
    if at < 0:
        text, at = words, 0
    return LinkDocument(number, 0, text, (LinkMention(number, (Span(at, at + len(words)),), query.types),))


def _is_named(entity: Entity, words: str) -> bool:
    """Whether words are an identifier beyond doubt: a mere number is not one if the entity's has a prefix."""
    return ":" in words or look_up_key(words) in map(look_up_key, (entity.id, *entity.alt_ids))


def _fits(entity: Entity, query: WordQuery) -> bool:
    if not query.types:
        return True
    has = set(query.types) & set(entity.types)
    return len(has) == len(set(query.types)) if query.every_type else bool(has)


def _matches(suggestion: Suggestion, query: WordQuery, entities: Mapping[str, Entity]) -> list[WordMatch]:
    found: list[WordMatch] = []
    for rank, one in enumerate(suggestion.candidates[:K]):
        entity = entities.get(one.entity_id)
        if entity is not None and _fits(entity, query):
            certain = rank == 0 and suggestion.band is Band.ACCEPT
            found.append(WordMatch(entity, SURE * one.probability, certain, _features(one, suggestion)))
    return found[: max(query.limit, 1)]


def _features(candidate: Candidate, suggestion: Suggestion) -> dict[str, float]:
    """The scores of each stage, the probability, the number of earlier decisions for it, and the evidence for NIL."""
    features = {name: float(score) for name, score in candidate.scores.items()}
    return {
        **features,
        "probability": candidate.probability,
        "decided": float(candidate.decided_times),
        "nil": suggestion.nil.score,
    }
