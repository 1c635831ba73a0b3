"""Turns what SQLite reports about the disk, the file and other programs into a sentence for the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, IntegrityError

from curator.domain.wording import DamagedProjectError, InconsistentDataError, UserError, tr

_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk is full: nothing of this step was saved in {path}. Free some space and try again.",
    sqlite3.SQLITE_READONLY: "{path} cannot be written. Check the permissions of the folder, or open it read-only.",
    sqlite3.SQLITE_CORRUPT: "{path} is damaged; nothing was changed.",
    sqlite3.SQLITE_NOTADB: "{path} is not a project database.",
    sqlite3.SQLITE_IOERR: "The disk failed while {path} was being used: {detail}. Check the disk, and on a "
    "server how much you may store there, then try again.",
    sqlite3.SQLITE_BUSY: "Another program keeps {path} locked. Close it (a backup, a database viewer) and try again.",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened. Check that the folder exists and its permissions.",
    sqlite3.SQLITE_PERM: "{path} cannot be opened. Check the permissions of the folder.",
}


_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def user_error(error: BaseException | None, path: Path) -> UserError | None:
    """The sentence for an error of the environment; None for everything else, which is a bug."""
    code = getattr(error, "sqlite_errorcode", None)
    sentence = _SENTENCES.get(code & 0xFF) if isinstance(code, int) else None
    if sentence is None or not isinstance(code, int):
        return None
    kind = DamagedProjectError if code & 0xFF in _DAMAGE else UserError
    return kind(tr(_SENTENCES[code & 0xFF], path=path, detail=error))


@contextmanager
def as_user_errors(path: Path) -> Iterator[None]:
    """Raise UserError in place of the environment's errors, and InconsistentDataError in place of what the schema
    refuses; other bugs pass as they are."""
    try:
        yield
    except (IntegrityError, sqlite3.IntegrityError) as error:
        raise InconsistentDataError(str(error)) from error
    except (DBAPIError, sqlite3.Error) as error:
        sentence = user_error(error.orig if isinstance(error, DBAPIError) else error, path)
        if sentence is None:
            raise
        raise sentence from error
