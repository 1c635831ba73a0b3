"""Identifiers of entities in standoff formats and tables, and the words for no entity."""

from __future__ import annotations

from urllib.parse import quote, unquote

from curator.domain.curies import contract, curie

NIL = "NIL"
NIL_WORDS = frozenset({"nil", "-", "-1", "cui-less", "null", "none", "nme"})
LOCAL = "CURATOR:"  # prefix of an identifier without one, if a format needs a prefix


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
