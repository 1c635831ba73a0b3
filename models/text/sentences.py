"""Where sentences begin, by a simple rule on the text, which is sufficient to choose a context.

A sentence ends at a line break, or at ``.``, ``!`` or ``?`` (a closing bracket or quote may follow) before white space
and something that can begin a sentence, not a lower-case letter. No sentence ends after a short word that is usually
abbreviated ("vs.", "et al.", "Fig."), after a single letter ("E. coli") or after letters with points inside ("i.v.",
"e.g.").
"""

from __future__ import annotations

import re

_END = re.compile(r"\n+\s*|(?<=[.!?])[\"'”’)\]]*\s+(?=[^\sa-z])")
_LAST_WORD = re.compile(r"(\S+)\.[\"'”’)\]]*\s*$")
_ABBREVIATED = frozenset(
    {"al", "approx", "ca", "cf", "dept", "dr", "eq", "fig", "figs", "max", "min", "mr", "mrs", "ms", "no", "nos"}
    | {"prof", "ref", "refs", "resp", "sp", "spp", "st", "subsp", "var", "vs"}
)
_LOOK_BACK = 24


def sentence_starts(text: str) -> list[int]:
    """Code-point offsets at which sentences begin, ascending; the first is 0, even for an empty text."""
    starts = [0]
    for match in _END.finditer(text):
        if "\n" in match.group() or not _abbreviated(text[max(0, match.start() - _LOOK_BACK) : match.end()]):
            starts.append(match.end())
    return [start for start in starts if start < len(text)] or [0]


def _abbreviated(text: str) -> bool:
    """Whether the last word before the point is usually written with a point within sentences."""
    found = _LAST_WORD.search(text)
    if found is None:
        return False
    word = found.group(1).lstrip("([\"'“‘")
    return (len(word) == 1 and word.isalpha()) or "." in word.strip(".") or word.lower() in _ABBREVIATED
