"""A wrong value in the database of a killed project is found, and no command says that it is an error of Curator."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.curator.cli.conftest import Cli
from tests.curator.storage.wrong_rows import CASES, make_killed, set_value


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_killed(tmp_path_factory.mktemp("killed"))


def commands(folder: Path, out: Path) -> list[tuple[object, ...]]:
    return [
        ("info", folder),
        ("work", folder),
        ("stats", folder),
        ("rounds", "list", folder),
        ("audit", folder, out / "audit.csv"),
        ("export", folder, out / "out.json", "--format", "bioc-json"),
        ("export", folder, out / "decisions", "--format", "decisions"),
        ("kb", "search", folder, "heart"),
        ("decide", folder, "5", "--nil", "not-in-kb"),
        ("undo", folder),
        ("redo", folder),
        ("undo", folder),
    ]


def traced(cli: Cli, killed: Path, out: Path) -> list[str]:
    """The SQL of each of `commands` on the sound project."""
    connect, said, found = sqlite3.connect, list[str](), list[str]()

    def listen(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(said.append)
        return connection

    folder = out / "sound" / "p.curation"
    shutil.copytree(killed, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", listen)
        for one in commands(folder, folder.parent):
            said.clear()
            answer = cli(*one)
            assert answer.code == 0, (one, answer.err)
            found.append("\n".join(said))
    assert "cannot be read" not in cli("check", folder).out
    return found


@pytest.fixture(scope="module")
def kept() -> list[str]:
    return []


@pytest.fixture
def statements(cli: Cli, killed: Path, tmp_path: Path, kept: list[str]) -> list[str]:
    if not kept:
        kept += traced(cli, killed, tmp_path)
    return kept


def test_the_project_itself_is_sound(statements: list[str]) -> None:
    read = {table for table, _, _ in CASES if any(re.search(rf"\b{table}\b", one) for one in statements)}
    assert {table for table, _, _ in CASES} - read == {"imports", "retired_entities"}, "which only the window reads"


@pytest.mark.parametrize(("table", "column", "value"), CASES)
def test_a_wrong_value_is_found_and_said(
    cli: Cli, killed: Path, tmp_path: Path, statements: list[str], table: str, column: str, value: str
) -> None:
    """By `check`, and by every command that reads the table."""
    folder = tmp_path / "p.curation"
    shutil.copytree(killed, folder)
    set_value(folder, table, column, value)
    checked = cli("check", folder)
    assert checked.code == 3
    said = [one for one in checked.out.splitlines() if "cannot be read" in one and "backup" in one]
    assert any(column in one for one in said), checked.out
    for one, sql in zip(commands(folder, tmp_path), statements, strict=True):
        if not re.search(rf"\b{table}\b", sql):
            continue
        found = cli(*one)
        assert "bug" not in found.err, (one, found.err)
        assert not found.err.startswith("Usage:"), (one, found.err)
        assert found.code in (0, 2, 3), (one, found)
