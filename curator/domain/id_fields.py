"""Fields with identifiers of entities, known by their names and values."""

from __future__ import annotations

import re
from functools import lru_cache

from curator.domain.curies import REGISTRIES, is_identifier, kind_of, usual_prefix

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
_BETWEEN = re.compile(r"[\s|,;\"{}\[\]]+")
_ANY_ID = re.compile(r"https?://\S*\d\S*|[A-Za-z][\w.-]{1,30}:[A-Za-z]{0,6}_?\d[\w.-]*|[CD]\d{6,9}")
"""Also an identifier of an unknown vocabulary."""
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
    return (named and (words == "true" or any(map(str.isdigit, words)))) or is_identifier(words)


def id_in(key: str, value: str) -> str:
    """The first part of a field's value, perhaps JSON, that looks like an identifier of an entity; '' for none."""
    parts = (one for one in _BETWEEN.split(value) if one)
    return next((one for one in parts if _ANY_ID.fullmatch(one) or looks_like_id(key, one)), "")


def names_database(key: str) -> bool:
    """Whether a field states by its name from which vocabulary an identifier is."""
    return _flat(key) in _DATABASES


def database_of(key: str, value: str) -> str:
    """The prefix of the vocabulary that a field such as `database` states; '' for none."""
    prefix = usual_prefix(value.strip()) if names_database(key) else ""
    return prefix if prefix in REGISTRIES else ""


def _are_of(prefix: str, value: str) -> bool:
    parts = _PARTS.split(value.strip())
    return all(":" in one or REGISTRIES[prefix].has(one) for one in parts)


def _stem(flat: str) -> str:
    return next((flat.removesuffix(one) for one in _IDS if flat.endswith(one)), flat)


def _flat(key: str) -> str:
    return "".join(ch for ch in key.lower() if ch.isalnum())
