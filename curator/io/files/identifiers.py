"""Identifiers of entities as standoff formats and tables write them, and the words for no entity."""

from __future__ import annotations

from urllib.parse import quote, unquote

from curator.domain.curies import contract, curie

NIL = "NIL"
NIL_WORDS = frozenset({"nil", "-", "-1", "cui-less", "null", "none", "nme"})
LOCAL = "CURATOR:"  # stands before an identifier that has no prefix of its own, where a format needs one


def read_id(text: str) -> str:
    """An identifier as the knowledge base writes it; '' where the text says that there is no entity."""
    text = text.strip()
    if text.startswith(LOCAL):
        return unquote(text[len(LOCAL) :])
    head, colon, tail = text.partition(":")
    if text.lower() in NIL_WORDS or (colon and head.lower() in ("nil", "cui-less") and tail.lower() in NIL_WORDS):
        return ""
    return contract(text) if "://" in text else curie(text)


def written_id(entity_id: str, *, prefixed: bool = False) -> str:
    """An entity id without white space, which `read_id` gives back; with `prefixed` a prefix, a colon and the rest.

    What cannot be written as it is, has `LOCAL` before it, and white space in it as web addresses have it.
    """
    head, colon, local = entity_id.partition(":")
    plain = entity_id.isprintable() and not any(ch.isspace() for ch in entity_id) and read_id(entity_id) == entity_id
    if plain and ((colon and head and local) or not prefixed):
        return entity_id
    return LOCAL + "".join(ch if ch.isprintable() and not ch.isspace() and ch != "%" else quote(ch) for ch in entity_id)


def written_address(entity_id: str) -> str:
    """The same for formats in which an identifier is a web address: other characters are escaped in it, too."""
    found = written_id(entity_id, prefixed=True)
    return LOCAL + quote(entity_id, safe="") if found.startswith(LOCAL) else found


# --- documents ---
