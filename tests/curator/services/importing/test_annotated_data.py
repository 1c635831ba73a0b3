"""Data sets in a project: what an annotation cancels is no gold; relations and attributes arrive and are exported."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from curator.domain.decisions import Outcome
from tests.curator.services.fakes import World, finish

SPAN = {"start": 0, "end": 8, "label": "Chemical", "kb_id": "MESH:D008012"}


def test_what_a_row_rejects_makes_no_decision(world: World, tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    answers = ("accept", "reject", "ignore", "reject")
    path.write_text(
        "".join(json.dumps({"text": "Lidocain helps.", "spans": [SPAN], "answer": one}) + "\n" for one in answers)
    )
    finish(world.project.importing.knowledge_base(_kb(tmp_path)))
    report = finish(world.project.importing.documents([path], gold=True))
    assert +Counter(world.project.queue.counts().decisions_by_outcome) == {Outcome.LINK: 1}
    assert [one.problem.text for one in report.problems] == [
        "2 documents are marked “answer: reject”: their annotations are left out",
        "1 document is marked “answer: ignore”: its annotations are left out",
    ]


def test_relations_and_attributes_of_label_studio(world: World, tmp_path: Path) -> None:
    def region(id_: str, start: int, end: int, label: str) -> dict[str, object]:
        value = {"start": start, "end": end, "text": "Lidocain in gout."[start:end], "labels": [label]}
        return {"id": id_, "from_name": "l", "to_name": "text", "type": "labels", "value": value}

    results = [
        region("a", 0, 8, "Chemical"),
        region("b", 12, 16, "Disease"),
        {"id": "b", "from_name": "certainty", "to_name": "text", "type": "choices", "value": {"choices": ["sure"]}},
        {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right", "labels": ["treats"]},
    ]
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps([{"id": 1, "annotations": [{"result": results}], "data": {"text": "Lidocain in gout."}}])
    )
    project = world.project
    finish(project.importing.documents([path]))
    [relation] = project.relations.of_document(1)
    mentions = [view.mention for view in project.queue.open(1).mentions]
    assert (relation.type, relation.mention_ids) == ("treats", tuple(one.id for one in mentions))
    assert [one.name for one in project.file_attributes.found()] == ["certainty"]
    project.file_attributes.read(["certainty"])
    assert [len(view.attributes) for view in project.queue.open(1).mentions] == [0, 1]
    report = project.exporting.export(tmp_path / "out.json", "bioc-json")
    assert report.problems == ()
    assert '"treats"' in (tmp_path / "out.json").read_text()
    project.relations.delete(1, relation.name)
    assert project.relations.of_document(1) == []


def _kb(folder: Path) -> Path:
    path = folder / "kb.jsonl"
    path.write_text(json.dumps({"id": "MESH:D008012", "name": "Lidocaine", "types": ["Chemical"]}) + "\n")
    return path
