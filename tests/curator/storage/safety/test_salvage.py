from __future__ import annotations

import errno
import io
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from curator.domain.wording import DamagedProjectError
from curator.io.files.atomic import AtomicWriter
from curator.storage.safety.salvage import salvage
from tests.curator.storage.filler import AT

PAGE = 4096


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def saved(folder, out):
    return salvage(folder, out, files=AtomicWriter())


def pages_with(database, words):
    content = database.read_bytes()
    return [at for at in range(PAGE, len(content), PAGE) if words in content[at : at + PAGE]]


def test_a_sound_project_gives_every_decision_with_curator_time_and_place(folder, tmp_path):
    out = tmp_path / "out.jsonl"
    before = (folder / "project.sqlite").read_bytes()
    found = saved(folder, out)
    assert (found.decisions, found.others, found.lost, found.rest) == (40, 0, 0, None)
    head, *lines = lines_of(out)
    assert (head["format"], head["version"], head["kind"]) == ("curator-round", 1, "blind")
    line = next(one for one in lines if "outcome" in one)
    assert (line["document"], line["spans"], line["mention"], line["type"]) == ("0", [[0, 2]], "A ", "Disease")
    assert (line["curator"], line["outcome"], line["entities"], line["at"]) == ("ada", "link", ["D1"], AT.isoformat())
    assert (folder / "project.sqlite").read_bytes() == before


def test_damaged_pages_are_gone_around(folder, tmp_path):
    database = folder / "project.sqlite"
    some = pages_with(database, b"x" * 100)
    content = bytearray(database.read_bytes())
    content[some[1] : some[1] + PAGE] = b"\xff" * PAGE
    database.write_bytes(content)
    found = saved(folder, tmp_path / "out.jsonl")
    assert 20 <= found.decisions < 40
    assert found.lost == 40 - found.decisions
    assert "could not be read. To use them, restore a backup" in found.text


class Unread(io.FileIO):
    bad: Sequence[int] = ()  # what the disk does not give

    def read(self, size=-1):
        if self.tell() in self.bad:
            raise OSError(errno.EIO, "Input/output error")
        return super().read(size)


def fail_reads(monkeypatch, name, bad):
    really = Path.open

    def opened(path, mode="r", *given, **named):
        return Unread(path, mode) if (path.name, mode) == (name, "rb") else really(path, mode, *given, **named)

    monkeypatch.setattr(Unread, "bad", bad)
    monkeypatch.setattr(Path, "open", opened)


def test_pages_that_the_disk_does_not_give_are_gone_around(folder, tmp_path, monkeypatch):
    database = folder / "project.sqlite"
    fail_reads(monkeypatch, database.name, pages_with(database, b"x" * 100)[1:2])
    found = saved(folder, tmp_path / "out.jsonl")
    assert 20 <= found.decisions < 40
    assert found.lost == 40 - found.decisions


def test_a_disk_that_gives_nothing_is_said(folder, tmp_path, monkeypatch):
    fail_reads(monkeypatch, "project.sqlite", range(1 << 30))
    with pytest.raises(OSError, match="Input/output"):
        saved(folder, tmp_path / "out.jsonl")


def test_a_log_that_the_disk_does_not_give_hides_nothing_of_the_database(folder, tmp_path, monkeypatch):
    (folder / "project.sqlite-wal").write_bytes(bytes(2 * PAGE))
    fail_reads(monkeypatch, "project.sqlite-wal", range(1 << 30))
    assert saved(folder, tmp_path / "out.jsonl").decisions == 40


def test_decisions_whose_mention_is_lost_go_to_a_second_file(folder, tmp_path):
    database = folder / "project.sqlite"
    content = bytearray(database.read_bytes())
    page = next(at for at in pages_with(database, b"Disease") if b"x" * 100 not in content[at : at + PAGE])
    content[page : page + PAGE] = b"\xff" * PAGE
    database.write_bytes(content)
    found = saved(folder, tmp_path / "out.jsonl")
    assert found.others > 0
    assert found.decisions + found.others + found.lost == 40
    assert {one["curator"] for one in lines_of(found.rest)} == {"ada"}


@pytest.mark.parametrize("content", [None, b"", b"x" * 9000])
def test_nothing_left_is_said(folder, tmp_path, content):
    database = folder / "project.sqlite"
    database.unlink() if content is None else database.write_bytes(content)
    with pytest.raises(DamagedProjectError):
        saved(folder, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_view_in_the_place_of_a_table_is_not_asked(folder, tmp_path):
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, x AS mention_id FROM n"
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn:
        conn.executescript(f"ALTER TABLE fragments RENAME TO f; CREATE VIEW fragments AS {endless}")
        conn.executescript(f"PRAGMA foreign_keys = OFF; DROP TABLE mentions; CREATE VIEW mentions AS {endless}")
    found = saved(folder, tmp_path / "out.jsonl")
    assert (found.decisions, found.others) == (0, 40)
