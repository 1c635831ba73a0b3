"""Distinguishes a disk that fails from a damaged file. SQLite reports a read that fails as damage."""

from __future__ import annotations

import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

LOOK_S = 5.0
"""Seconds for a check. A file whose pages take longer counts as damaged, one whose indexes do as sound."""
STEPS = 10_000
"""Of SQLite's virtual machine, between two looks at the clock."""
_UNREAD = re.compile(r"unable to get the page. error code=(\d+)")
_UNREAD_FREE = "failed to get page "
"""Of the list of free pages, for which SQLite names no code. A page that does not exist is “invalid” there."""


def is_unread(found: str) -> bool:
    """Whether a line of SQLite's `quick_check` or `integrity_check` is about a page that could not be read."""
    codes = [int(code) & 0xFF for code in _UNREAD.findall(found)]
    return sqlite3.SQLITE_IOERR in codes or _UNREAD_FREE in found


def is_sound_or_unread(path: Path) -> bool:
    """Whether a database that SQLite has just called damaged is sound now, or cannot be read: then the disk failed.
    It is read through SQLite alone, since closing the file would release the locks of its open connections."""
    if not path.is_file():
        return False
    code = 0
    for how in ("mode=ro", "immutable=1"):  # the second one for a folder that cannot be written
        try:
            uri = f"{path.absolute().as_uri()}?{how}"
            found = _look(uri, "quick_check")
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code != sqlite3.SQLITE_CANTOPEN:
                break
        else:
            return is_unread(found) or (found == "ok" and _has_sound_indexes(uri))
    return code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


def _has_sound_indexes(uri: str) -> bool:
    """What `quick_check` does not see: an index that names a missing row is damage, too."""
    try:
        found = _look(uri, "integrity_check")
    except sqlite3.Error:
        return True
    return found == "ok" or is_unread(found)


def _look(uri: str, check: str) -> str:
    ends = time.monotonic() + LOOK_S
    with closing(sqlite3.connect(uri, uri=True, timeout=0)) as conn:
        conn.set_progress_handler(lambda: time.monotonic() > ends, STEPS)
        return str(conn.execute(f"PRAGMA {check}(1)").fetchone()[0])
