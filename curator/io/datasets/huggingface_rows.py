"""Rows of Hugging Face datasets as documents: BigBIO's schema of knowledge bases, marked words, texts with entities.

Entities are objects, or `[start, end, type]` as in doccano (`label`) and spaCy (`entities`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curator.domain.documents import Passage
from curator.io.files import NIL_WORDS, plain_text, read_id
from curator.io.standoff import plain_passages

TEXTS = ("text", "abstract", "document", "content", "body", "sentence", "context", "passage", "article")
KEYS = ("document_id", "doc_id", "pmid", "id", "docid", "article_id")
TAGS = ("ner_tags", "tags", "labels", "bio_tags", "ner", "entities_tags")
LISTS = ("entities", "mentions", "spans", "annotations", "ents")
TRIPLES = ("label", "labels")
"""Other lists that may contain mentions if the row has no words that they tag."""
_STARTS = ("start", "start_char", "begin", "start_offset", "offset")
_ENDS = ("end", "end_char", "stop", "end_offset")
_KINDS = ("type", "label", "entity_type", "category", "class")
_IDS = ("ids", "kb_id", "concept_id", "concept_ids", "entity_id", "normalized_id", "identifier", "db_id", "cui")
_QUOTES = ("text", "mention", "word", "name", "surface")
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RowMention:
    """A mention as stated in a row; `quote` is '' if the row has none, `stated` are its identifiers."""

    ranges: tuple[Range, ...]
    quote: str
    kind: str
    stated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    key: str
    title: str
    text: str
    passages: tuple[Passage, ...]
    entities: tuple[RowMention, ...]
    unread: tuple[str, ...] = ()  # elements of a list of mentions that are not mentions


def is_row(value: Mapping[str, Any]) -> bool:
    """Whether it contains a text."""
    return _is_bigbio(value) or _has_words(value) or any(isinstance(value.get(key), str) for key in TEXTS)


def parsed(value: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> Row:
    """The row as a document; `names` are the tags' names by column, for datasets with numbered tags. Raises ValueError
    without a text."""
    found = next((value[key] for key in KEYS if isinstance(value.get(key), str | int) and value[key] != ""), "")
    key, title = plain_text(str(found)), value.get("title")
    title = plain_text(title) if isinstance(title, str) else ""
    if _is_bigbio(value):
        text, passages = _passages(value["passages"])
        return Row(key, title, text, passages, tuple(_bigbio(_dicts(value.get("entities")))))
    if _has_words(value):
        text, places = _joined(value["tokens"])
        return Row(key, title, text, plain_passages(text), tuple(_marked(value, places, names)))
    body = next((value[one] for one in TEXTS if isinstance(value.get(one), str)), None)
    if body is None:
        raise ValueError("has no text")
    body = plain_text(body)
    shift = len(title) + 1 if title and not body.startswith(title) else 0
    text = f"{title}\n{body}" if shift else body
    passages = (Passage("title", 0, shift - 1), Passage("section", shift, len(text))) if shift else plain_passages(text)
    entities, unread = _entities(value, shift)
    return Row(key, title, text, passages, tuple(entities), tuple(unread))


# --- BigBIO ---


def _is_bigbio(value: Mapping[str, Any]) -> bool:
    return bool(_dicts(value.get("passages"))) and "text" in _dicts(value["passages"])[0]


def _passages(value: object) -> tuple[str, tuple[Passage, ...]]:
    """The text with each passage at its offsets, unless they overlap other passages."""
    text, found = "", []
    for one in _dicts(value):
        words = plain_text(" ".join(_texts(one.get("text"))))
        offsets = _ranges(one.get("offsets"))
        gap = (offsets[0][0] if offsets else 0) - len(text)
        if text or gap > 0:
            text += "\n" + " " * min(max(gap - 1, 0), 1000) if gap else ""
        kind = plain_text(str(one.get("type") or "section")).lower()
        found.append(Passage(kind, len(text), len(text) + len(words)))
        text += words
    return text, tuple(one for one in found if one.end > one.start)


def _bigbio(entities: Sequence[Mapping[str, Any]]) -> Iterator[RowMention]:
    for one in entities:
        stated = [_curie(norm) for norm in _dicts(one.get("normalized"))]
        ranges = tuple(_ranges(one.get("offsets")))
        kind = one.get("type")
        kind = "/".join(map(str, kind)) if isinstance(kind, list) else str(kind or "entity")
        yield RowMention(ranges, plain_text(" ".join(_texts(one.get("text")))), plain_text(kind), tuple(stated))


def _curie(norm: Mapping[str, Any]) -> str:
    name, local = str(norm.get("db_name") or "").strip(), str(norm.get("db_id") or "").strip()
    return plain_text(f"{name}:{local}" if name and local and ":" not in local else local)


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


def _marked(
    value: Mapping[str, Any], places: Sequence[Range], names: Mapping[str, Sequence[str]]
) -> Iterator[RowMention]:
    """Mentions from runs of B-, I- tags (also S-, E-, L-, U-), or of the same label without a prefix."""
    column = next((one for one in TAGS if isinstance(value.get(one), list) and len(value[one]) == len(places)), "")
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


def _entities(value: Mapping[str, Any], shift: int) -> tuple[list[RowMention], list[str]]:
    """The mentions of the first list with mentions, and its other elements as in the file."""
    unread: list[str] = []
    for key in (*LISTS, *TRIPLES):
        listed = _dicts(value.get(key))
        elements = listed if isinstance(value.get(key), dict) else value.get(key)
        found, others = _sorted(elements if isinstance(elements, list) else [], shift)
        if found:
            return found, others
        unread += others
    return [], unread


def _sorted(elements: Sequence[object], shift: int) -> tuple[list[RowMention], list[str]]:
    found, others = [], []
    for one in elements:
        if isinstance(one, dict):
            found.append(_entity(one, shift))
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
    if not (kind is None or isinstance(kind, str)):
        return None
    return RowMention(((start + shift, end + shift),), "", plain_text(kind or "entity"), ())


def _entity(one: Mapping[str, Any], shift: int) -> RowMention:
    start = next((one[key] for key in _STARTS if type(one.get(key)) is int), None)
    end = next((one[key] for key in _ENDS if type(one.get(key)) is int), None)
    ranges = ((start + shift, end + shift),) if start is not None and end is not None and 0 <= start < end else ()
    stated: object = next((one[key] for key in _IDS if one.get(key) not in (None, "", [])), [])
    kind = next((one[key] for key in _KINDS if isinstance(one.get(key), str)), "entity")
    quote = next((one[key] for key in _QUOTES if isinstance(one.get(key), str)), "")
    return RowMention(ranges, plain_text(quote), plain_text(kind), tuple(_texts(stated)))


def ids_of(stated: Sequence[str]) -> tuple[str, ...]:
    """The entity ids stated in a row, each once."""
    parts = [part for one in stated for part in one.replace(",", "|").split("|") if part.strip()]
    real = [one for one in parts if one.rpartition(":")[2].strip().lower() not in NIL_WORDS]
    return tuple(dict.fromkeys(one for one in map(read_id, real) if one))


def _dicts(value: object) -> list[Mapping[str, Any]]:
    """A list of objects; also if it is stored as an object of lists, as in older versions."""
    if isinstance(value, dict) and value and all(isinstance(one, list) for one in value.values()):
        size = min(map(len, value.values()))
        return [{key: one[at] for key, one in value.items()} for at in range(size)]
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


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
