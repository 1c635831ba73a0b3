"""PMIDs as people hand them over: a column, a line with commas, with `PMID:` before them or not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from curator.domain.errors import UserError
from curator.domain.wording import tr

_BEFORE = re.compile(r"\bPMIDs?\b\s*[:=-]?", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;|]+")
_PMID = re.compile(r"0*([1-9][0-9]{0,8})", re.ASCII)
SHOWN = 5


def pmids_in(text: str) -> tuple[str, ...]:
    """Each once, in their order, without leading zeros; lines that begin with `#` are notes.

    Raises UserError that names what is no PMID, with its line.
    """
    found, wrong = dict[str, None](), list[str]()
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        for word in _BETWEEN.split(_BEFORE.sub(" ", line)):
            match = _PMID.fullmatch(word)
            if match is not None:
                found[match[1]] = None
            elif word:
                wrong.append(tr("“{word}” in line {line}", word=word[:40], line=number))
    if wrong:
        shown = ", ".join(wrong[:SHOWN]) + (" …" if len(wrong) > SHOWN else "")
        raise UserError(
            tr("{count:,} of these are no PMIDs, which are numbers: {shown}.", count=len(wrong), shown=shown)
        )
    return tuple(found)


def listed(pmids: Iterable[str], most: int) -> str:
    """For a sentence: the first `most` of them, and how many more there are."""
    every = list(pmids)
    words = ", ".join(every[:most])
    return words if len(every) <= most else tr("{pmids} and {count:,} more", pmids=words, count=len(every) - most)
