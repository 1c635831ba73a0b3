"""Values of a suggestion for facets, in a separate narrow table: counting 100,000 rows must not read 200 MB.

A row is written with its suggestion, in the same transaction; `decided_rank` also when the mention is linked.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from curator.domain.suggestions import Suggestion
from curator.storage.db.rows import fold
from curator.storage.db.schema import Base

EXACT_NAMES = NAME, SYNONYM, NOT_EXACT = "name", "synonym", "no"
AT_ONCE = 2000
STAGES = ("lexical", "names")
"""Scores for the similarity of names: by letters, or by meaning if no stage compares letters."""
_JSON = json.JSONDecoder()


class SuggestionFactsRow(Base):
    """Facts about a mention's suggestion: number of `candidates`; `probability` and `margin` of the first, `second` of
    the second (0 without one), `is_nil`; `matched`: whether the first has the mention's text as its name, as a synonym
    or not; `similarity` of its name. `decided_rank` is the rank of the entity that the mention was last linked to, 0 if
    it is not a candidate, None if it was never linked, or without candidates. `others` is the highest score of the
    candidates after the second, None without any. `exact_rank` is the rank of the first candidate that has the
    mention's text as a name, 0 if none has; `alike` is the highest similarity of a candidate after the first."""

    __tablename__ = "suggestion_facts"

    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"), primary_key=True)
    candidates: Mapped[int]
    probability: Mapped[float | None]
    margin: Mapped[float | None]
    is_nil: Mapped[bool]
    second: Mapped[float | None]
    matched: Mapped[str | None]
    similarity: Mapped[float | None]
    decided_rank: Mapped[int | None]
    others: Mapped[float | None]
    exact_rank: Mapped[int | None]
    alike: Mapped[float | None]


@dataclass(frozen=True, slots=True)
class Head:
    """The parts of a stored suggestion that the facts are calculated from: lists with one item per candidate."""

    ids: list[str]
    names: list[str]
    matched: list[str | None]
    similarities: list[float | None]
    chances: list[float]
    expanded: str


def facts_row(suggestion: Suggestion, text: str, linked: Collection[str]) -> dict[str, object]:
    """The columns of a suggestion's row. `text` is the mention's, `linked` what it is linked to."""
    found = suggestion.candidates
    head = Head(
        [one.entity_id for one in found],
        [one.name for one in found],
        [one.matched for one in found],
        [next((one.scores[stage] for stage in STAGES if stage in one.scores), None) for one in found],
        [one.probability for one in found[:2]],
        suggestion.expanded,
    )
    return {
        "mention_id": suggestion.mention_id,
        "is_nil": suggestion.nil.is_nil,
        **_columns(head, text),
        "decided_rank": _rank(head.ids, linked) if linked else None,
        "others": max((one.score for one in found[2:]), default=None),
        "exact_rank": _exact_rank(head, text),
        "alike": _alike(head),
    }


def fill_facts(conn: sqlite3.Connection) -> None:
    """Fill the rows of existing suggestions. Only a few lists of their JSON are read."""
    rows = conn.execute(
        "SELECT s.mention_id, s.payload, s.probability, s.margin, s.is_nil, coalesce(m.text, ''),"
        " CASE WHEN m.outcome = 'link' THEN d.entity_ids END FROM suggestions s"
        " LEFT JOIN mentions m ON m.id = s.mention_id LEFT JOIN decisions d ON d.id = m.decision_id"
    )
    values = _stored_rows(rows)
    while part := list(islice(values, AT_ONCE)):
        conn.executemany(
            "INSERT INTO suggestion_facts (mention_id, candidates, probability, margin, is_nil, second, matched,"
            " similarity, decided_rank) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            part,
        )


def fill_others(conn: sqlite3.Connection) -> None:
    """Fill the column `others` of existing rows."""
    rows = conn.execute("SELECT payload, mention_id FROM suggestions")
    while part := rows.fetchmany(AT_ONCE):
        values = [(_others(payload), mention_id) for payload, mention_id in part]
        conn.executemany("UPDATE suggestion_facts SET others = ? WHERE mention_id = ?", values)


def fill_names(conn: sqlite3.Connection) -> None:
    """Fill the columns `exact_rank` and `alike` of existing rows."""
    rows = conn.execute(
        "SELECT s.payload, coalesce(m.text, ''), s.mention_id FROM suggestions s"
        " LEFT JOIN mentions m ON m.id = s.mention_id"
    )
    while part := rows.fetchmany(AT_ONCE):
        heads = [(_head(payload), text, mention_id) for payload, text, mention_id in part]
        values = [(_exact_rank(head, text), _alike(head), mention_id) for head, text, mention_id in heads]
        conn.executemany("UPDATE suggestion_facts SET exact_rank = ?, alike = ? WHERE mention_id = ?", values)


def _others(payload: bytes) -> float | None:
    scores, _ = _list(zlib.decompress(payload).decode(), ',"score":')
    return max(scores[2:], default=None)


def _stored_rows(rows: sqlite3.Cursor) -> Iterator[tuple[object, ...]]:
    while part := rows.fetchmany(AT_ONCE):
        for mention_id, payload, probability, margin, is_nil, text, entity_ids in part:
            head = _head(payload)
            found = _columns(head, text)
            rank = _rank(head.ids, json.loads(entity_ids)) if entity_ids else None
            places = (found["second"], found["matched"], found["similarity"], rank)
            yield mention_id, len(head.ids), probability, margin, is_nil, *places


def _columns(head: Head, text: str) -> dict[str, object]:
    if not head.ids:
        nothing = dict.fromkeys(("probability", "margin", "second", "matched", "similarity"))
        return {"candidates": 0, **nothing}
    first, second = (*head.chances, 0.0, 0.0)[:2]
    written, name = _written(head, text), head.names[0]
    exact = NAME if fold(name) in written else SYNONYM if fold(head.matched[0] or name) in written else NOT_EXACT
    return {
        "candidates": len(head.ids),
        "probability": first,
        "margin": first - second,
        "second": second,
        "matched": exact,
        "similarity": head.similarities[0],
    }


def _written(head: Head, text: str) -> set[str]:
    """The strings that a name is compared with: the mention's text, and the long form of an abbreviation."""
    return {fold(text), fold(head.expanded or text)}


def _exact_rank(head: Head, text: str) -> int | None:
    if not head.ids:
        return None
    written = _written(head, text)
    for rank, (name, matched) in enumerate(zip(head.names, head.matched, strict=True), start=1):
        if fold(name) in written or (matched and matched != name and fold(matched) in written):
            return rank
    return 0


def _alike(head: Head) -> float | None:
    return max((one for one in head.similarities[1:] if one is not None), default=None)


def _head(payload: bytes) -> Head:
    """The head, from the format of `packing.pack_suggestion`: the lists are in this order, and quotes within a string
    are escaped."""
    text = zlib.decompress(payload).decode()
    ids, at = _list(text, '{"ids":')
    if not ids:
        return Head([], [], [], [], [], "")
    names, at = _list(text, ',"names":', at)
    matched, at = _list(text, ',"matched":', at)
    similarities: list[float | None] = [None] * len(ids)
    for stage in STAGES:
        if None in similarities and (scores := _list(text, f'"{stage}":', at)[0]):
            similarities = [new if one is None else one for one, new in zip(similarities, scores, strict=True)]
    chances, _ = _list(text, ',"chance":', at)
    expanded = json.loads(text[text.rindex(',"expanded":') + len(',"expanded":') : -1])
    return Head(ids, names, matched, similarities, chances[:2], expanded)


def _list(text: str, name: str, begin: int = 0) -> tuple[list[Any], int]:
    """The list after `name` and its end; an empty list if there is none."""
    at = text.find(name, begin)
    if at < 0:
        return [], begin
    found: tuple[list[Any], int] = _JSON.raw_decode(text, at + len(name))
    return found


def _rank(ids: Collection[object], linked: Collection[str]) -> int:
    return next((rank for rank, one in enumerate(ids, start=1) if one in linked), 0)
