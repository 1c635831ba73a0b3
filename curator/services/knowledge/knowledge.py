"""The knowledge base: look up, search, and the mapping from corpus types to its types."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from curator.domain.curies import kind_of
from curator.domain.decisions import Change, ChangeKind
from curator.domain.documents import Split
from curator.domain.entities import (
    Entity,
    EntityMatch,
    KnowledgeBaseInfo,
    KnowledgeSource,
    Matches,
    MatchKind,
    Replacement,
    TypeMapping,
    is_new,
)
from curator.domain.facets import only_words
from curator.domain.wording import UserError, tr
from curator.services.core.context import CachedAnswer, Context, Service
from curator.services.core.keys import branches_for
from curator.services.knowledge.remapping import replacement
from curator.services.ports.storage import UnitOfWork

VOTE_SHARE = 0.05
"""A knowledge-base type that fewer of a corpus type's gold links have is left out of the proposal."""
HIGHEST = 200
"""The most entities visited on the way up."""


OBSOLETE, OBSOLETE_NOW, NOW = "{name} [obsolete]", "{name} [obsolete, now {new}]", "{name} [now {new}]"
MOST_HIDDEN = 10
NAMED_SO = 3
"""Search tiers below this number: the words are an identifier, a name or a synonym."""


@dataclass(frozen=True, slots=True)
class HiddenEntities:
    """`others` are not allowed: the first `outside` are outside of the mention's branches, the rest have other types.
    `gone` candidates are no longer in the knowledge base. `restricted`: the mention is restricted to branches."""

    others: tuple[EntityMatch, ...] = ()
    gone: frozenset[str] = frozenset()
    outside: int = 0
    restricted: bool = False


class KnowledgeService(Service):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._info = CachedAnswer(context.store, lambda unit: unit.kb.info())

    def info(self) -> KnowledgeBaseInfo | None:
        return self._info.get()

    def sources(self) -> tuple[KnowledgeSource, ...]:
        """The sources of the knowledge base."""
        with self._store.read() as unit:
            return unit.kb.sources()

    def entity(self, entity_id: str) -> Entity | None:
        """Look up an entity by primary id, then by alternate id."""
        with self._store.read() as unit:
            return unit.kb.get(entity_id)

    def former(self, entity_id: str) -> Entity | None:
        """The former entity of an id that a new version of the knowledge base, or a curator, removed."""
        with self._store.read() as unit:
            return unit.kb.former(entity_id)

    def name_of(self, entity_id: str) -> str:
        """The name of an entity for display; for a removed entity, its former name with its replacement; the id if
        nothing is known."""
        with self._store.read() as unit:
            known, old = unit.kb.get_many([entity_id]).get(entity_id), unit.kb.obsolete([entity_id]).get(entity_id)
            if known is not None:
                return known.name
            found, former = unit.kb.get(entity_id), unit.kb.former(entity_id)
            heirs = replacement(unit, old).replaced_by if old is not None else ()
        heir = heirs[0] if heirs else found
        if former is None:
            return heir.name if heir is not None else entity_id
        if old is not None:
            return tr(OBSOLETE_NOW, name=former.name, new=heir.name) if heir else tr(OBSOLETE, name=former.name)
        return tr(NOW, name=former.name, new=heir.name) if heir else former.name

    def obsolete(self, entity_id: str) -> Replacement | None:
        """The replacement of an obsolete entity; None if the id is not obsolete."""
        with self._store.read() as unit:
            old = unit.kb.obsolete([entity_id]).get(entity_id)
            return replacement(unit, old) if old is not None else None

    def search(
        self,
        query: str,
        *,
        mention_type: str | None = None,
        likely: Collection[str] = (),
        everywhere: bool = False,
        limit: int = 50,
    ) -> Matches:
        """Ranked matches; entities of the types that `mention_type` is mapped to come first; frequently linked and
        `likely` ones (primary ids) rank higher. Unless `everywhere`, only entities of the branches for mentions of this
        type, or, without a type, for all mentions. For the id of an obsolete entity, its replacement comes first."""
        with self._store.read() as unit:
            types = unit.meta.type_mapping().types_for(mention_type) if mention_type else ()
            branches = () if everywhere else branches_for(unit, mention_type)
            matches = unit.kb.search(query, preferred=types, likely=likely, branches=branches, limit=limit)
            return _with_obsolete(unit, query, matches)

    def recent(self, limit: int = 10) -> list[EntityMatch]:
        """The entities that people linked to last, newest first."""
        with self._store.read() as unit:
            ids = unit.kb.linked_last(limit)
            found = unit.kb.get_many(ids)
        return [EntityMatch(found[one], found[one].name, 0.0) for one in ids if one in found]

    def hidden(self, text: str, mention_type: str, entity_ids: Sequence[str]) -> HiddenEntities:
        """The entities named by the mention's words that it may not link to, and the candidates that are gone."""
        with self._store.read() as unit:
            info, allowed = unit.kb.info(), unit.meta.type_mapping().types_for(mention_type)
            barred = [one for one in info.types if one not in allowed] if info is not None and allowed else []
            found = unit.kb.search(only_words(text), types=barred, limit=MOST_HIDDEN) if barred else Matches()
            branches = branches_for(unit, mention_type)
            apart = _outside(unit, text, branches, allowed)
            known = unit.kb.get_many(entity_ids)
        near = [one for one in apart if one.rank < NAMED_SO and one.entity.id not in entity_ids]
        others = [one for one in found if one.rank < NAMED_SO and one.entity.id not in entity_ids]
        gone = frozenset(entity_ids) - known.keys()
        return HiddenEntities((*near, *others), gone, len(near), restricted=bool(branches))

    def path(self, entity: Entity) -> tuple[Entity, ...]:
        """The entities above it, topmost first, by the shortest path; with several parents, the first."""
        with self._store.read() as unit:
            return path_up(unit.kb.get_many, entity)

    def mapping(self) -> TypeMapping:
        with self._store.read() as unit:
            return unit.meta.type_mapping()

    def set_mapping(self, mapping: TypeMapping) -> Change:
        """Store the mapping and make the suggestions of all mentions whose types changed stale.

        It touches every document with such a mention: call it from a worker thread. Raises UserError for a type that is
        not in the knowledge base.
        """
        with self._store.write() as unit:
            info = unit.kb.info()
            unknown = sorted(
                {one for types in mapping.allowed.values() for one in types} - set(info.types if info else ())
            )
            if unknown:
                raise UserError(
                    tr("The knowledge base has no type {list}. Choose one of its own types.", list=", ".join(unknown))
                )
            changed = _changed_types(unit, mapping)
            unit.meta.set_type_mapping(mapping)
            if changed:
                unit.suggestions.make_stale(sorted(changed))
        change = Change(ChangeKind.TYPE_MAPPING, self._curator(), tr("Changed the type mapping"))
        return self._emit(change)

    def propose_mapping(self) -> TypeMapping:
        """For each mention type of the project, the knowledge-base types to restrict its candidates to."""
        with self._store.read() as unit:
            return propose(unit)


def _outside(unit: UnitOfWork, text: str, branches: Sequence[str], types: Sequence[str]) -> list[EntityMatch]:
    """The entities named by the words that are outside of these branches."""
    found = unit.kb.search(only_words(text), types=types, limit=MOST_HIDDEN) if branches else Matches()
    inside = unit.kb.below(branches, [one.entity.id for one in found])
    return [one for one in found if one.entity.id not in inside and not is_new(one.entity.id)]


def path_up(get_many: Callable[[Sequence[str]], Mapping[str, Entity]], entity: Entity) -> tuple[Entity, ...]:
    """Level by level, each entity once, so that cycles end too."""
    below: dict[str, Entity] = {entity.id: entity}
    came: dict[str, str] = {}  # entity -> the one beneath it
    level = [entity]
    while level and all(one.parents for one in level) and len(below) < HIGHEST:
        wanted = [(one, parent) for one in level for parent in one.parents if parent not in below]
        known = get_many(list(dict.fromkeys(parent for _, parent in wanted)))
        for one, parent in wanted:
            if parent in known and parent not in below:
                below[parent], came[parent] = known[parent], one.id
        level = [below[parent] for parent in dict.fromkeys(parent for _, parent in wanted) if parent in below]
    at = next((one.id for one in level if not one.parents), next(iter(reversed(below))))
    found: list[Entity] = []
    while at != entity.id:
        found.append(below[at])
        at = came[at]
    return tuple(found)


def propose(unit: UnitOfWork) -> TypeMapping:
    """The proposal: the same name, then known synonyms, then a vote of the train documents' links; else
    unrestricted."""
    info = unit.kb.info()
    corpus = unit.documents.mention_types()
    if info is None:
        return TypeMapping(dict.fromkeys(corpus, ()))
    found = {name: types_by_name(name, info.types) for name in corpus}
    open_types = {name for name, types in found.items() if not types}
    votes = _votes(unit, open_types) if open_types and info.types else {}
    return TypeMapping({name: types or votes.get(name, ()) for name, types in found.items()})


def add_missing(unit: UnitOfWork) -> TypeMapping:
    """Store a proposal for types without one; the curator's choices are kept. Types gone from the KB are proposed
    again."""
    info = unit.kb.info()
    known = set(info.types) if info else set()
    kept = {
        name: types for name, types in unit.meta.type_mapping().allowed.items() if types and known.issuperset(types)
    }
    mapping = TypeMapping({**propose(unit).allowed, **kept})
    unit.meta.set_type_mapping(mapping)
    return mapping


def _changed_types(unit: UnitOfWork, new: TypeMapping) -> set[str]:
    old = unit.meta.type_mapping()
    return {one for one in unit.documents.mention_types() if set(old.types_for(one)) != set(new.types_for(one))}


def fold(name: str) -> str:
    return "".join(ch for ch in name.casefold() if ch.isalnum())


def types_by_name(name: str, types: Sequence[str]) -> tuple[str, ...]:
    """The knowledge-base type for a mention type, by its name or a known synonym; none if there is none."""
    folded = {fold(one): one for one in types}
    wanted = fold(name)
    for key in (wanted, kind_of(name)):
        if key in folded:
            return (folded[key],)
    return ()


def _votes(unit: UnitOfWork, names: set[str]) -> dict[str, tuple[str, ...]]:
    info = unit.kb.info()
    known = set(info.types if info is not None else ())  # a provisional entity may have others
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    links: Counter[str] = Counter()
    decided = unit.decisions.links(Split.TRAIN, names)
    entities = unit.kb.get_many(sorted({one for _, ids, _ in decided for one in ids}))
    for name, ids, number in decided:
        links[name] += number
        for entity_id in ids:
            for kb_type in known.intersection(entities[entity_id].types if entity_id in entities else ()):
                votes[name][kb_type] += number
    return {
        name: tuple(sorted(one for one, n in counter.items() if n >= VOTE_SHARE * links[name]))
        for name, counter in votes.items()
    }


def _with_obsolete(unit: UnitOfWork, query: str, matches: Matches) -> Matches:
    """The results, preceded by the certain and possible replacements if the query is the id of an obsolete entity."""
    old = unit.kb.obsolete([query.strip()]).get(query.strip()) if query.strip() else None
    if old is None:
        return matches
    new = replacement(unit, old)
    first = [EntityMatch(one, old.id, 0.0, MatchKind.IDENTIFIER) for one in (*new.replaced_by, *new.consider)]
    known = {one.entity.id for one in first}
    found = Matches([*first, *(one for one in matches if one.entity.id not in known)])
    found.left_out, found.obsolete = matches.left_out, old
    return found
