"""Every command does its work, in words and as JSON."""

from __future__ import annotations

import errno
import json
import re
import sqlite3
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from curator.__main__ import main
from curator.cli.main import COMMANDS
from curator.domain.jobs import JobOutcome, JobState
from curator.settings.file import save
from curator.settings.schema import Settings, with_value
from tests.curator.cli.conftest import Cli
from tests.curator.services.fakes import FakeJobs, document


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_has_json(cli: Cli, name: str) -> None:
    names = {
        "kb": [name, "import"],
        "fetch": [name, "pubmed"],
        "desktop": [name, "install"],
        "people": [name, "list"],
        "rounds": [name, "list"],
    }.get(name, [name])
    answer = cli(*names, "--help")
    assert answer.code == 0
    assert "Usage: curator" in answer.out
    assert ("--json" in answer.out) == (name not in {"open", "demo", "serve"}), "a window has no result"


def test_the_version_names_the_sqlite_that_serves(cli: Cli) -> None:
    answer = cli("--version")
    assert answer.code == 0
    assert re.match(rf"curator \d\S*\nSQLite {re.escape(sqlite3.sqlite_version)}\b", answer.out)


def test_help_needs_nothing_heavy() -> None:
    code = (
        "import sys; from curator.cli.main import run; run(['--help']);"
        "bad = {'sqlalchemy', 'torch', 'rich', 'PySide6', 'lxml'} & set(sys.modules); assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "replay" in done.stdout


def test_the_knowledge_base_is_searched_as_in_the_window(cli: Cli, project: Path) -> None:
    found = cli("kb", "search", project, "type:disease arr", "--json").json["entities"]
    assert [one["id"] for one in found] == ["MESH:D001145", "MESH:D006323"]
    answer = cli("kb", "search", project, "xylocaine", "--type", "Chemical")
    assert answer.out.split() == ["MESH:D008012", "Lidocaine", "(Chemical)", "Xylocaine"]
    assert "matches zzz" in cli("kb", "search", project, "zzz").out


def test_a_search_says_of_every_entity_how_it_was_found(cli: Cli, project: Path, tmp_path: Path) -> None:
    known = [
        {"id": "X:1", "name": "Porphyria", "types": ["Disease"], "definition": "Pain of the belly."},
        {"id": "X:2", "name": "Abdominal Pain", "types": ["Disease"]},
        {"id": "X:3", "name": "Pain", "types": ["Disease"]},
    ]
    path = tmp_path / "pain.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in known), encoding="utf-8")
    assert cli("kb", "import", project, path).code == 0
    found = cli("kb", "search", project, "pain", "--json").json["entities"]
    assert [(one["id"], one["match"]) for one in found] == [
        ("X:3", "exact name"),
        ("X:2", "name"),
        ("X:1", "definition"),
    ]
    assert cli("kb", "search", project, "belly pain").out.splitlines() == [
        "X:3  Pain  (Disease)  Pain  [some of the words]",
        "X:2  Abdominal Pain  (Disease)  Abdominal Pain  [some of the words]",
        "X:1  Porphyria  (Disease)  Porphyria  [definition]",
    ]
    assert "[similar spelling]" in cli("kb", "search", project, "porphiria").out


def test_info_shows_what_the_project_contains(cli: Cli, project: Path) -> None:
    facts = cli("info", project, "--json").json
    assert facts["documents"] == {"todo": 0, "in_progress": 0, "done": 8, "discuss": 0}
    assert facts["splits"] == {"train": 6, "validation": 2, "test": 0}
    assert facts["decisions"]["link"] == 24
    assert facts["type_mapping"]["SpecificDisease"] == ["Disease"]
    assert facts["knowledge_base"]["entities"] == 3
    assert facts["bundle"] is None
    assert "mentions: 32" in cli("info", project).out
    assert "linker: none" in cli("info", project).out


def test_link_writes_the_named_fields(cli: Cli, project: Path, tmp_path: Path) -> None:
    out = tmp_path / "linked.jsonl"
    answer = cli("link", project, "--split", "validation", "--out", out)
    assert answer.code == 0, answer.err
    lines: list[dict[str, Any]] = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 8
    first = lines[0]
    assert list(first) == ["document", "mention", "spans", "text", "type", "candidates", "nil", "bundle"]
    assert (first["document"], first["spans"], first["text"]) == ("1", [[0, 9]], "Lidocaine")
    assert list(first["candidates"][0]) == ["id", "name", "score", "scores", "probability"]
    assert first["candidates"][0]["id"] == "MESH:D008012"
    assert first["bundle"] == cli("info", project, "--json").json["bundle"]["id"]
    assert not list(tmp_path.glob(".linked*"))


def test_detect_marks_documents_without_mentions(cli: Cli, project: Path, tmp_path: Path) -> None:
    assert cli("detect", project, "--json").json == {"documents": 0, "mentions": 0}
    bare = tmp_path / "bare.pubtator"
    bare.write_text("77|t|An arrhythmia\n77|a|Nothing else.\n\n", encoding="utf-8")
    assert cli("import", project, bare).code == 0
    answer = cli("detect", project, "--type", "Planet")
    assert answer.code == 2
    assert "no entities of the type Planet. Its types: Chemical, Disease" in answer.err
    assert "1 mention in 1 document " in cli("detect", project, "--type", "Disease").out
    assert cli("info", project, "--json").json["mentions"] == 33


def test_decide_undo_redo(cli: Cli, project: Path) -> None:
    assert (
        "Linked “Lidocaine” to Heart Arrest + Lidocaine"
        in cli("decide", project, 1, "--link", "MESH:D006323", "--link", "MESH:D008012", "--curator", "ada").out
    )
    answer = cli("decide", project, 1, "--link", "OMIM:115000", "--json")
    assert answer.json["mentions"] == [1]
    assert "Arrhythmia" in answer.json["text"], "an alternate id finds its entity"
    for option, reason in (("--nil", "too-general"), ("--reject", "wrong-span"), ("--skip", "unsure")):
        assert cli("decide", project, 2, option, reason).code == 0
    assert "Undid" in cli("undo", project).out
    assert cli("redo", project, "--json").json["text"].startswith("Redid")
    assert cli("redo", project, "--json").json == {"change": None}


def test_link_stores_and_replay_shows(cli: Cli, project: Path) -> None:
    assert cli("link", project).code == 0
    answer = cli("replay", project, "--split", "train", "--limit", 7, "--json")
    assert answer.json["decisions"] == 7
    assert answer.json["unshown"] == 0


def test_a_better_linker_is_put_into_use_and_rolled_back(cli: Cli, project: Path, jobs: FakeJobs) -> None:
    more = project.parent / "more.pubtator"
    more.write_text("".join(document(n) for n in range(50, 56)), encoding="utf-8")
    assert cli("import", project, more, "--gold").code == 0
    preview = cli("train", project, "--recipe", "pel-pb", "--preview")
    assert "Learns from 36 links" in preview.out
    assert "This recipe has not run in this project yet" in preview.out
    answer = cli("train", project, "--recipe", "pel-pb", "--set", "epochs=2", "--max-minutes", "3", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["active"] is True
    spec = jobs.started[-1][1]
    assert (spec["parameters"]["epochs"], spec["max_minutes"]) == (2, 3.0)
    listed = cli("linkers", project, "--json").json["bundles"]
    assert [one["active"] for one in listed] == [False, False, True]
    assert cli("linkers", project, "--rollback").code == 0
    assert cli("linkers", project).out.splitlines()[1].startswith("* ")
    assert cli("linkers", project, "--use", listed[0]["id"]).out.startswith("* ")
    jobs.verdict = "refused"
    assert "is kept but not in use" in cli("train", project, "--recipe", "pel-pb").out


def test_an_index_is_built_with_the_lexical_list_of_the_settings(
    cli: Cli, project: Path, jobs: FakeJobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    cli("index", project, "--lexical")
    save(with_value(Settings(), "lexical_list", "bm25"))
    cli("index", project, "--lexical", "--again")
    assert [spec["lexical"] for kind, spec in jobs.started if kind == "index"] == ["characters", "bm25"]


def test_evaluate_shows_the_figures_and_writes_the_report(
    cli: Cli, project: Path, jobs: FakeJobs, tmp_path: Path
) -> None:
    cli("index", project)
    nil = {"precision": None, "recall": 0.5, "f1": 0.25, "au_pr": 0.125}
    figures = {
        "recall@1": {"value": 0.5, "low": 0.25, "high": 0.75},
        "NIL precision": {"value": None, "low": None, "high": None},
        "ECE, NIL": {"value": 0.0625, "low": None, "high": None},
    }
    counts = {"mentions": 8, "in_kb": 6, "nil_mentions": 2, "recall": {"1": 0.5, "64": 1.0}, "nil": nil}
    linker = {"linker": ["“lexical” searches by words only: BM25 over 7 words."]}
    jobs.result = {**counts, **linker, "figures": figures, "html": "<p>α</p>"}
    answer = cli("evaluate", project, "--split", "validation", "--report", tmp_path / "r.html", "--seed", 3)
    assert answer.out.splitlines() == [
        "mentions 8, in the knowledge base 6, NIL 2",
        "recall @1 50.0 %, @64 100.0 %",
        "NIL precision undefined, recall 50.0 %, F1 25.0 %, auPR 12.5 %",
        "recall@1: 50.0 % (25.0 to 75.0)",
        "ECE, NIL: 0.062",
        "linker: “lexical” searches by words only: BM25 over 7 words.",
        f"Report written to {tmp_path / 'r.html'}.",
    ]
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == "<p>α</p>"
    assert jobs.started[-1][1]["seed"] == 3
    assert cli("evaluate", project, "--split", "validation", "--json").json == {**counts, **linker, "figures": figures}


def test_evaluate_against_another_linker(cli: Cli, project: Path, jobs: FakeJobs) -> None:
    cli("index", project)
    first, second = (one["id"] for one in cli("linkers", project, "--json").json["bundles"])
    nothing = {"this": None, "other": None, "difference": {"value": None, "low": None, "high": None}, "better": None}
    gained = {"this": 0.5, "other": 0.4, "difference": {"value": 0.1, "low": -0.05, "high": 0.25}, "better": 0.9}
    flip = {"direction": "right_to_wrong", "surface": "pain", "document_name": "12", "old": "D1", "new": "NIL"}
    jobs.result = {
        "against": {
            "bundle": first,
            "figures": {"recall@1": gained, "NIL F1": nothing, "right in all, NIL included": gained},
            "decisions": {"only_this": 3, "only_other": 1, "p_value": 0.625},
            "flips": [flip],
        }
    }
    answer = cli("evaluate", project, "--split", "validation", "--linker", second, "--against", first, "--no-memory")
    assert answer.out.splitlines()[3:] == [
        f"against {first}: 3 right only with this linker, 1 right only with the other, p 0.6250 (McNemar, exact)",
        "  recall@1: +10.0 points (-5.0 to +25.0)",
        "  right in all, NIL included: +10.0 points (-5.0 to +25.0)",
        "  becomes wrong: pain (12): D1 → NIL",
    ]
    spec = jobs.started[-1][1]
    assert (Path(spec["against"]).name, Path(spec["bundle"]).name, spec["memory"]) == (first, second, False)


def test_replay_of_the_gold(cli: Cli, project: Path, jobs: FakeJobs) -> None:
    cli("index", project)
    part = {"decisions": 24, "recall_at_1": 0.5, "more_keys": 0.25, "more_than_digit": 0.125, "nil_f1": None}
    jobs.result = {"message": "Done.", "replay": {"every": part, "last": {**part, "decisions": 8}}, "html": "<p>"}
    answer = cli("evaluate", project, "--split", "train", "--replay", "--limit", 24, "--then", "validation")
    assert answer.out.splitlines() == [
        "Done.",
        "all 24: recall@1 50.0 %, with Enter alone 75.0 %, with Enter or a digit 87.5 %, NIL F1 undefined",
        "last 8: recall@1 50.0 %, with Enter alone 75.0 %, with Enter or a digit 87.5 %, NIL F1 undefined",
    ]
    spec = jobs.started[-1][1]
    assert (spec["replay"], spec["limit"], spec["then"]) == (True, 24, "validation")


def test_an_export_says_how_much_more_there_is_to_say(cli: Cli, project: Path, tmp_path: Path) -> None:
    """25 mentions stay out: 20 lines are on the screen, and all of them in the report."""
    texts = "".join(f"T{n}\tX {6 * n} {6 * n + 1};{6 * n + 2} {6 * n + 3}\ta c\n" for n in range(25))
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "one.txt").write_text("a b c " * 25)
    (tmp_path / "c" / "one.ann").write_text(texts.replace("a c", "a b"))
    assert cli("import", project, tmp_path / "c").code == 0
    out, report = tmp_path / "gold.pubtator", tmp_path / "report.txt"
    lines = cli("export", project, out, "--format", "pubtator").out.splitlines()
    assert lines[0] == f"Wrote 9 documents with 32 mentions to {out}. Unchanged mentions: 32."
    assert lines[-1] == "… and 5 more; --report FILE or --json lists all."
    assert (out.is_file(), len(lines)) == (True, 22)
    lines = cli("export", project, out, "--format", "pubtator", "--report", report).out.splitlines()
    assert lines[-1] == f"… and 5 more; {report} lists them."
    assert len(report.read_text(encoding="utf-8").splitlines()) == 26


def test_export_goes_back_byte_for_byte(cli: Cli, project: Path, documents_file: Path, tmp_path: Path) -> None:
    answer = cli("export", project, tmp_path / "out.txt", "--format", "pubtator", "--json")
    assert answer.json["unchanged"] == 32
    assert (tmp_path / "out.txt").read_bytes() == documents_file.read_bytes()


def test_a_cancelled_job_ends_with_130(cli: Cli, project: Path, jobs: FakeJobs) -> None:
    jobs.outcomes = [JobOutcome(JobState.CANCELLED, "Cancelled.")]
    assert cli("index", project).code == 130


def test_ctrl_c_is_heard_from_the_first_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("curator.cli.main.run", interrupted)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 130


def test_a_bug_ends_with_1_and_its_traceback_in_the_log(cli: Cli, project: Path, jobs: FakeJobs) -> None:
    from curator.services.records.diagnostics import last_lines

    jobs.outcomes = [JobOutcome(JobState.CRASHED, "ValueError()", detail="Traceback of the child")]
    answer = cli("index", project)
    assert answer.code == 1
    assert answer.err.startswith("Error: This is a bug in curator")
    assert len(answer.err.splitlines()) == 1
    assert any("Traceback of the child" in line for line in last_lines())


def test_a_read_that_fails_is_no_bug(cli: Cli, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error", str(project / "project.sqlite"))

    monkeypatch.setattr(import_module("curator.storage.safety.salvage"), "_copy", fails)
    answer = cli("salvage", project, "-o", tmp_path / "out.jsonl")
    assert answer.code == 2
    assert answer.err == f"Error: {project / 'project.sqlite'}: Input/output error. Check the disk.\n"


def test_a_name_that_would_command_the_terminal_is_shown_and_kept_but_never_obeyed(
    cli: Cli, project: Path, tmp_path: Path
) -> None:
    name = "Aspirin\x1b[2J\x9b31m"
    path = tmp_path / "hostile.jsonl"
    path.write_text(json.dumps({"id": "X:1", "name": name, "type": "Chemical"}) + "\n", encoding="utf-8")
    assert cli("kb", "import", project, path).code == 0
    shown = cli("kb", "search", project, "aspirin")
    assert "Aspirin" in shown.out
    assert not {"\x1b", "\x9b"} & {*shown.out}
    written = cli("kb", "search", project, "aspirin", "--json")
    assert not {"\x1b", "\x9b"} & {*written.out}
    assert [one["name"] for one in written.json["entities"]] == [name.replace("\x1b", " ")]  # C1 may be a letter


@pytest.mark.parametrize("text", ["{", "[]", '{"backup_space": "all"}'])
def test_settings_that_cannot_be_used_are_said_once(
    cli: Cli, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    before = cli("info", project, "--json")
    (tmp_path / "settings.json").write_text(text, encoding="utf-8")
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path))
    answer = cli("info", project, "--json")
    assert (answer.code, answer.out, before.err) == (0, before.out, "")
    assert answer.err.startswith("Warning: ")
    assert answer.err.count(f"{tmp_path / 'settings.json'}") == 1
