"""Worlds in ZESHEL form through the command line: import, link, evaluate, and back byte for byte."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).resolve().parents[2] / "resources" / "demo" / "wikia"
TIMEOUT = 120


def curator(*arguments: object) -> str:
    """Run one command in a process of its own; returns its standard output."""
    command = [sys.executable, "-m", "curator", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def as_json(*arguments: object) -> Any:
    return json.loads(curator(*arguments, "--json"))


def imported(project: Path, source: Path, mentions: Iterable[tuple[str, str]]) -> int:
    """A project with the entities and mention files (name, split) of `source`; returns how many mentions it has."""
    curator("new", project)
    entities = as_json("kb", "import", project, source / "documents")
    assert not entities["problems"]
    lines = sum(len(one.read_bytes().splitlines()) for one in (source / "documents").iterdir())
    assert entities["counts"]["entities"] == lines
    counted = 0
    for name, split in mentions:
        report = as_json("import", project, source / "mentions" / name, "--gold", "--split", split)
        counted += report["counts"].get("linked", 0)
        assert not report["counts"].get("unresolved ids")
        assert report["counts"]["linked"] == report["counts"]["mentions"] == len(lines_of(source / "mentions" / name))
    return counted


def lines_of(path: Path) -> list[bytes]:
    return [one for one in path.read_bytes().split(b"\n") if one]


def linked(project: Path, out: Path, source: Path) -> list[Any]:
    """What `curator link --out` writes, its spans held against the texts of the worlds."""
    curator("link", project, "--lexical", "--out", out)
    worlds = [json.loads(line) for one in (source / "documents").iterdir() for line in lines_of(one)]
    texts = {one["document_id"]: one["text"] for one in worlds}
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for one in found:
        ((start, end),) = one["spans"]
        assert texts[one["document"]][start:end] == one["text"]
        scores = [candidate["score"] for candidate in one["candidates"]]
        assert scores == sorted(scores, reverse=True)
        assert len({candidate["id"] for candidate in one["candidates"]}) == len(scores) <= 64
    return found


def assert_identical(project: Path, out: Path, source: Path, names: Iterable[str]) -> None:
    """The export of the mention files `names`, and of every world they speak of, is what was imported."""
    report = as_json("export", project, out, "--format", "zeshel")
    assert report["unchanged"] == report["mentions"]
    assert sorted(one.name for one in (out / "mentions").iterdir()) == sorted(names)
    for name in names:
        assert (out / "mentions" / name).read_bytes() == (source / "mentions" / name).read_bytes(), name
    for path in (out / "documents").iterdir():
        written, there = lines_of(path), lines_of(source / "documents" / path.name)
        assert set(written) <= set(there), "every document is a line of its world, byte for byte"
        assert written == [line for line in there if line in set(written)], "in the order of its world"


@pytest.mark.soak
def test_demo_worlds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Train, validation and test are different worlds: what is right on test is right without having seen it."""
    project = tmp_path / "worlds.curation"
    splits = [("train.json", "train"), ("val.json", "validation"), ("test.json", "test")]
    mentions = imported(project, DEMO, splits)
    curator("index", project, "--lexical")
    found = linked(project, tmp_path / "linked.jsonl", DEMO)
    assert len(found) == mentions
    worlds = {one["type"] for one in found}
    assert len(worlds) == 4
    own = {
        json.loads(line)["document_id"]: one.stem for one in (DEMO / "documents").iterdir() for line in lines_of(one)
    }
    assert all(own[candidate["id"]] == one["type"] for one in found for candidate in one["candidates"]), "its own world"

    figures = as_json("evaluate", project, "--split", "test")  # builds the full index first
    assert figures["in_kb"] == figures["mentions"] == len(lines_of(DEMO / "mentions" / "test.json"))
    assert 0.2 < figures["recall"]["1"] < figures["recall"]["64"] <= 1
    with capsys.disabled():
        shares = ", ".join(f"recall@{k} {100 * figures['recall'][k]:.1f} %" for k in ("1", "64"))
        print(f"\nzero-shot, demo worlds: {shares} of {figures['mentions']} mentions")  # noqa: T201
    assert_identical(project, tmp_path / "out", DEMO, [name for name, _ in splits])
    for path in (tmp_path / "out" / "documents").iterdir():
        assert path.read_bytes() == (DEMO / "documents" / path.name).read_bytes()


@pytest.mark.soak
def test_the_zeshel_slice(tmp_path: Path, shared_data: Path) -> None:
    """Real documents of up to 19,080 tokens, the same mentions in every file, and one file without a final line end."""
    source, project = shared_data / "zeshel", tmp_path / "slice.curation"
    assert not (source / "mentions" / "debug.json").read_bytes().endswith(b"\n")
    mentions = imported(project, source, [("train.json", "validation")])
    again = as_json("import", project, source / "mentions" / "test.json", "--gold", "--split", "test")
    assert "already imported" in again["problems"][0]["problem"]["text"], "byte for byte what train.json holds"
    curator("link", project, "--lexical")
    assert len(linked(project, tmp_path / "linked.jsonl", source)) == mentions
    assert_identical(project, tmp_path / "out", source, ["train.json"])
    imported(tmp_path / "debug.curation", source, [("debug.json", "train")])
    assert_identical(tmp_path / "debug.curation", tmp_path / "debug", source, ["debug.json"])


@pytest.mark.soak
def test_a_changed_world_is_told(tmp_path: Path) -> None:
    """Mentions are read with the worlds beside them: where one of those is missing, nothing is imported."""
    broken, project = tmp_path / "broken", tmp_path / "p.curation"
    shutil.copytree(DEMO, broken)
    (broken / "documents" / "line_nine.json").unlink()
    curator("new", project)
    command = [sys.executable, "-m", "curator", "import", str(project), str(broken / "mentions" / "test.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 2
    assert "line_nine" in done.stderr
    assert as_json("info", project)["mentions"] == 0
