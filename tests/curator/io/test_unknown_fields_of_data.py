"""Every reader of data sets, tables and wikis names a field that it does not know; no field vanishes in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curator.io.registry import default_registry
from tests.curator.io.standoff_samples import read

Put = Callable[..., Path]

TEXT = "Aspirin helps in diabetes."
SPAN = {"start": 0, "end": 7}
NEW = {"stance_of_it": "for"}


def lines(*rows: Any) -> str:
    return "".join(json.dumps(one) + "\n" for one in rows)


def bigbio(*, row: dict[str, Any] | None = None, entity: dict[str, Any] | None = None) -> str:
    passages = [{"id": "p", "type": "title", "text": [TEXT], "offsets": [[0, 26]]}]
    found = {"id": "e", "type": "X", "text": ["Aspirin"], "offsets": [[0, 7]], "normalized": []} | (entity or {})
    return lines({"id": "1", "document_id": "5", "passages": passages, "entities": [found]} | (row or {}))


def task(*, of: str) -> str:
    result = {"id": "a", "type": "labels", "to_name": "text", "value": SPAN | {"text": "Aspirin", "labels": ["X"]}}
    value = {"id": 1, "annotations": [{"result": [result]}], "data": {"text": TEXT}, "predictions": []}
    if of == "region":
        result |= NEW
    elif of == "value":
        result["value"] |= NEW  # type: ignore[operator]
    elif of == "data":
        value["data"] |= NEW  # type: ignore[operator]
    else:
        value |= NEW
    return json.dumps([value])


CASES = {
    "a row": ("d.jsonl", lines({"text": TEXT, "spans": [SPAN | {"label": "X"}]} | NEW)),
    "a mention": ("d.jsonl", lines({"text": TEXT, "spans": [SPAN | {"label": "X"} | NEW]})),
    "a relation": (
        "d.jsonl",
        lines({"text": TEXT, "spans": [SPAN | {"label": "X"}], "relations": [{"head": 0, "tail": 0} | NEW]}),
    ),
    "Prodigy": ("d.jsonl", lines({"text": TEXT, "answer": "accept", "_task_hash": 1, "spans": [SPAN]} | NEW)),
    "a rejected row": ("d.jsonl", lines({"text": TEXT, "answer": "reject", "spans": [SPAN]} | NEW)),
    "doccano": ("d.jsonl", lines({"id": 1, "data": TEXT, "label": [[0, 7, "X"]], "Comments": []} | NEW)),
    "doccano's relations": (
        "d.jsonl",
        lines({"id": 1, "text": TEXT, "entities": [{"id": 1, "label": "X", "start_offset": 0, "end_offset": 7} | NEW]}),
    ),
    "a list of rows": ("d.json", json.dumps([{"text": TEXT, "entities": [SPAN]} | NEW])),
    "marked words": ("d.jsonl", lines({"tokens": ["a", "b"], "ner_tags": ["B-X", "O"]} | NEW)),
    "BigBIO": ("d.jsonl", bigbio(row=NEW)),
    "an entity of BigBIO": ("d.jsonl", bigbio(entity=NEW)),
    "Label Studio": ("t.json", task(of="task")),
    "data of Label Studio": ("t.json", task(of="data")),
    "a region of Label Studio": ("t.json", task(of="region")),
    "a region's value": ("t.json", task(of="value")),
    "JSON_MIN": (
        "t.json",
        json.dumps([{"text": TEXT, "id": 1, "label": [SPAN | {"text": "Aspirin", "labels": ["X"]}]} | NEW]),
    ),
    "a mention of JSON_MIN": (
        "t.json",
        json.dumps([{"text": TEXT, "id": 1, "label": [SPAN | {"text": "Aspirin", "labels": ["X"]} | NEW]}]),
    ),
    "a table": ("t.csv", f"document,text,mention,type,stance_of_it\n1,{TEXT},Aspirin,X,for\n"),
    "a table of texts": ("t.csv", f"document,title,text,stance_of_it\n1,A,{TEXT},for\n"),
}


@pytest.mark.parametrize(("name", "text"), CASES.values(), ids=CASES)
def test_an_unknown_field_is_named(put: Put, name: str, text: str) -> None:
    path = put(text, name)
    _, problems = read(default_registry().recognise(path), path)
    assert ["stance_of_it" in one and "not read" in one for one in problems].count(True) == 1, problems


DOCUMENT = lines({"document_id": "D1", "title": "T", "text": TEXT} | NEW)
MENTION = lines(
    {"mention_id": "M1", "corpus": "w", "context_document_id": "D1", "label_document_id": "D1", "text": "Aspirin"}
    | {"category": "HIGH_OVERLAP", "start_index": 0, "end_index": 0}
    | NEW
)
BLINK = lines({"context_left": "", "mention": "Aspirin", "context_right": " helps", "label_id": 1} | NEW)


@pytest.mark.parametrize("name", ["mentions/w.json", "documents/w.json", "blink.jsonl"])
def test_a_field_that_is_kept_for_the_export_is_used(tmp_path: Path, name: str) -> None:
    for one, text in {"documents/w.json": DOCUMENT, "mentions/w.json": MENTION, "blink.jsonl": BLINK}.items():
        (tmp_path / one).parent.mkdir(exist_ok=True)
        (tmp_path / one).write_text(text)
    reader = default_registry().recognise(tmp_path / name).open(tmp_path / name)
    assert all("stance_of_it" in document.raw for document in reader)
    assert reader.problems == []


@pytest.mark.parametrize(
    "field",
    ["_input_hash", "meta", "created_at", "annotator", "version", "score", "token_start"],
)
def test_what_only_keeps_books_is_not(put: Put, field: str) -> None:
    path = put(lines({"text": TEXT, "spans": [SPAN | {"label": "X", field: 3}], field: 3}), "d.jsonl")
    assert read(default_registry().recognise(path), path)[1] == []


def test_an_empty_field_is_not(put: Put) -> None:
    path = put(f"document,text,mention,stance_of_it\n1,{TEXT},Aspirin,\n", "t.csv")
    assert read(default_registry().recognise(path), path)[1] == []


def test_an_answer_that_is_a_text_is_named(put: Put) -> None:
    path = put(lines({"text": TEXT, "answer": "It helps those whose sugar is high, said the doctor."}), "d.jsonl")
    problems = read(default_registry().recognise(path), path)[1]
    assert problems == ["note: 1 document has the field “answer”, which is not read"]


def test_many_fields_are_counted_together(put: Put) -> None:
    path = put(lines({"text": TEXT} | {f"field_{number}": 1 for number in range(100)}), "d.jsonl")
    problems = read(default_registry().recognise(path), path)[1]
    assert len(problems) == 31
    assert "“…”" in problems[-1]


@pytest.mark.parametrize(
    ("cells", "ids", "said"),
    [
        ("rejected", None, "1 mention or relation is marked “review_status: rejected” and is left out"),
        ("pending", (), "1 annotation is marked “review_status: pending”: its identifiers are not read as decisions"),
        ("ok", ("MESH:D1",), ""),
    ],
)
def test_a_column_of_a_table_cancels_a_mention(put: Put, cells: str, ids: tuple[str, ...] | None, said: str) -> None:
    path = put(f"document,text,mention,ids,review_status\n1,{TEXT},Aspirin,MESH:D1,{cells}\n", "t.csv")
    [document], problems = read(default_registry().recognise(path), path)
    assert [one.ids for one in document.mentions] == ([] if ids is None else [ids])
    assert problems == ([f"note: {said}"] if said else [])


def test_a_skipped_mention_of_a_written_table_is_undecided(put: Put) -> None:
    path = put(f"document,text,mention,ids,outcome\n1,{TEXT},Aspirin,MESH:D1,skipped\n", "t.csv")
    [document], problems = read(default_registry().recognise(path), path)
    assert [(one.ids, one.nil) for one in document.mentions] == [((), False)]
    assert problems == ["note: 1 annotation is marked “outcome: skipped”: its identifiers are not read as decisions"]
