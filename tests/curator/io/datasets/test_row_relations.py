"""Relations, events and coreferences of rows, and statements that cancel an annotation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from curator.domain.relations import SourceEnd, SourceRelation
from curator.io.datasets.huggingface import HuggingFaceFormat
from curator.io.registry import default_registry
from tests.curator.io.standoff_samples import read

Put = Callable[..., Path]

TEXT = "Aspirin helps in diabetes."
ENTITIES: list[dict[str, Any]] = [
    {"id": "e1", "label": "Chemical", "start": 0, "end": 7, "kb_id": "MESH:D1"},
    {"id": "e2", "label": "Disease", "start": 17, "end": 25, "kb_id": "MESH:D2"},
]
ENDS = (SourceEnd(record=0), SourceEnd(record=1))


def parsed(put: Put, *rows: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
    path = put("".join(json.dumps(one) + "\n" for one in rows), "d.jsonl")
    assert default_registry().recognise(path).name == "huggingface"
    return read(HuggingFaceFormat(), path)


def plain(entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in one.items() if key != "id"} for one in entities]


@pytest.mark.parametrize(
    ("relation", "entities"),
    [
        ({"id": "r1", "type": "treats", "arg1_id": "e1", "arg2_id": "e2", "normalized": []}, ENTITIES),
        ({"id": "r1", "type": "treats", "from_id": "e1", "to_id": "e2"}, ENTITIES),
        ({"id": "r1", "label": "treats", "head": "e1", "tail": "e2"}, ENTITIES),
        ({"id": "r1", "label": ["treats"], "head": 0, "tail": 1}, plain(ENTITIES)),
        ({"id": "r1", "predicate": "treats", "subject": {"id": "e1"}, "object": {"id": "e2"}}, ENTITIES),
        ({"id": "r1", "relation": "treats", "head": {"start": 0, "end": 7}, "tail": [17, 25]}, plain(ENTITIES)),
        ({"id": "r1", "relation": "treats", "head": {"offset": 0, "stop": 7}, "tail": [17, 25]}, plain(ENTITIES)),
        (
            {"id": "r1", "label": "treats", "head": 0, "child": 3}
            | {"head_span": {"start": 0, "end": 7}, "child_span": {"start": 17, "end": 25, "label": "Disease"}},
            plain(ENTITIES),
        ),
    ],
)
def test_the_ends_of_a_relation(put: Put, relation: dict[str, Any], entities: list[dict[str, Any]]) -> None:
    [document], problems = parsed(put, {"text": TEXT, "spans": entities, "relations": [relation]})
    assert HuggingFaceFormat().relations(document.raw, "") == [SourceRelation("r1", "treats", ENDS)]
    assert problems == []


@pytest.mark.parametrize(
    ("relation", "entities"), [(["e1", "e2", "treats"], ENTITIES), ([0, 1, "treats"], plain(ENTITIES))]
)
def test_a_relation_may_be_a_list(put: Put, relation: list[object], entities: list[dict[str, Any]]) -> None:
    [document], problems = parsed(put, {"text": TEXT, "spans": entities, "relations": [relation]})
    assert HuggingFaceFormat().relations(document.raw, "") == [SourceRelation("R1", "treats", ENDS)]
    assert problems == []


def test_a_relation_between_entities(put: Put) -> None:
    relation = {"subject": "MESH:D1", "object": "D2", "type": "CID"}
    [document], _ = parsed(put, {"text": TEXT, "entities": ENTITIES, "relations": [relation]})
    ends = (SourceEnd(entity="MESH:D1"), SourceEnd(entity="MESH:D2"))
    assert HuggingFaceFormat().relations(document.raw, "") == [SourceRelation("R1", "CID", ends)]


def test_events_and_coreferences_of_bigbio(put: Put) -> None:
    entities = [
        {"id": one["id"], "type": one["label"], "text": [TEXT[one["start"] : one["end"]]]}
        | {"offsets": [[one["start"], one["end"]]], "normalized": []}
        for one in ENTITIES
    ]
    events = [
        {"id": "v1", "type": "Help", "trigger": {"text": ["helps"], "offsets": [[8, 13]]}}
        | {"arguments": [{"role": "Cause", "ref_id": "e1"}, {"role": "Theme", "ref_id": "v2"}]},
        {"id": "v2", "type": "Nothing", "trigger": {"text": [], "offsets": []}, "arguments": []},
    ]
    row = {
        "document_id": "5",
        "passages": [{"id": "p", "type": "title", "text": [TEXT], "offsets": [[0, 26]]}],
        "entities": entities,
        "events": events,
        "coreferences": [{"id": "c1", "entity_ids": ["e1", "e2"]}],
        "relations": [{"id": "r", "type": "CID", "arg1_id": "e1", "arg2_id": "none", "normalized": []}],
    }
    [document], problems = parsed(put, row)
    event = (SourceEnd("trigger", name="helps"), SourceEnd("Cause", 0), SourceEnd("Theme", name="v2"))
    form = HuggingFaceFormat()
    assert form.relations(document.raw, "") == [
        SourceRelation("v1", "Help", event, fixed=True),
        SourceRelation("c1", "coreference", ENDS, fixed=True),
    ]
    assert form.holds_more(document.raw)
    assert problems == [
        "note: 1 entry of “relations” is left out: its ends are not mentions of the document",
        "note: 1 entry of “events” is left out: its ends are not mentions of the document",
    ]


def test_a_relation_of_a_mention_that_was_set_aside_is_counted(put: Put) -> None:
    beyond = [ENTITIES[0], ENTITIES[1] | {"start": 90, "end": 99}]
    relation = {"type": "treats", "from_id": "e1", "to_id": "e2"}
    [document], problems = parsed(put, {"text": TEXT, "entities": beyond, "relations": [relation]})
    assert document.raw == ""
    assert "1 entry of “relations” is left out" in problems[-1]


@pytest.mark.parametrize("kind", [7, "7", [7], {"id": 1, "name": "7"}])
def test_types_may_be_numbers(put: Put, kind: object) -> None:
    spans = [{"start_offset": 0, "end_offset": 7, "label": kind}]
    [document], _ = parsed(put, {"text": TEXT, "annotations": spans})
    assert [one.type for one in document.mentions] == ["7"]
    [document], _ = parsed(put, {"id": 1, "data": TEXT, "label": [[0, 7, 7]]})
    assert [(one.text, one.type) for one in document.mentions] == [("Aspirin", "7")]


@pytest.mark.parametrize(
    "said",
    [
        {"answer": "reject"},
        {"answer": "ignore"},
        {"status": "Discarded"},
        {"was_cancelled": True},
        {"isRejected": True},
        {"is_deleted": 1},
        {"approved": False},
        {"review_status": "rejected"},
    ],
)
def test_what_a_row_or_a_mention_cancels_is_no_gold(put: Put, said: dict[str, Any]) -> None:
    [(name, value)] = said.items()
    words = f"{name}: {str(value).lower()}"
    kept, cancelled = {"text": TEXT, "spans": ENTITIES}, {"text": TEXT, "spans": ENTITIES, **said}
    documents, problems = parsed(put, kept, cancelled, cancelled)
    assert [[one.ids for one in document.mentions] for document in documents] == [[("MESH:D1",), ("MESH:D2",)], [], []]
    assert problems == [f"note: 2 documents are marked “{words}”: their annotations are left out"]
    spans = [ENTITIES[0], ENTITIES[1] | said]
    [document], problems = parsed(put, {"text": TEXT, "spans": spans})
    assert [one.ids for one in document.mentions] == [("MESH:D1",)]
    assert problems == [f"note: 1 mention or relation is marked “{words}” and is left out"]


@pytest.mark.parametrize("said", [{"is_confirmed": False}, {"status": "pending"}, {"annotation_status": "Unlabelled"}])
def test_what_nobody_confirmed_is_no_decision(put: Put, said: dict[str, Any]) -> None:
    [(name, value)] = said.items()
    [document], problems = parsed(put, {"text": TEXT, "entities": ENTITIES, **said})
    assert [(one.text, one.ids, one.raw_ids, one.nil) for one in document.mentions] == [
        ("Aspirin", (), "", False),
        ("diabetes", (), "", False),
    ]
    words = f"{name}: {str(value).lower()}"
    assert problems == [f"note: 1 annotation is marked “{words}”: its identifiers are not read as decisions"]


@pytest.mark.parametrize("said", [{"answer": "accept"}, {"status": "approved"}, {"rejected": False}, {"valid": True}])
def test_what_is_accepted_is_gold(put: Put, said: dict[str, Any]) -> None:
    [document], problems = parsed(put, {"text": TEXT, "entities": ENTITIES, **said})
    assert [one.ids for one in document.mentions] == [("MESH:D1",), ("MESH:D2",)]
    assert problems == []


@pytest.mark.parametrize(
    ("accept", "ids", "nil"), [(["Q1"], ("Q1",), False), (["NIL_otherLink"], (), True), ([], (), False)]
)
def test_the_option_that_was_accepted_is_the_identifier(
    put: Put, accept: list[str], ids: tuple[str, ...], *, nil: bool
) -> None:
    options = [{"id": "Q1", "html": "one"}, {"id": "NIL_otherLink", "text": "none"}]
    spans = [{"start": 0, "end": 7, "label": "X"}]
    [document], problems = parsed(put, {"text": TEXT, "spans": spans, "options": options, "accept": accept})
    assert [(one.ids, one.nil) for one in document.mentions] == [(ids, nil)]
    assert len(problems) == (0 if accept else 1)


def test_relations_stored_as_an_object_of_lists(put: Put) -> None:
    stored = {"type": ["treats", "helps"], "head": ["e1", "e2"], "tail": ["e2", "gone"]}
    [document], problems = parsed(put, {"text": TEXT, "entities": ENTITIES, "relations": stored})
    assert [one.type for one in HuggingFaceFormat().relations(document.raw, "")] == ["treats"]
    assert problems == ["note: 1 entry of “relations” is left out: its ends are not mentions of the document"]


@pytest.mark.parametrize(
    "relations", [["a", 5], "text", [[0, 1, "treats"]], [{"type": "x"}], [{"head": {}, "tail": []}]]
)
def test_relations_of_an_unknown_form_are_counted(put: Put, relations: object) -> None:
    _, problems = parsed(put, {"text": TEXT, "entities": ENTITIES, "relations": relations})
    assert len(problems) == 1
    assert "of “relations”" in problems[0]
