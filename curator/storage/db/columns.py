"""Column types, which say what a column may hold, and the functions that make objects of stored values.

A value that no version of Curator writes comes from a damaged file, or from another program: reading it raises
DamagedProjectError with its place, and is no bug. The check looks at every column (`wrong_values`). Repositories make
the objects themselves, since they know the row that a sentence names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import Enum, StrEnum
from typing import Any, TypeVar

from sqlalchemy import Dialect, Integer, String

from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import DocumentState, Passage, Span
from curator.domain.entities import Entity
from curator.domain.relations import RelationEnd
from curator.domain.wording import DamagedProjectError, tr

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


class StoredText(String):
    """A text. SQLite, whose columns take every value, may return bytes or a number from a damaged one: then reading it
    raises TypeError."""

    usual = ""
    """An SQL condition that holds for nearly all sound values of a column and for no other; '' if all are sound."""

    def read(self, value: Any) -> object:
        """Raises an ordinary error, or DamagedProjectError, for a value that cannot be read."""
        return value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        return _only(str) if dialect.name == "sqlite" else super().result_processor(dialect, coltype)


class StoredInteger(Integer):
    """An integer; the same: one that is too large is stored as a float, for example."""

    usual = ""

    def read(self, value: Any) -> object:
        return value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        return _only(int) if dialect.name == "sqlite" else super().result_processor(dialect, coltype)


class Natural(StoredInteger):
    """A number that is never negative."""

    usual = "{0} >= 0"

    def read(self, value: int) -> int:
        if value < 0:
            raise ValueError
        return value


class Time(StoredText):
    """A time as `datetime.isoformat` writes it."""

    usual = (
        "({0} GLOB '????-??-??T??:??:??*[0-9]+00:00' AND length({0}) IN (25, 32) AND julianday({0}) > 0"
        " AND {0} >= '0001' AND substr({0}, 9, 2) <= '28' AND substr({0}, 12, 2) <= '23')"
    )  # in UTC, on one of the days that every month has

    def read(self, value: str) -> datetime:
        return time_of(value, "")


class OneOf(StoredText):
    """The value of an enumeration."""

    def __init__(self, kind: type[StrEnum], but: StrEnum | None = None) -> None:
        super().__init__()
        self.kind, self.but = kind, but  # SQLAlchemy copies a type by the names of its arguments
        self.values = frozenset(kind) - {but}
        self.usual = f"{{0}} IN ({', '.join(repr(one.value) for one in kind if one in self.values)})"

    def read(self, value: str) -> str:
        if value not in self.values:
            raise ValueError
        return value


class Json(StoredText):
    """A text of JSON, from which `made` makes an object; it raises an ordinary error for JSON of another kind."""

    def __init__(self, made: Callable[[Any], object], usual: str = "0") -> None:
        super().__init__()
        self.made = made
        self.usual = usual

    def read(self, value: str) -> object:
        return self.made(json.loads(value))


def _only(kind: type) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        if value is not None and type(value) is not kind:
            raise TypeError(f"{kind.__name__} is stored as {type(value).__name__}")
        return value

    return checked


# Reading.

WRONG = (
    "Curator cannot read the value “{value}” of “{column}” in {place}: the database is damaged, or another program "
    "changed it. Check the project (Project › Check project or `curator check`), and restore a backup (Project › "
    "Backups or `curator restore`)."
)
MOST_SHOWN = 60
"""The most characters of a wrong value that a sentence quotes."""
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


def wrong_value(value: object, table: str, column: str, number: object = None) -> DamagedProjectError:
    """The error for a value that cannot be read; `number` is the row's id, None if it is not known."""
    return DamagedProjectError(tr(WRONG, value=shortened(value), column=column, place=place_of(table, number)))


def place_of(table: str, number: object = None) -> str:
    """A row as sentences name it."""
    if number is None:
        return tr("table “{table}”", table=table)
    if table == "operations":
        return tr("step {number}", number=number)
    if table == "decisions":
        return tr("decision {number}", number=number)
    if table == "documents":
        return tr("document {number}", number=number)
    if table == "mentions":
        return tr("mention {number}", number=number)
    return tr("row {number} of table “{table}”", number=number, table=table)


def shortened(value: object) -> str:
    """A value as sentences quote it, in one line."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    text = "".join(one if one.isprintable() else "�" for one in text[: MOST_SHOWN + 1])
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def enum_of(kind: type[E], value: object, table: str, column: str, number: object = None) -> E:
    try:
        return kind(value)
    except (ValueError, TypeError):
        raise wrong_value(value, table, column, number) from None


def time_of(text: str, table: str, number: object = None, *, column: str = "at") -> datetime:
    """The time. One without a zone, as older files of decisions have, is in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except (ValueError, TypeError):
        raise wrong_value(text, table, column, number) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def day_of(text: str, table: str) -> date:
    try:
        return date.fromisoformat(text)
    except (ValueError, TypeError):
        raise wrong_value(text, table, "at") from None


def json_of(read: Callable[[Any], T], text: str, table: str, column: str, number: object = None) -> T:
    """What `read` makes of a value stored as JSON; it raises an ordinary error for JSON of another kind."""
    try:
        return read(json.loads(text))
    except _UNREADABLE:
        raise wrong_value(text, table, column, number) from None


def span_of(start: int, end: int, table: str, number: object = None) -> Span:
    """A place in a text; called for every mention that is read."""
    try:
        return Span(start, end)
    except (ValueError, TypeError):
        raise wrong_value(f"{start}, {end}", table, "start_pos, end_pos", number) from None


def texts_of(text: str, table: str, column: str, number: object = None) -> tuple[str, ...]:
    """A stored list of texts."""
    return json_of(list_of_texts, text, table, column, number)


class StoredObject(dict[str, Any]):
    """A stored object, of which a part that is missing is a wrong value."""

    def __init__(self, values: Mapping[str, Any], table: str, column: str, number: object) -> None:
        super().__init__(values)
        self._place = table, column, number

    def __missing__(self, name: str) -> Any:
        table, column, number = self._place
        raise wrong_value(json.dumps(self, ensure_ascii=False), table, column, number)


def object_of(value: object) -> dict[str, Any]:
    """For `json_of`: an object."""
    if type(value) is not dict:
        raise TypeError
    return value


# Verdicts, in three columns of decisions and judgements.

REASONS: dict[Outcome, type[NilReason] | type[RejectReason] | type[SkipReason]] = {
    Outcome.NIL: NilReason,
    Outcome.REJECTED: RejectReason,
    Outcome.SKIPPED: SkipReason,
}


def verdict_columns(verdict: Verdict) -> dict[str, str | None]:
    """The columns `outcome`, `entity_ids` (a JSON list) and `reason`."""
    return {
        "outcome": verdict.outcome.value,
        "entity_ids": json.dumps(verdict.entity_ids, ensure_ascii=False),
        "reason": verdict.reason.value if verdict.reason else None,
    }


def verdict_of(
    outcome: str, entity_ids: str, reason: str | None, table: str = "decisions", number: object = None
) -> Verdict:
    """The verdict stored in these columns of the row `number`. Raises DamagedProjectError if they hold none."""
    kind = enum_of(Outcome, outcome, table, "outcome", number)
    ids = texts_of(entity_ids, table, "entity_ids", number)
    try:
        return Verdict(kind, ids, REASONS[kind](reason) if reason else None)
    except (KeyError, ValueError):  # a reason of another outcome, or entities without a link
        wrong = (reason, "reason") if (kind is Outcome.LINK) == bool(ids) else (entity_ids, "entity_ids")
        raise wrong_value(wrong[0] or "", table, wrong[1], number) from None


# What JSON holds. Each raises an ordinary error for JSON of another kind.


def payload_of(value: Any) -> dict[str, Any]:
    """The parts that most kinds have. Raises an ordinary error if they are of another kind."""
    for name in ("mentions", "documents"):
        if not all(type(one) is int for one in value.get(name, ())):
            raise TypeError
    for document_id, *states in value.get("states", ()):
        if type(document_id) is not int or len([DocumentState(one) for one in states]) != 2:
            raise TypeError
    return object_of(value)


def spans_of(value: Any) -> tuple[Span, ...]:
    return tuple(span_of(start, end, "mention_edits") for start, end in value)


def ends_of(value: Any) -> tuple[RelationEnd, ...]:
    ends = tuple(RelationEnd(one["role"], one["mention"], one["entity"]) for one in value)
    if not all(type(one.role) is str and type(one.mention_id) in (int, type(None)) for one in ends):
        raise TypeError
    return ends


def passages_of(value: Any) -> tuple[Passage, ...]:
    return tuple(passage_of(one) for one in value)


def passage_of(row: Sequence[Any], document_id: object = None) -> Passage:
    """The passage of a row. Raises DamagedProjectError if it has no place in a text."""
    kind, start, end, label = row
    try:
        found = 0 <= start <= end
    except TypeError:
        found = False
    if not found:
        raise wrong_value(f"{start}, {end}", "passages", "start_pos, end_pos", document_id)
    return Passage(kind, start, end, label)


def counts_of(value: Any) -> dict[str, int]:
    if not all(type(one) is int for one in object_of(value).values()):
        raise TypeError
    return object_of(value)


def entity_of(value: dict[str, Any]) -> Entity:
    values: dict[str, Any] = {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}
    return Entity(**values)


def list_of_texts(value: Any) -> tuple[str, ...]:
    if type(value) is not list or not all(type(one) is str for one in value):
        raise TypeError
    return tuple(value)


ONE_TEXT = (
    "({0} = '[]' OR ({0} NOT GLOB '*[^ -~]*' AND json_valid({0}) AND substr({0}, 1, 2) = '[\"'"
    " AND json_array_length({0}) = 1))"
)
"""A list of at most one text, as most are, without control characters, which some versions of SQLite allow."""
TEXTS = Json(list_of_texts, ONE_TEXT)
