"""Cells of tables of mentions: places and identifiers, read and written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from curator.domain.documents import Span
from curator.io.files.identifiers import NIL, NIL_WORDS, read_id
from curator.io.files.source import plain_text

SEPARATORS = "|;"
_NUMBER = re.compile(r"\d{1,12}")


def ranges_of(start: str, end: str, length: int) -> list[tuple[int, int]]:
    """The fragments that two cells say, none where both are empty. Without an end, `length` says it.

    Raises ValueError for what is no place, with the reason.
    """
    starts, ends = _numbers(start), _numbers(end)
    if not starts and not ends:
        return []
    if not ends and len(starts) == 1 and length:
        return [(starts[0], starts[0] + length)]
    if len(starts) != len(ends) or not starts:
        raise ValueError(f"{start!r} to {end!r} is no place")
    return list(zip(starts, ends, strict=True))


def ids_of(cell: str) -> tuple[str, ...]:
    """The identifiers of a cell, each once; none where it says so, or says nothing."""
    cell = cell.strip()
    if cell.lower() in NIL_WORDS:
        return ()
    if cell.startswith("["):
        try:
            listed = json.loads(cell)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list):
            return tuple(dict.fromkeys(text for one in listed if (text := plain_text(str(one)))))
    separator = next((one for one in SEPARATORS if one in cell), None)
    parts = cell.split(separator) if separator else [cell]
    return tuple(dict.fromkeys(one for one in map(read_id, parts) if one))


def places_cell(spans: Sequence[Span]) -> tuple[str, str]:
    """The cells of the starts and of the ends."""
    return "|".join(str(one.start) for one in spans), "|".join(str(one.end) for one in spans)


def ids_cell(ids: Sequence[str]) -> str:
    """A cell that `ids_of` reads as these; NIL for none."""
    if not ids:
        return NIL
    plain = "|".join(ids)
    return plain if ids_of(plain) == tuple(ids) else json.dumps(list(ids), ensure_ascii=False)


def _numbers(cell: str) -> list[int]:
    parts = [part.strip() for part in re.split(r"[|;,]", cell) if part.strip()]
    wrong = next((part for part in parts if not _NUMBER.fullmatch(part)), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is no place")
    return [int(part) for part in parts]
