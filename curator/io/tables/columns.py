"""Which column of a table holds what: found by the headings, or said by a heading or a number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from curator.domain.errors import UserError
from curator.domain.wording import tr


def key(heading: str) -> str:
    """Letters and digits alone, in lower case."""
    return re.sub(r"[^a-z0-9]", "", heading.lower())


def sniffed(headings: Sequence[str], meanings: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Which heading seems to hold which field: the earliest of `meanings` wins, each column holds one field."""
    by_key: dict[str, str] = {}
    for one in headings:
        by_key.setdefault(key(one), one)
    found: dict[str, str] = {}
    for field, keys in meanings.items():
        match = next((by_key[name] for name in keys if name in by_key and by_key[name] not in found.values()), None)
        if match is not None:
            found[field] = match
    return found


def place(path: Path, headings: Sequence[str], wanted: str) -> int:
    """The index of a column by its heading or its number from 1. Raises UserError for one that is not there."""
    if wanted in headings:
        return list(headings).index(wanted)
    folded = [one.strip().casefold() for one in headings]
    if wanted.strip().casefold() in folded:
        return folded.index(wanted.strip().casefold())
    if wanted.isdecimal() and 1 <= int(wanted) <= len(headings):
        return int(wanted) - 1
    named = ", ".join(one for one in headings if one.strip())
    raise UserError(tr("{path} has no column {wanted!r}: choose among {named}", path=path, wanted=wanted, named=named))
