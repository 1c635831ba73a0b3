"""The folders of backups: one for each project and location, since a copied project keeps its id."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from curator.domain.wording import UserError, tr
from curator.foreign_files import read_small
from curator.services.ports.safety import Backup
from curator.storage.db.mark import top_of

PLACE = "place.json"
SUFFIX = ".sqlite"
TIME = "%Y%m%dT%H%M%SZ"
INSIDE = (
    "The backup folder {root} is inside this project's own folder: if that folder is deleted or damaged, the backups "
    "are lost with the project. Choose another backup folder in the settings."
)
AROUND = (
    "This project is inside the backup folder {root}: if that folder is deleted or damaged, the project and its "
    "backups are lost together. Choose another backup folder in the settings, or move the project."
)
UNREAD = (
    "The backups in {folder} cannot be listed ({why}). Check the disk and the folder's permissions, then try again."
)
DATABASE, MARKER = "project.sqlite", "project.curator"


@dataclass(frozen=True, slots=True)
class Place:
    """A project's folder, its id ('' if neither marker nor database has it), and the folder of its backups."""

    folder: Path
    id: str
    root: Path

    @property
    def own(self) -> Path:
        key = blake2b(f"{self.id}\n{self.folder}".encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
        name = self.folder.name.removesuffix(".curation")[:60]
        return self.root / f"{name}-{key}"


def place_of(folder: Path, root: Path) -> Place:
    folder = folder.resolve()
    return Place(folder, _id_of(folder), root)


def _id_of(folder: Path) -> str:
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        return str(json.loads(read_small(folder / MARKER))["project_id"])
    if not _size(folder / DATABASE):  # SQLite would delete its log
        return ""
    with suppress(OSError, sqlite3.Error), closing(_reading(folder / DATABASE)) as conn:
        tables = "SELECT 1 FROM sqlite_master WHERE name = 'meta' AND type = 'table'"  # a foreign view may never end
        if conn.execute(tables).fetchone():
            found = conn.execute("SELECT value FROM meta WHERE key = 'project.id'").fetchone()
            return str(found[0]) if found else ""
    return ""


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _reading(path: Path, query: str = "mode=ro") -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{query}", uri=True)


def facts_of(folder: Path) -> dict[str, Any]:
    """The contents of `place.json` in a folder of backups; empty if there is none. A read that failed is tried again,
    since the list would lack these backups."""
    for _ in range(2):
        with suppress(OSError, ValueError, RecursionError):
            found = json.loads((folder / PLACE).read_bytes())
            return found if isinstance(found, dict) else {}
    return {}


def set_facts(place: Place, **facts: object) -> None:
    """Store facts next to the backups atomically. Raises OSError."""
    place.own.mkdir(parents=True, exist_ok=True)
    known = {**facts_of(place.own), "project": place.id, "folder": str(place.folder), **facts}
    part = place.own / f"{PLACE}.{os.getpid()}.part"
    part.write_text(json.dumps(known, ensure_ascii=False), encoding="utf-8", errors="surrogateescape")
    part.replace(place.own / PLACE)


def every(place: Place) -> list[Backup]:
    """The backups of this location, then those of the same project in other locations; each newest first. Raises
    UserError if the folders cannot be read: that is not the same as having no backups."""
    others: list[Backup] = []
    try:
        own = list(_within(place.own, place.folder))
        for one in sorted(place.root.iterdir()) if place.root.is_dir() else ():
            facts = facts_of(one) if one != place.own else {}
            same = facts.get("project") == place.id if place.id else facts.get("folder") == str(place.folder)
            if facts and same:
                others += _within(one, Path(str(facts.get("folder", ""))))
    except OSError as error:
        where, why = error.filename or place.root, error.strerror or error
        raise UserError(tr(UNREAD, folder=where, why=why)) from error
    newest = sorted(own, key=_age, reverse=True)
    return newest + sorted(others, key=_age, reverse=True)


def times(folder: Path) -> list[tuple[datetime, Path]]:
    """The complete backups in a folder, oldest first. Raises OSError, but not if there is no such folder."""
    found = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in folder.iterdir():
            with suppress(ValueError):
                if path.suffix == SUFFIX:
                    found.append((datetime.strptime(path.stem, TIME).replace(tzinfo=UTC), path))
    return sorted(found)


def made_at(path: Path, named: datetime) -> datetime:
    """The time of a backup. Its name may be later if the clock was set back, so that names keep the order. Raises
    OSError."""
    return min(named, datetime.fromtimestamp(math.ceil(path.stat().st_mtime), UTC))


def together(place: Place) -> str:
    """A warning if the folder of the backups is in the project's, or the other way round; otherwise ''."""
    root = Path(os.path.realpath(place.root))  # as resolve(), also for links that lead in a circle
    if root == place.folder or place.folder in root.parents:
        return tr(INSIDE, root=root)
    return tr(AROUND, root=root) if root in place.folder.parents else ""


def _within(folder: Path, place: Path) -> Iterator[Backup]:
    for at, path in times(folder):
        with suppress(FileNotFoundError):  # another process has thinned them out
            yield backup_in(path, at, place)


def backup_in(path: Path, named: datetime, place: Path) -> Backup:
    """The backup in a file. Raises FileNotFoundError."""
    decisions, steps = _counts(path)
    try:
        return Backup(path, made_at(path, named), path.stat().st_size, place, decisions, steps)
    except FileNotFoundError:
        raise
    except OSError:  # it is there, and is named: its time is known
        return Backup(path, named, 0, place, decisions, steps)


def _counts(path: Path) -> tuple[int | None, int | None]:
    try:
        with closing(_reading(path, "immutable=1")) as conn:
            return int(conn.execute("SELECT count(*) FROM decisions").fetchone()[0]), top_of(conn).operation
    except (sqlite3.Error, TypeError, ValueError):
        return None, None


def _age(one: Backup) -> str:
    return one.path.name
