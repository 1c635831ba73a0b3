"""Checks of projects from others: links that writing would follow, a schema with active parts, and settings that no
version of Curator writes.

They are refused before anything is written. A link would redirect Curator's writes to one of the user's files. A
foreign trigger or view, or a table with additional constraints, could silently change or drop saved data.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

from curator.domain.wording import DamagedProjectError, UnwritableProjectError, UserError, tr
from curator.storage.db.errors import as_user_errors
from curator.storage.migrations import create_tables

LINK = (
    "{path} is a link. Curator writes through no links in a project, because a project may come from anybody. Replace "
    "the link by a copy of what it points to, or open the project read-only."
)
NO_FILE = "{path} is neither a file nor a folder. Delete it and open the project again."
OTHER = (
    "{path} has {kind} called “{name}” that no version of Curator creates. It could change what you save, so the "
    "project is not opened. Ask the person who gave you the project."
)
UNREADABLE = "{path} is damaged: its setting “{name}” cannot be read."
OWN = ("project.", "bundles", "evaluations", "fetched")
"""Beginnings of the names that Curator writes in a project's folder. Others belong to the user: pictures, notes."""
SETTINGS: dict[str, object] = {
    "active_rounds": {"": 0},
    "branches": {"": [""]},
    "bundle_activations": [{"": ""}],
    "bundle_history": [""],
    "inconsistencies.intended": {"": []},
    "kb.update": {},
    "rounds_from_files": [0],
    "saved_filters": {"": {}},
    "suspicious_gold": {},
    "suspicious_kept": {"": {}},
    "type_mapping": {"": [""]},
}
"""What is stored as JSON in `meta`, with an example: all values of an object, and all items of a list, have the type of
the one in it."""
SCHEMA = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view', 'table')"
_UNIMPORTANT = re.compile(r"[\s\"'`\[\]]+")
_KINDS = {"trigger": "a trigger", "view": "a view", "table": "a table"}


def check_links(folder: Path) -> None:
    """Raises UnwritableProjectError for a link, UserError for a pipe or a device among Curator's files, and OSError."""
    for path in _entries(folder):
        if path.is_symlink():
            raise UnwritableProjectError(tr(LINK, path=path))
        if not (path.is_file() or path.is_dir()):
            raise UserError(tr(NO_FILE, path=path))


def _entries(folder: Path) -> Iterator[Path]:
    """Links to folders are listed and not entered."""
    for top in sorted(folder.iterdir()):
        if top.name.startswith(OWN):
            yield top
            for place, folders, files in os.walk(top):
                yield from (Path(place) / one for one in (*folders, *files))


def check_schema(conn: sqlite3.Connection, path: Path) -> None:
    """Compare the triggers, views and tables of a database of the current version with those that Curator creates.

    Tables with other names hold the knowledge base, or are not used by Curator. An index is harmless. Raises
    DamagedProjectError.
    """
    known = _schema()
    with as_user_errors(path):
        found = conn.execute(SCHEMA).fetchall()
    for kind, name, sql in found:
        own = known.get(str(name).casefold())
        if own != (kind, _compared(sql)) and (own is not None or kind != "table"):
            raise DamagedProjectError(tr(OTHER, path=path, kind=tr(_KINDS[kind]), name=name))


def check_settings(conn: sqlite3.Connection, path: Path) -> None:
    """Raises DamagedProjectError for a setting that cannot be read."""
    for name, example in SETTINGS.items():
        with as_user_errors(path):
            row = conn.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchone()
        try:
            fits = row in (None, ("",)) or _is_like(json.loads(row[0]), example)
        except (ValueError, TypeError, RecursionError):
            fits = False
        if not fits:
            raise DamagedProjectError(tr(UNREADABLE, path=path, name=name))


def _is_like(value: object, example: object) -> bool:
    if type(value) is not type(example):
        return False
    if isinstance(value, dict) and isinstance(example, dict):
        return all(_is_like(one, other) for other in example.values() for one in value.values())
    if isinstance(value, list) and isinstance(example, list):
        return all(_is_like(one, other) for other in example for one in value)
    return True


@cache
def _schema() -> dict[str, tuple[str, str]]:
    """(kind, statement) by name, of what Curator creates."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        create_tables(conn)
        rows = conn.execute(SCHEMA).fetchall()
    return {str(name).casefold(): (kind, _compared(sql)) for kind, name, sql in rows}


def _compared(sql: object) -> str:
    """A statement without the differences between versions of SQLite."""
    return _UNIMPORTANT.sub("", str(sql)).casefold()
