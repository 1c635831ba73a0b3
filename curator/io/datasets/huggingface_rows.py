"""Rows of Hugging Face datasets as documents: BigBIO's schema of knowledge bases, marked words, texts with entities.

Entities are objects, or `[start, end, type]` as in doccano (`label`) and spaCy (`entities`).

Relations, events and coreferences of rows, and the record that keeps them with a document's attributes.

Ends are named by the mention's id, its number in the list, its offsets, or an identifier that mentions have. An event
and a coreference have any number of ends: they are shown, but cannot be edited.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from curator.domain.documents import Passage
from curator.domain.relations import LONGEST_TYPE, SourceEnd, SourceRelation
from curator.domain.wording import tr
from curator.io.files.field_meanings import (
    Unread,
    cancelling,
    identifier_field,
    identifiers_in,
    is_empty,
    kind_in,
    unfinished,
    unread_fields,
)
from curator.io.files.idstyle import is_nil, read_ids
from curator.io.files.reading import plain_passages
from curator.io.files.relations import unique_keys
from curator.io.files.source import plain_text

RELATIONS = ("relations", "relation", "rels")
EVENTS = ("events", "event_mentions")
COREFERENCES = ("coreferences", "coreference", "coref", "corefs", "coref_clusters")
ALL = (*RELATIONS, *EVENTS, *COREFERENCES)
_ENDS = (
    ("arg1_id", "arg2_id"),
    ("arg1", "arg2"),
    ("from_id", "to_id"),
    ("from", "to"),
    ("head_span", "child_span"),
    ("head_span", "tail_span"),
    ("head_id", "tail_id"),
    ("head", "tail"),
    ("head", "child"),
    ("h", "t"),
    ("subject_id", "object_id"),
    ("subject", "object"),
    ("subj", "obj"),
    ("source_id", "target_id"),
    ("source", "target"),
    ("entity1_id", "entity2_id"),
    ("entity1", "entity2"),
    ("e1", "e2"),
)
_ARGUMENTS = ("arguments", "args", "participants", "roles")
_MEMBERS = ("entity_ids", "mentions", "entities", "members", "spans", "ids")
_KEYS = ("id", "relation_id", "event_id")
_TYPES = ("type", "label", "labels", "relation", "relation_type", "rel", "predicate", "event_type", "r", "name")
_REFERENCES = ("ref_id", "entity_id", "mention_id", "id", "ref")
STARTS = ("start", "start_char", "begin", "start_offset", "offset")
STOPS = ("end", "end_char", "stop", "end_offset")


@dataclass(frozen=True, slots=True)
class Places:
    """How ends find mentions: their records by id and by offsets, their number, and the entity ids that they have."""

    by_key: Mapping[str, int]
    by_range: Mapping[tuple[int, int], int]
    size: int
    entities: Mapping[str, str]
    shift: int

    def end(self, value: object, role: str = "") -> SourceEnd | None:
        """The end with this id, number, identifier or offsets; None without such a mention."""
        if isinstance(value, Mapping):
            if (known := next((value[key] for key in _REFERENCES if not is_empty(value.get(key))), None)) is not None:
                return self.end(known, role)
            value = [_first_int(value, STARTS), _first_int(value, STOPS)]
        if isinstance(value, list):
            if len(value) == 1:
                return self.end(value[0], role)
            start, end = value if len(value) == 2 else (None, None)
            if type(start) is not int or type(end) is not int:
                return None
            record = self.by_range.get((start + self.shift, end + self.shift))
            return None if record is None else SourceEnd(role, record)
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None
        record = self.by_key.get(str(value))
        if record is None and not self.by_key and type(value) is int and 0 <= value < self.size:
            record = value
        if record is not None:
            return SourceEnd(role, record)
        entity = self.entities.get(str(value))
        return SourceEnd(role, entity=entity) if entity else None


def relations_of(value: Mapping[str, Any], places: Places, left: Unread) -> tuple[SourceRelation, ...]:
    """The relations, events and coreferences of a row, in this order. What has no ends is counted in `left`."""
    found: list[SourceRelation] = []
    for name in ALL:
        listed = value.get(name)
        elements: Sequence[object] = listed if isinstance(listed, list) else dicts(listed)
        if not elements and not is_empty(listed):
            left.relations[name] += not isinstance(listed, dict) or any(listed.values())
        read = _relation if name in RELATIONS else _event if name in EVENTS else _coreference
        for number, one in enumerate(elements, 1):
            if isinstance(one, Mapping) and (said := cancelling(one)):
                left.mentions[said] += 1
            elif (relation := read(one, places, f"{name[0].upper()}{number}", left)) is None:
                left.relations[name] += 1
            else:
                found.append(relation)
    keys = unique_keys([one.key for one in found])
    return tuple(replace(one, key=key) for key, one in zip(keys, found, strict=True))


def _relation(one: object, places: Places, key: str, left: Unread) -> SourceRelation | None:
    if isinstance(one, list) and len(one) == 3 and isinstance(one[2], str):
        one = dict(zip(("from", "to", "type"), one, strict=True))
    if not isinstance(one, Mapping):
        return None
    names = next((pair for pair in _ENDS if not (is_empty(one.get(pair[0])) or is_empty(one.get(pair[1])))), None)
    if names is None:
        return _event(one, places, key, left)
    first, second = (places.end(one[name]) for name in names)
    if first is None or second is None:
        return None
    notes = ", ".join(words_in(one.get("normalized")))
    used = (*_KEYS, *_TYPES, *names, "head", "child", "normalized")
    left.mention_fields.update(unread_fields(one, used))
    fixed = bool(first.entity) != bool(second.entity)
    return SourceRelation(_relation_key(one, key), _type(one), (first, second), fixed=fixed, note=notes)


def _event(one: object, places: Places, key: str, left: Unread) -> SourceRelation | None:
    """An event: its trigger's words, and its arguments, of which those that are other events keep their names."""
    if not isinstance(one, Mapping):
        return None
    ends = []
    trigger = one.get("trigger")
    if words := " ".join(words_in(trigger.get("text") if isinstance(trigger, Mapping) else trigger)):
        ends.append(SourceEnd("trigger", name=words))
    name = next((name for name in _ARGUMENTS if isinstance(one.get(name), list)), "")
    for argument in one[name] if name else ():
        role = _type(argument, ("role", *_TYPES)) if isinstance(argument, Mapping) else ""
        end = places.end(argument, role)
        if end is None and isinstance(argument, Mapping):
            named = next((argument[key] for key in _REFERENCES if isinstance(argument.get(key), str | int)), "")
            end = SourceEnd(role, name=plain_text(str(named))) if named != "" else None
        if end is not None:
            ends.append(end)
    left.mention_fields.update(unread_fields(one, (*_KEYS, *_TYPES, name, "trigger")))
    return SourceRelation(_relation_key(one, key), _type(one), tuple(ends), fixed=True) if ends else None


def _coreference(one: object, places: Places, key: str, left: Unread) -> SourceRelation | None:
    members: object = one
    if isinstance(one, Mapping):
        name = next((name for name in _MEMBERS if isinstance(one.get(name), list)), "")
        members = one.get(name)
        left.mention_fields.update(unread_fields(one, (*_KEYS, *_TYPES, name)))
    ends = [places.end(each) for each in members] if isinstance(members, list) else []
    kept = tuple(one for one in ends if one is not None)
    kind = _type(one, usual="coreference") if isinstance(one, Mapping) else "coreference"
    return SourceRelation(_relation_key(one, key), kind, kept, fixed=True) if kept else None


def dicts(value: object) -> list[Mapping[str, Any]]:
    """A list of objects; also if it is stored as an object of lists, as in older versions."""
    if isinstance(value, dict) and value and all(isinstance(one, list) for one in value.values()):
        size = min(map(len, value.values()))
        return [{key: one[at] for key, one in value.items()} for at in range(size)]
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _first_int(one: Mapping[str, Any], names: Sequence[str]) -> int | None:
    return next((one[name] for name in names if type(one.get(name)) is int), None)


def _relation_key(one: object, usual: str) -> str:
    found = next((one[name] for name in _KEYS if not is_empty(one.get(name))), "") if isinstance(one, Mapping) else ""
    return plain_text(str(found)) if isinstance(found, str | int) and found != "" else usual


def _type(one: Mapping[str, Any], names: Sequence[str] = _TYPES, *, usual: str = "relation") -> str:
    found = next((one[name] for name in names if not is_empty(one.get(name))), "")
    return "/".join(words_in(found))[:LONGEST_TYPE] or usual


def words_in(value: object) -> list[str]:
    """The texts in a value: a text or number, an object's name or CURIE, or a list of these."""
    if isinstance(value, list):
        return [word for one in value for word in words_in(one)]
    if isinstance(value, Mapping):
        if not is_empty(value.get("db_id")):
            return [plain_text(f"{value.get('db_name') or ''}:{value['db_id']}".removeprefix(":"))]
        names = ("name", "text", "label", "value")
        return words_in(next((value[name] for name in names if not is_empty(value.get(name))), None))
    usable = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    return [plain_text(str(value))] if usable else []


# --- the record ---


def packed(
    relations: Sequence[SourceRelation], attributes: Mapping[int, Mapping[str, str]], written: Collection[int]
) -> tuple[str, int]:
    """The record of a document: its relations and its mentions' attributes, '' without any; and the number of relations
    left out, since the mention of an end is not in `written`."""
    kept = [one for one in relations if one.fixed or all(end.record < 0 or end.record in written for end in one.ends)]
    held = {str(record): dict(one) for record, one in attributes.items() if one and record in written}
    parts = {"relations": [asdict(one) for one in kept], "attributes": held}
    parts = {name: part for name, part in parts.items() if part}
    return (json.dumps(parts, ensure_ascii=False) if parts else ""), len(relations) - len(kept)


def relations_in(raw: str) -> list[SourceRelation]:
    """The relations of a record made by `packed`."""
    found = json.loads(raw).get("relations", ()) if raw else ()
    return [
        SourceRelation(
            one["key"], one["type"], tuple(SourceEnd(**end) for end in one["ends"]), one["fixed"], one["note"]
        )
        for one in found
    ]


def attributes_in(raw: str) -> dict[int, dict[str, str]]:
    """Record -> {name: value} of a record made by `packed`."""
    found = json.loads(raw).get("attributes", {}) if raw else {}
    return {int(record): dict(one) for record, one in found.items()}


TEXTS = ("text", "abstract", "document", "content", "body", "sentence", "context", "passage", "article")
KEYS = ("document_id", "doc_id", "pmid", "id", "docid", "article_id")
TAGS = ("ner_tags", "tags", "labels", "bio_tags", "ner", "entities_tags")
LISTS = ("entities", "mentions", "spans", "annotations", "ents")
TRIPLES = ("label", "labels")
"""Other lists that may contain mentions if the row has no words that they tag."""
_KINDS = ("type", "label", "labels", "entity_type", "category", "class")
_QUOTES = ("text", "mention", "word", "name", "surface")
_CHOICES = ("accept", "options")
"""Prodigy's chosen identifiers and those offered."""
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RowMention:
    """A mention as stated in a row; `quote` is '' if the row has none, `stated` are its identifiers, `key` is its own
    id in the row."""

    ranges: tuple[Range, ...]
    quote: str
    kind: str
    stated: tuple[str, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """`unread` are elements of a list of mentions that are not mentions; `left` counts what else is not read."""

    key: str
    title: str
    text: str
    passages: tuple[Passage, ...]
    entities: tuple[RowMention, ...]
    unread: tuple[str, ...] = ()
    relations: tuple[SourceRelation, ...] = ()
    attributes: Mapping[int, Mapping[str, str]] = field(default_factory=dict)  # by the number of the mention
    left: Unread = field(default_factory=Unread)


def is_row(value: Mapping[str, Any]) -> bool:
    """Whether it contains a text."""
    return _is_bigbio(value) or _has_words(value) or bool(_text_name(value))


def parsed(value: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> Row:
    """The row as a document; `names` are the tags' names by column, for datasets with numbered tags. Raises ValueError
    without a text."""
    meta = value.get("meta")
    homes = [value, meta] if isinstance(meta, dict) else [value]
    stated = ((key, home[key]) for home in homes for key in KEYS if isinstance(home.get(key), str | int))
    key_name, found = next(((key, one) for key, one in stated if one != ""), ("", ""))
    key, title = plain_text(str(found)), value.get("title")
    title = plain_text(title) if isinstance(title, str) else ""
    left, unread, shift, used = Unread(), list[str](), 0, {key_name, "title"}
    if _is_bigbio(value):
        text, passages = _passages(value["passages"])
        entities = list(_bigbio(dicts(value.get("entities")), left))
        used |= {"id", "passages", "entities"}
    elif _has_words(value):
        text, places = _joined(value["tokens"])
        passages, column = plain_passages(text), _column(value, places, names)
        entities = list(_marked(value, places, column, names))
        used |= {"tokens", column}
    else:
        text_name = _text_name(value)
        if not text_name:
            raise ValueError(tr("has no text"))
        body = plain_text(value[text_name])
        shift = len(title) + 1 if title and not body.startswith(title) else 0
        text = f"{title}\n{body}" if shift else body
        whole = (Passage("title", 0, shift - 1), Passage("section", shift, len(text)))
        passages = whole if shift else plain_passages(text)
        list_name, entities, unread = _entities(value, shift, left)
        used |= {text_name, list_name}
    if (chosen := _chosen(value)) and len(entities) == 1 and not entities[0].stated:
        entities = [replace(entities[0], stated=chosen)]
        used |= {*_CHOICES}
    if said := cancelling(value):
        left = Unread(rows=Counter([said]), row_fields=Counter(unread_fields(value, (*used, *LISTS, *ALL))))
        return Row(key, title, text, passages, (), left=left)
    if (said := unfinished(value)) and any(one.stated for one in entities):
        left.unfinished[said] += 1
        entities = [replace(one, stated=()) for one in entities]
    related = not all(is_empty(value.get(one)) for one in ALL)
    relations = relations_of(value, places_of(entities, shift), left) if related else ()
    left.row_fields.update(unread_fields(value, (*used, *ALL)))
    return Row(key, title, text, passages, tuple(entities), tuple(unread), relations, left=left)


def places_of(entities: Sequence[RowMention], shift: int) -> Places:
    """How relations find these mentions; `shift` is added to their offsets."""
    by_key: dict[str, int] = {}
    by_range: dict[tuple[int, int], int] = {}
    for record, one in enumerate(entities):
        if one.key:
            by_key.setdefault(one.key, record)
        if one.ranges:
            by_range.setdefault((one.ranges[0][0], one.ranges[-1][1]), record)
    ids = {name: id_ for one in entities for id_ in ids_of(one.stated) for name in (id_, id_.rpartition(":")[2])}
    return Places(by_key, by_range, len(entities), ids, shift)


def _text_name(value: Mapping[str, Any]) -> str:
    """The field with the text; `data`, as in doccano, only beside a list of mentions."""
    found = next((one for one in TEXTS if isinstance(value.get(one), str)), "")
    listed = any(isinstance(value.get(one), list) for one in (*LISTS, *TRIPLES))
    return found or ("data" if isinstance(value.get("data"), str) and listed else "")


def _chosen(value: Mapping[str, Any]) -> tuple[str, ...]:
    """The identifiers that a curator accepted among the options of a row with one mention, as in Prodigy."""
    accept, options = (value.get(name) for name in _CHOICES)
    if not isinstance(accept, list) or not isinstance(options, list):
        return ()
    return tuple("NIL" if one.upper().startswith("NIL") else one for one in _texts(accept))


# --- BigBIO ---


def _is_bigbio(value: Mapping[str, Any]) -> bool:
    return bool(dicts(value.get("passages"))) and "text" in dicts(value["passages"])[0]


def _passages(value: object) -> tuple[str, tuple[Passage, ...]]:
    """The text with each passage at its offsets, unless they overlap other passages."""
    text, found = "", []
    for one in dicts(value):
        words = plain_text(" ".join(_texts(one.get("text"))))
        offsets = _ranges(one.get("offsets"))
        gap = (offsets[0][0] if offsets else 0) - len(text)
        if text or gap > 0:
            text += "\n" + " " * min(max(gap - 1, 0), 1000) if gap else ""
        kind = plain_text(str(one.get("type") or "section")).lower()
        found.append(Passage(kind, len(text), len(text) + len(words)))
        text += words
    return text, tuple(one for one in found if one.end > one.start)


def _bigbio(entities: Sequence[Mapping[str, Any]], left: Unread) -> Iterator[RowMention]:
    for one in entities:
        if said := cancelling(one):
            left.mentions[said] += 1
            continue
        normalized = one.get("normalized")
        stated = identifiers_in((isinstance(normalized, dict) and dicts(normalized)) or normalized)
        ranges = tuple(_ranges(one.get("offsets")))
        left.mention_fields.update(unread_fields(one, ("normalized", "type") if stated else ("type",)))
        quote = plain_text(" ".join(_texts(one.get("text"))))
        yield RowMention(ranges, quote, _kind(one.get("type")), tuple(stated), _key(one))


def _kind(value: object) -> str:
    return kind_in(value) or "entity"


def _key(one: Mapping[str, Any]) -> str:
    found = one.get("id")
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""


# --- marked words ---


def _has_words(value: Mapping[str, Any]) -> bool:
    tokens = value.get("tokens")
    return isinstance(tokens, list) and bool(tokens) and all(isinstance(one, str) for one in tokens)


def _joined(tokens: Sequence[str]) -> tuple[str, list[Range]]:
    places, at = [], 0
    words = [plain_text(one) for one in tokens]
    for one in words:
        places.append((at, at + len(one)))
        at += len(one) + 1
    return " ".join(words), places


def _column(value: Mapping[str, Any], places: Sequence[Range], names: Mapping[str, Sequence[str]]) -> str:
    """The column with a tag for each word; '' if there is none. Numbers without names are no tags."""
    found = (one for one in TAGS if isinstance(value.get(one), list) and len(value[one]) == len(places))
    return next((one for one in found if one in names or not any(type(tag) is int for tag in value[one])), "")


def _marked(
    value: Mapping[str, Any], places: Sequence[Range], column: str, names: Mapping[str, Sequence[str]]
) -> Iterator[RowMention]:
    """Mentions from runs of B-, I- tags (also S-, E-, L-, U-), or of the same label without a prefix."""
    start, kind = -1, ""
    for number, tag in enumerate([*(_tag(one, names.get(column, ())) for one in value.get(column) or ()), "O"]):
        head, dash, tail = tag.partition("-")
        label = tail if dash and head in "BIESLU" else "" if tag == "O" else tag
        if start >= 0 and (label != kind or head in ("B", "S", "U")):
            yield RowMention(((places[start][0], places[number - 1][1]),), "", kind, ())
            start = -1
        if label and start < 0:
            start, kind = number, label


def _tag(value: object, names: Sequence[str]) -> str:
    if isinstance(value, str):
        return plain_text(value) or "O"
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names)
    return names[value] if known and isinstance(value, int) else "O"


# --- texts with entities ---


def _entities(value: Mapping[str, Any], shift: int, left: Unread) -> tuple[str, list[RowMention], list[str]]:
    """The name of the first list with mentions, its mentions, and its other elements as in the file."""
    unread: list[str] = []
    for key in (*LISTS, *TRIPLES):
        listed = dicts(value.get(key))
        elements = listed if isinstance(value.get(key), dict) else value.get(key)
        here = Unread()
        found, others = _sorted(elements if isinstance(elements, list) else [], shift, here)
        if found or here.mentions:
            left.add(here)
            return key, found, others
        unread += others
    return "", [], unread


def _sorted(elements: Sequence[object], shift: int, left: Unread) -> tuple[list[RowMention], list[str]]:
    found, others = [], []
    for one in elements:
        if isinstance(one, dict) and (said := cancelling(one)):
            left.mentions[said] += 1
        elif isinstance(one, dict):
            found.append(_entity(one, shift, left))
        elif (triple := _triple(one, shift)) is not None:
            found.append(triple)
        else:
            others.append(plain_text(json.dumps(one, ensure_ascii=False, default=str))[:80])
    return found, others


def _triple(one: object, shift: int) -> RowMention | None:
    """`[start, end, type]`, half-open; None for anything else."""
    if not isinstance(one, list) or len(one) != 3:
        return None
    start, end, kind = one
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        return None
    if not (kind is None or isinstance(kind, str) or type(kind) is int):
        return None
    return RowMention(((start + shift, end + shift),), "", _kind(kind), ())


def _entity(one: Mapping[str, Any], shift: int, left: Unread) -> RowMention:
    start_name = next((key for key in STARTS if type(one.get(key)) is int), "")
    end_name = next((key for key in STOPS if type(one.get(key)) is int), "")
    start, end = (one[start_name], one[end_name]) if start_name and end_name else (0, 0)
    ranges = ((start + shift, end + shift),) if 0 <= start < end else ()
    kind_name = next((key for key in _KINDS if not is_empty(one.get(key))), "")
    quote_name = next((key for key in _QUOTES if isinstance(one.get(key), str)), "")
    known = (*STARTS, *STOPS, *_QUOTES, kind_name, "id")
    kind = _kind(one.get(kind_name))
    id_name, stated = identifier_field(one, known, kind)
    if said := unfinished(one):
        left.unfinished[said] += bool(stated)
        stated = []
    left.mention_fields.update(unread_fields(one, (start_name, end_name, kind_name, quote_name, id_name, "id")))
    quote = plain_text(one[quote_name]) if quote_name else ""
    return RowMention(ranges, quote, kind, tuple(stated), _key(one))


def ids_of(stated: Sequence[str]) -> tuple[str, ...]:
    """The entity ids stated in a row, each once."""
    return tuple(one for one in read_ids(stated, ",|") if not is_nil(one.rpartition(":")[2]))


def _texts(value: object) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [plain_text(str(one)) for one in listed if isinstance(one, str | int) and not isinstance(one, bool)]


def _ranges(value: object) -> list[Range]:
    found = []
    for one in value if isinstance(value, list) else []:
        if not (
            isinstance(one, list) and len(one) == 2 and all(type(at) is int for at in one) and 0 <= one[0] < one[1]
        ):
            return []
        found.append((one[0], one[1]))
    return found


# --- Label Studio's rows, which `label_studio` reads ---

TASK_LISTS = ("annotations", "completions")
NO_GOLD_LISTS = ("predictions", "drafts")
MIN_FIELDS = ("annotator", "annotation_id", "lead_time")


def is_task(value: Mapping[str, Any]) -> bool:
    """Whether it is a task, or an annotation with its task."""
    if isinstance(value.get("task"), dict) and isinstance(value.get("result"), list):
        return True
    listed = any(isinstance(value.get(one), list) for one in (*TASK_LISTS, *NO_GOLD_LISTS))
    return isinstance(value.get("data"), dict) and listed


def is_min_row(value: Mapping[str, Any]) -> bool:
    """Whether it is a row of JSON_MIN: a text beside answers with lists of labels, by the names of controls."""
    if not any(isinstance(one, str) for one in value.values()):
        return False
    if all(one in value for one in MIN_FIELDS):
        return True
    labelled = any(isinstance(one.get("labels"), list) for _, some in placed_answers(value) for one in some)
    return labelled and "answer" not in value and not any(one in value for one in ALL)


def placed_answers(value: Mapping[str, Any]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """The fields of a row of JSON_MIN with answers that have places."""
    for key, some in value.items():
        if isinstance(some, list) and some and all(isinstance(one, dict) and "start" in one for one in some):
            yield key, some
