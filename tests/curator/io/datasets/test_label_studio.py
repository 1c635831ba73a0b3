"""Label Studio: regions with their answers, one annotation of each task, both exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from curator.domain.relations import SourceEnd, SourceRelation
from curator.domain.wording import UserError
from curator.io.datasets.label_studio import LabelStudioFormat
from curator.io.registry import default_registry
from tests.curator.io.standoff_samples import read

Put = Callable[..., Path]

TEXT = "Aspirin \U0001f600 helps in diabetes."
DRUG, DISEASE = (0, 7), (20, 28)  # as JavaScript counts


def region(id_: str, place: tuple[int, int], label: str, **more: Any) -> dict[str, Any]:
    quote = TEXT.encode("utf-16-le")[2 * place[0] : 2 * place[1]].decode("utf-16-le")
    value = {"start": place[0], "end": place[1], "text": quote, "labels": [label]}
    return {"id": id_, "from_name": "label", "to_name": "text", "type": "labels", "value": value, **more}


def answer(id_: str, name: str, kind: str, value: object) -> dict[str, Any]:
    return {"id": id_, "from_name": name, "to_name": "text", "type": kind, "value": value}


def task(*results: dict[str, Any], data: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    annotation = {"id": 1, "completed_by": 1, "was_cancelled": False, "ground_truth": False, "result": list(results)}
    return {"id": 7, "annotations": [annotation], "data": data or {"text": TEXT}, "total_annotations": 1, **more}


BOTH = (region("a", DRUG, "Chemical"), region("b", DISEASE, "Disease"))


def found(put: Put, value: object, *, name: str = "t.json") -> tuple[list[Any], list[str]]:
    path = put(json.dumps(value), name)
    assert default_registry().recognise(path).name == "label-studio"
    documents, problems = read(LabelStudioFormat(), path)
    return documents, [one for one in problems if not one.startswith("repaired")]


def mentions(put: Put, *results: dict[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    [document], _ = found(put, [task(*results)])
    return [(one.text, one.type, one.ids) for one in document.mentions]


def test_offsets_of_javascript_are_found_by_the_quoted_text(put: Put) -> None:
    path = put(json.dumps([task(*BOTH)]), "t.json")
    [document], problems = read(LabelStudioFormat(), path)
    assert [(one.text, one.spans[0].start) for one in document.mentions] == [("Aspirin", 0), ("diabetes", 19)]
    assert problems == ['repaired: document 7: mention "diabetes": the offsets count UTF-16 units; read as 19-27']


@pytest.mark.parametrize(
    "said",
    [
        answer("a", "kb_id", "textarea", {"start": 0, "end": 7, "text": ["MESH:D001241"]}),
        answer("a", "anything", "textarea", {"text": ["MESH:D001241"]}),
        answer("a", "mesh", "textarea", {"text": ["D001241"]}),
        answer("a", "concept", "choices", {"choices": ["MESH:D001241"]}),
        answer("a", "link", "taxonomy", {"taxonomy": [["MESH:D001241"]]}),
        answer("a", "mesh", "taxonomy", {"taxonomy": [["Chemicals", "D001241"]]}),
        answer("a", "anything", "taxonomy", {"taxonomy": [["Chemicals", "Acids", "MESH:D001241"]]}),
        answer("other", "kb_id", "textarea", {"start": 0, "end": 7, "text": ["MESH:D001241"]}),
    ],
)
def test_an_answer_about_a_region_is_its_identifier(put: Put, said: dict[str, Any]) -> None:
    assert mentions(put, BOTH[0], said) == [("Aspirin", "Chemical", ("MESH:D001241",))]


@pytest.mark.parametrize(
    "more",
    [
        {"meta": {"text": ["MESH:D001241"]}},
        {"linkedEntities": [{"id": "MESH:D001241", "name": "Aspirin"}]},
        {"mesh_id": "D001241"},
    ],
)
def test_a_region_holds_its_identifier(put: Put, more: dict[str, Any]) -> None:
    assert mentions(put, BOTH[0] | more) == [("Aspirin", "Chemical", ("MESH:D001241",))]


def test_other_answers_about_a_region_are_attributes(put: Put) -> None:
    said = (
        answer("b", "certainty", "choices", {"start": 20, "end": 28, "choices": ["sure"]}),
        answer("b", "kind", "taxonomy", {"taxonomy": [["Disease", "Endocrine"]]}),
        answer("a", "nil", "textarea", {"text": ["NIL"]}),
    )
    [document], problems = found(put, [task(*BOTH, *said)])
    form = LabelStudioFormat()
    assert form.attributes_in(document.raw) == {1: {"certainty": "sure", "kind": "Disease / Endocrine"}}
    assert [one.nil for one in document.mentions] == [True, False]
    assert problems == []


def test_relations_have_a_direction(put: Put) -> None:
    link = {"type": "relation", "from_id": "b", "to_id": "a", "direction": "left", "labels": ["treats"]}
    lost = {"type": "relation", "from_id": "b", "to_id": "gone", "direction": "right", "labels": []}
    [document], problems = found(put, [task(*BOTH, link, lost)])
    ends = (SourceEnd(record=0), SourceEnd(record=1))
    assert LabelStudioFormat().relations(document.raw, "") == [SourceRelation("R1", "treats", ends)]
    assert problems == ["note: 1 entry of “relation” is left out: its ends are not mentions of the document"]


def test_of_several_annotations_one_is_read_and_the_others_are_counted(put: Put) -> None:
    of_others = [
        {"completed_by": 4, "was_cancelled": True, "result": [region("x", DRUG, "Skipped")]},
        {"completed_by": 5, "result": [region("x", DRUG, "First")]},
        {"completed_by": {"id": 6, "email": "a@b"}, "ground_truth": True, "result": [region("x", DRUG, "True")]},
    ]
    value = task() | {"annotations": of_others, "predictions": [{"result": []}], "drafts": []}
    [document], problems = found(put, [value])
    assert [one.type for one in document.mentions] == ["True"]
    end = "is left out: only one finished annotation of each document is read"
    assert sorted(problems) == [
        f"note: 1 entry of “annotations (was_cancelled: true)” {end}",
        f"note: 1 entry of “annotations by 5” {end}",
        f"note: 1 entry of “predictions” {end}",
    ]


def test_a_skipped_task_is_a_document_without_mentions(put: Put) -> None:
    value = task() | {"annotations": [{"was_cancelled": True, "result": [BOTH[0]]}]}
    [document], problems = found(put, [value])
    assert (document.text, document.mentions) == (TEXT, ())
    assert "“annotations (was_cancelled: true)”" in problems[0]


def test_regions_of_html_and_answers_about_the_document_are_named(put: Put) -> None:
    html = answer("h", "l", "hypertextlabels", {"start": "/p[1]", "startOffset": 0, "hypertextlabels": ["X"]})
    mood = answer("none", "mood", "choices", {"choices": ["good"]})
    [_], problems = found(put, [task(*BOTH, html, mood)])
    assert sorted(problems) == [
        "note: 1 document has the field “mood (choices)”, which is not read",
        "note: 1 region of the type “hypertextlabels” is left out",
    ]


def test_regions_of_html_without_markup_have_places(put: Put) -> None:
    value = {
        "start": "/text()[1]",
        "globalOffsets": {"start": 0, "end": 7},
        "text": "Aspirin",
        "hypertextlabels": ["X"],
    }
    assert mentions(put, answer("h", "l", "hypertextlabels", value)) == [("Aspirin", "X", ())]


@pytest.mark.parametrize(
    ("data", "key", "title"),
    [
        ({"text": TEXT}, "7", TEXT),
        ({"note": "short", "body_of_it": TEXT, "pmid": 5}, "5", TEXT),
        ({"text": TEXT, "title": "On Aspirin", "meta": {"doc_id": "x"}}, "x", "On Aspirin"),
    ],
)
def test_the_text_is_the_one_that_is_labelled(put: Put, data: dict[str, Any], key: str, title: str) -> None:
    [document], _ = found(put, [task(*BOTH, data=data)])
    assert (document.external_id, document.text, document.title, len(document.mentions)) == (key, TEXT, title, 2)


def test_a_region_with_two_labels_is_one_mention(put: Put) -> None:
    both = BOTH[0] | {"value": BOTH[0]["value"] | {"labels": ["Drug", "Acid"]}}
    assert mentions(put, both, region("a", DRUG, "Drug")) == [("Aspirin", "Drug/Acid", ())]


def test_an_annotation_in_a_file_of_its_own(put: Put) -> None:
    value = {"id": 1, "result": list(BOTH), "was_cancelled": False, "task": {"id": 3, "data": {"text": TEXT}}}
    [document], problems = found(put, value)
    assert (document.external_id, len(document.mentions), problems) == ("3", 2, [])


def row(number: int, *labels: tuple[tuple[int, int], str], **more: Any) -> dict[str, Any]:
    found = [region("", place, label)["value"] for place, label in labels]
    return {
        "text": TEXT,
        "id": 1,
        "label": found,
        "annotator": number,
        "annotation_id": number,
        "lead_time": 2.5,
    } | more


def test_rows_of_json_min(put: Put) -> None:
    said = [{"start": 0, "end": 7, "text": ["MESH:D001241"]}]
    sure = [{"start": 20, "end": 28, "text": "diabetes", "choices": ["sure"]}]
    rows = [row(1, (DRUG, "Chemical"), (DISEASE, "Disease"), kb=said, certainty=sure), row(2, (DRUG, "Other"))]
    [document], problems = found(put, rows)
    assert [(one.text, one.type, one.ids) for one in document.mentions] == [
        ("Aspirin", "Chemical", ("MESH:D001241",)),
        ("diabetes", "Disease", ()),
    ]
    assert LabelStudioFormat().attributes_in(document.raw) == {1: {"certainty": "sure"}}
    assert problems == [
        "note: 1 entry of “annotations by 2” is left out: only one finished annotation of each document is read"
    ]


@pytest.mark.parametrize("to_name", [["text"], None, 5])
def test_a_damaged_name_of_the_labelled_object_is_no_error(put: Put, to_name: object) -> None:
    assert mentions(put, BOTH[0] | {"to_name": to_name}) == [("Aspirin", "Chemical", ())]


@pytest.mark.parametrize("value", [[], [{"id": 1, "annotations": [], "data": {"image": 5}}]])
def test_a_file_without_texts_is_refused(put: Put, value: Sequence[object]) -> None:
    with pytest.raises(UserError, match="contains no row with a text"):
        list(LabelStudioFormat().open(put(json.dumps(value), "t.json")))
