"""The search strings of a mention: its text with expanded abbreviations, and other wordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.text.abbreviations import abbreviation_table, expand, is_short_form
from models.text.composites import composite_parts
from models.text.normalise import normalise
from models.text.rewriting import broader, poisoned, respelled, rewritings
from models.types import DocumentInput, MentionInput

MAX_CHARACTERS = 300
ALIAS_WEIGHT = 1.0
REWRITTEN_WEIGHT = 0.9
PART_WEIGHT = 0.9
SPELLED_WEIGHT = 0.9
POISONED_WEIGHT = 0.95
BROADER_WEIGHT = 0.75


@dataclass(frozen=True, slots=True)
class Variant:
    """One wording and the weight of its scores."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class MentionQuery:
    """The query for a mention; equal (variants, types) have equal candidates."""

    key: str
    surface: str
    expanded: str
    variants: tuple[Variant, ...]
    types: tuple[str, ...]


def document_queries(document: DocumentInput) -> list[MentionQuery]:
    """One query for each mention, in order. An empty mention has no variants, hence no candidates."""
    table = abbreviation_table(document.text)
    aliases = appositions(document)
    surfaces = tuple(dict.fromkeys(mention.surface(document.text) for mention in document.mentions))
    return [_query(document, mention, table, aliases, surfaces) for mention in document.mentions]


def appositions(document: DocumentInput) -> dict[str, str]:
    """Symbols in parentheses right after a mention: after "dacarbazine (DTIC)", DTIC means dacarbazine.

    This finds definitions that Schwartz and Hearst's method cannot, since the letters need not occur in the long form.
    """
    ends = {m.spans[-1][1]: m for m in document.mentions if m.spans}
    found: dict[str, str] = {}
    for mention in document.mentions:
        if not mention.spans:
            continue
        start, end = mention.spans[0][0], mention.spans[-1][1]
        before = document.text[max(0, start - 3) : start]
        opening = before.rstrip("+-±")
        if not opening.endswith(("(", "[")) or document.text[end : end + 1] not in (")", "]", ",", ";", "/"):
            continue
        name_end = start - (len(before) - len(opening)) - 1
        owner = ends.get(name_end) or ends.get(name_end - 1)
        symbol = mention.surface(document.text)
        if owner is not None and owner.types == mention.types and _is_symbol(symbol):
            found.setdefault(symbol, owner.surface(document.text))
    return found


def spelled_by(symbol: str, surfaces: tuple[str, ...]) -> str:
    """The only other mention that contains the letters of ``symbol`` in order, with the same first letter; else
    empty."""
    letters = "".join(character for character in symbol if character.isalnum()).lower().removesuffix("s")
    if len(letters) < 2:
        return ""
    fitting = [text for text in surfaces if len(text) > 2 * len(symbol) and _spells(text.lower(), letters)]
    distinct = {normalise(text): text for text in fitting}
    return next(iter(distinct.values())) if len(distinct) == 1 else ""


def _query(
    document: DocumentInput,
    mention: MentionInput,
    table: Mapping[str, str],
    aliases: Mapping[str, str],
    surfaces: tuple[str, ...],
) -> MentionQuery:
    surface = mention.surface(document.text)
    expanded = expand(surface, table)
    alias = aliases.get(surface.strip(), "") if expanded == surface else ""
    if not alias and expanded == surface and _is_symbol(surface.strip()):
        spelled = spelled_by(surface.strip(), surfaces)
    else:
        spelled = ""
    variants = _variants(expanded[:MAX_CHARACTERS], alias, spelled)
    shown = expanded if expanded != surface else alias
    return MentionQuery(mention.key, surface, shown, variants, tuple(sorted(mention.types)))


def _variants(text: str, alias: str, spelled: str) -> tuple[Variant, ...]:
    wordings = [Variant(text, 1.0), Variant(respelled(text), 1.0)]
    wordings += [Variant(alias, ALIAS_WEIGHT)] if alias else []
    wordings += [Variant(spelled, SPELLED_WEIGHT)] if spelled else []
    wordings += [Variant(part, PART_WEIGHT) for part in composite_parts(text)]
    wordings += [Variant(poisoned(text), POISONED_WEIGHT)]
    wordings += [Variant(other, REWRITTEN_WEIGHT) for other in rewritings(text)]
    wordings += [Variant(broader(text), BROADER_WEIGHT)]
    best: dict[str, Variant] = {}
    for variant in wordings:
        if variant.text.strip():
            best.setdefault(variant.text, variant)
    return tuple(best.values())


def _is_symbol(text: str) -> bool:
    return is_short_form(text) and sum(c.isupper() or c.isdigit() for c in text) >= 2


def _spells(text: str, letters: str) -> bool:
    at = 0
    if not text.startswith(letters[0]):
        return False
    for letter in letters:
        at = text.find(letter, at) + 1
        if at == 0:
            return False
    return True
