"""Rounds, agreement, audit, release and the taught knowledge base on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.cli.main import run
from curator.domain.decisions import Verdict
from tests.curator.services.fakes import make_world


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two documents; one mention decided, judged by ada alone."""
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    world = make_world(tmp_path)
    world.kb()
    world.documents(2)
    found = world.project.rounds.create("pilot", [1])
    mention = world.mentions(1)[0]
    world.project.rounds.seat(found, "ada").curation.decide_many([mention], Verdict.nil())
    world.project.curation.decide(mention, Verdict.nil())
    world.project.close()
    return tmp_path / "p.curation"


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run([str(one) for one in arguments]) == 0
    return capsys.readouterr().out


def test_a_round_goes_through_all_its_steps(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "“second” with 2 documents" in told(
        capsys, "rounds", "new", project, "second", "--documents", 9, "--unaided"
    )
    listed = json.loads(told(capsys, "rounds", "list", project, "--json"))["rounds"]
    assert [(one["name"], one["kind"], one["documents"]) for one in listed] == [
        ("pilot", "blind", 1),
        ("second", "unaided", 2),
    ]
    assert listed[0]["progress"] == [{"curator": "ada", "judged": 1, "mentions": 4, "skipped": 0}]
    out = tmp_path / "pilot.jsonl"
    assert "Wrote 1 judgement on 1 document " in told(capsys, "rounds", "export", project, "pilot", out, "--by", "ada")
    out.write_text(out.read_text(encoding="utf-8").replace('"ada"', '"ben"'), encoding="utf-8")
    assert "1 judgement by ben into “pilot”" in told(capsys, "rounds", "import", project, out)
    assert "Closed the round “pilot”." in told(capsys, "rounds", "close", project, "pilot")
    text = told(capsys, "agreement", project, "--round", "pilot", "--csv", tmp_path / "a.csv")
    assert text.startswith("“pilot” by ada, ben\nall: 1 mentions, alpha undefined, observed 1.000")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").startswith("about,part")
    assert run(["agreement", str(project), "--round", "none"]) == 2


def test_records_leave_the_project(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "1 decision, 1 judgement, 0 other steps" in told(capsys, "audit", project, tmp_path / "a.jsonl")
    words = told(capsys, "release", project, tmp_path / "r.zip", "--scope", "decided")
    assert "Released 1 decision in 2 documents" in words
    assert run(["release", str(project), str(tmp_path / "s.zip")]) == 2, "nothing is done"
    assert "Wrote 3 entities" in told(capsys, "kb", "export", project, tmp_path / "kb.jsonl")
    told(capsys, "export", project, tmp_path / "g.jsonl", "--format", "decisions")
    assert '"curator": "ada"' in (tmp_path / "g.jsonl").read_text(encoding="utf-8")
    assert run(["export", str(project), str(tmp_path / "x"), "--format", "decisions", "--scope", "adjudicated"]) == 2
    both = ["export", str(project), str(tmp_path / "x"), "--format", "decisions", "--scope", "decided", "--only-done"]
    assert run(both) == 2
