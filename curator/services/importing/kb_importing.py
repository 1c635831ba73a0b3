"""A knowledge base from one source or several, as a new version that becomes active when it is complete.

A version is built again whenever a source is added, updated or removed: the other sources are copied from the active
version. If two sources have the same id, the earlier one's record is kept, and the other's is counted as left out. Only
pages of two wikis with the same title are two entities: the later one's id is WIKI:TITLE, and stays so. An updated
source keeps its position. Records of a later source that its old version hid return only when that source is
imported again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from curator.domain.curies import GENE, ORGANISM, REGISTRIES, kind_of, usual_prefix, with_prefix
from curator.domain.entities import OTHERS, WIKI, Entity, KbChanges, KnowledgeSource, ObsoleteEntity
from curator.domain.jobs import Progress
from curator.domain.wording import UserError, ntr, tr, well_formed
from curator.services.core.keys import set_active_bundle
from curator.services.knowledge.knowledge import add_missing
from curator.services.knowledge.remapping import after_update, before_update, plan_of
from curator.services.ports.files import FormatRegistry, KbOptions, KnowledgeBaseReader, Problem
from curator.services.ports.storage import Store, UnitOfWork

ENTITIES_PER_UNIT = 2000
CHANGED_MEANWHILE = (
    "Somebody else changed the knowledge base during this import, so that its other sources are outdated. Nothing was "
    "changed; import the file again."
)
MOST_OF_THEM = 0.95
"""The least share of a type's identifiers without prefix that have a vocabulary's form, if they are of it."""
DISTINCT = ("MESH", "UMLS", "DrugBank", "CHEMBL", "Cellosaurus", "Wikidata", "dbSNP", "tmVar")
"""Vocabularies that are recognised by the form of their identifiers."""
NUMBERED = {GENE: "NCBIGene", ORGANISM: "NCBITaxon"}
"""Kind of entity -> the vocabulary that its numbers are from."""


@dataclass(frozen=True, slots=True)
class KbWish:
    """How to import a file: replacing everything, or, with `add`, in addition to the other sources, where it replaces a
    source with the same name. `name` '' is the file's; `prefix` goes before bare ids; `types` is as in
    `KnowledgeSource`; `ids_of` is the vocabulary of bare ids that stay bare, '' to recognise it. With `exact`, empty
    options are used as they are; else they are taken from the replaced source."""

    options: KbOptions = field(default_factory=KbOptions)
    add: bool = False
    exact: bool = False
    name: str = ""
    release: str = ""
    licence: str = ""
    prefix: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    ids_of: str = ""


@dataclass(slots=True)
class KbResult:
    counts: Counter[str]
    problems: list[Problem]
    concerned: int = 0


@dataclass(frozen=True, slots=True)
class _Part:
    """A source being built, and the origin of its entities: a reader, or a range of the active version. `replaces` is
    the type of the wiki that it replaces, none if it replaces another source, or no source."""

    source: KnowledgeSource
    reader: KnowledgeBaseReader | None = None
    start: int = 0
    replaces: tuple[str, ...] = ()


class KnowledgeImport:
    """One import. Nothing of it stays when a generator ends early."""

    def __init__(self, store: Store, formats: FormatRegistry) -> None:
        self._store = store
        self._formats = formats
        self._base: str | None = None  # the content of the version whose sources are copied

    def read(self, path: Path, wish: KbWish) -> Generator[Progress, None, KbResult]:
        """Import the file. Raises UserError if it cannot be read or has no entities."""
        present = self._present() if wish.add else []
        name = wish.name or well_formed(path.name)
        before = next((one.source for one in present if one.source.name == name), None)
        wish = _as_before(wish, before)
        reader = self._formats.open_kb(path, wish.options)
        source = KnowledgeSource(
            name,
            reader.format,
            well_formed(str(path.resolve())),
            wish.release,
            wish.licence,
            wish.prefix,
            dict(wish.types),
            dict(wish.options.columns),
            wish.options.languages,
            wish.options.vocabularies,
            wish.options.types,
            wish.options.suppressed,
            _stated_vocabulary(wish),
        )
        replaced = next((one for one in present if one.source is before), None) if before else None
        made = _Part(source, reader, replaces=self._wiki_of(replaced) if replaced is not None else ())
        parts = [made if one.source is before else one for one in present] if before else [*present, made]
        return (yield from self._load(parts))

    def drop(self, name: str) -> Generator[Progress, None, KbResult]:
        """Build the version without one source. Raises UserError for an unknown source or the only one."""
        present = self._present()
        left = [one for one in present if one.source.name != name]
        if len(left) == len(present):
            names = ", ".join(one.source.name for one in present) or "none"
            raise UserError(tr("The knowledge base has no source {name}. Available: {names}.", name=name, names=names))
        if not left:
            raise UserError(
                tr("{name} is the only source of the knowledge base. Replace it by importing another one.", name=name)
            )
        return (yield from self._load(left))

    def _present(self) -> list[_Part]:
        with self._store.read() as unit:
            sources, info = unit.kb.sources(), unit.kb.info()
        self._base = info.content_hash if info is not None else ""
        starts = [sum(one.entities for one in sources[:n]) for n in range(len(sources))]
        return [_Part(one, None, start) for one, start in zip(sources, starts, strict=True)]

    def _wiki_of(self, part: _Part) -> tuple[str, ...]:
        """The type of a wiki's pages in the active version."""
        if part.source.format != WIKI:
            return ()
        with self._store.read() as unit:
            return next((one.types for one in unit.kb.part(part.start, 1)), ())

    def _load(self, parts: Sequence[_Part]) -> Generator[Progress, None, KbResult]:
        result = KbResult(Counter(), [])
        with self._store.write() as unit:
            version = unit.kb.begin(name=" + ".join(one.source.name for one in parts))
        try:
            return (yield from self._fill(version, parts, result))
        except BaseException:  # cancelled or failed
            # on a full disk this fails too; then it is removed when the project is next opened
            with suppress(UserError), self._store.write() as unit:
                unit.kb.remove_version(version)
            raise

    def _fill(self, version: int, parts: Sequence[_Part], result: KbResult) -> Generator[Progress, None, KbResult]:
        loaded = []
        for number, part in enumerate(parts):
            loaded.append((yield from self._add(version, part, result, check=number > 0)))
        if not result.counts["entities"]:
            raise UserError(tr("There are no entities to import. Choose a knowledge base with at least one entity."))
        with self._store.write() as unit:
            unit.kb.describe(version, loaded)
        changes = yield from self._compare(version)
        self._activate(version, result)
        if changes is not None:
            counts = {"new": changes.new, "changed": changes.changed, "merged": changes.merged}
            result.counts.update({**counts, "obsolete": changes.obsolete})
        return result

    def _add(
        self, version: int, part: _Part, result: KbResult, *, check: bool
    ) -> Generator[Progress, None, KnowledgeSource]:
        """Store the entities of one part; entities of earlier parts are left out."""
        number, left_out, bare, renamed = 0, list[str](), _BareIds(), list[str]()
        for batch in _batches(self._entities(part), ENTITIES_PER_UNIT):
            with self._store.write() as unit:
                if part.reader is not None and part.source.format == WIKI and self._base is not None:
                    _check_same_wiki(part, batch[0])
                    pages = _with_own_ids(unit, batch)
                    renamed += [new.id for old, new in zip(batch, pages, strict=True) if new.id != old.id]
                    batch = pages
                held = unit.kb.loaded(version, [one.id for one in batch]) if check else set()
                fresh = [one for one in batch if one.id not in held]
                unit.kb.add(version, fresh)
            if part.reader is not None and part.source.format != WIKI:
                bare.see(fresh)
            left_out += sorted(held)
            number += len(fresh)
            result.counts["entities"] += len(fresh)
            done, total = part.reader.position if part.reader else (number, part.source.entities)
            yield Progress(
                "knowledge base", done, total, ntr("{n:,} entity", "{n:,} entities", result.counts["entities"])
            )
        with self._store.write() as unit:
            known = part.reader.obsolete if part.reader is not None else unit.kb.obsolete_of(part.source.name)
            unit.kb.add_obsolete(version, part.source.name, _with_prefix(known, part))
        if part.reader is not None:
            result.problems += part.reader.problems
        if renamed:
            words = ntr(
                "{n} page of {source} has the title of an entity of another type, so its id is {some}",
                "{n:,} pages of {source} have the titles of entities of other types, so their ids begin with the "
                "name of the wiki (for example {some})",
                len(renamed),
                source=part.source.name,
                some=", ".join(renamed[:3]),
            )
            result.problems.append(Problem(0, "note", words))
        if left_out:
            result.counts["left out"] += len(left_out)
            words = ntr(
                "{n} entity of {source} is already in an earlier source, whose record is kept ({some})",
                "{n:,} entities of {source} are already in an earlier source, whose records are kept "
                "(for example {some})",
                len(left_out),
                source=part.source.name,
                some=", ".join(left_out[:3]),
            )
            result.problems.append(Problem(0, "note", words))
        if part.reader is None:
            return replace(part.source, entities=number, left_out=part.source.left_out + len(left_out))
        own = part.source.own or bare.vocabularies()
        result.problems += bare.problems(part.source.name, own)
        return replace(part.source, own=own, entities=number, left_out=len(left_out))

    def _entities(self, part: _Part) -> Iterator[Entity]:
        if part.reader is not None:
            yield from _adapted(part.reader, part.source)
            return
        for at in range(0, part.source.entities, ENTITIES_PER_UNIT):
            with self._store.read() as unit:
                found = unit.kb.part(part.start + at, min(ENTITIES_PER_UNIT, part.source.entities - at))
            yield from found

    def _compare(self, version: int) -> Generator[Progress, None, KbChanges | None]:
        with self._store.read() as unit:
            if unit.kb.info() is None:
                return None
        yield Progress("compare with the previous version", 0, 0)
        with self._store.read() as unit:
            return unit.kb.compare(version)

    def _activate(self, version: int, result: KbResult) -> None:
        with self._store.write() as unit:
            before = before_update(unit)
            if self._base is not None and self._base != (before.info.content_hash if before is not None else ""):
                raise UserError(tr(CHANGED_MEANWHILE))
            info = unit.kb.activate(version)
            if before is not None and before.info.content_hash != info.content_hash:
                set_active_bundle(unit.meta, "", [])  # every bundle has only the earlier entities
                after_update(unit, before)
            add_missing(unit)
        result.counts.update(names=info.names, definitions=info.definitions)
        with self._store.read() as unit:
            result.concerned = plan_of(unit).mentions


def _check_same_wiki(part: _Part, page: Entity) -> None:
    """Raises UserError if a wiki would replace another one: dumps of different wikis often have one file name."""
    if part.replaces and page.types and set(part.replaces).isdisjoint(page.types):
        raise UserError(
            tr(
                "The knowledge base has a source {name} of another wiki ({old}), which {new} would replace. Give this "
                "source another name. Nothing was changed.",
                name=part.source.name,
                old=", ".join(part.replaces),
                new=", ".join(page.types),
            )
        )


def _with_own_ids(unit: UnitOfWork, pages: Sequence[Entity]) -> list[Entity]:
    """The pages of a wiki; one whose title is the id of an entity of another type in the active version gets the id
    WIKI:TITLE, and its title as an alternate id. One that has such an id in the active version keeps it."""
    own = {one.id: f"{one.types[0]}:{one.id}" for one in pages if one.types}
    present = unit.kb.get_many([*own, *own.values()])

    def has(entity_id: str, page: Entity, *, other: bool) -> bool:
        types = present[entity_id].types if entity_id in present else ()
        return bool(types) and set(types).isdisjoint(page.types) == other

    return [
        replace(one, id=own[one.id], alt_ids=(one.id, *one.alt_ids))
        if one.types and (has(own[one.id], one, other=False) or has(one.id, one, other=True))
        else one
        for one in pages
    ]


def _as_before(wish: KbWish, before: KnowledgeSource | None) -> KbWish:
    """The options of a source also apply to its next version, unless others are given."""
    if before is None:
        return wish
    said = wish.options
    options = KbOptions(
        said.columns or before.columns,
        said.sheet,
        said.languages or before.languages,
        said.vocabularies or before.vocabularies,
        said.types or before.only_types,
        said.suppressed or before.suppressed,
    )
    return replace(
        wish,
        options=said if wish.exact else options,
        licence=wish.licence or before.licence,
        prefix=wish.prefix or before.prefix,
        types=wish.types or before.types,
        ids_of=wish.ids_of or before.own.get(OTHERS, ""),
    )


def _stated_vocabulary(wish: KbWish) -> dict[str, str]:
    """The vocabulary that the curator names, or else the heading of the chosen column."""
    heading = usual_prefix(wish.options.columns.get("id", ""))
    named = usual_prefix(wish.ids_of) or (heading if heading in REGISTRIES else "")
    return {OTHERS: named} if named else {}


class _BareIds:
    """The identifiers without prefix of a source, and the vocabularies that they are likely to be from."""

    def __init__(self) -> None:
        self._forms: defaultdict[str, Counter[str]] = defaultdict(Counter)  # first type -> vocabulary -> identifiers
        self._totals: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()
        self._descriptors = False

    def see(self, entities: Sequence[Entity]) -> None:
        for one in entities:
            if ":" in one.id:
                continue
            kind = one.types[0] if one.types else ""
            self._totals[kind] += 1
            if one.id.isdecimal():
                self._numbers[kind] += 1
                self._forms[kind][NUMBERED.get(kind_of(kind), "")] += 1
            else:
                self._forms[kind].update(prefix for prefix in DISTINCT if REGISTRIES[prefix].has(one.id))
                self._descriptors = self._descriptors or (one.id.startswith("D") and REGISTRIES["MESH"].has(one.id))

    def vocabularies(self) -> dict[str, str]:
        """Type -> vocabulary. MeSH has descriptors (`D008012`): codes of other thesauri look like its other
        identifiers."""
        found: dict[str, str] = {}
        for kind, total in self._totals.items():
            for prefix, number in self._forms[kind].items():
                if prefix and number >= MOST_OF_THEM * total and (prefix != "MESH" or self._descriptors):
                    found[kind] = prefix
        return found

    def problems(self, source: str, own: Mapping[str, str]) -> list[Problem]:
        """A note on numbers of unknown vocabularies: identifiers with a prefix will not match them."""
        unknown = sum(number for kind, number in self._numbers.items() if not own.get(kind, own.get(OTHERS, "")))
        if not unknown:
            return []
        words = ntr(
            "{n} entity of {source} has a number without a prefix as its id, and its vocabulary is unknown: no "
            "identifier with a prefix, such as OMIM:104300, will match it. Name its vocabulary when you import it.",
            "{n:,} entities of {source} have numbers without a prefix as their ids, and their vocabulary is unknown: "
            "no identifier with a prefix, such as OMIM:104300, will match them. If they all belong to one vocabulary, "
            "name it when you import the file.",
            unknown,
            source=source,
        )
        return [Problem(0, "note", words)]


def _adapted(entities: Iterable[Entity], source: KnowledgeSource) -> Iterator[Entity]:
    """The entities with the source's prefix before bare ids, and its types."""
    if not source.prefix and not source.types:
        yield from entities
        return
    for one in entities:
        yield replace(
            one,
            id=with_prefix(one.id, source.prefix),
            alt_ids=tuple(with_prefix(alt, source.prefix) for alt in one.alt_ids),
            parents=tuple(with_prefix(parent, source.prefix) for parent in one.parents),
            types=_types(one.types, source.types),
        )


def _with_prefix(found: Sequence[ObsoleteEntity], part: _Part) -> list[ObsoleteEntity]:
    """Like `_adapted`, for entities copied from the active version, which have the prefix."""
    prefix = part.source.prefix
    if part.reader is None or not prefix:
        return list(found)
    return [
        replace(
            one,
            id=with_prefix(one.id, prefix),
            replaced_by=tuple(with_prefix(other, prefix) for other in one.replaced_by),
            consider=tuple(with_prefix(other, prefix) for other in one.consider),
        )
        for one in found
    ]


def _types(types: Sequence[str], mapping: Mapping[str, str]) -> tuple[str, ...]:
    if not mapping:
        return tuple(types)
    others = mapping.get(OTHERS)
    named = [mapping.get(one, others or one) for one in types or ([""] if others else [])]
    return tuple(dict.fromkeys(one for one in named if one))


def _batches(items: Iterator[Entity], size: int) -> Iterator[list[Entity]]:
    while batch := list(islice(items, size)):
        yield batch
