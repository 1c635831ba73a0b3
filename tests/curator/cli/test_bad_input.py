"""Bad input on the command line: exit code 2, one clear sentence, nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from curator.bootstrap import open_project
from curator.services.ports.queue import QueueFilter
from curator.storage import project as storage
from tests.curator.cli.conftest import Answer, Cli
from tests.curator.services.fakes import document


def refused(answer: Answer, *words: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err


def snapshot(folder: Path) -> dict[str, int]:
    """What the project holds, as numbers."""
    project = open_project(folder, read_only=True, linker=False)
    try:
        counts = project.queue.counts()
        return {"documents": project.queue.count(QueueFilter()), "mentions": counts.mentions}
    finally:
        project.close()


def test_a_link_to_nothing_is_said(cli: Cli, project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.pubtator"
    link.symlink_to(tmp_path / "nowhere")
    sentence = f"{link} is a link to a file that does not exist"
    refused(cli("import", project, link), sentence)
    refused(cli("import", project, link, "--dry-run"), sentence)
    refused(cli("kb", "import", project, link), sentence)


def test_documents_and_knowledge_base_confused(cli: Cli, project: Path, kb_file: Path, documents_file: Path) -> None:
    refused(cli("import", project, kb_file), "knowledge base")
    refused(cli("kb", "import", project, documents_file), "PubTator")


def test_unknown_ids_in_gold_are_told_and_do_not_stop(cli: Cli, project: Path, tmp_path: Path) -> None:
    path = tmp_path / "unknown.pubtator"
    path.write_text(document(77).replace("D008012\n", "D999999\n", 1), encoding="utf-8")
    answer = cli("import", project, path, "--gold")
    assert answer.code == 0
    assert "D999999 is not in the knowledge base" in answer.out


def test_gold_without_a_knowledge_base(cli: Cli, tmp_path: Path, documents_file: Path) -> None:
    cli("new", tmp_path / "q.curation")
    refused(cli("import", tmp_path / "q.curation", documents_file, "--gold"), "kb import")
    refused(cli("link", tmp_path / "q.curation"), "kb import")
    refused(cli("index", tmp_path / "q.curation"), "kb import")


def test_what_is_not_there_is_named(cli: Cli, project: Path, tmp_path: Path) -> None:
    refused(cli("info", tmp_path / "none.curation"), "none.curation")
    refused(cli("import", tmp_path / "none.curation", tmp_path), "none.curation")
    refused(cli("import", project, tmp_path / "gone.txt"), "gone.txt")
    refused(cli("kb", "import", project, tmp_path / "gone.txt"), "gone.txt")
    refused(cli("info", tmp_path), "not a project")


def test_a_project_that_is_there_already(cli: Cli, project: Path) -> None:
    refused(cli("new", project), "already exists")
    assert snapshot(project)["documents"] == 8


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that even root cannot write to")
def test_a_folder_that_cannot_be_written(cli: Cli, project: Path) -> None:
    refused(cli("new", "/proc/p.curation"), "/proc/p.curation")
    refused(cli("export", project, "/proc/out.txt", "--format", "pubtator"), "/proc")
    cli("index", project)
    refused(cli("link", project, "--out", "/proc/out.jsonl"), "/proc/out.jsonl")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root writes to read-only folders")
def test_a_read_only_project(cli: Cli, project: Path, documents_file: Path) -> None:
    project.chmod(0o555)
    try:
        refused(cli("undo", project), "read-only")
        assert cli("info", project).code == 0
    finally:
        project.chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
@pytest.mark.parametrize(
    "command",
    [
        ("decide", "1", "--nil", "not-in-kb"),
        ("kb", "import", "kb.jsonl"),
        *(
            pytest.param(one, marks=pytest.mark.soak)
            for one in (
                ("undo",),
                ("index", "--again"),
                ("export", "out", "--format", "pubtator"),
                ("export", "out", "--format", "zeshel"),
                ("new",),
            )
        ),
    ],
    ids=" ".join,
)
def test_a_disk_that_is_full_to_the_last_byte(
    cli: Cli, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    before, there = cli("info", project).out, set(tmp_path.rglob("*"))
    place = 2 if command[0] == "kb" else 1
    path = "n.curation" if command == ("new",) else project
    refused(limited(0, *command[:place], path, *command[place:]), "Error: ")
    assert limited(0, "info", project) == Answer(0, before, ""), "reading works"
    assert cli("info", project).out == before
    assert {one for one in set(tmp_path.rglob("*")) - there if "sqlite-" not in one.name} <= {project / "project.lock"}


def limited(size: int, *arguments: object) -> Answer:
    """Run a command that can write no byte beyond `size` into any file."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2);"
        "from curator.cli.main import run; sys.exit(run(sys.argv[2:]))"
    )
    command = [sys.executable, "-c", code, str(size), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_a_log_that_cannot_be_written_says_nothing(project: Path) -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); import logging;"
        "from curator.services.records.diagnostics import start_logging; start_logging();"
        "logging.getLogger('curator.x').warning('x')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_writing_commands_name_the_holder_and_reading_ones_work(
    cli: Cli, project: Path, documents_file: Path, tmp_path: Path
) -> None:
    cli("index", project)
    held = storage.open_project(project)
    try:
        pid = str(os.getpid())
        refused(cli("import", project, documents_file), pid)
        refused(cli("decide", project, 1, "--nil", "not-in-kb"), pid)
        refused(cli("undo", project), pid)
        refused(cli("link", project), pid)
        refused(cli("train", project, "--recipe", "pel-pb"), pid)
        refused(cli("linkers", project, "--rollback"), pid)
        assert cli("info", project).code == 0
        assert cli("linkers", project).code == 0
        assert cli("link", project, "--out", tmp_path / "out.jsonl").code == 0
        assert cli("export", project, tmp_path / "out.txt", "--format", "pubtator").code == 0
        assert cli("evaluate", project, "--split", "train").code == 0
    finally:
        held.close()
    assert cli("undo", project).code == 0


def test_wrong_arguments(cli: Cli, project: Path, tmp_path: Path) -> None:
    refused(cli("link", project, "--split", "dev"), "validation")
    refused(cli("train", project, "--recipe", "nope"), "pel-pb")
    refused(cli("train", project, "--recipe", "pel-pb", "--set", "epochs"), "NAME=VALUE")
    refused(cli("train", project, "--recipe", "pel-pb", "--set", "epochs=many"), "epochs")
    refused(cli("train", project, "--recipe", "pel-pb"), "at least 20")
    assert cli("linkers", project).out == "\n", "nothing was built for a training that cannot start"
    refused(cli("linkers", project, "--rollback"), "no earlier linker")
    refused(cli("linkers", project, "--use", "../p"), "was not found")
    refused(cli("evaluate", project, "--split", "test"), "done")
    refused(cli("evaluate", project, "--split", "train", "--limit", 5), "--limit cannot be given")
    refused(cli("evaluate", project, "--split", "train", "--replay", "--against", "x"), "--against cannot be given")
    refused(cli("evaluate", project, "--split", "train", "--report", tmp_path), "is a folder")
    refused(cli("evaluate", project, "--split", "train", "--report", tmp_path / "a" / "b.html"), "does not exist")
    refused(cli("evaluate", project, "--split", "train", "--against", "nope"), "no linker nope")
    refused(cli("export", project, tmp_path / "o", "--format", "docx"), "pubtator")
    refused(cli("unknown"), "unknown")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_all_that_is_missing(cli: Cli, project: Path) -> None:
    code = "import sys; from curator.cli.main import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "decide", str(project), "1", "--nil", "not-in-kb"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    sentence = "Error: The command is done, but its output could not be written (No space left on device).\n"
    assert (done.returncode, done.stderr) == (2, sentence)
    assert "as NIL" in cli("undo", project).out
