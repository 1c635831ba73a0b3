"""File names that are not UTF-8, and files that are none: a sentence, and never a wait."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.curator.cli.conftest import Cli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="makes names and files as Linux does")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder whose name is no UTF-8."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/na\xffme"))
    folder.mkdir()
    return folder


def test_names_that_are_not_utf8_work_everywhere(cli: Cli, odd: Path) -> None:
    project, text = odd / os.fsdecode(b"p\xfe.curation"), odd / os.fsdecode(b"t\xfd.txt")
    text.write_text("Breast cancer.")
    (odd / "kb.jsonl").write_text('{"id": "D1", "name": "Breast cancer", "types": ["Disease"]}\n')
    answer = cli("new", project)
    assert (answer.code, r"na\xffme/p\xfe.curation" in answer.out) == (0, True)
    for words in (("import", project, text), ("kb", "import", project, odd / "kb.jsonl"), ("info", project)):
        assert cli(*words).code == 0, words
    assert cli("info", project, "--json").json["project"] == str(project)
    assert cli("import", project, text).code == 0, "known, and not imported twice"
    assert cli("info", project, "--json").json["documents"]["todo"] == 1
    out = odd / os.fsdecode(b"o\xfc.csv")
    assert cli("audit", project, out).code == 0
    assert out.is_file()
    missing = cli("import", project, odd / os.fsdecode(b"none\xfb"))
    assert (missing.code, r"none\xfb does not exist" in missing.err) == (2, True)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_a_device_is_refused_by_every_option(cli: Cli, tmp_path: Path, kind: str) -> None:
    project, odd = tmp_path / "p.curation", Path("/dev/zero")
    if kind == "pipe":
        odd = tmp_path / "pipe"
        os.mkfifo(odd)
    assert cli("new", project).code == 0
    for words in (
        ("import", project, odd),
        ("kb", "import", project, odd),
        ("decide", project, "--file", odd),
        ("audit", project, odd),
        ("info", odd),
    ):
        answer = cli(*words)
        assert (answer.code, "is a device, a pipe or a socket" in answer.err) == (2, True), words


@pytest.mark.parametrize("kind", ["pipe", "huge"])
def test_no_small_file_of_a_project_is_waited_for_or_fills_the_memory(cli: Cli, tmp_path: Path, kind: str) -> None:
    project = tmp_path / "p.curation"
    assert cli("new", project).code == 0
    (project / "bundles" / "one").mkdir()
    (project / "evaluations").mkdir()
    for name in ("project.curator", "bundles/one/manifest.json", "evaluations/one.json.gz"):
        path = project / name
        path.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.touch()
            os.truncate(path, 1 << 42)
    for words in (("info", project), ("restore", project), ("linkers", project)):
        assert cli(*words).code == 0, words
    why = "not a regular file" if kind == "pipe" else "File too large"
    assert f"manifest.json, it cannot be read ({why})" in cli("check", project).out
    opened = cli("undo", project)
    assert (opened.code == 2) == ("is neither a file nor a folder" in opened.err) == (kind == "pipe")


def test_no_command_writes_over_the_files_of_a_project(cli: Cli, tmp_path: Path) -> None:
    project, link = tmp_path / "p.curation", tmp_path / "link"
    assert cli("new", project).code == 0
    link.symlink_to(project)
    own = project / "project.sqlite"
    before = own.read_bytes()
    for words in (
        ("kb", "export", project, own),
        ("salvage", project, "-o", link / "project.sqlite"),
        ("rounds", "export", project, "r", own),
        ("link", project, "--out", project / "project.sqlite-wal"),
    ):
        answer = cli(*words)
        assert (answer.code, "is a file of a Curator project" in answer.err) == (2, True), words
    assert own.read_bytes() == before
    assert cli("info", project / "project.curator").code == 0


def test_a_path_that_nothing_can_be_at_is_refused(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, loop, long = tmp_path / "p.curation", tmp_path / "loop", tmp_path / ("a" * 300)
    assert cli("new", project).code == 0
    loop.symlink_to(loop)
    for path, what in ((long, "Choose a shorter path."), (loop, "Check the symbolic links in the path.")):
        for words in (("info", path), ("import", project, path), ("export", project, path, "--format", "pubtator")):
            answer = cli(*words)
            assert answer.code == 2, answer
            assert answer.err.startswith(f"Error: {path}: "), answer
            assert what in answer.err
        monkeypatch.setenv("CURATOR_BACKUP_DIR", str(path))
        for words in (("info", project), ("work", project), ("restore", project)):
            assert cli(*words).code in (0, 2), words
        monkeypatch.setenv("CURATOR_BACKUP_DIR", "")
    assert cli("new", tmp_path / ("a" * 250)).code == 2


def test_an_empty_path_is_not_the_current_folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, folder = tmp_path / "p.curation", tmp_path / "folder"
    folder.mkdir()
    (folder / "t.txt").write_text("Breast cancer.")
    assert cli("new", project).code == 0
    monkeypatch.chdir(folder)
    for words in (
        ("new", ""),
        ("info", ""),
        ("import", project, ""),
        ("export", project, "", "--format", "pubtator"),
        ("evaluate", project, "--split", "train", "--report", ""),
    ):
        answer = cli(*words)
        sentence = "Error: The path is empty. Give the path of a file or a folder.\n"
        assert (answer.code, answer.out, answer.err) == (2, "", sentence), words
    assert [one.name for one in folder.iterdir()] == ["t.txt"]
    assert cli("info", project, "--json").json["mentions"] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("decide", "P", "1", "--nil", "not-in-kb", "--curator", "M\udcfcller"),
        ("rounds", "new", "P", "r\udce9", "--documents", "1"),
        ("kb", "search", "P", "\udce9"),
        ("work", "P", "--filter", "\udce9"),
        ("info", "postgresql://ada@server/\udce9"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_text_that_is_not_utf8_is_refused(cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    before = cli("info", project).out
    answer = cli(*(project if one == "P" else one for one in words))
    assert (answer.code, answer.out) == (2, ""), answer
    assert "is not UTF-8 text. Check the encoding of your terminal.\n" in answer.err
    assert cli("info", project).out == before
