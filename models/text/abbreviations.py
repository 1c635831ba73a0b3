"""Abbreviations defined in a document, with offsets (Schwartz and Hearst, PSB 2003), and their expansion.

Both orders are recognised: "long form (SF)" and "SF (long form)". A definition holds for the whole document, before and
after its position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from models.text.formulas import ELEMENTS

Span = tuple[int, int]
MAX_SHORT = 10
WORD = 5
"""A lower-case short form of this length is a word."""
_PARENTHESES = re.compile(r"\(([^()]{1,120})\)|\[([^\[\]]{1,120})\]")
_PART = re.compile(r"[^\s;,/=](?:[^;,/=]*[^\s;,/=])?")
_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"[.!?;]\s+(?=[A-Z(])|\n")
_DEFINED = re.compile(r"\s*(?:\(([^()]{2,12})\)|\[([^\[\]]{2,12})\])")
_PIECES = re.compile(r"[\s\-+/,]")
_INITIALS = re.compile(r"[^\W_]+")
_SMALL = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "was", "were", "with"]
)
_TOKEN = re.compile(r"[^\W_]+(?:[-'/.+][^\W_]+)*[+]?")


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short form and the long form that defines it; spans are code points of the document."""

    short: str
    long: str
    short_span: Span
    long_span: Span


def find_abbreviations(text: str) -> list[Abbreviation]:
    """All definitions in text order; a short form may be defined more than once."""
    found: list[Abbreviation] = []
    for match in _PARENTHESES.finditer(text):
        group = 1 if match.group(1) is not None else 2
        start, stop = match.span(group)
        found.extend(_define(text, (match.start(), start, stop)))
    return found


def abbreviation_table(text: str) -> dict[str, str]:
    """Short form → long form for the whole document; the first definition of a short form holds.

    Short forms in long forms are expanded: after "attenuated FAP (AFAP)", AFAP is "attenuated familial adenomatous
    polyposis".
    """
    table: dict[str, str] = {}
    for item in find_abbreviations(text):
        table.setdefault(item.short, item.long)
    return {
        short: expand(
            long, {one: other for one, other in table.items() if one != short and short not in _PIECES.split(other)}
        )
        for short, long in table.items()
    }


def expand(surface: str, table: Mapping[str, str]) -> str:
    """The surface with every defined short form expanded; unchanged if there is none.

    Plural short forms ("ADRs") are expanded by their singular.
    """
    whole = _look_up(surface.strip(), table)
    if whole is not None or not table:
        return whole or surface
    plain = _DEFINED.sub(lambda match: _repeated(match, table), surface)
    return _TOKEN.sub(lambda match: _token(match.group(), table), plain)


def _repeated(match: re.Match[str], table: Mapping[str, str]) -> str:
    """Empty for a short form in parentheses after its own long form, otherwise the text itself."""
    long = _look_up(match[1] or match[2], table)
    before = match.string[: match.start()].rstrip().lower()
    return "" if long is not None and before.endswith(long.lower()) else match.group()


def _token(token: str, table: Mapping[str, str]) -> str:
    whole = _look_up(token, table)
    if whole is not None:
        return whole
    head, mark, rest = token.partition("-")
    long = _look_up(head, table) if mark else None
    return f"{long}-{rest}" if long is not None else token


def _look_up(token: str, table: Mapping[str, str]) -> str | None:
    if token in table:
        return table[token]
    return table.get(token[:-1]) if len(token) > 2 and token.endswith("s") else None


def _define(text: str, place: tuple[int, int, int]) -> Iterator[Abbreviation]:
    """Definitions from one parenthesis; "(CPA/EE)" and "(ATT-ALF)" may define each of their parts."""
    outer, start, stop = place
    defined = False
    for match in _PART.finditer(text, start, stop):
        for short_span in _readings(text, match.span()):
            short = text[slice(*short_span)]
            long_span = _long_form_before(text, outer, short) if is_short_form(short) else None
            if long_span is not None:
                defined = True
                yield Abbreviation(short, text[slice(*long_span)], short_span, long_span)
                break
    reverse = None if defined else _reversed(text, place)
    if reverse is not None:
        yield reverse


def _readings(text: str, span: Span) -> list[Span]:
    """The part as a whole, then the text after its last hyphen."""
    start, stop = span
    at = text.rfind("-", start, stop)
    return [span, (at + 1, stop)] if at > start else [span]


def _reversed(text: str, place: tuple[int, int, int]) -> Abbreviation | None:
    """ "SF (long form)": the word before the parenthesis stands for the text in it."""
    outer, start, stop = place
    before = re.search(r"(\S+)\s*$", text[max(0, outer - 30) : outer])
    if before is None or not is_short_form(before.group(1)) or not _is_symbol(before.group(1)):
        return None
    short = before.group(1)
    inside = text[start:stop].strip()
    at = _best_start(inside, short)
    if at is None or at > 0 or " " not in inside or len(inside) <= len(short):
        return None
    short_start = outer - len(before.group(0))
    lead = start + len(text[start:stop]) - len(text[start:stop].lstrip())
    return Abbreviation(short, inside, (short_start, short_start + len(short)), (lead, lead + len(inside)))


def is_short_form(text: str) -> bool:
    """Whether it has at most two words and ten characters, contains a letter, and begins with a letter or digit."""
    return (
        2 <= len(text) <= MAX_SHORT
        and len(text.split()) <= 2
        and text[0].isalnum()
        and any(character.isalpha() for character in text)
    )


def _is_symbol(text: str) -> bool:
    return sum(character.isupper() or character.isdigit() for character in text) >= 2


def _long_form_before(text: str, end: int, short: str) -> Span | None:
    """The span of the words before ``end`` that spell out ``short``."""
    letters = sum(character.isalnum() for character in short)
    words = list(_WORD.finditer(text, _sentence_start(text, end), end))
    window: Sequence[re.Match[str]] = words[-min(letters + 5, 2 * letters) :]
    if not window:
        return None
    start = window[0].start()
    stop = end - (len(text[start:end]) - len(text[start:end].rstrip()))
    at = _by_initials(text[start:stop], short)
    if at is None:
        at = _best_start(text[start:stop], short)
        if at is not None and not _is_spelled_by(text[start + at : stop], short):
            return None
    if at is None or not _is_long_form(text[start + at : stop], short):
        return None
    return start + at, stop


def _is_spelled_by(long: str, short: str) -> bool:
    """Whether letters in order that are not all initials suffice. A word ("aspartate") or the symbol of an element
    ("Na") must be the beginning of the long form (as "atorva" of "atorvastatin")."""
    first = long.split()[0]
    if first[:1].lower() + first[1:] in _SMALL:
        return False
    word = short.islower() and short.isalpha() and len(short) >= WORD
    symbol = len(short) == 2 and short in ELEMENTS
    return not (word or symbol) or long.lower().startswith(short.lower())


def _is_long_form(long: str, short: str) -> bool:
    """Whether it is longer than the short form, does not contain it, is contiguous, and does not end with a function
    word."""
    pieces = _PIECES.split(long)
    return len(short) < len(long) <= 200 and short not in pieces and "(" not in long and pieces[-1] not in _SMALL


def _by_initials(text: str, short: str) -> int | None:
    """The start of the last words whose initials are the short form: "attenuated adenomatous polyposis coli" (AAPC).

    Schwartz and Hearst take the shortest match, here "adenomatous polyposis coli". Function words between the others
    may be skipped ("degeneration of the retina").
    """
    letters = [character.lower() for character in short if character.isalnum()]
    words = list(_INITIALS.finditer(text))
    while letters and words:
        word = words.pop()
        if word.group()[0].lower() == letters[-1]:
            letters.pop()
        elif word.group() not in _SMALL:
            return None
        if not letters:
            return word.start()
    return None


def _best_start(long: str, short: str) -> int | None:
    """Schwartz and Hearst's findBestLongForm: the start of the shortest matching long form."""
    position = len(long) - 1
    for index in range(len(short) - 1, -1, -1):
        wanted = short[index].lower()
        if not wanted.isalnum():
            continue
        while position >= 0 and (
            long[position].lower() != wanted or (index == 0 and position > 0 and long[position - 1].isalnum())
        ):
            position -= 1
        if position < 0:
            return None
        position -= 1
    return long.rfind(" ", 0, position + 2) + 1


def _sentence_start(text: str, end: int) -> int:
    begin = max(0, end - 400)
    starts = [match.end() for match in _SENTENCE_END.finditer(text, begin, end)]
    return starts[-1] if starts else begin
