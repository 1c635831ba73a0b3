"""Compact forms of shown candidates and suggestions: JSON, candidates by column, zlib."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Sequence
from math import isfinite
from typing import Any

from curator.domain.decisions import Shown, ShownCandidate
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion

UNREADABLE = (zlib.error, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError)
"""What unpacking of other programs' bytes raises."""
NOT_THESE = "values of another type, or too many"
MOST_CANDIDATES = 1000
"""Of a stored suggestion: the linker gives at most 64, and the window lists all."""
LONGEST_TEXT = 50_000
"""Of one name: the window lays out 100,000 characters in a second."""
MOST_BYTES = 8 * 2**20
"""The length of an unpacked suggestion; one of 64 candidates has about 20,000 bytes."""
STAGE_DIGITS = 6  # decimals kept of a candidate's scores; full doubles would double the size of the table


def pack_shown(shown: Shown) -> bytes:
    """Packed without rounding, since the basis of a decision is a record."""
    return _pack(_shown_columns(shown))


def _shown_columns(shown: Shown) -> dict[str, Any]:
    ids = [candidate.entity_id for candidate in shown.candidates]
    scores = [candidate.score for candidate in shown.candidates]
    value: dict[str, Any] = {
        "bundle": shown.bundle_id,
        "ids": ids,
        "scores": scores,
        "nil": shown.nil_score,
        "top": shown.nil_first,
    }
    if shown.unseen is not None:
        value["unseen"] = _shown_columns(shown.unseen)
    if shown.revealed:
        value["revealed"] = True
    return value


def unpack_shown(data: bytes) -> Shown:
    """One without candidates if it cannot be read: any program can store bytes in a shared project."""
    try:
        return _shown(_unpack(data))
    except UNREADABLE:
        return Shown("", ())


def _shown(value: dict[str, Any], *, within: bool = False) -> Shown:
    """`within`: what another one kept back, which keeps nothing back itself."""
    nil = value["nil"]
    _require((str,), [value["bundle"]], value["ids"])
    _require((bool, type(None)), [value.get("top")])
    _require_numbers(value["scores"], [] if nil is None else [nil])
    pairs = zip(value["ids"], value["scores"], strict=True)
    candidates = tuple(ShownCandidate(entity_id, score) for entity_id, score in pairs)
    if within and "unseen" in value:
        raise ValueError(NOT_THESE)
    unseen = _shown(value["unseen"], within=True) if "unseen" in value else None
    return Shown(value["bundle"], candidates, value["nil"], value.get("top"), unseen, bool(value.get("revealed")))


def pack_suggestion(suggestion: Suggestion) -> bytes:
    """Candidates' scores are rounded to `STAGE_DIGITS` decimals; their order is kept."""
    found = suggestion.candidates
    nil = suggestion.nil
    return _pack(
        {
            "ids": [c.entity_id for c in found],
            "names": [c.name for c in found],
            "types": [list(c.types) for c in found],
            "matched": [None if c.matched == c.name else c.matched for c in found],
            "score": [round(c.score, STAGE_DIGITS) for c in found],
            "stages": _columns(found),
            "chance": [round(c.probability, STAGE_DIGITS) for c in found],
            "decided": {str(i): [c.decided_times, c.decided_documents] for i, c in enumerate(found) if c.decided_times},
            "nil": [nil.score, nil.is_nil, nil.calibrated],
            "expanded": suggestion.expanded,
        }
    )


def unpack_suggestion(mention_id: int, stamp: Stamp, data: bytes) -> Suggestion:
    """One without candidates if it cannot be read, like `unpack_shown`."""
    try:
        return _suggestion(mention_id, stamp, _unpack(data))
    except UNREADABLE:
        return Suggestion(mention_id, (), NilEstimate(0.0, is_nil=False, calibrated=False), stamp)


def _suggestion(mention_id: int, stamp: Stamp, value: dict[str, Any]) -> Suggestion:
    stages: dict[str, list[float | None]] = value["stages"]
    columns = zip(value["ids"], value["names"], value["types"], value["matched"], value["score"], strict=True)
    chances, decided = value.get("chance", []), value.get("decided", {})
    if len(value["ids"]) > MOST_CANDIDATES:
        raise ValueError(NOT_THESE)
    _require((str,), value["ids"], value["names"], *value["types"], [value["expanded"]])
    _require((str, type(None)), value["matched"])
    texts = [value["expanded"], *value["ids"], *value["names"], *value["matched"]]
    if max(len(one) for one in texts if one is not None) > LONGEST_TEXT:
        raise ValueError(NOT_THESE)
    _require((int,), *decided.values())
    _require_numbers(value["score"], chances, value["nil"][:1], *map(_given, stages.values()))
    candidates = tuple(
        Candidate(
            entity_id,
            name,
            tuple(types),
            name if matched is None else matched,
            score,
            _scores_at(stages, i),
            chances[i] if i < len(chances) else 0.0,
            *decided.get(str(i), (0, 0)),
        )
        for i, (entity_id, name, types, matched, score) in enumerate(columns)
    )
    score, is_nil, calibrated = value["nil"]
    return Suggestion(
        mention_id, candidates, NilEstimate(score, bool(is_nil), bool(calibrated)), stamp, value["expanded"]
    )


def _require(kinds: tuple[type, ...], *lists: Iterable[object]) -> None:
    """Raises TypeError: the window would fail on another value only while it paints."""
    for one in lists:
        if not isinstance(one, list) or not set(map(type, one)).issubset(kinds):
            raise TypeError(NOT_THESE)


def _require_numbers(*lists: Sequence[float]) -> None:
    """Finite ones, since others cannot be rounded."""
    _require((int, float), *lists)
    if not all(isfinite(one) for some in lists for one in some):
        raise ValueError(NOT_THESE)


def _given(column: Sequence[float | None]) -> list[float]:
    return [one for one in column if one is not None]


def unpack_head(data: bytes) -> tuple[str, str, float, float, float, bool, bool, str]:
    """The first candidate's id, name, score and probability ('' and zeros without one); the NIL estimate; the long
    form. It takes a fifth of the time of full unpacking, for lists of thousands. Like one without candidates if it
    cannot be read."""
    try:
        value = _unpack(data)
        nil, chance = value["nil"], value.get("chance") or [0.0]
        texts = (value["ids"][0], value["names"][0]) if value["ids"] else ("", "")
        numbers = (value["score"][0], chance[0]) if value["ids"] else (0.0, 0.0)
        _require((str,), [*texts, value["expanded"]])
        _require_numbers([*numbers, nil[0]])
        return *texts, *numbers, nil[0], bool(nil[1]), bool(nil[2]), value["expanded"]
    except UNREADABLE:
        return "", "", 0.0, 0.0, 0.0, False, False, ""


def unpack_chance(data: bytes, entity_id: str) -> float:
    """The probability that a suggestion gives an entity, 0.0 if it is not listed. Only the two necessary lists of the
    JSON are read, in a tenth of the time of full unpacking; this is safe since quotes inside strings are escaped."""
    try:
        ids, *chances = _lists(data, '{"ids":', ',"chance":')
        chance = float(dict(zip(ids, chances[0], strict=False)).get(entity_id, 0.0)) if chances else 0.0
        return chance if isfinite(chance) else 0.0
    except UNREADABLE:
        return 0.0


def rank_in(data: bytes, linked: Collection[str]) -> int:
    """The rank, from 1, of the first candidate that is one of `linked`; 0 if none is, or it cannot be read."""
    try:
        [ids] = _lists(data, '{"ids":')
        return next((rank for rank, one in enumerate(ids, start=1) if one in linked), 0)
    except UNREADABLE:
        return 0


def _lists(data: bytes, *names: str) -> list[Any]:
    text = _inflated(data).decode()
    return [_LIST.raw_decode(text, text.find(name) + len(name))[0] for name in names if name in text]


_LIST = json.JSONDecoder()


def _columns(candidates: Sequence[Candidate]) -> dict[str, list[float | None]]:
    """Stage -> its score for each candidate, None if the stage did not find it."""
    stages = dict.fromkeys(stage for candidate in candidates for stage in candidate.scores)
    return {stage: [_rounded(candidate.scores.get(stage)) for candidate in candidates] for stage in stages}


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, STAGE_DIGITS)


def _scores_at(stages: dict[str, list[float | None]], index: int) -> dict[str, float]:
    return {stage: score for stage, column in stages.items() if (score := column[index]) is not None}


def _pack(value: dict[str, Any]) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _unpack(data: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(_inflated(data))
    return value


def _inflated(data: bytes) -> bytes:
    """Raises zlib.error if it is longer than any suggestion: a few bytes could otherwise fill the memory."""
    inflating = zlib.decompressobj()
    text = inflating.decompress(data, MOST_BYTES)
    if not inflating.eof:
        raise zlib.error("incomplete, or too long")
    return text
