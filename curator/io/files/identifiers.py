"""Identifiers of entities in standoff formats and tables, and the words for no entity."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, unquote

from curator.domain.curies import REGISTRIES, contract, curie, is_identifier, kind_of, usual_prefix

NIL = "NIL"
NIL_WORDS = frozenset({"nil", "-", "-1", "cui-less", "null", "none", "nme"})
LOCAL = "CURATOR:"  # prefix of an identifier without one, if a format needs a prefix

_IDS = ("identifiers", "identifier", "ids", "id")
_SUFFIXES = ("", *_IDS, "accession", "codes", "code", "cui", "number", "term")
_GENERAL = frozenset(("", "concept", "kb", "db", "ontology", "term", "norm", "normalization", "normalized"))
"""What an entity's identifiers of any vocabulary are called, before `id` or `identifier`."""
_OF_OTHERS = frozenset(
    ("annotator", "annotation", "curator", "user", "document", "doc", "passage", "sentence", "token")
)
"""What has identifiers that are not an entity's."""
_DATABASES = frozenset(
    ("database", "db", "dbname", "databasename", "resource", "kb", "ontology", "vocabulary", "terminology", "namespace")
)
_PARTS = re.compile(r"[\s|+,;]+")
SHORT = 3
"""The most letters of a vocabulary's name that may mean something else, such as `pr` or `tax`."""


def identifier_key(key: str, value: str, mention_type: str = "") -> str | None:
    """The vocabulary of the identifiers in a field with this name, such as `NCBIGene` for `NCBI Gene identifier`; ''
    if they are of any (`concept_id`), None if the field has another meaning.

    A vocabulary that has no entities of the mention's type is another meaning: a gene's `NCBI Taxonomy` is its species.
    """
    flat, kind = _flat(key), kind_of(mention_type)
    prefix, is_short = _vocabulary(flat)
    if prefix:
        kinds = REGISTRIES[prefix].kinds
        is_meant = (not is_short or _are_of(prefix, value)) and (not (kinds and kind) or kind in kinds)
        return prefix if is_meant else None
    stem = _stem(flat)
    if flat in ("curie", "curies"):
        return ""
    if stem == flat or flat in ("id", "ids"):
        return None
    return "" if stem in _GENERAL or (kind and kind_of(stem) == kind) else None


@lru_cache(maxsize=1024)
def _vocabulary(flat: str) -> tuple[str, bool]:
    """The vocabulary in the name of a field, and whether the name is so short that it may mean something else."""
    for suffix in _SUFFIXES:
        stem = flat.removesuffix(suffix)
        if flat.endswith(suffix) and (prefix := usual_prefix(stem)) in REGISTRIES:
            return prefix, not suffix and len(stem) <= SHORT and prefix != "UMLS"
    return "", False


def looks_like_id(key: str, value: str) -> bool:
    """Whether a field that is not read may hold an identifier of an entity, by its name or its value."""
    flat, words = _flat(key), value.strip()
    is_id = _stem(flat) != flat and _stem(flat) not in _OF_OTHERS and " " not in words
    named = is_id or bool(identifier_key(key, value))
    return (named and any(map(str.isdigit, words))) or is_identifier(words)


def database_of(key: str, value: str) -> str:
    """The prefix of the vocabulary that a field such as `database` states; '' for none."""
    prefix = usual_prefix(value.strip()) if _flat(key) in _DATABASES else ""
    return prefix if prefix in REGISTRIES else ""


def _are_of(prefix: str, value: str) -> bool:
    parts = _PARTS.split(value.strip())
    return all(":" in one or REGISTRIES[prefix].has(one) for one in parts)


def _stem(flat: str) -> str:
    return next((flat.removesuffix(one) for one in _IDS if flat.endswith(one)), flat)


def _flat(key: str) -> str:
    return "".join(ch for ch in key.lower() if ch.isalnum())


def is_nil(text: str) -> bool:
    """Whether a text in the place of an identifier means no entity: it is empty, or a word for that."""
    text = text.strip().lower()
    return not text or text in NIL_WORDS


def read_id(text: str) -> str:
    """An identifier in the form of the knowledge base; '' if the text means no entity."""
    text = text.strip()
    if text.startswith(LOCAL):
        return unquote(text[len(LOCAL) :])
    head, colon, tail = text.partition(":")
    if is_nil(text) or (colon and head.lower() in ("nil", "cui-less") and tail.lower() in NIL_WORDS):
        return ""
    return contract(text) if "://" in text else curie(text)


def written_id(entity_id: str, *, prefixed: bool = False) -> str:
    """An entity id without white space, from which `read_id` restores it; with `prefixed` it has a prefix and a colon.

    Ids that cannot be written unchanged get the prefix `LOCAL`, with white space escaped as in web addresses.
    """
    head, colon, local = entity_id.partition(":")
    plain = entity_id.isprintable() and not any(ch.isspace() for ch in entity_id) and read_id(entity_id) == entity_id
    if plain and ((colon and head and local) or not prefixed):
        return entity_id
    return LOCAL + "".join(ch if ch.isprintable() and not ch.isspace() and ch != "%" else quote(ch) for ch in entity_id)


def written_address(entity_id: str) -> str:
    """The same for formats in which an identifier is a web address: other characters are escaped, too."""
    found = written_id(entity_id, prefixed=True)
    return LOCAL + quote(entity_id, safe="") if found.startswith(LOCAL) else found


# --- documents ---
