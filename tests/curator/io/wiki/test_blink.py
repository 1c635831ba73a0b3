"""BLINK's lines: which make one document, what they say of an entity, and what goes back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.wiki import blink
from curator.io.wiki.blink import BlinkFormat
from tests.curator.io.standoff_samples import read, written

Put = Callable[..., Path]

LINE: dict[str, Any] = {
    "context_left": "The siege of",
    "mention": "Antioch",
    "context_right": ", long ago",
    "label": "Antioch is a city. ",
    "label_title": "Antioch",
    "label_id": 17,
    "world": "military",
    "context_doc_id": "A1",
    "batch": [1],
}
OTHER = {**LINE, "context_left": "The", "mention": "siege", "context_right": "of Antioch , long ago", "label_id": "0B"}


def lines(*values: object) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values)


def test_lines_of_the_same_text_are_one_document(put: Put) -> None:
    first = {**LINE, "context_right": ", long ago"}
    same = {**OTHER, "context_right": "of Antioch , long ago"}
    path = put(lines(first, same, {**first, "context_doc_id": "A2"}))
    assert default_registry().recognise(path).name == "blink"
    found, problems = read(BlinkFormat(), path)
    assert [(one.external_id, one.text, len(one.mentions)) for one in found] == [
        ("A1", "The siege of Antioch , long ago", 2),
        ("A2", "The siege of Antioch , long ago", 1),
    ]
    assert problems == []
    assert [(m.text, m.spans, m.type, m.ids) for m in found[0].mentions] == [
        ("Antioch", (Span(13, 20),), "military", ("Antioch",)),
        ("siege", (Span(4, 9),), "military", ("0B",)),
    ]


@pytest.mark.parametrize(
    ("label", "ids", "nil"),
    [
        ({"label_id": "MESH:D1"}, ("MESH:D1",), False),
        ({"label_id": 5}, ("5",), False),
        ({"label_id": -1, "label": "unknown"}, (), False),
        ({"label_id": -1, "label_title": "Rome"}, ("Rome",), False),
        ({"label_id": "NIL"}, (), True),
        ({"label_id": 5, "label_document_id": "0A"}, ("0A",), False),
        ({"label_id": "a", "entity_ids": ["a", "b"]}, ("a", "b"), False),
        ({}, (), False),
    ],
)
def test_what_a_line_says_of_the_entity(put: Put, label: dict[str, Any], ids: tuple[str, ...], nil: bool) -> None:
    line = {"context_left": "", "mention": " Rome ", "context_right": "fell", "id": 3, **label}
    (found,), _ = read(BlinkFormat(), put(lines(line)))
    (mention,) = found.mentions
    assert (found.external_id, found.text, mention.spans) == ("3", " Rome fell", (Span(1, 5),))
    assert (mention.ids, mention.nil) == (ids, nil)


def test_unchanged_lines_go_back_with_all_their_keys(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    form = BlinkFormat()
    (out,) = written(make, form, put(lines(LINE, OTHER)), tmp_path / "out.jsonl")
    assert [json.loads(one) for one in out.read_text().splitlines()] == [LINE, OTHER]
    assert form.problems == []


def test_a_decision_takes_the_place_of_what_the_line_said(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    form = BlinkFormat()
    verdicts = {0: Verdict.link("X:1", "X:2"), 1: Verdict.nil()}
    (out,) = written(make, form, put(lines(LINE, LINE)), tmp_path / "out.jsonl", verdicts=verdicts)
    first, second = [json.loads(one) for one in out.read_text().splitlines()]
    assert (first["label_id"], first["entity_ids"], first["label_title"], first["label"]) == (
        "X:1",
        ["X:1", "X:2"],
        "",
        "",
    )
    assert (second["label_id"], second["batch"], second["context_right"]) == ("NIL", [1], " , long ago")
    assert ["2 lines have no" in one.text for one in form.problems] == [True]
    (again_read,), _ = read(BlinkFormat(), out)
    assert [(m.ids, m.nil) for m in again_read.mentions] == [(("X:1", "X:2"), False), ((), True)]


def test_what_a_line_cannot_hold_is_told(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    form = BlinkFormat()
    added = [((Span(0, 3), Span(13, 20)), "X", Verdict.link("A:1"))]
    written(make, form, put(lines(LINE)), tmp_path / "out.jsonl", added=added, removed=[0])
    assert "is discontinuous" in form.problems[0].text
    assert "1 document without mentions" in form.problems[1].text


def test_what_several_files_lack_is_said_once(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    form = BlinkFormat()
    files = []
    for number in (1, 2):
        path = put(lines(LINE, LINE), f"{number}.jsonl")
        reader = form.open(path)
        (one,) = reader
        bare = dataclasses.replace(one, external_id="bare", mentions=())
        items = [make.export(one, verdicts={0: Verdict.link("X:1")}), make.export(bare)]
        files.append((make.file(path, reader), items))
    form.write(files, tmp_path / "out.jsonl")
    assert [one.text for one in form.problems if "without" in one.text] == [
        "BLINK has one line for each mention: 2 documents without mentions were left out"
    ]
    assert [one.text[:7] for one in form.problems if "label_title" in one.text] == ["2 lines"]


@pytest.mark.parametrize("line", ["{", '{"mention": 1}', json.dumps({**LINE, "mention": " "})])
def test_lines_that_cannot_be_read_are_set_aside(put: Put, line: str) -> None:
    reader = BlinkFormat().open(put(lines(LINE) + line + "\n"))
    assert len(list(reader)) == 1
    assert [(one.line, one.severity) for one in reader.problems] == [(2, "set aside")]
    with pytest.raises(UserError):
        list(BlinkFormat().open(put(line + "\n", "b.jsonl")))


def test_an_export_that_would_fill_the_disk_is_refused(make: SimpleNamespace, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(blink, "SMALL", 10_000)
    text = "word " * 150
    mentions = [SourceMention((Span(at, at + 4),), "word", "Disease") for at in range(0, len(text), 5)]
    form, file = BlinkFormat(), SourceFile(1, "x", "x", "other", "")

    def export(*counts: int) -> None:
        found = [make.export(SourceDocument(f"D{n}", "", text, (), tuple(mentions[:n]))) for n in counts]
        items = [make.fresh(one, [("D1",)] * len(one.mentions)) for one in found]
        form.write([(file, items)], tmp_path / "x.jsonl")

    export(10, 13, 0, 150)  # within a hundred times the text of all
    with pytest.raises(UserError, match=r"document D150.*more than 0 MB.*nothing was changed"):
        export(150, 10)
    assert [one.name for one in tmp_path.iterdir()] == ["x.jsonl"]
    assert len((tmp_path / "x.jsonl").read_text().splitlines()) == 173
