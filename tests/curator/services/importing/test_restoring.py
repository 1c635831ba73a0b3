"""The program's own JSON lines into another project: everybody's decisions, comments and flags are there again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState, Split
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World, finish

COMMENT = {"author": "Eva", "at": "2026-01-02T00:00:00+00:00", "text": "Look again"}


def exported(world: World, tmp_path: Path) -> list[dict[str, Any]]:
    out = tmp_path / "out.jsonl"
    world.project.exporting.export(out, "decisions")
    return [json.loads(line) for line in out.read_text().splitlines()]


def changed(world: World, tmp_path: Path) -> Path:
    """Two documents as another project would have written them."""
    world.kb()
    world.documents(gold=True)
    (line, *_) = exported(world, tmp_path)
    mentions = line["mentions"]
    mentions[0] |= {"curator": "Ada", "note": "sure", "flagged": True, "comments": [COMMENT]}
    mentions[1] |= {"curator": "Bo", "entities": ["GONE:1"]}
    mentions[2] |= {"outcome": "rejected", "entities": [], "reason": "wrong-span", "curator": "Bo"}
    line |= {"id": "new", "split": "test", "state": "discuss", "flagged": True, "comments": [COMMENT]}
    path = tmp_path / "other.jsonl"
    path.write_text(json.dumps(line) + "\n")
    return path


def opened_of(world: World, path: Path, *, gold: bool) -> tuple[int, dict[str, int], list[str]]:
    report = finish(world.project.importing.documents([path], gold=gold))
    rows = world.project.queue.rows(QueueFilter(text="new"), offset=0, limit=5)
    return rows[-1].document_id, dict(report.counts), [one.problem.text for one in report.problems]


def test_with_gold_each_decision_is_its_curators(world: World, tmp_path: Path) -> None:
    document_id, counts, problems = opened_of(world, changed(world, tmp_path), gold=True)
    opened = world.project.queue.open(document_id)
    decisions = [view.decision for view in opened.mentions]
    assert decisions[0] is not None
    assert (decisions[0].curator, decisions[0].note) == ("Ada", "sure")
    assert decisions[1] is None, "an entity that is not in the knowledge base is no decision"
    assert decisions[2] is not None
    assert (decisions[2].verdict.outcome, decisions[2].curator) == (Outcome.REJECTED, "Bo")
    assert (counts["decisions"], counts["decisions left out"]) == (len(decisions) - 1, 1)
    assert any("1 decision" in one for one in problems)
    assert (opened.document.split, opened.document.state) == (Split.TEST, DocumentState.DISCUSS)


def test_without_gold_comments_and_flags_come_and_the_decisions_go_back(world: World, tmp_path: Path) -> None:
    document_id, _, _ = opened_of(world, changed(world, tmp_path), gold=False)
    opened = world.project.queue.open(document_id)
    assert [view.decision for view in opened.mentions] == [None] * len(opened.mentions)
    assert (opened.document.split, opened.document.state) == (Split.TEST, DocumentState.TODO)
    assert opened.mentions[0].mention.flagged
    assert [(one.author, one.mention_id) for one in world.project.notes.comments(document_id)] == [
        ("Eva", None),
        ("Eva", opened.mentions[0].mention.id),
    ]
    (tmp_path / "both").mkdir()
    world.project.exporting.export(tmp_path / "both", "decisions")
    line = json.loads((tmp_path / "both" / "other.jsonl").read_text())
    assert (line["flagged"], line["comments"]) == (True, [COMMENT])
    assert [one["curator"] for one in line["mentions"]][:3] == ["Ada", "Bo", "Bo"]
    assert line["mentions"][0]["comments"] == [COMMENT]


def test_a_split_that_is_wished_comes_before_the_one_that_the_file_says(world: World, tmp_path: Path) -> None:
    finish(world.project.importing.documents([changed(world, tmp_path)], split=Split.VALIDATION))
    rows = world.project.queue.rows(QueueFilter(text="new"), offset=0, limit=5)
    assert world.project.queue.open(rows[-1].document_id).document.split is Split.VALIDATION


def test_a_cancelled_import_takes_its_comments_along(world: World, tmp_path: Path) -> None:
    path = changed(world, tmp_path)
    line = json.loads(path.read_text())
    path.write_text("".join(json.dumps({**line, "id": f"new{n}"}) + "\n" for n in range(120)))
    before = world.project.queue.count(QueueFilter())
    steps = world.project.importing.documents([path])
    next(steps)
    steps.close()
    assert world.project.queue.count(QueueFilter()) == before
