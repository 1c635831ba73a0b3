"""Reads decisions from a damaged database row by row, skipping unreadable parts.

The damaged file is copied first and never changed; pages that the disk does not give are zeros in the copy. A table is
read by ranges of row numbers; a range that fails is halved until only the unreadable rows are left.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from curator.domain.decisions import Outcome
from curator.domain.wording import DamagedProjectError, tr
from curator.services.ports.files import FileWriter
from curator.services.ports.safety import Salvaged
from curator.temporary import prefix_of

PAGE = 4096
"""The size of SQLite's pages in every project."""
TABLES = ("documents", "mentions", "fragments", "decisions")
HIGHEST = 1 << 22
"""The highest row number to try if the table's own cannot be read."""
RANGE = 4096
EMPTY = 4
"""The number of consecutive empty ranges after which reading stops in this case."""
FORMAT = {"format": "curator-round", "version": 1}
DECISIONS = ("id", "mention_id", "outcome", "entity_ids", "reason", "curator", "at", "note")
MENTIONS = ("id", "document_id", "start_pos", "end_pos", "fragmented", "text", "type")
DOCUMENTS = ("id", "external_id", "occurrence", "text_sha256")
FRAGMENTS = "SELECT start_pos, end_pos FROM fragments WHERE mention_id = ? ORDER BY ordinal"
Row = dict[str, Any]


def salvage(folder: Path, out: Path, *, files: FileWriter) -> Salvaged:
    """Write the readable decisions of the project to `out`, a round file: the last decision of each mention and
    curator. Those with an unreadable mention or document are written to a second file, as rows.

    Raises DamagedProjectError if nothing can be read, UserError if `out` cannot be written, and OSError if the disk
    gives nothing of the database.
    """
    database = folder / "project.sqlite"
    if not database.is_file():
        raise DamagedProjectError(tr("{path} has lost its database, {name}.", path=folder, name=database.name))
    with TemporaryDirectory(prefix=prefix_of("salvage")) as place:
        copy = Path(place) / database.name
        _copy(database, copy)
        log = database.with_name(f"{database.name}-wal")
        if log.is_file():
            _copy(log, copy.with_name(log.name), needed=False)
        found = _read(copy)
    if not (found.decisions or found.documents):
        raise DamagedProjectError(
            tr(
                "Nothing can be read from {path}: it has no documents and decisions, or is no longer a database.",
                path=database,
            )
        )
    lines, others = _lines(found)
    name = tr("Salvaged {time}", time=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"))
    head = {**FORMAT, "name": name, "kind": "blind", "made": datetime.now().astimezone().isoformat()}
    contents = {out: _text([head, *lines])}
    rest = out.with_name(f"{out.stem}.rest.jsonl") if others else None
    if rest is not None:
        contents[rest] = _text(others)
    files.write(contents)
    return Salvaged(out, sum("outcome" in one for one in lines), len(others), rest, found.lost, name)


def _copy(path: Path, to: Path, *, needed: bool = True) -> None:
    """Copy a file page by page, with zeros for pages that the disk does not give. Raises OSError if it is `needed` and
    the disk gives none."""
    failed: OSError | None = None
    given = False
    with path.open("rb", buffering=0) as source, to.open("wb") as target:
        for at in range(0, path.stat().st_size, PAGE):
            try:
                source.seek(at)
                page = source.read(PAGE)
                given = True
            except OSError as error:
                page, failed = bytes(PAGE), error
            target.write(page)
    if failed is not None and needed and not given:
        raise failed


@dataclass(slots=True)
class _Found:
    decisions: list[Row]
    mentions: dict[int, Row]
    documents: dict[int, Row]
    fragments: dict[int, list[list[int]]]
    lost: int


def _read(copy: Path) -> _Found:
    with suppress(sqlite3.Error):
        return _read_as_it_is(copy)
    return _Found([], {}, {}, {}, 0)


def _read_as_it_is(copy: Path) -> _Found:
    """Raises sqlite3.Error if its schema cannot be read."""
    with closing(sqlite3.connect(copy, isolation_level=None)) as conn:
        conn.text_factory = lambda data: data.decode("utf-8", "replace")
        conn.execute("PRAGMA writable_schema = ON")  # read the intact parts of a damaged schema
        conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with suppress(sqlite3.Error):  # a foreign view may never end
            conn.execute("DELETE FROM sqlite_master WHERE type = 'view'")
            conn.execute("PRAGMA writable_schema = RESET")
            conn.execute("PRAGMA writable_schema = ON")
        tables = [_Table(conn, *one) for one in (("decisions", DECISIONS), ("mentions", MENTIONS))]
        documents = _Table(conn, "documents", DOCUMENTS)
        rows = list(tables[0].rows())
        mentions = {one["id"]: one for one in tables[1].rows()}
        found = _Found(rows, mentions, {one["id"]: one for one in documents.rows()}, {}, 0)
        found.fragments = _fragments(conn, mentions)
        found.lost = tables[0].lost
        return found


class _Table:
    """Reads a table in the order of its rows; `lost` is the number of missing row numbers. Those of decisions have no
    gaps, except after stopped imports."""

    def __init__(self, conn: sqlite3.Connection, name: str, columns: Sequence[str]) -> None:
        self._conn = conn
        self._columns = columns
        self._name = name
        self._query = f"SELECT {', '.join(columns)} FROM {name} WHERE rowid BETWEEN ? AND ?"  # noqa: S608
        self._last = 0
        self.lost = 0

    def rows(self) -> Iterator[Row]:
        try:
            known = self._conn.execute(f"SELECT max(rowid) FROM {self._name}").fetchone()[0]  # noqa: S608
            highest = known or 0
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # there is no such table
                return
            known, highest = None, HIGHEST
        number = 0
        for start in range(0, highest + 1, RANGE):
            if known is None and start - self._last > EMPTY * RANGE:
                break
            for row in self._between(start, min(start + RANGE - 1, highest)):
                self._last = max(self._last, int(row["id"]))
                number += 1
                yield row
        self.lost = max((self._last if known is None else highest) - number, 0)

    def _between(self, first: int, last: int) -> Iterator[Row]:
        try:
            rows = self._conn.execute(self._query, (first, last)).fetchall()
        except (sqlite3.Error, ValueError, OverflowError):
            if first == last:
                return
            middle = (first + last) // 2
            yield from self._between(first, middle)
            yield from self._between(middle + 1, last)
            return
        for row in rows:
            values = dict(zip(self._columns, row, strict=True))
            if isinstance(values["id"], int):
                yield values


def _fragments(conn: sqlite3.Connection, mentions: dict[int, Row]) -> dict[int, list[list[int]]]:
    found = {}
    for number, one in mentions.items():
        if one["fragmented"]:
            try:
                found[number] = [list(span) for span in conn.execute(FRAGMENTS, (number,))]
            except sqlite3.Error:
                continue
    return found


def _lines(found: _Found) -> tuple[list[Row], list[Row]]:
    """The lines of the round, and the rows of decisions without a position in a text."""
    last: dict[tuple[object, object], Row] = {}
    others = []
    for row in found.decisions:
        last[row["mention_id"], row["curator"]] = row
    lines: list[Row] = []
    places: dict[int, Row] = {}
    for row in last.values():
        if row["outcome"] == Outcome.CLEARED:
            continue
        line = _line(row, found)
        if line is None:
            others.append(row)
            continue
        document = found.mentions[row["mention_id"]]["document_id"]
        places.setdefault(document, {key: line[key] for key in ("document", "occurrence", "sha256")})
        lines.append(line)
    return [*places.values(), *lines], others


def _line(row: Row, found: _Found) -> Row | None:
    mention = found.mentions.get(row["mention_id"])
    document = found.documents.get(mention["document_id"]) if mention else None
    if mention is None or document is None:
        return None
    spans = [[mention["start_pos"], mention["end_pos"]]]
    if mention["fragmented"]:
        spans = found.fragments.get(mention["id"], [])
    try:
        line = {
            "document": document["external_id"],
            "occurrence": int(document["occurrence"]),
            "sha256": document["text_sha256"],
            "spans": [[int(start), int(end)] for start, end in spans],
            "mention": mention["text"],
            "type": mention["type"],
            "curator": row["curator"],
            "outcome": Outcome(row["outcome"]).value,
            "entities": [str(one) for one in json.loads(row["entity_ids"])],
            "reason": row["reason"],
            "at": datetime.fromisoformat(row["at"]).isoformat(),
        }
    except (ValueError, TypeError):
        return None
    return line if line["spans"] and all(isinstance(line[key], str) for key in TEXTS) else None


TEXTS = ("document", "sha256", "mention", "type", "curator")


def _text(lines: Sequence[Row]) -> bytes:
    text = "".join(json.dumps(one, ensure_ascii=False, default=repr) + "\n" for one in lines)
    return text.encode("utf-8", "surrogatepass")
