"""The common part of BioC XML and BioC JSON: the parts of a document, and their conversion to text and mentions.

The package `bioc` is not used: it reads whole files into memory with an XML parser that resolves entities, has no
source lines, keeps only one of several infons with the same key, and drops every field outside of the DTD (PubTator 3
has many), so that files could not be written back unchanged.

The stored text is the passages separated by one line feed, regardless of the file's offsets; empty passages at the end
add nothing. An annotation's position is relative to the document: by its passage's stated offset or, if that matches
better (in BC5CDR offsets are 5 or 10 too large), by the passage's position in the text.

Identifiers in the infons of a BioC annotation: in one `identifier`, or under the name of a vocabulary (`MESH`).

Relations of BioC: between annotations by their ids (`node`), or between entities named in infons.

BioRED names entities as `entity1` and `entity2`, the CDR corpus as `Chemical` and `Disease`, PubTator 3 as `role1` and
`role2`, in XML with the entity's type before it (`Chemical|MESH:D008012`). The name of the infon is the end's role,
which is also used to write a curator's relations of the type.

A BioC document as a source document: its text, and each annotation at its position or skipped with a reason.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from curator.domain.curies import usual_prefix
from curator.domain.decisions import Decision
from curator.domain.documents import Passage, SourceDocument, SourceMention, Span, slice_spans
from curator.domain.id_fields import database_of, identifier_key, looks_like_id
from curator.domain.relations import Relation, RelationKind, SourceEnd, SourceRelation
from curator.domain.wording import ntr, tr
from curator.io.files.anchoring import GAP, NORMALISED, Anchor, Anchors, Stated, quote_parts, same_text
from curator.io.files.attributes import BINARY, AttributeNames
from curator.io.files.export import FreeNames
from curator.io.files.idstyle import Besides, IdStyle, detect_style, is_nil, typed_entity
from curator.io.files.relations import roles_of, unique_keys
from curator.io.files.report import Report
from curator.io.files.source import plain_text

Infons = list[tuple[str, str]]


@dataclass(slots=True)
class OffsetText:
    """A text with its own offset: a passage, or a sentence of a passage without text."""

    offset: int | None
    text: str


@dataclass(slots=True)
class BioCPassage:
    infons: Infons
    text: OffsetText
    sentences: list[OffsetText] = field(default_factory=list)


@dataclass(slots=True)
class BioCAnnotation:
    """`passage` and `sentence` are the indexes of those that contain it, -1 for none. `places` are (offset, length);
    None if one of them is not a number. `flags` are the keys of infons that are true or false, not texts; `unread` are
    those with identifiers in a form that is not read."""

    id: str
    infons: Infons
    text: str
    places: tuple[tuple[int, int], ...] | None
    passage: int = -1
    sentence: int = -1
    line: int = 0
    flags: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()

    def said(self) -> Infons:
        """The infons as attributes: `BINARY` for true, without those that are false."""
        kept = (one for one in self.infons if one[0] not in self.flags or one[1] == "true")
        return [(key, BINARY if key in self.flags else value) for key, value in kept]


@dataclass(slots=True)
class BioCRelation:
    """`nodes` are (id of an annotation, role); `passage` and `sentence` are as in annotations."""

    id: str
    infons: Infons
    nodes: list[tuple[str, str]]
    passage: int = -1
    sentence: int = -1


@dataclass(slots=True)
class BioCDocument:
    """`annotations` are in the order of a walk through the file's tree: their index is the mention's record."""

    id: str
    infons: Infons
    passages: list[BioCPassage]
    annotations: list[BioCAnnotation]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """The position of one of the file's texts in the stored text: [start, end); `offset` is stated in the file."""

    passage: int
    sentence: int
    offset: int
    start: int
    end: int


@dataclass(slots=True)
class StoredText:
    """The stored text of a document. `stated` is false if annotations use positions in the text."""

    text: str
    passages: tuple[Passage, ...]
    segments: list[Segment]
    stated: bool = True

    def segment_of(self, annotation: BioCAnnotation) -> Segment | None:
        """The segment of its passage or sentence; if it is in none, the segment of its first position."""
        for one in self.segments:
            if annotation.passage >= 0 and (one.passage, one.sentence) == (annotation.passage, annotation.sentence):
                return one
        at = annotation.places[0][0] if annotation.places else 0
        inside = (one for one in self.segments if one.offset <= at < one.offset + one.end - one.start)
        return next(inside, None)

    def segment_at(self, start: int) -> Segment | None:
        """The innermost segment that contains a position of the stored text."""
        inside = [one for one in self.segments if one.start <= start < one.end]
        return min(inside, key=lambda one: one.end - one.start, default=None)

    def to_file(self, segment: Segment | None, position: int) -> int:
        """A position of the stored text as an offset of the file."""
        return position if segment is None or not self.stated else position - segment.start + segment.offset

    def from_file(self, segment: Segment | None, offset: int, *, stated: bool) -> int:
        return offset if segment is None or not stated else offset - segment.offset + segment.start


def lay_out(document: BioCDocument) -> StoredText:
    """The stored text with its passages and segments; the reader determines the offsets of annotations.

    If no passage states its type, the first of several is the title.
    """
    text, passages, segments = "", list[Passage](), list[Segment]()
    last = len(document.passages) - 1
    untyped = not any(is_typed(one.infons) for one in document.passages)
    while last >= 0 and not passage_text(document.passages[last]):
        last -= 1
    for index, passage in enumerate(document.passages[: last + 1]):
        body = passage_text(passage)
        if index and not _joined(document.passages[index - 1], passage, text, body):
            text += "\n"
        start = len(text)
        text += body
        segments += _segments(index, passage, start, len(text))
        if body:
            kind, label = kind_of(passage.infons, titled=any(one.kind == "title" for one in passages))
            kind = "title" if untyped and not passages and index < last else kind
            passages.append(Passage(kind, start, len(text), label))
    return StoredText(text, tuple(passages), segments)


def passage_text(passage: BioCPassage) -> str:
    """The passage's text, or its sentences at their offsets, with spaces in the gaps."""
    if passage.text.text or not passage.sentences:
        return passage.text.text
    text, base = "", passage.sentences[0].offset or 0
    for number, sentence in enumerate(passage.sentences):
        gap = (sentence.offset or 0) - base - len(text)
        text += " " * (gap if 0 <= gap <= 8 else 1) if number else ""
        text += sentence.text
    return text


def kind_of(infons: Infons, *, titled: bool) -> tuple[str, str]:
    """(kind, label) of a passage by its infons `type`, `section_type` and `label`."""
    found = {key.lower(): value.strip() for key, value in reversed(infons)}
    kind, section, label = found.get("type", ""), found.get("section_type", ""), found.get("label", "")
    if not titled and ("title" in (kind.lower(), section.lower()) or kind.lower() == "front"):
        return "title", label
    if "abstract" in (kind.lower(), section.lower()):
        return "abstract", label or ("" if kind.lower() == "abstract" else kind)
    return "section", label or section or ("" if kind.lower() == "section" else kind)


def is_typed(infons: Infons) -> bool:
    """Whether a passage states its type."""
    return bool(infon(infons, "type", "section_type"))


def infon(infons: Infons, *keys: str) -> str:
    """The value of the first of the keys, in any case, that has a value."""
    found = {key.lower(): value for key, value in reversed(infons)}
    return next((found[key.lower()] for key in keys if found.get(key.lower())), "")


def _joined(before: BioCPassage, passage: BioCPassage, text: str, body: str) -> bool:
    """Whether two passages are adjacent, with white space already between them."""
    known = before.text.offset is not None and passage.text.offset is not None
    if not known or not text or not (text[-1].isspace() or body[:1].isspace()):
        return False
    return passage.text.offset == (before.text.offset or 0) + len(passage_text(before))


def _segments(index: int, passage: BioCPassage, start: int, end: int) -> Sequence[Segment]:
    offset = start if passage.text.offset is None else passage.text.offset
    found = [Segment(index, -1, offset, start, end)]
    at = start
    for number, sentence in enumerate(passage.sentences):
        stated = offset + at - start if sentence.offset is None else sentence.offset
        base = passage.sentences[0].offset if not passage.text.text else offset
        begin = start + stated - (offset if base is None else base)
        begin = begin if start <= begin <= end else at
        found.append(Segment(index, number, stated, begin, min(end, begin + len(sentence.text))))
        at = begin + len(sentence.text)
    return found


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


_TYPES = ("type", "relation", "relation type", "relationtype", "predicate")
_SAYS_MORE = frozenset({"novel", "novelty", "note", "score", "confidence", "probability", "annotator", "updated_at"})
_NOVELTY = ("Novel", "No")  # in BioRED
_IDENTIFIER = re.compile(r"(?![-+]?(\d*\.\d+(e[-+]?\d+)?|\d+e-\d+)$)\S*\d\S*", re.IGNORECASE)
"""A word with a digit that is not a decimal fraction."""
_ENTITIES = ("entity1", "entity2")
CDR = "CID"
CDR_ROLES = ("Chemical", "Disease")
"""The relation of the CDR corpus, whose type is in the infon `relation`, and the names of its ends."""


def stated_relations(
    document: BioCDocument, relations: Sequence[BioCRelation], style: InfonStyle
) -> list[SourceRelation]:
    """The relations of a document, in the order of its tree."""
    records: dict[tuple[int, int, str], int] = {}
    for record, one in reversed(list(enumerate(document.annotations))):
        records[one.passage, one.sentence, one.id] = records[-2, -2, one.id] = record
    keys = unique_keys([one.id or "relation" for one in relations])
    return [_stated_relation(key, one, records, style) for key, one in zip(keys, relations, strict=True)]


def _stated_relation(
    key: str, one: BioCRelation, records: Mapping[tuple[int, int, str], int], style: InfonStyle
) -> SourceRelation:
    named = _type_infon(one.infons)
    kind = dict(one.infons).get(named, "") or "relation"
    entities = _entities(one.infons, named)
    note = " ".join(value for key, value in one.infons if key.lower() in _SAYS_MORE and not key.endswith("_at"))
    if len(entities) == 2:
        stated = [(role, typed_entity(value)[1]) for role, value in entities]
        ids = [(role, words, style.ids.split(words, "")) for role, words in stated]
        whole = [(role, words, found) for role, words, found in ids if len(found) == 1 or (found and not one.nodes)]
        ends = [SourceEnd(role, entity=found[0] if len(found) == 1 else words) for role, words, found in whole]
        if len(ends) == 2:
            return SourceRelation(key, kind, tuple(ends), note=note)
    found = [(role, refid, _record(one, refid, records)) for refid, role in one.nodes]
    ends = [SourceEnd(role, record, name="" if record >= 0 else refid) for role, refid, record in found]
    ends = ends or [SourceEnd(role, name=value) for role, value in entities]  # one, or more than two
    return SourceRelation(key, kind, tuple(ends), fixed=len(ends) != 2 or any(e.record < 0 for e in ends), note=note)


def _record(one: BioCRelation, refid: str, records: Mapping[tuple[int, int, str], int]) -> int:
    """The record of the annotation with this id; if ids are reused, of the one in the same passage."""
    return records.get((one.passage, one.sentence, refid), records.get((-2, -2, refid), -1))


def _type_infon(infons: Infons) -> str:
    """The name of the infon with the type, '' if there is none."""
    return next((key for name in _TYPES for key, _ in infons if key.lower() == name), "")


def _entities(infons: Infons, named: str) -> Infons:
    """Infons that name an entity."""
    return [
        (key, value)
        for key, value in infons
        if key != named and key.lower() not in _SAYS_MORE and _IDENTIFIER.fullmatch(value)
    ]


def written_relation(
    relation: Relation, key: str, ids: Mapping[int, str], style: InfonStyle, there: Sequence[BioCRelation]
) -> BioCRelation:
    """A curator's relation under the id `key`. `ids` are the annotation ids of mentions, `there` the document's
    relations, whose name for the type is used."""
    usual = ("relation", CDR_ROLES) if relation.type == CDR else ("type", _ENTITIES)
    named = next((found for one in there if (found := _type_infon(one.infons))), usual[0])
    infons = [(named, relation.type)]
    nodes: list[tuple[str, str]] = []
    if relation.kind is RelationKind.ENTITIES:
        roles = [end.role or name for end, name in zip(relation.ends, usual[1], strict=True)]
        infons += [(role, style.ids.spell(end.entity_id)) for role, end in zip(roles, relation.ends, strict=True)]
    else:
        nodes = [(ids[one], role) for one, role in zip(relation.mention_ids, roles_of(relation), strict=True)]
    if relation.note:
        infons.append(("novel" if relation.note in _NOVELTY else "note", relation.note))
    if relation.author and relation.at is not None:
        infons += [("annotator", relation.author), ("updated_at", relation.at.isoformat(timespec="seconds"))]
    return BioCRelation(key, infons, nodes)


def fresh_id(taken: FreeNames) -> str:
    """An id that no relation of the document has, as `R0`."""
    return taken.take("R0", lambda number: f"R{number - 1}")


MOST_UNREAD = 20
"""The most names of infons in a report."""


@dataclass(slots=True)
class BioCReading:
    """Makes source documents of one file and collects reports about them."""

    style: InfonStyle = field(default_factory=InfonStyle)
    problems: Report = field(default_factory=Report)
    besides: Besides = field(default_factory=Besides)
    unread: Counter[str] = field(default_factory=Counter)
    normalised: int = 0
    first_normalised: str = ""

    def document(self, found: BioCDocument, raw: str) -> SourceDocument:
        layout = fitted(found)
        if not layout.stated:
            self._tell_offsets(found, layout)
        anchors = Anchors(layout.text, layout.passages)
        if words := anchors.learn(_stated(found, layout)):
            self.problems.note(tr("document {key}: {words}", key=found.id, words=words), found.line)
        mentions = (self._mention(found, index, layout, anchors) for index in range(len(found.annotations)))
        title = next((layout.text[p.start : p.end] for p in layout.passages if p.kind == "title"), "")
        return SourceDocument(
            found.id,
            " ".join(title.split()),
            layout.text,
            layout.passages,
            tuple(one for one in mentions if one is not None),
            raw,
            found.line,
        )

    def close(self) -> None:
        """Report about the whole file."""
        self.problems += self.besides.problems()
        for key, number in self.unread.most_common(MOST_UNREAD):
            one = "infon “{key}” looks like an identifier and was not read ({n} annotation)"
            several = "infon “{key}” looks like an identifier and was not read ({n:,} annotations)"
            self.problems.note(ntr(one, several, number, key=key))
        if self.normalised:
            text = ntr(
                "{n} annotation quotes a normalised text ({first_normalised}); its position is correct and was kept",
                "{n:,} annotations quote a normalised text (first: {first_normalised}); their positions are "
                "correct and were kept",
                self.normalised,
                first_normalised=self.first_normalised,
            )
            self.problems.note(text)

    def _mention(self, found: BioCDocument, index: int, layout: StoredText, anchors: Anchors) -> SourceMention | None:
        one = found.annotations[index]
        spans, repair = place(one, layout, anchors)
        where = tr('document {id}: annotation {id2} "{text}"', id=found.id, id2=one.id or index + 1, text=one.text[:80])
        line = one.line or found.line
        if not spans:
            self.problems.set_aside(f"{where}: {repair}", line)
            return None
        if repair == tr(NORMALISED):
            self.normalised += 1
            self.first_normalised = self.first_normalised or f"document {found.id}, {one.text[:40]!r}"
        elif repair:
            read = ", ".join(f"{span.start}-{span.end}" for span in spans)
            self.problems.repaired(tr("{where}: {repair}; read as {read}", where=where, repair=repair, read=read), line)
        ids, raw_ids, nil = stated(one.infons, self.style)
        kind = infon(one.infons, "type").strip()
        self.besides.see(raw_ids)
        self.unread.update([*unread(one.infons), *one.unread])
        return SourceMention(spans, slice_spans(layout.text, spans), kind, ids, raw_ids, nil, index)

    def _tell_offsets(self, found: BioCDocument, layout: StoredText) -> None:
        off = [one for one in layout.segments if one.sentence < 0 and one.offset != one.start]
        for segment in off:
            text = tr(
                "document {id}: the offset of a passage is {offset}, but its annotations count from "
                "{start}; {start} was used",
                id=found.id,
                offset=segment.offset,
                start=segment.start,
            )
            self.problems.repaired(text, found.line)


def fitted(document: BioCDocument) -> StoredText:
    """The layout with the stated offsets or with positions in the text, depending on which matches more annotations."""
    layout = lay_out(document)
    if all(one.offset == one.start for one in layout.segments):
        return layout
    pairs = [(one, layout.segment_of(one)) for one in document.annotations if one.places]
    by_offset = sum(_fits(one, layout, segment, stated=True) for one, segment in pairs)
    by_text = sum(_fits(one, layout, segment, stated=False) for one, segment in pairs)
    layout.stated = by_offset >= by_text
    return layout


def place(one: BioCAnnotation, layout: StoredText, anchors: Anchors) -> tuple[tuple[Span, ...], str]:
    """(spans, how they were repaired or ''); no spans and a reason if the position is unclear."""
    if one.places is None:
        return (), tr("its offset or length is not a number")
    if not one.places:
        return (), tr("it has no location")
    segment = layout.segment_of(one)
    if (proven := _proven(one, layout, segment, anchors)) is not None:
        return (proven.span,), proven.repair
    for stated_first in (layout.stated, not layout.stated):
        if (spans := _spans(one, layout, segment, stated=stated_first)) and _quoted(layout.text, spans, one.text):
            return spans, "" if stated_first == layout.stated else tr(
                "its offsets are counted differently from those of its passage"
            )
    return _anchored(one, layout, segment, anchors)


def _stated(found: BioCDocument, layout: StoredText) -> Iterator[Stated]:
    """The positions meant by annotations with one location, and their quoted texts."""
    for one in found.annotations:
        for offset, length in one.places if one.places and len(one.places) == 1 else ():
            start = layout.from_file(layout.segment_of(one), offset, stated=layout.stated)
            yield start, start + length, plain_text(one.text)


def _proven(one: BioCAnnotation, layout: StoredText, segment: Segment | None, anchors: Anchors) -> Anchor | None:
    """The position of one location by the convention of the document's other annotations."""
    if not one.places or len(one.places) > 1:
        return None
    ((offset, length),) = one.places
    start = layout.from_file(segment, offset, stated=layout.stated)
    found = anchors.proven(start, start + length, plain_text(one.text))
    inside = found is None or segment is None or segment.start <= found.span.start <= found.span.end <= segment.end
    return found if inside else None


def _anchored(
    one: BioCAnnotation, layout: StoredText, segment: Segment | None, anchors: Anchors
) -> tuple[tuple[Span, ...], str]:
    places = sorted(one.places or ())
    starts = [layout.from_file(segment, offset, stated=layout.stated) for offset, _ in places]
    ranges = [(start, start + length) for start, (_, length) in zip(starts, places, strict=True)]
    reason = tr("its locations and its text do not match")
    for quotes in quote_parts(ranges, plain_text(one.text)):
        found = [anchors.find(start, end, quote) for (start, end), quote in zip(ranges, quotes, strict=True)]
        if not all(found):
            start, end = next(place for place, anchor in zip(ranges, found, strict=True) if anchor is None)
            there = layout.text[start:end][:80] if start >= 0 else ""
            reason = tr('the text there is "{found}", and no other position is unambiguous', found=there)
            continue
        spans = sorted(anchor.span for anchor in found if anchor)
        if any(a.end > b.start for a, b in pairwise(spans)):
            return (), tr("its locations overlap")
        return tuple(spans), next((anchor.repair for anchor in found if anchor and anchor.repair), "")
    return (), reason


def _fits(one: BioCAnnotation, layout: StoredText, segment: Segment | None, *, stated: bool) -> bool:
    spans = _spans(one, layout, segment, stated=stated)
    return bool(spans) and _quoted(layout.text, spans, one.text)


def _spans(one: BioCAnnotation, layout: StoredText, segment: Segment | None, *, stated: bool) -> tuple[Span, ...]:
    """The spans of the locations; none if they are outside of the text or overlap."""
    found, last = [], 0
    for offset, length in sorted(one.places or ()):
        start = layout.from_file(segment, offset, stated=stated)
        if length <= 0 or start < last or start + length > len(layout.text):
            return ()
        last = start + length
        found.append(Span(start, last))
    return tuple(found)


def _quoted(text: str, spans: tuple[Span, ...], quote: str) -> bool:
    found = slice_spans(text, spans)
    if same_text(found, quote):
        return True
    return len(spans) > 1 and _squeezed(found) == _squeezed(quote)  # fragments joined by a gap mark or by nothing


def _squeezed(text: str) -> str:
    return "".join(GAP.sub(" ", text).split())
