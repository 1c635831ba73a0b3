"""Identifiers in the infons of a BioC annotation: in one `identifier`, or under the name of a vocabulary (`MESH`)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from curator.domain.curies import usual_prefix
from curator.domain.decisions import Decision
from curator.domain.id_fields import database_of, identifier_key, looks_like_id
from curator.io.bioc.bioc import BioCAnnotation, BioCDocument, Infons, infon
from curator.io.files.attributes import AttributeNames
from curator.io.files.identifiers import is_nil
from curator.io.files.idstyle import IdStyle, detect_style

IDENTIFIER = "identifier"
_OF_PASSAGE = frozenset({"type", "section_type", "label"})
_OF_MENTION = frozenset({"type", "annotator", "updated_at"})
_OF_PUBTATOR = frozenset({"database", "normalizedid", "normalized", "biotype", "accession", "name", "valid"})
"""PubTator 3's infons about the entity: none of these is an attribute of the mention."""
_UMLS_ID = re.compile(r"C\d{7}")
_NORMALISED = frozenset({"normalizedid", "normalisedid", "normalizedids", "normalisedids"})
_FORMS = frozenset({"tmVar", "dbSNP"})
"""Vocabularies whose identifiers are written without a prefix: their form is enough."""


@dataclass(frozen=True, slots=True)
class InfonStyle:
    """How a file states identifiers: `key` is the most frequent infon for them, '' if there is none."""

    ids: IdStyle = field(default_factory=IdStyle)
    key: str = ""

    def dump(self) -> str:
        """Format as ASCII: JSON names may contain characters that a database cannot store."""
        return json.dumps({"ids": self.ids.dump(), "key": self.key})

    @classmethod
    def load(cls, text: str) -> InfonStyle:
        """The inverse of `dump`; the default for ''."""
        found = json.loads(text) if text else {}
        return cls(IdStyle.load(found.get("ids", "")), found.get("key", ""))


def learn(annotations: Iterable[BioCAnnotation]) -> InfonStyle:
    """Learn the style from some of a file's annotations."""
    keys: Counter[str] = Counter()
    rows = []
    for one in annotations:
        for key, value in id_infons(one.infons):
            keys[key] += 1
            rows.append(["", "", "", "", infon(one.infons, "type"), value])
    return InfonStyle(detect_style(rows), keys.most_common(1)[0][0] if keys else "")


def id_infons(infons: Infons) -> Infons:
    """The infons that hold identifiers: general ones, otherwise those named after a vocabulary, otherwise PubTator's
    `normalized_id`; empty ones only if there are no others."""
    groups: tuple[Infons, Infons, Infons] = ([], [], [])
    for one, group in _all_ids(infons):
        groups[group].append(one)
    filled = ([one for one in group if not is_nil(one[1])] for group in groups)
    return next((group for group in filled if group), next((group for group in groups if group), []))


def _all_ids(infons: Infons) -> Iterator[tuple[tuple[str, str], int]]:
    """Each infon that states identifiers, and which of the three groups it is of."""
    kind = infon(infons, "type")
    for key, value in infons:
        vocabulary = identifier_key(key, value, kind)
        if vocabulary is not None:
            yield (key, value), 2 if _flat(key) in _NORMALISED else 1 if vocabulary else 0


def stated(infons: Infons, style: InfonStyle) -> tuple[tuple[str, ...], str, bool]:
    """(identifiers, their text in the file, whether the file states that there is none)."""
    found = id_infons(infons)
    kind = infon(infons, "type")
    database = next((prefix for key, value in infons if (prefix := database_of(key, value))), "")
    ids = [_prefixed(key, one, kind, database) for key, value in found for one in style.ids.split(value, kind)]
    raw = "; ".join(value for _, value in found)
    return tuple(dict.fromkeys(ids)), raw, bool(found) and not ids


def unread(infons: Infons) -> list[str]:
    """The names of infons that look like identifiers and are not read as such."""
    read = {key for (key, _), _ in _all_ids(infons)}
    others = ((key, value) for key, value in infons if key not in read and _flat(key) not in _OF_PUBTATOR)
    return [key for key, value in others if key.lower() not in _OF_MENTION and looks_like_id(key, value)]


def changed(infons: Infons, entity_ids: Sequence[str], style: InfonStyle, *, like: str = "") -> Infons:
    """The infons with these entities' identifiers instead of all others, and without another database than theirs; NIL
    is the file's word for it."""
    old = id_infons(infons)
    kind = infon(infons, "type")
    new = _written(old, entity_ids, style, kind, like)
    at = infons.index(old[0]) if old else len(infons)
    gone = [*(one for one, _ in _all_ids(infons)), *(one for one in infons if _is_of_others(one, entity_ids))]
    before = [one for one in infons[:at] if one not in gone]
    return [*before, *new, *(one for one in infons[at:] if one not in gone)]


def _is_of_others(one: tuple[str, str], entity_ids: Sequence[str]) -> bool:
    database, prefixes = database_of(*one), {usual_prefix(id_.partition(":")[0]) for id_ in entity_ids if ":" in id_}
    return bool(database and prefixes) and prefixes != {database}


def attributes_of(infons: Infons) -> dict[str, str]:
    """Infons that may be attributes of a mention: neither its type nor its identifiers, nor who decided and when."""
    found: dict[str, str] = {}
    read = {key for (key, _), _ in _all_ids(infons)}
    for key, value in infons:
        if value.strip() and key not in read and not _is_taken(key):
            found.setdefault(key, value.strip())
    return found


def with_attributes(infons: Infons, changes: Mapping[str, str | None]) -> Infons:
    """The infons with these values changed or added at the end; infons with None are removed."""
    there = {key for key, _ in infons}
    kept = [(key, changes.get(key, value)) for key, value in infons]
    new = [(key, value) for key, value in changes.items() if key not in there]
    return [(key, value) for key, value in [*kept, *new] if value is not None]


def _has_meaning(key: str) -> bool:
    return key.lower() in _OF_MENTION or identifier_key(key, "") is not None


def _is_taken(key: str) -> bool:
    return _has_meaning(key) or _flat(key) in _OF_PUBTATOR


ATTRIBUTES = AttributeNames("BioC", _is_taken)


def says_more(document: BioCDocument) -> bool:
    """Whether a document has infons other than types of passages, and types and identifiers of mentions."""
    if any(key.lower() != "title" for key, _ in document.infons):
        return True
    if any(key.lower() not in _OF_PASSAGE for one in document.passages for key, _ in one.infons):
        return True
    return any(not _has_meaning(key) for one in document.annotations for key, _ in one.infons)


def signed(infons: Infons, decision: Decision | None) -> Infons:
    """The infons with curator and time; imported decisions have no curator."""
    if decision is None or decision.is_imported:
        return infons
    kept = [one for one in infons if one[0] not in ("annotator", "updated_at")]
    return [*kept, ("annotator", decision.curator), ("updated_at", decision.at.isoformat(timespec="seconds"))]


def _written(old: Infons, entity_ids: Sequence[str], style: InfonStyle, kind: str, like: str) -> Infons:
    key = old[0][0] if old else style.key or IDENTIFIER
    value = old[0][1] if old else like
    vocabulary = identifier_key(key, value) or ""
    if not vocabulary:
        return [(key, style.ids.join(entity_ids, value, kind))]
    if _flat(key) == "cui":
        return [(key, style.ids.join([_local(vocabulary, one) for one in entity_ids], value, kind))]
    groups: dict[str, list[str]] = {}
    for one in entity_ids:
        groups.setdefault(_key_for(one, key, old), []).append(one)
    written = [(name, [_local(identifier_key(name, "") or "", one) for one in ids]) for name, ids in groups.items()]
    return [(name, style.ids.join(ids, value, kind)) for name, ids in written] or [(key, style.ids.nil)]


def _key_for(entity_id: str, key: str, old: Infons) -> str:
    """The infon for an identifier: an existing one for its vocabulary, otherwise one named like its prefix."""
    prefix, colon, _ = entity_id.partition(":")
    if not colon:
        return key
    for name, value in ((key, ""), *old):
        if identifier_key(name, value) == usual_prefix(prefix):
            return name
    return prefix if identifier_key(prefix, entity_id) else IDENTIFIER


def _local(vocabulary: str, entity_id: str) -> str:
    prefix, _, local = entity_id.partition(":")
    return local if local and vocabulary == usual_prefix(prefix) else entity_id


def _prefixed(key: str, one: str, kind: str, database: str) -> str:
    """An identifier with the prefix of its infon's name, or of the stated database; one with a prefix keeps it."""
    prefix = identifier_key(key, one, kind) or database
    if not prefix or ":" in one or prefix in _FORMS or (_flat(key) == "cui" and not _UMLS_ID.fullmatch(one)):
        return one
    return f"{prefix}:{one}"


def _flat(key: str) -> str:
    return "".join(ch for ch in key.lower() if ch.isalnum())
