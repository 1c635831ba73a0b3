"""check, restore and salvage, which work without opening the project."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from curator.storage.db.mark import read_mark
from curator.storage.project import open_project
from tests.curator.cli.conftest import Cli

HOURS = 7200


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CURATOR_BACKUP_DIR", str(tmp_path / "backups"))
    return tmp_path / "backups"


def make_older(*paths: Path) -> None:
    """As if they had been made two hours ago."""
    for path in paths:
        os.utime(path, (path.stat().st_mtime - HOURS,) * 2)


def killed(project: Path, change: bytes, by: bytes) -> Path:
    """The project as a program leaves it that was killed after a decision, with `change` in its database only."""
    copy = project.with_name("killed.curation")
    with open_project(project) as store:
        with store.write() as unit:
            unit.meta.set("guidelines", "Link the shortest mention.")
        store.settle()
        shutil.copytree(project, copy)
    database = copy / "project.sqlite"
    content = database.read_bytes()
    assert change in content
    database.write_bytes(content.replace(change, by))
    return copy


def test_a_text_changed_beside_the_log_of_a_killed_program_is_not_exported(
    cli: Cli, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.pubtator"
    other.write_text("9|t|Rare words.\n9|a|More of them.\n", encoding="utf-8")
    assert cli("import", project, other).code == 0
    broken, out = killed(project, b"Rare words", b"RaRe words"), tmp_path / "out"
    for _ in range(2):  # the second time, a command has closed the project properly
        exported = cli("export", broken, out, "--format", "pubtator")
        assert exported.code == 3
        assert "Wrote 8 documents" in exported.out
        assert "1 damaged document was left out" in exported.out
        assert "differs from the one imported" in exported.out
        assert "`curator check`" in exported.out
        (written,) = (one.read_bytes() for one in out.iterdir())
        assert b"cardiac arrest" in written
        assert b"words" not in written
        assert cli("decide", broken, "1", "--nil", "not-in-kb").code == 0
        assert (mark := read_mark(broken)) is not None
        assert mark.closed
        assert mark.unclean, "the window checks it at once"
    checked = cli("check", broken)
    assert checked.code == 3
    assert "differs from the one imported" in checked.out


def test_guidelines_that_are_lost_with_the_log_of_a_killed_program_are_noticed(cli: Cli, project: Path) -> None:
    broken = killed(project, b"cardiac arrest", b"cardiac arrest")
    (broken / "project.sqlite-wal").unlink()
    for command in (("info",), ("decide", "1", "--nil", "not-in-kb")):
        refused = cli(command[0], broken, *command[1:])
        assert refused.code == 2
        assert "lacks changes that were saved until" in refused.err
    assert cli("check", broken).code == 3
    assert cli("restore", broken, "--continue").code == 0
    assert cli("info", broken).code == 0


def test_a_project_goes_through_check_restore_and_salvage(cli: Cli, project: Path, root: Path, tmp_path: Path) -> None:
    found = cli("check", project, "--json")
    assert (found.code, found.json["findings"]) == (0, [])
    assert cli("restore", project).out == "There are no backups of this project.\n"
    assert not root.exists(), "the project is younger than an hour"
    make_older(project / "project.curator")
    assert cli("decide", project, "1", "--nil", "not-in-kb").code == 0
    assert cli("decide", project, "2", "--nil", "not-in-kb").code == 0
    (backup,) = cli("restore", project, "--json").json["backups"]
    assert backup["steps"] >= 1

    database = project / "project.sqlite"
    database.write_bytes(database.read_bytes()[:20_000])
    refused = cli("info", project)
    assert refused.code == 2
    assert "is damaged" in refused.err
    assert "`curator restore`" in refused.err
    checked = cli("check", project)
    assert checked.code == 3
    assert "curator restore" in checked.out
    assert cli("restore", project, "--number", "2").code == 2
    restored = cli("restore", project, "--number", "1")
    assert "is kept in" in restored.out
    assert cli("check", project).code == 0
    assert "to its state of" in restored.out
    copy = shutil.copytree(project, tmp_path / "copy.curation")
    assert f"made in {project}" in cli("restore", copy).out
    assert f" of {project}." in cli("restore", copy.with_suffix(""), "--number", "1").out
    shutil.rmtree(project)
    assert "made in" not in cli("restore", project.with_suffix("")).out
    assert "MB," in cli("restore", project).out
    assert cli("restore", project.with_suffix(""), "--number", "1").code == 0
    assert cli("check", project).code == 0

    out = tmp_path / "out.jsonl"
    saved = cli("salvage", project, "-o", out, "--json").json
    assert saved["decisions"] > 1
    read = cli("rounds", "import", project, out)
    assert (read.code, "left out" in read.out) == (0, False)
    assert f"Imported {saved['decisions']} judgements" in read.out


def test_steps_that_are_missing_are_named_and_can_be_done_without(cli: Cli, project: Path) -> None:
    older = (project / "project.sqlite").read_bytes()
    assert cli("decide", project, "1", "--nil", "not-in-kb").code == 0
    (project / "project.sqlite").write_bytes(older)
    for command in ("info", "stats"):
        refused = cli(command, project)
        assert (refused.code, "step" in refused.err, "There is no backup" in refused.err) == (2, True, True)
    assert cli("restore", project, "--continue").code == 0
    assert cli("info", project).code == 0


def test_a_backup_that_fails_is_said_after_the_result(cli: Cli, project: Path, root: Path) -> None:
    make_older(project / "project.curator")
    root.write_text("no folder")
    done = cli("decide", project, "1", "--nil", "not-in-kb")
    assert (done.code, "as NIL" in done.out) == (0, True)
    assert done.err.startswith("Warning: No backup could be written to ")


def test_a_place_without_project_and_backups_is_no_project(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "empty.curation").mkdir()
    for place in (tmp_path / "typo", tmp_path / "file", tmp_path / "missing" / "sub", tmp_path / "empty.curation"):
        for more in ((), ("--json",), ("--number", "1")):
            answer = cli("restore", place, *more)
            sentence = f"Error: There is no project at {place}, and no backup of one. Check the path.\n"
            assert (answer.code, answer.out, answer.err) == (2, "", sentence)
    project = tmp_path / "p.curation"
    assert cli("new", project).code == 0
    (project / "project.sqlite").unlink()
    assert cli("restore", project).out == "There are no backups of this project.\n"
