"""Small helpers of the repositories."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, literal_column, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from curator.domain.documents import Span
from curator.domain.facets import NONE, band_key
from curator.domain.wording import DamagedProjectError, tr
from curator.storage.db.dialects import POSTGRESQL
from curator.storage.db.schema import DocumentRow, SourceFileRow

T = TypeVar("T")
E = TypeVar("E", bound=Enum)

AnyRow: TypeAlias = Any  # a result row; SQLAlchemy 2.0 and 2.1 type its columns differently

CHUNK = 900  # values of one IN list; SQLite builds exist that allow no more than 999 variables


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def ids_of(ids: Iterable[int]) -> dict[str, str]:
    return {"ids": json.dumps(list(ids))}


def next_id(conn: Connection, column: InstrumentedAttribute[int]) -> int:
    """The first free id. Sound because a writing unit holds the project's write lock from its beginning.

    In a shared project, a login does not see every row of `HIDDEN_ROWS`, so the database counts them.
    """
    table = column.class_.__tablename__
    if conn.dialect.name == POSTGRESQL and table in HIDDEN_ROWS:
        return int(conn.execute(_NUMBERED, {"counted": table}).scalar_one())
    return (conn.execute(_highest(column)).scalar() or 0) + 1


HIDDEN_ROWS = ("judgements", "mention_attributes", "mentions")
"""Tables with row-level security in shared projects."""
_NUMBERED = select(func.next_number(bindparam("counted")))


@cache
def _highest(column: InstrumentedAttribute[int]) -> Select[Any]:
    return select(func.max(column))


def fold(text: str) -> str:
    """The form that search compares: NFKC, case folded, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def visible() -> ColumnElement[bool]:
    """The condition for documents of complete files whose import was not undone.

    It excludes the other files, so that SQLite walks the documents in order instead of by file with a sort.
    """
    return DocumentRow.file_id.not_in(_hidden_files())


def ever_visible() -> ColumnElement[bool]:
    """The condition for documents of complete files, including undone imports, for records."""
    return DocumentRow.file_id.not_in(select(SourceFileRow.id).where(~SourceFileRow.complete))


def hidden() -> Select[Any]:
    """Ids of all other documents: few, except during an import, so it is faster than `visible`."""
    return select(DocumentRow.id).where(DocumentRow.file_id.in_(_hidden_files()))


def _hidden_files() -> Select[Any]:
    return select(SourceFileRow.id).where(or_(~SourceFileRow.complete, SourceFileRow.withdrawn))


def unique(items: Iterable[T]) -> list[T]:
    """The values without repetitions, in order."""
    return list(dict.fromkeys(items))


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few known values: that of the first true condition, or `otherwise`."""

    steps: tuple[tuple[ColumnElement[bool], str], ...]
    otherwise: str

    @classmethod
    def of(cls, column: InstrumentedAttribute[Any], values: Iterable[str]) -> Choice:
        """A column that holds one of these."""
        *first, last = values
        return cls(tuple((column == one, one) for one in first), last)

    @classmethod
    def bands(cls, column: InstrumentedAttribute[Any], bands: Sequence[float]) -> Choice:
        """The band of a number, by its lower end."""
        steps: list[tuple[ColumnElement[bool], str]] = [(column.is_(None), NONE)]
        steps += [(column < high, band_key(low)) for low, high in pairwise(bands)]
        return cls(tuple(steps), band_key(bands[-1]))

    @property
    def value(self) -> ColumnElement[Any]:
        return case(*self.steps, else_=self.otherwise)

    @property
    def values(self) -> tuple[str, ...]:
        """The values in the order of their numbers."""
        return (*(value for _, value in self.steps), self.otherwise)

    @property
    def at(self) -> ColumnElement[Any]:
        """The index of the value in `values`, as a literal, since bound numbers are slower."""
        places: list[tuple[ColumnElement[bool], ColumnElement[Any]]] = [
            (condition, literal_column(str(at))) for at, (condition, _) in enumerate(self.steps)
        ]
        return case(*places, else_=literal_column(str(len(self.steps))))


# Stored values as the program uses them. A value that no version of Curator writes comes from a damaged file, or from
# another program: it raises DamagedProjectError with its place, and is no bug.

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
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    if type(found) is not list or not all(type(one) is str for one in found):
        raise wrong_value(text, table, column, number)
    return tuple(found)


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
