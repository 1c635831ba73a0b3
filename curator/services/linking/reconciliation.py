"""Matching strings, such as a table's column or a typed text, with entities by the linker in use."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from html import escape
from http import HTTPStatus
from typing import Any, TypeGuard

from curator.domain.curies import look_up_key
from curator.domain.documents import Span
from curator.domain.entities import Entity, EntityMatch, MatchKind
from curator.domain.jobs import LinkerState, Progress
from curator.domain.suggestions import Band, Candidate, Suggestion
from curator.domain.wording import UserError, tr
from curator.services.core.context import Context, Service
from curator.services.core.keys import active_bundle
from curator.services.knowledge.knowledge import KnowledgeService, types_by_name
from curator.services.linking.linking import K, ask, open_linker, within_branches
from curator.services.linking.remembering import teach, teach_entities
from curator.services.ports.processes import BundleStore, LinkDocument, LinkerPort, LinkMention
from curator.services.ports.web import WebAnswer, WebError, WebQuestion

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


# The Reconciliation Service API 0.2 of the W3C Entity Reconciliation group, which OpenRefine and other programs use.
#
# A batch of queries, suggestions while typing, previews and values of properties. Nothing is written. Types are those
# of the knowledge base; names of corpus types are accepted too. Two properties may refine a query: `context`, a text
# that contains the words, and `id`, an identifier, which names the entity if the knowledge base has it. Other
# properties do not change the matches.

VERSIONS = ["0.2"]
MOST_QUERIES = 1000
MOST_EXTENDED = 5000
"""The most queries in a batch, and entities whose properties are requested at once."""
PAGE = 10
DEFINITION = 200
"""The most characters of a definition in a list."""
KEYS = {"query", "type", "limit", "properties", "type_strict"}
CONTEXT, IDENTIFIER = "context", "id"
VALUES: Mapping[str, tuple[str, Callable[[Entity], Sequence[str]]]] = {
    "name": ("Name", lambda one: (one.name,)),
    "synonyms": ("Synonyms", lambda one: one.synonyms),
    "definition": ("Definition", lambda one: (one.definition,) if one.definition else ()),
    "types": ("Types", lambda one: one.types),
    "parents": ("Broader entities", lambda one: one.parents),
    "alternate-ids": ("Alternate identifiers", lambda one: one.alt_ids),
}
"""Identifier of a property -> its name, and its values for an entity."""
REFINING = {CONTEXT: "Text around the words", IDENTIFIER: "Identifier"}
STYLE = "body{font:14px sans-serif;margin:8px;overflow-wrap:anywhere}h1{font-size:16px;margin:0 0 4px}p{margin:4px 0}"


class ReconciliationApi:
    """Answers requests; thread-safe."""

    def __init__(self, service: ReconciliationService, knowledge: KnowledgeService, *, name: str) -> None:
        self._service = service
        self._knowledge = knowledge
        self._name = name
        self._routes: Mapping[str, Callable[[WebQuestion], WebAnswer]] = {
            "": self._root,
            "suggest/entity": self._suggest_entity,
            "suggest/type": self._suggest_type,
            "suggest/property": self._suggest_property,
            "properties": self._propose,
            "preview": self._preview,
        }

    def answer(self, question: WebQuestion) -> WebAnswer:
        """The answer. Raises WebError, and LinkerUnavailableError."""
        route = self._routes.get(question.path.strip("/"))
        if route is None:
            raise WebError(HTTPStatus.NOT_FOUND, f"There is nothing at {question.path}.")
        return route(question)

    def _root(self, question: WebQuestion) -> WebAnswer:
        if (given := question.fields.get("queries")) is not None:
            return WebAnswer(self._reconcile(_parsed(given, "queries")))
        if (given := question.fields.get("extend")) is not None:
            return WebAnswer(self._extend(_parsed(given, "extend")))
        return WebAnswer(self._manifest(question.address))

    # --- what there is

    def _manifest(self, address: str) -> dict[str, Any]:
        info = self._knowledge.info()
        kb = info.name if info is not None else ""
        suggest = {
            kind: {"service_url": address.rstrip("/"), "service_path": f"/suggest/{kind}"}
            for kind in ("entity", "type", "property")
        }
        return {
            "versions": VERSIONS,
            "name": f"{self._name}: {kb}" if kb else self._name,
            "identifierSpace": f"urn:curator:kb:{info.content_hash if info is not None else ''}",
            "schemaSpace": "urn:curator:types",
            "batchSize": MOST_QUERIES,
            "defaultTypes": [_type(one) for one in (info.types if info is not None else ())],
            "view": {"url": f"{address}preview?id={{{{id}}}}"},
            "preview": {"url": f"{address}preview?id={{{{id}}}}", "width": 400, "height": 220},
            "suggest": suggest,
            "extend": {
                "propose_properties": {"service_url": address.rstrip("/"), "service_path": "/properties"},
                "property_settings": [],
            },
        }

    # --- queries

    def _reconcile(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        if len(batch) > MOST_QUERIES:
            text = f"The batch has {len(batch):,} queries; at most {MOST_QUERIES:,} are answered at once."
            raise WebError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
        info = self._knowledge.info()
        known = info.types if info is not None else ()
        queries = {key: _query(key, value, known) for key, value in batch.items()}
        wanted = {key: one for key, one in queries.items() if one is not None}
        found = dict(zip(wanted, self._service.match(list(wanted.values())), strict=True))
        return {key: {"result": [_result(one) for one in found.get(key, ())]} for key in batch}

    def _extend(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        ids, properties = asked.get("ids"), asked.get("properties")
        if not _are_strings(ids) or not isinstance(properties, list):
            raise WebError(HTTPStatus.BAD_REQUEST, "“extend” needs “ids”, a list of strings, and “properties”, a list.")
        if len(ids) > MOST_EXTENDED:
            text = f"{len(ids):,} entities were asked for; at most {MOST_EXTENDED:,} are answered at once."
            raise WebError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
        names = [str(one.get("id")) if isinstance(one, dict) else "" for one in properties]
        if unknown := [one for one in names if one not in VALUES]:
            text = f"There is no property {unknown[0][:60]!r}. There are {', '.join(VALUES)}."
            raise WebError(HTTPStatus.BAD_REQUEST, text)
        entities = {one: self._knowledge.entity(one) for one in dict.fromkeys(ids)}
        return {
            "meta": [{"id": one, "name": VALUES[one][0]} for one in names],
            "rows": {
                key: {one: self._values(one, entity) if entity is not None else [] for one in names}
                for key, entity in entities.items()
            },
        }

    def _values(self, name: str, entity: Entity) -> list[dict[str, Any]]:
        found = VALUES[name][1](entity)
        if name == "parents":
            return [{"id": one, "name": self._knowledge.name_of(one)} for one in found]
        return [{"str": one} for one in found]

    # --- while typing

    def _suggest_entity(self, question: WebQuestion) -> WebAnswer:
        prefix, at = question.fields.get("prefix", "").strip(), _cursor(question)
        found = self._knowledge.search(prefix, limit=at + PAGE)[at:] if prefix else []
        listed = [
            {
                "id": one.entity.id,
                "name": one.entity.name,
                "description": _short(one.entity),
                "notable": [_type(kind) for kind in one.entity.types],
            }
            for one in found
        ]
        return WebAnswer({"result": listed})

    def _suggest_type(self, question: WebQuestion) -> WebAnswer:
        info = self._knowledge.info()
        return _page([_type(one) for one in (info.types if info is not None else ())], question)

    def _suggest_property(self, question: WebQuestion) -> WebAnswer:
        return _page([*_properties(), *({"id": one, "name": name} for one, name in REFINING.items())], question)

    def _propose(self, question: WebQuestion) -> WebAnswer:
        try:
            most = max(int(question.fields.get("limit", len(VALUES))), 0)
        except ValueError:
            most = len(VALUES)
        return WebAnswer({"type": question.fields.get("type", ""), "properties": _properties()[:most]})

    def _preview(self, question: WebQuestion) -> WebAnswer:
        wanted = question.fields.get("id", "")
        entity = self._knowledge.entity(wanted)
        if entity is None:
            return WebAnswer(_html(f"<p>{escape(_no_entity(wanted))}</p>"), HTTPStatus.NOT_FOUND)
        facts = [f"{entity.id} · {', '.join(entity.types)}" if entity.types else entity.id]
        facts += [", ".join(entity.synonyms[:20])] if entity.synonyms else []
        facts += [entity.definition] if entity.definition else []
        return WebAnswer(_html(f"<h1>{escape(entity.name)}</h1>" + "".join(f"<p>{escape(one)}</p>" for one in facts)))


def _no_entity(wanted: str) -> str:
    return tr("The knowledge base has no entity {id}.", id=wanted[:100])


def _html(body: str) -> str:
    return f"<!DOCTYPE html><html><head><meta charset='utf-8'><style>{STYLE}</style></head><body>{body}</body></html>"


HALF = "\\ud"
"""The beginning of its escape."""


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
        if HALF in text.casefold():  # perhaps a half character, which nothing can store
            found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise WebError(HTTPStatus.BAD_REQUEST, f"“{name}” is not JSON: {str(error)[:200]}.") from None
    if not isinstance(found, dict):
        raise WebError(HTTPStatus.BAD_REQUEST, f"“{name}” has to be a JSON object.")
    return found


def _query(key: str, given: Any, known: Sequence[str]) -> WordQuery | None:
    """The query; None if nothing can match because it is restricted to unknown types."""
    if not isinstance(given, dict) or not ("query" in given or given.get("properties")):
        raise _bad(key, "needs “query” or “properties”")
    if unknown := given.keys() - KEYS:
        raise _bad(key, f"has “{min(unknown)}”, which is not part of a query")
    words, limit, strict = given.get("query", ""), given.get("limit", USUAL), given.get("type_strict", "any")
    if not isinstance(words, str):
        raise _bad(key, "has a “query” that is not a string")
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 1 <= limit <= 1e9:
        raise _bad(key, "has a “limit” that is not a number from 1")
    if strict not in ("any", "all", "should"):
        raise _bad(key, "has a “type_strict” other than any, all or should")
    asked = given.get("type", [])
    asked = [asked] if isinstance(asked, str) else asked
    if not _are_strings(asked):
        raise _bad(key, "has a “type” that is neither a string nor a list of strings")
    refining = _refining(key, given.get("properties", []))
    types = [kind for one in asked if one for kind in _types(one, known)]
    lacking = len(types) < len([one for one in asked if one])
    if lacking and strict != "should" and (strict == "all" or not types):
        return None
    return WordQuery(
        words if words.strip() else refining.get(IDENTIFIER, ""),
        () if strict == "should" else tuple(dict.fromkeys(types)),
        strict == "all",
        min(int(limit), K),
        refining.get(CONTEXT, ""),
        refining.get(IDENTIFIER, ""),
    )


def _types(name: str, known: Sequence[str]) -> tuple[str, ...]:
    return (name,) if name in known else types_by_name(name, known)


def _refining(key: str, given: Any) -> dict[str, str]:
    """The first value of each refining property."""
    if not isinstance(given, list):
        raise _bad(key, "has “properties” that are not a list")
    found: dict[str, str] = {}
    for one in given:
        if not isinstance(one, dict) or not isinstance(one.get("pid"), str) or "v" not in one:
            raise _bad(key, "has a property without “pid” or “v”")
        value = one["v"][0] if isinstance(one["v"], list) and one["v"] else one["v"]
        value = value.get("id") if isinstance(value, dict) else value
        value = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if one["pid"] in REFINING and isinstance(value, str):
            found.setdefault(one["pid"], value)
    return found


def _bad(key: str, what: str) -> WebError:
    return WebError(HTTPStatus.BAD_REQUEST, f"Query {key[:60]!r} {what}.")


def _are_strings(given: Any) -> TypeGuard[list[str]]:
    return isinstance(given, list) and all(isinstance(one, str) for one in given)


def _result(match: WordMatch) -> dict[str, Any]:
    return {
        "id": match.entity.id,
        "name": match.entity.name,
        "description": _short(match.entity),
        "type": [_type(one) for one in match.entity.types],
        "score": round(match.score, 2),
        "match": match.certain,
        "features": [{"id": name, "value": round(value, 6)} for name, value in match.features.items()],
    }


def _short(entity: Entity) -> str:
    text = entity.definition
    return text if len(text) <= DEFINITION else f"{text[: DEFINITION - 1]}…"


def _type(name: str) -> dict[str, str]:
    return {"id": name, "name": name}


def _properties() -> list[dict[str, str]]:
    return [{"id": one, "name": name} for one, (name, _) in VALUES.items()]


def _cursor(question: WebQuestion) -> int:
    try:
        return min(max(int(question.fields.get("cursor", "0") or 0), 0), 1000)
    except ValueError:
        raise WebError(HTTPStatus.BAD_REQUEST, "“cursor” is not a number.") from None


def _page(listed: Sequence[Mapping[str, str]], question: WebQuestion) -> WebAnswer:
    prefix, at = question.fields.get("prefix", "").strip().casefold(), _cursor(question)
    found = [one for one in listed if prefix in one["name"].casefold() or prefix in one["id"].casefold()]
    return WebAnswer({"result": found[at : at + PAGE]})
