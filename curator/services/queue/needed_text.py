"""The characters that a text must contain for words or a pattern to match, so that most texts need not be read.

They are derived from the query alone, and only if that is certain, so results do not change. Ignoring case, `regex`
matches k with the Kelvin sign, s with ſ, and i with İ and ı; every other ASCII letter only with its other case. These
three, and characters outside ASCII, match any character here, so Unicode forms do not matter.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass

Needed = tuple[str | None, ...]
"""Consecutive characters, ASCII letters in either case. None: any one character."""
FEWEST = 3
"""The least number of known characters: fewer occur in nearly every text."""
ODD = frozenset("iksIKS")
_SINGLE = frozenset(string.ascii_letters + string.digits + string.whitespace + "\"#%&',-/:;<=>@_`~!")
_CLASSES = frozenset("bBwWdDsS")
_ENDS = frozenset(".^$")
_AROUND = frozenset({"?=", "?!", "?<=", "?<!"})
_COUNT = re.compile(r"\{\d+(?:,\d*)?\}")
_OPENING = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|P?<[A-Za-z_]\w*>))?(?![?*])")
_SET = re.compile(r"\[\^?\]?(?:[^\]\[\\&|~-]|-(?!-)|\\[wWdDsSbtnr\]\\^.-])*\]")


class _UnknownError(Exception):
    """Unsupported syntax."""


@dataclass(slots=True)
class _Group:
    """An open group of the pattern: the number of runs before it, and whether its own occur in every match."""

    begun: int
    holds: bool


def needed_by_words(text: str, *, case: bool) -> Needed | None:
    """The most selective word; None if no word is selective enough."""
    return _best(_characters(one, case=case) for one in text.split())


def needed_by_pattern(text: str, *, case: bool) -> Needed | None:
    """Characters that every match contains; None if there are none, or the pattern is not supported."""
    try:
        runs = list(_runs(text))
    except _UnknownError:
        return None
    return _best(_characters(one, case=case) for one in runs)


def _characters(run: str, *, case: bool) -> Needed:
    return tuple(one if one.isascii() and one != "\0" and (case or one not in ODD) else None for one in run)


def _best(runs: Iterable[Needed]) -> Needed | None:
    found = max((_trimmed(one) for one in runs), key=_fixed, default=())
    return found if _fixed(found) >= FEWEST else None


def _trimmed(run: Needed) -> Needed:
    places = [at for at, one in enumerate(run) if one is not None]
    return run[places[0] : places[-1] + 1] if places else ()


def _fixed(run: Needed) -> int:
    return sum(one is not None for one in run)


def _runs(pattern: str) -> list[str]:
    """The runs of literal characters that every match contains. Raises _UnknownError."""
    runs, at, groups = [""], 0, []
    while at < len(pattern):
        one, literal, begun = pattern[at], "", len(runs)
        if one == "\\":
            at, literal = at + 2, _escaped(pattern[at + 1 : at + 2])
        elif one == "(":
            end = _matched(_OPENING, pattern, at)
            groups.append(_Group(begun, holds=pattern[at + 1 : end] not in _AROUND))
            at = end
        elif one == ")" and groups:
            group = groups.pop()
            at, begun = at + 1, group.begun
            if not group.holds:
                del runs[begun:]
        elif one == "[":
            at = _matched(_SET, pattern, at)
        elif one == "|" and groups:
            at, groups[-1].holds = at + 1, False
        elif one in _ENDS:
            at += 1
        elif one in _SINGLE or not one.isascii():
            at, literal = at + 1, one
        else:
            raise _UnknownError
        least, behind = _repeated(pattern, at)
        if not least:
            del runs[begun:]
        elif literal:
            runs[-1] += literal
        if not literal or behind > at:
            runs.append("")
        at = behind
    if groups:
        raise _UnknownError
    return runs


def _escaped(one: str) -> str:
    """The escaped character, '' for a class or an anchor."""
    if one in _CLASSES:
        return ""
    if one and one.isascii() and not one.isalnum():
        return one
    raise _UnknownError


def _matched(what: re.Pattern[str], pattern: str, at: int) -> int:
    found = what.match(pattern, at)
    if found is None:
        raise _UnknownError
    return found.end()


def _repeated(pattern: str, at: int) -> tuple[int, int]:
    """The least number of occurrences, 0 or 1, of the item that ends here, and the position after its quantifier."""
    one = pattern[at : at + 1]
    if one == "{":
        end = _matched(_COUNT, pattern, at)
        least = int(int(re.split(r"[{,}]", pattern[at:end])[1]) > 0)
    elif one and one in "*?+":
        end, least = at + 1, int(one == "+")
    else:
        return 1, at
    if pattern[end : end + 1] in ("?", "+"):
        end += 1
    if pattern[end : end + 1] in ("*", "+", "?", "{"):
        raise _UnknownError
    return least, end
