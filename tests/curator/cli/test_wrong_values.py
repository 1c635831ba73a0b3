"""A wrong value in the database of a killed project is found, and no command says that it is an error of Curator."""

from __future__ import annotations

import shutil
from pathlib import Path

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
        ("facets", folder),
        ("imports", folder),
        ("steps", folder),
        ("stats", folder),
        ("rounds", "list", folder),
        ("relations", folder),
        ("inconsistencies", folder),
        ("audit", folder, out / "audit.csv"),
        ("export", folder, out / "out.json", "--format", "bioc-json"),
        ("export", folder, out / "decisions", "--format", "decisions"),
        ("kb", "search", folder, "heart"),
        ("decide", folder, "5", "--nil", "not-in-kb"),
        ("undo", folder),
        ("redo", folder),
        ("undo", folder),
    ]


def test_the_project_itself_is_sound(cli: Cli, killed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "p.curation"
    shutil.copytree(killed, folder)
    for one in commands(folder, tmp_path):
        found = cli(*one)
        assert found.code == 0, (one, found.err)
    assert "cannot be read" not in cli("check", folder).out


@pytest.mark.parametrize(("table", "column", "value"), CASES)
def test_a_wrong_value_is_found_and_said(
    cli: Cli, killed: Path, tmp_path: Path, table: str, column: str, value: str
) -> None:
    folder = tmp_path / "p.curation"
    shutil.copytree(killed, folder)
    set_value(folder, table, column, value)
    checked = cli("check", folder)
    assert checked.code == 3
    said = [one for one in checked.out.splitlines() if "cannot be read" in one and "backup" in one]
    assert any(column in one for one in said), checked.out
    for one in commands(folder, tmp_path):
        found = cli(*one)
        assert "bug" not in found.err, (one, found.err)
        assert not found.err.startswith("Usage:"), (one, found.err)
        assert found.code in (0, 2, 3), (one, found)
