from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.storage.db.errors import as_user_errors


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "cannot be written"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_IOERR_WRITE, "disk failed"),
        (sqlite3.SQLITE_BUSY, "Another program"),
    ],
)
def test_the_environments_errors_become_sentences_that_name_the_file(code, text):
    error = sqlite3.OperationalError("no")
    error.sqlite_errorcode = code
    with pytest.raises(UserError, match=text) as caught, as_user_errors(Path("/a/b.sqlite")):
        raise error
    assert "/a/b.sqlite" in str(caught.value)


def test_bugs_pass_as_they_are():
    with pytest.raises(sqlite3.OperationalError, match="syntax"), as_user_errors(Path("/a")):
        sqlite3.connect(":memory:").execute("SELEC")
