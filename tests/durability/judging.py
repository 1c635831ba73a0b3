"""A project in a comparable form: its rows and files, without times and random names."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_RANDOM = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?!:)"), "<time>"),
    (re.compile(r"\d{8}-\d{6}(?:-[0-9a-f]+)?"), "<time>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<id>"),
)
PASSING = re.compile(r"project\.sqlite-(?:wal|shm|journal)$|project\.(?:lock|mark)$|\.before-[^/]*-wal$")
"""Names that a project may have at some moments: the log, the lock, the mark of how far it reaches, the log
that was kept before a restoration."""
UNCERTAIN = {"efforts", "sqlite_sequence", "sqlite_stat1"}
CHAINED = {("operations", "hash"), ("decisions", "hash")}
"""Of times among others; the program compares them when it opens the project."""
COUNTED = " WHERE key != 'storage.writes'"
"""The number of transactions, which is another one after a disturbance; the program compares it with the mark."""
BACKUP = "backups/"
"""Of which what is offered is compared, by `backing.py`."""
LEFT = re.compile(r"(?:^|/)\.[^/]*|\.part(?:-journal|-wal)?$|\.new$|^p\.curation/jobs")
"""Names of what is not finished."""


@dataclass(frozen=True, slots=True)
class State:
    """`rows`: table → hash of its rows; `files`: path → hash of its content, of databases their names only."""

    rows: dict[str, str]
    files: dict[str, str]

    def without_left(self) -> State:
        return State(self.rows, {name: one for name, one in self.files.items() if not LEFT.search(name)})

    def free_of(self, free: frozenset[str], others: Sequence[State]) -> bool:
        """Whether this is one of `others` but for some tables or, with "files" in `free`, for some files that are each
        as in one of them."""

        def rows(one: State) -> dict[str, str]:
            return {name: found for name, found in one.rows.items() if name not in free}

        def files(one: State) -> dict[str, str]:
            return {} if "files" in free else one.files

        whole = all(any(one.files.get(name) == found for one in others) for name, found in self.files.items())
        return whole and any((rows(one), files(one)) == (rows(self), files(self)) for one in others)

    def difference(self, other: State) -> str:
        """In a few words, what differs."""
        found = []
        for word, mine, theirs in (("rows of", self.rows, other.rows), ("file", self.files, other.files)):
            names = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
            signs = [f"{'+' if name not in theirs else '-' if name not in mine else '≠'}{name}" for name in names]
            found += [f"{word} {', '.join(signs[:6])}"] if signs else []
        return "; ".join(found)

    def to_json(self) -> str:
        return json.dumps([self.rows, self.files])

    @classmethod
    def from_json(cls, text: str) -> State:
        return cls(*json.loads(text))


@lru_cache(maxsize=512)
def plain(text: str) -> str:
    for pattern, word in _RANDOM:
        text = pattern.sub(word, text)
    return text


def state_of(root: Path) -> State:
    """Raises AssertionError where a database is damaged or disagrees with itself."""
    rows: dict[str, str] = {}
    files: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_dir() or PASSING.search(name) or name.startswith(BACKUP):
            continue
        if path.name.startswith("project.sqlite"):
            files[plain(name)] = "database"
            if path.name == "project.sqlite" and not LEFT.search(name):
                rows |= rows_of(path, prefix="" if name.startswith("p.curation") else f"{name}: ")
        else:
            content = _of_workbook(path) if path.suffix == ".xlsx" else path.read_bytes()
            with suppress(UnicodeDecodeError):
                content = plain(content.decode()).encode()
            files[plain(name)] = hashlib.sha256(content).hexdigest()[:16]
    return State(rows, files)


def _of_workbook(path: Path) -> bytes:
    """Without the time at which it was written."""
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist() if not name.startswith("docProps/"))


def rows_of(database: Path, *, prefix: str = "") -> dict[str, str]:
    """Read without a lock and without leaving anything."""
    uri = f"{database.absolute().as_uri()}?mode=ro"
    if not database.with_name(f"{database.name}-wal").exists():
        uri += "&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as conn:
        assert (found := conn.execute("PRAGMA integrity_check(5)").fetchall()) == [("ok",)], found
        assert (found := conn.execute("PRAGMA foreign_key_check").fetchall()) == [], found
        tables = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        virtual = [name for name, sql in tables if str(sql).upper().startswith("CREATE VIRTUAL")]
        names = [
            name
            for name, _ in tables
            if name not in UNCERTAIN and not any(name == one or name.startswith(f"{one}_") for one in virtual)
        ]
        if {"mentions", "decisions", "operations", "documents"} <= set(names):
            _consistent(conn)
        return {prefix + name: _hash(conn, name) for name in names} | {
            f"{prefix}version": str(conn.execute("PRAGMA user_version").fetchone()[0])
        }


def _hash(conn: sqlite3.Connection, table: str) -> str:
    columns = [row[1] for row in conn.execute(f'PRAGMA table_info("{table}")') if (table, row[1]) not in CHAINED]
    chosen = ", ".join(f'"{name}"' for name in columns)
    where = COUNTED if table == "meta" else ""
    text = "\n".join(sorted(repr(row) for row in conn.execute(f'SELECT {chosen} FROM "{table}"{where}')))
    named = table.startswith("kb") and table != "kb_versions"  # no times, and by far the longest
    return hashlib.sha256((text if named else plain(text)).encode(errors="surrogatepass")).hexdigest()[:16]


def _consistent(conn: sqlite3.Connection) -> None:
    """Every mention points to one of its own decisions, and the counters of the documents count them."""
    columns = {row[1] for row in conn.execute("PRAGMA table_info(mentions)")}
    if not {"decision_id", "outcome"} <= columns:
        return
    foreign = """SELECT count(*) FROM mentions m WHERE m.decision_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.id = m.decision_id AND d.mention_id = m.id)"""
    assert conn.execute(foreign).fetchone() == (0,), "a mention points to a decision that is not its own"
    counted = "SELECT coalesce(sum(linked + nil + rejected + skipped), 0) FROM documents"
    made = "SELECT count(*) FROM mentions WHERE outcome IS NOT NULL AND deleted IS NOT 1"
    if "deleted" in columns:
        assert conn.execute(counted).fetchone() == conn.execute(made).fetchone(), "the counters of decisions are wrong"


def leftovers(root: Path, *, known: set[str]) -> list[str]:
    """Names, random parts made plain, that are neither `known` nor a part of an open project."""
    found = []
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = plain(Path(folder, name).relative_to(root).as_posix())
            if path not in known and not PASSING.search(path):
                found.append(path)
    return sorted(found)
