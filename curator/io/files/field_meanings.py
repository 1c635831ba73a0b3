"""What the fields of foreign rows and mentions mean by their names: identifiers, statements that cancel an annotation,
and the rest, which is named in the report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

from curator.domain.id_fields import database_of, identifier_key, names_database
from curator.domain.wording import ntr
from curator.io.files.attributes import json_text
from curator.io.files.idstyle import is_variant
from curator.io.files.source import plain_text

_ID_FIELDS = ("ids", "kb_id", "concept_id", "concept_ids", "entity_id", "normalized_id", "identifier", "db_id", "cui")
"""The usual fields with identifiers, in the order in which they are tried."""
_OF_OBJECTS = (*_ID_FIELDS, "id", "@id")
_AT_LAST = ("curie", "uri", "iri", "url", "value")
"""Fields of an object that is an identifier, before and after those that `identifier_name` knows."""
_KINDS = ("type", "name", "text", "label", "value")
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_ID_NAME = re.compile(
    r"(?:.*_)?(?:kb|kg|concept|entity|norm|normali[sz]ed|normali[sz]ation|grounding|grounded|database|db|ontology|term"
    r"|wikidata|wiki|wikipedia|dbpedia|link|linked|linked_entity|linking|gold|accession|xref|code)"
    r"_(?:ids?|identifiers?|curies?|codes?|uris?|iris?|urls?|entity|entities|links?|concepts?|qids?|refs?)"
    r"|(?:.*_)?(?:identifiers?|kb_?ids?|concepts?|cuis?|curies?|qids?|normali[sz]ed|normali[sz]ations?|links?|wikidata"
    r"|xrefs?|uris?|iris?|db_?xrefs?|accessions?)"
)
_LIST = re.compile(r"[,|;]")
_STATUS = re.compile(
    r"answer|(?:review_|annotation_|validation_|label_)?(?:status|state)|decision|verdict|outcome|review|judge?ment"
)
_CANCELLING = re.compile(
    r"(?:reject|ignor|skip|cancel|delet|remov|discard|declin|invalid|incorrect|wrong|false[ _-]?positive|spam"
    r"|not[ _-]?(?:valid|correct|accepted))[a-z]*"
)
_OPEN = re.compile(
    r"(?:un|not[ _-]?)(?:labell?ed|annotated|confirmed|reviewed|checked|validated|approved)|pending|draft|todo"
    r"|predicted|prediction|suggested|in[ _-]?progress|auto(?:matic)?"
)
_TRUE_CANCELS = re.compile(r"reject(?:ed)?|ignored?|skip(?:ped)?|cancell?ed|deleted|discarded|removed|invalid|wrong")
_FALSE_CANCELS = re.compile(r"accepted|approved|valid|correct")
_FALSE_LEAVES_OPEN = re.compile(
    r"confirmed|validated|reviewed|annotated|labell?ed|completed|finished|done|verified|checked"
)
_BOOKKEEPING = re.compile(
    r"id|uid|uuid|(?:text_)?hash|meta|metadata|info|(?:created|updated)(?:_at|_by)?|timestamp|time|date|user(?:_id|name)?"
    r"|annotators?|annotator_id|author|session_id|view_id|source|dataset|corpus|project|file(?:_?name|_upload)?|split"
    r"|lang|language|version|score|confidence|probability|prob|rank|pattern|token_start|token_end|tokens|offsets|length"
    r"|lead_time|annotation_id|inner_id|color|index|idx|line|page|text"
)
LONGEST_STATE = 40
"""Characters of a word such as `rejected`; a longer answer or review is a text."""
MOST_NAMES = 30
"""Fields that are named one by one in a report."""


@lru_cache(maxsize=4096)
def word(name: str) -> str:
    """A field's name in lower case with `_` between its words: `isConfirmed`, `Is confirmed` -> `is_confirmed`."""
    return "_".join(one for one in _BOUNDARY.split(name) if one).lower()


def identifiers_in(value: object) -> list[str]:
    """The identifiers in a value of JSON, as texts: a text or whole number, an object with one and perhaps its database
    (`{"database": "MESH", "id": "D1"}` -> 'MESH:D1'), or a list of these. [] if a part of it is something else, since
    the others alone may mean another entity."""
    listed = [one for part in value for one in _many(part)] if isinstance(value, list) else [value]
    parts = [_in_object(one) if isinstance(one, dict) else _texts(one) for one in listed if not _says_nothing(one)]
    usable = all(parts) and not any(isinstance(one, list) for one in listed)
    return [one for part in parts for one in part] if usable else []


def _many(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _in_object(value: Mapping[str, Any]) -> list[str]:
    whole = {str(key).lower(): _texts(found) for key, found in value.items() if _is_texts(found)}
    one = {key: texts for key, texts in whole.items() if texts}
    key = next((key for key in _OF_OBJECTS if key in one), "") or identifier_name(one, ())
    key = key or next((key for key in _AT_LAST if key in one), "")
    if not key:
        return []
    database = next((texts[0] for name, texts in one.items() if names_database(name)), "")
    return _prefixed(one[key], stated_vocabulary(one, key) or database)


def _is_texts(value: object) -> bool:
    return not any(isinstance(one, dict | list | bool) for one in _many(value))


def _says_nothing(one: object) -> bool:
    """Whether an element of a list is empty, or an object with at most a database."""
    return is_empty(one) or (isinstance(one, dict) and all(is_empty(one[key]) or names_database(key) for key in one))


def other_texts(value: Mapping[str, Any], known: Container[str]) -> dict[str, str]:
    """The values of a JSON object under other keys than the known ones, as texts or identifiers, without empty ones."""
    others = ((key, found) for key, found in value.items() if key not in known and not is_empty(found))
    return {key: " ".join(identifiers_in(found)) or json_text(found) for key, found in others}


def kind_in(value: object) -> str:
    """A type in a value of JSON: a text or number, an object with a name, or several of these; '' for none."""
    named = (_first(one, _KINDS) if isinstance(one, dict) else one for one in _many(value))
    return "/".join(dict.fromkeys(word for one in named for word in _texts(one)))


def _first(one: Mapping[str, Any], names: Iterable[str]) -> object:
    return next((one[name] for name in names if not is_empty(one.get(name))), None)


def identifier_field(one: Mapping[str, Any], known: Iterable[str], mention_type: str = "") -> tuple[str, list[str]]:
    """(name, identifiers) of a mention's field with identifiers; ('', []) without one. `known` fields mean something
    else.

    A bare identifier gets the prefix of the vocabulary that the field's name or another field states: `mesh_id` 'D1' ->
    'MESH:D1'.
    """
    key = identifier_name(one, known, mention_type)
    prefix = stated_vocabulary(one, key, mention_type) if key else ""
    return key, _prefixed(identifiers_in(one.get(key)), prefix)


def identifier_name(one: Mapping[str, Any], known: Iterable[str], mention_type: str = "") -> str:
    """The name of a mention's field with identifiers; '' without one."""
    filled = {key: " ".join(ids) for key, value in one.items() if (ids := identifiers_in(value))}
    named = {key: identifier_key(key, text, mention_type) for key, text in filled.items() if key not in known}
    usual = (key for key in _ID_FIELDS if key in filled)
    of_one = (key for key, prefix in named.items() if prefix and any(map(str.isdigit, filled[key])))
    of_any = (key for key, prefix in named.items() if prefix == "" or _ID_NAME.fullmatch(word(key)))
    return next(chain(usual, of_one, of_any), "")


def stated_vocabulary(one: Mapping[str, Any], key: str, mention_type: str = "") -> str:
    """The prefix of the vocabulary that the name of the field `key` or another field states; '' for none."""
    texts = {name: " ".join(identifiers_in(value)) for name, value in one.items()}
    stated = (found for name, text in texts.items() if (found := database_of(name, text)))
    return identifier_key(key, texts[key], mention_type) or next(stated, "")


def _prefixed(texts: list[str], prefix: str) -> list[str]:
    """The identifiers with the prefix unless they have one."""
    if not prefix:
        return texts
    parts = [part.strip() for text in texts for part in ([text] if is_variant(text) else _LIST.split(text))]
    return [part if ":" in part else f"{prefix}:{part}" for part in parts if part]


def _texts(value: object) -> list[str]:
    """The texts and whole numbers of a value or list; without the rest."""
    whole = (int(one) if isinstance(one, float) and one.is_integer() else one for one in _many(value))
    texts = (str(one) for one in whole if isinstance(one, str | int) and not isinstance(one, bool))
    return [plain_text(one) for one in texts if one.strip()]


def cancelling(one: Mapping[str, Any]) -> str:
    """The statement of a row, mention or relation that it does not hold, as `field: value`; '' if there is none."""
    for key, name, value in _stated(one):
        text = _lower(value)
        if (
            (_STATUS.fullmatch(name) and _CANCELLING.fullmatch(text))
            or (_TRUE_CANCELS.fullmatch(name) and text in ("true", "1", "yes"))
            or (_FALSE_CANCELS.fullmatch(name) and text in ("false", "no"))
        ):
            return f"{key}: {text}"
    return ""


def unfinished(one: Mapping[str, Any]) -> str:
    """The statement of a row or mention that nobody has confirmed it yet, as `field: value`; '' if there is none."""
    for key, name, value in _stated(one):
        text = _lower(value)
        if (_STATUS.fullmatch(name) and _OPEN.fullmatch(text)) or (
            _FALSE_LEAVES_OPEN.fullmatch(name) and text in ("false", "no")
        ):
            return f"{key}: {text}"
    return ""


@lru_cache(maxsize=4096)
def says_state(name: str) -> bool:
    """Whether `cancelling` and `unfinished` know this field."""
    plain = _state(name)
    return any(one.fullmatch(plain) for one in (_STATUS, _TRUE_CANCELS, _FALSE_CANCELS, _FALSE_LEAVES_OPEN))


def _stated(one: Mapping[str, Any]) -> Iterator[tuple[str, str, object]]:
    said = ((key, value) for key, value in one.items() if says_state(key))
    return ((key, _state(key), value) for key, value in said if isinstance(value, str | bool | int))


@lru_cache(maxsize=4096)
def _state(name: str) -> str:
    plain = word(name)
    for start in ("is_", "was_", "has_been_"):
        plain = plain.removeprefix(start)
    return plain


def _lower(value: object) -> str:
    return str(value).strip().lower()


def is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


def unread_fields(one: Mapping[str, Any], used: Iterable[str]) -> list[str]:
    """The fields with a value that are neither used nor only keep books."""
    return [
        key
        for key, value in one.items()
        if key not in used
        and not is_empty(value)
        and not key.startswith("_")
        and not keeps_books(key)
        and not (says_state(key) and len(str(value)) <= LONGEST_STATE)
    ]


@lru_cache(maxsize=4096)
def keeps_books(name: str) -> bool:
    """Whether a field holds times, people, files, hashes or numbers of tokens."""
    return _BOOKKEEPING.fullmatch(word(name)) is not None


_ONE = {
    "rows": "{n} document is marked “{name}”: its annotations are left out",
    "mentions": "{n} mention or relation is marked “{name}” and is left out",
    "unfinished": "{n} annotation is marked “{name}”: its identifiers are not read as decisions",
    "relations": "{n} entry of “{name}” is left out: its ends are not mentions of the document",
    "row_fields": "{n} document has the field “{name}”, which is not read",
    "mention_fields": "{n} mention or relation has the field “{name}”, which is not read",
    "regions": "{n} region of the type “{name}” is left out",
    "annotations": "{n} entry of “{name}” is left out: only one finished annotation of each document is read",
}
_SEVERAL = {
    "rows": "{n:,} documents are marked “{name}”: their annotations are left out",
    "mentions": "{n:,} mentions or relations are marked “{name}” and are left out",
    "unfinished": "{n:,} annotations are marked “{name}”: their identifiers are not read as decisions",
    "relations": "{n:,} entries of “{name}” are left out: their ends are not mentions of the document",
    "row_fields": "{n:,} documents have the field “{name}”, which is not read",
    "mention_fields": "{n:,} mentions or relations have the field “{name}”, which is not read",
    "regions": "{n:,} regions of the type “{name}” are left out",
    "annotations": "{n:,} entries of “{name}” are left out: only one finished annotation of each document is read",
}
"""What the report says of each name that `Unread` counts: of one, and of several."""


@dataclass
class Unread:
    """Counts of what is left out of a file, by the name in it."""

    rows: Counter[str] = field(default_factory=Counter)
    mentions: Counter[str] = field(default_factory=Counter)
    unfinished: Counter[str] = field(default_factory=Counter)
    row_fields: Counter[str] = field(default_factory=Counter)
    mention_fields: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)  # without their mentions, or of an unknown form
    regions: Counter[str] = field(default_factory=Counter)  # of an unsupported type
    annotations: Counter[str] = field(default_factory=Counter)  # by the list that holds them: of others, or predicted

    def add(self, other: Unread) -> None:
        for mine, more in zip(vars(self).values(), vars(other).values(), strict=True):
            mine.update(more)

    def sentences(self) -> Iterator[str]:
        """One sentence for each name, with its count, the most frequent first."""
        for part in _ONE:
            for name, n in _most(getattr(self, part)):
                yield ntr(_ONE[part], _SEVERAL[part], n, name=name)


def _most(counts: Counter[str]) -> Iterator[tuple[str, int]]:
    """The most frequent names; the others together."""
    counts = +counts
    yield from ((plain_text(name)[:80], n) for name, n in counts.most_common(MOST_NAMES))
    if len(counts) > MOST_NAMES:
        yield "…", sum(n for _, n in counts.most_common()[MOST_NAMES:])
