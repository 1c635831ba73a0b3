"""Diagnostics describe the installation and say nothing about documents; the log rotates in its folder."""

from __future__ import annotations

import logging
import sqlite3

from curator.services.records.diagnostics import last_lines, log_folder, sqlite_words, start_logging, stop_logging
from tests.curator.services.fakes import World


def test_diagnostics_hold_no_text_of_a_document(filled: World) -> None:
    filled.index()
    text = filled.project.diagnostics.text()
    for expected in ("Python", "Documents: 2 todo", "Knowledge base: kb.jsonl, 3 entities", "Linker: off", "(in use)"):
        assert expected in text
    for secret in ("Lidocaine", "blorbitis", "arrest"):
        assert secret not in text


def test_it_says_which_sqlite_serves_and_whether_that_has_the_fault(filled: World) -> None:
    assert f"\nSQLite {sqlite3.sqlite_version}" in filled.project.diagnostics.text()
    assert "WAL-reset fault" in sqlite_words((3, 51, 2))
    assert sqlite_words((3, 51, 3)) == "SQLite 3.51.3"


def test_the_log_is_written_to_its_folder() -> None:
    handler = start_logging()
    assert start_logging() is None, "every line is written once"
    logging.getLogger("curator.test").warning("a line of the log")
    stop_logging(handler)
    assert (log_folder() / "curator.log").is_file()
    assert "a line of the log" in last_lines()[-1]
