"""The tree of one BioC JSON document: read as parts, and edited in place. Other fields are not touched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from curator.domain.id_fields import id_in, identifier_key, looks_like_id
from curator.io.bioc.bioc import BioCAnnotation, BioCDocument, BioCPassage, BioCRelation, Infons, OffsetText
from curator.io.files.field_meanings import identifiers_in, is_empty, kind_in, other_texts
from curator.io.files.json_stream import rewritten
from curator.io.files.source import plain_text

Json = dict[str, Any]
_OF_BIOC = frozenset({"id", "infons", "text", "locations"})
BETWEEN = ";"
"""Between the identifiers of a list."""
BEFORE = "\x1e"  # separates a JSON record's text from what is before it; JSON contains it only escaped


def json_document(found: Any, line: int = 0) -> BioCDocument:
    """The parts of a document parsed by `json`. Values of the wrong type count as missing."""
    found = found if isinstance(found, dict) else {}
    passages = [
        BioCPassage(json_infons(one), _part(one), [_part(sentence) for sentence in _objects(one, "sentences")])
        for one in _objects(found, "passages")
    ]
    annotations = [_annotation(one, passage, sentence, line) for one, passage, sentence in _walk(found)]
    return BioCDocument(
        _word(found.get("id", found.get("pmid"))).strip(), json_infons(found), passages, annotations, line
    )


def has_half_characters(found: Any) -> bool:
    """Whether a text of the document contains lone surrogates, which become U+FFFD."""
    passages = list(_objects(found, "passages")) if isinstance(found, dict) else []
    parts = [*passages, *(sentence for one in passages for sentence in _objects(one, "sentences"))]
    texts = (one["text"] for one in parts if isinstance(one.get("text"), str))
    return any(plain_text(text) != text for text in texts)


class JsonTree:
    """See `bioc_write.Tree`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.root: Json = json.loads(text)
        self._nodes = [one for one, _, _ in _walk(self.root)]
        self._relations = [
            (one, passage, sentence)
            for owner, passage, sentence in _owners(self.root)
            for one in _objects(owner, "relations")
        ]
        self._gone: set[int] = set()

    def document(self) -> BioCDocument:
        return json_document(self.root)

    def remove(self, record: int) -> None:
        self._gone.add(id(self._nodes[record]))

    def set_infons(self, record: int, infons: Infons) -> None:
        """Only changed values are touched: a value that is not a string keeps its type."""
        node, told = self._nodes[record], dict(infons)
        found, known = node.get("infons") or {}, dict(json_infons(node))
        kept = {key: value for key, value in found.items() if key not in known or key in told}
        node["infons"] = kept | {
            key: _like(found.get(key), value) for key, value in told.items() if known.get(key) != value
        }

    def set_place(self, record: int, places: Sequence[tuple[int, int]], text: str) -> None:
        self._nodes[record].update(_place(places, text))

    def add(self, passage: int, sentence: int, one: BioCAnnotation) -> None:
        owner = self.root
        if passage >= 0:
            owner = list(_objects(owner, "passages"))[passage]
        if sentence >= 0:
            owner = list(_objects(owner, "sentences"))[sentence]
        if not isinstance(owner.get("annotations"), list):
            owner["annotations"] = []
        node = {"id": one.id, "infons": dict(one.infons), **_place(one.places or (), one.text)}
        owner["annotations"].append(node)

    def relations(self) -> list[BioCRelation]:
        """The relations, in an order that editing does not change."""
        return [
            BioCRelation(_word(one.get("id")), relation_infons(one), _nodes(one), passage, sentence)
            for one, passage, sentence in self._relations
        ]

    def remove_relation(self, number: int) -> None:
        self._gone.add(id(self._relations[number][0]))

    def add_relation(self, relation: BioCRelation) -> None:
        """Add a relation to the document."""
        if not isinstance(self.root.get("relations"), list):
            self.root["relations"] = []
        nodes = [{"refid": refid, "role": role} for refid, role in relation.nodes]
        self.root["relations"].append({"id": relation.id, "infons": dict(relation.infons), "nodes": nodes})

    def other_texts(self) -> list[dict[str, str]]:
        """The values in each annotation under keys that are not BioC's, as texts."""
        return [other_texts(one, _OF_BIOC) for one in self._nodes]

    def references(self) -> Iterator[str]:
        """The ids of the annotations that relations name."""
        for owner, _, _ in _owners(self.root):
            for relation in _objects(owner, "relations"):
                yield from (_word(node.get("refid")) for node in _objects(relation, "nodes"))

    def text(self) -> str:
        """The document's original text with the changes."""
        for owner, _, _ in _owners(self.root):
            for key in ("annotations", "relations"):
                if isinstance(found := owner.get(key), list):
                    owner[key] = [one for one in found if id(one) not in self._gone]
        return rewritten(self._text, self.root)


def own_text(raw: str) -> str:
    """A JSON document's text, without the text before it in the file."""
    return raw.rpartition(BEFORE)[2]


def separator(head: str) -> str:
    """What is between two documents after this beginning of a file, unless their records state something else."""
    return ",\n" if "[" in head else "\n"


def json_infons(found: Json) -> Infons:
    """The infons; identifiers in lists and objects are a text with `;` between them, other lists and objects are left
    out, null is an empty text, numbers, true and false are as in JSON."""
    infons = found.get("infons")
    if not isinstance(infons, dict):
        return []
    listed = ((key, _joined(key, value)) for key, value in infons.items())
    known = (one for one in listed if one[1] is None or isinstance(one[1], str | int | float))
    return [(key, json.dumps(value) if isinstance(value, bool | float) else _word(value)) for key, value in known]


def _joined(key: str, value: Any) -> Any:
    """A type, or identifiers, as one text; an object for true and false instead of identifiers; others as they are."""
    if isinstance(value, list | dict) and key.lower() == "type":
        return kind_in(value)
    if isinstance(value, bool) and identifier_key(key, json.dumps(value)) is not None:
        return {}
    words = identifiers_in(value) if isinstance(value, list | dict | float) else []
    text = BETWEEN.join(words)
    is_ids = identifier_key(key, text) is not None or all(looks_like_id(key, one) for one in words)
    return text if words and is_ids else value


def _like(old: Any, value: str) -> Any:
    """The value of an infon in the form of its old one: a list stays a list, and an object an object, without what it
    says about the old entity."""
    if isinstance(old, list):
        return [{"id": one} if old and isinstance(old[0], dict) else one for one in value.split(BETWEEN)]
    return {"id": value} if isinstance(old, dict) else value


def _unread(found: Json) -> tuple[str, ...]:
    """The keys of infons that hold identifiers, by their names or by a part of their values, in a form that is not
    read."""
    infons = found.get("infons")
    odd = other_texts(infons, dict(json_infons(found))) if isinstance(infons, dict) else {}
    return tuple(key for key, text in odd.items() if identifier_key(key, text) is not None or id_in(key, text))


def _flags(found: Json) -> frozenset[str]:
    infons = found.get("infons")
    return (
        frozenset(key for key, value in infons.items() if isinstance(value, bool))
        if isinstance(infons, dict)
        else frozenset()
    )


def relation_infons(found: Json) -> Infons:
    """The infons with the identifiers of PubTator 3, whose infons are objects."""
    infons = found.get("infons")
    objects = infons.items() if isinstance(infons, dict) else ()
    listed = json_infons(found)
    named = [(key, identifiers_in(one)) for key, one in objects if isinstance(one, dict)]
    return listed + [(key, BETWEEN.join(ids)) for key, ids in named if ids and key not in dict(listed)]


def unread_of_relations(root: Any) -> Iterator[str]:
    """The names of what relations and their nodes state in a form that is not read."""
    for owner, _, _ in _owners(root) if isinstance(root, dict) else ():
        for one in _objects(owner, "relations"):
            infons = one.get("infons")
            odd = other_texts(infons, dict(relation_infons(one))) if isinstance(infons, dict) else {}
            yield from (key for key, text in odd.items() if id_in(key, text))
            for node in _objects(one, "nodes"):
                said = {key: node.get(key) for key in ("refid", "role")}
                yield from (key for key, value in said.items() if not (is_empty(value) or _word(value)))


def _nodes(relation: Json) -> list[tuple[str, str]]:
    return [(_word(one.get("refid")), _word(one.get("role"))) for one in _objects(relation, "nodes")]


def _walk(root: Json) -> Iterator[tuple[Json, int, int]]:
    """Every annotation with its passage and sentence, in an order that editing does not change."""
    for owner, passage, sentence in _owners(root):
        for one in _objects(owner, "annotations"):
            yield one, passage, sentence


def _owners(root: Json) -> Iterator[tuple[Json, int, int]]:
    for number, passage in enumerate(_objects(root, "passages")):
        yield passage, number, -1
        for index, sentence in enumerate(_objects(passage, "sentences")):
            yield sentence, number, index
    yield root, -1, -1


def _annotation(found: Json, passage: int, sentence: int, line: int) -> BioCAnnotation:
    places = tuple((_number(one.get("offset")), _number(one.get("length"))) for one in _objects(found, "locations"))
    known = None if any(a is None or b is None for a, b in places) else places
    return BioCAnnotation(
        _word(found.get("id")),
        json_infons(found),
        _word(found.get("text")),
        known,  # type: ignore[arg-type]  # no None is left in it
        passage,
        sentence,
        line,
        _flags(found),
        _unread(found),
    )


def _place(places: Sequence[tuple[int, int]], text: str) -> Json:
    return {"text": text, "locations": [{"offset": offset, "length": length} for offset, length in places]}


def _part(found: Json) -> OffsetText:
    text = found.get("text")
    return OffsetText(_number(found.get("offset")), plain_text(text) if isinstance(text, str) else "")


def _objects(found: Json, key: str) -> Iterator[Json]:
    values = found.get(key)
    return (one for one in (values if isinstance(values, list) else ()) if isinstance(one, dict))


def _number(value: Any) -> int | None:
    """An integer, even if it is a string."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 16:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def _word(value: Any) -> str:
    """Text or a number as text; '' for anything else."""
    return plain_text(str(value)) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
