"""The program's own JSON lines: described by their schema, read as they were written, and errors are reported."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

import resources
from curator.domain.audit import Comment
from curator.domain.decisions import FileComment, FileDecision, NilReason, Verdict
from curator.domain.documents import DocumentState, Passage, SourceDocument, SourceFile, Span, Split
from curator.domain.wording import UserError
from curator.io.datasets.decisions import DecisionsFormat
from curator.io.registry import default_registry
from tests.curator.io.standoff_samples import read

Put = Callable[..., Path]

AT = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = json.loads((Path(resources.__file__).parent / "schemas/documents.schema.json").read_text())
LINE: dict[str, Any] = {
    "format": "curator-documents",
    "id": "7",
    "file": "first.txt",
    "occurrence": 0,
    "title": "Pain",
    "split": "test",
    "state": "done",
    "flagged": True,
    "text": "\U0001f600 renal and heart failure",
    "passages": [{"kind": "title", "start": 0, "end": 25, "label": "T"}],
    "comments": [{"author": "Eva", "at": AT.isoformat(), "text": "Look again"}],
    "mentions": [
        {
            "spans": [[2, 7], [18, 25]],
            "text": "renal failure",
            "type": "Disease",
            "origin": "detected",
            "stated": "D1|D2",
            "outcome": "link",
            "entities": ["MESH:D1", "MESH:D2"],
            "reason": None,
            "curator": "Ada",
            "at": AT.isoformat(),
            "note": "sure",
            "flagged": False,
            "comments": [{"author": "Bo", "at": AT.isoformat(), "text": "Really?"}],
            "score": 0.5,
        },
        {"spans": [[12, 25]], "text": "heart failure", "type": "Disease", "outcome": "nil", "reason": "too-general"}
        | {"curator": "Bo", "at": AT.isoformat()},
        {"spans": [[2, 7]], "text": "renal", "type": "Part", "stated": "X:1"},
    ],
    "batch": 3,
}


def lines(*values: object) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values)


def valid(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for one in found:
        jsonschema.Draft202012Validator(SCHEMA).validate(one)
    return found


def test_a_line_says_all_that_a_project_knows(put: Put) -> None:
    path = put(lines(LINE))
    assert default_registry().recognise(path).name == "decisions"
    (found,), problems = read(DecisionsFormat(), path)
    assert problems == []
    assert (found.external_id, found.title, found.text) == ("7", "Pain", LINE["text"])
    assert (found.split, found.state, found.flagged) == (Split.TEST, DocumentState.DONE, True)
    assert found.passages == (Passage("title", 0, 25, "T"),)
    assert found.comments == (FileComment("Eva", AT, "Look again"),)
    first, second, third = found.mentions
    assert first.spans == (Span(2, 7), Span(18, 25))
    assert first.ids == ("MESH:D1", "MESH:D2")
    assert first.decision == FileDecision(Verdict.link("MESH:D1", "MESH:D2"), "Ada", AT, "sure")
    assert first.comments == (FileComment("Bo", AT, "Really?"),)
    assert (second.nil, second.decision) == (True, FileDecision(Verdict.nil(NilReason.TOO_GENERAL), "Bo", AT))
    assert (third.ids, third.decision, third.nil) == (("X:1",), None, False)


def test_what_was_read_goes_back_with_keys_that_are_not_ours(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    path = put(lines(LINE))
    form = DecisionsFormat()
    reader = form.open(path)
    (found,) = list(reader)
    (out,) = form.write([(make.file(path, reader), [make.export(found)])], tmp_path / "out.jsonl")
    (line,) = valid(out)
    changed = ("split", "flagged", "comments")  # the test's project does not keep them
    assert {key: line[key] for key in LINE if key not in (*changed, "mentions")} == {
        key: LINE[key] for key in LINE if key not in (*changed, "mentions")
    }
    for wrote, came in zip(line["mentions"], LINE["mentions"], strict=True):
        assert {key: wrote[key] for key in came if key != "comments"} == {
            key: came[key] for key in came if key != "comments"
        }


def test_a_new_decision_takes_the_place_of_the_one_that_came(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    path = put(lines(LINE))
    form = DecisionsFormat()
    reader = form.open(path)
    (found,) = list(reader)
    item = make.export(found, verdicts={0: Verdict.reject()}, removed=[1])
    item = dataclasses.replace(item, comments=(Comment(1, 1, 0, "Cy", AT, "no"),), flagged=True)
    (out,) = form.write([(make.file(path, reader), [item])], tmp_path / "out.jsonl")
    (line,) = valid(out)
    assert [one["outcome"] for one in line["mentions"]] == ["rejected", None]
    assert line["mentions"][0]["curator"] == "a curator"
    assert line["mentions"][0]["comments"] == [{"author": "Cy", "at": AT.isoformat(), "text": "no"}]
    assert (line["mentions"][0]["score"], line["flagged"], line["comments"]) == (0.5, True, [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spans": [[900, 901]], "text": "absent"}, "set aside"),
        ({"spans": "x"}, "set aside"),
        ({"spans": [[3, 8], [19, 26]]}, "repaired"),
        ({"outcome": "link", "entities": []}, "set aside"),
        ({"outcome": "nil", "reason": "unsure"}, "set aside"),
        ({"at": "yesterday"}, "set aside"),
    ],
)
def test_what_cannot_be_is_told_with_its_line(put: Put, change: dict[str, Any], said: str) -> None:
    line = {**LINE, "mentions": [{**LINE["mentions"][0], **change}]}
    reader = DecisionsFormat().open(put(lines(LINE, line)))
    list(reader)
    assert [(one.line, one.severity) for one in reader.problems] == [(2, said)]


@pytest.mark.parametrize("line", ["{", '{"id": 1}', '[["text"]]', '{"id": "", "text": ""}', '{"id": "1", "text": 2}'])
def test_lines_that_are_no_documents_are_set_aside(put: Put, line: str) -> None:
    reader = DecisionsFormat().open(put(lines(LINE) + line + "\n"))
    assert len(list(reader)) == 1
    assert [(one.line, one.severity) for one in reader.problems] == [(2, "set aside")]
    with pytest.raises(UserError):
        list(DecisionsFormat().open(put(line + "\n", "other.jsonl")))


def test_what_is_written_of_any_project_fits_the_schema(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    source = SourceDocument("1", "", "a b", (Passage("section", 0, 3),), ())
    item = make.export(source, added=[(Span(0, 1), "X", None), (Span(2, 3), "X", Verdict.skip())])
    (out,) = DecisionsFormat().write([(SourceFile(1, "x", "x", "brat", ""), [item])], tmp_path / "out.jsonl")
    assert [one["outcome"] for one in valid(out)[0]["mentions"]] == [None, "skipped"]
