"""Small helpers of the repositories."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, literal_column, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from curator.domain.facets import NONE, band_key
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
