"""The command line does the whole job on the demo, with real processes and the lexical bundle."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from curator import bootstrap
from curator.ui.files.demo_project import fill, world_of

DEMO = Path(__file__).resolve().parents[2] / "resources" / "demo" / "pubmed"
TIMEOUT = 120


def curator(*arguments: object, code: int = 0) -> str:
    """Run one command in a process of its own; returns its standard output."""
    command = [sys.executable, "-m", "curator", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def as_json(*arguments: object) -> Any:
    return json.loads(curator(*arguments, "--json"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo with its gold, and a lexical bundle."""
    path = tmp_path_factory.mktemp("e2e") / "demo.curation"
    curator("new", path)
    curator("kb", "import", path, DEMO / "kb.jsonl")
    for split in ("train", "validation", "test"):
        curator("import", path, DEMO / f"{split}.pubtator", "--gold", "--split", split)
    curator("link", path, "--lexical", "--split", "test")
    return path


@pytest.mark.soak
def test_linked_mentions_are_decided_undone_and_redone(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "linked.jsonl"
    curator("link", project, "--lexical", "--split", "test", "--out", out)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len({line["mention"] for line in lines}) == len(lines) > 50
    assert all(line["candidates"] for line in lines)
    assert all("lexical" in line["candidates"][0]["scores"] for line in lines)
    exact = next(line for line in lines if line["text"] == line["candidates"][0]["name"])
    other = exact["candidates"][1]["id"]

    before = as_json("info", project)["decisions"]
    curator("decide", project, exact["mention"], "--link", other, "--curator", "ada")
    curator("decide", project, exact["mention"], "--reject", "wrong-span")
    assert as_json("info", project)["decisions"] == {**before, "link": before["link"] - 1, "rejected": 1}
    curator("undo", project)
    curator("undo", project)
    assert as_json("info", project)["decisions"] == before
    curator("redo", project)
    curator("export", project, tmp_path / "out", "--format", "pubtator")
    written = (tmp_path / "out" / "test.pubtator").read_bytes().split(b"\n")
    source = (DEMO / "test.pubtator").read_bytes().split(b"\n")
    changed = [(a, b) for a, b in zip(written, source, strict=True) if a != b]
    assert len(changed) == 1, "one decision changes one line"
    assert other.rpartition(":")[2].encode() in changed[0][0]
    assert (tmp_path / "out" / "train.pubtator").read_bytes() == (DEMO / "train.pubtator").read_bytes()
    curator("undo", project)


@pytest.mark.soak
def test_replayed_decisions_keep_what_was_shown(project: Path) -> None:
    report = as_json("replay", project, "--split", "test", "--limit", "40")
    assert report["decisions"] == 40
    assert report["unshown"] == 0
    assert report["first"] > report["links"] / 2, "the lexical bundle is right more often than not"


@pytest.mark.soak
@pytest.mark.skipif(
    importlib.util.find_spec("training.job.evaluate_job") is None, reason="needs the evaluation job, which is not there"
)
def test_the_linker_is_compared_with_the_gold(project: Path) -> None:
    figures = as_json("evaluate", project, "--split", "test")
    assert 0.5 < figures["recall"]["1"] <= figures["recall"]["64"] <= 1.0
    assert figures["mentions"] == figures["in_kb"] + figures["nil_mentions"]
    assert 0 < figures["nil"]["au_pr"] <= 1


@pytest.mark.soak
def test_ctrl_c_ends_with_130_and_leaves_the_project_openable(tmp_path: Path) -> None:
    project = tmp_path / "demo.curation"
    made = bootstrap.create_project(project, linker=False)
    for _ in fill(made, world_of("pubmed")):
        pass
    made.close()
    command = [sys.executable, "-m", "curator", "link", str(project), "--lexical"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ})
    try:
        while not (project / "project.lock").read_text(encoding="utf-8").strip():
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=TIMEOUT)
    finally:
        running.kill()
    assert running.returncode == 130, errors.decode()
    assert b"Traceback" not in errors
    curator("info", project)
    assert curator("undo", project)
