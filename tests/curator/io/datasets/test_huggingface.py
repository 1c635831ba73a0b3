"""Datasets on the disk: Arrow, Parquet and JSON lines; BigBIO's schema, marked words, texts with entities."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import ipc, parquet

from curator.domain.documents import Passage, Span, Split
from curator.domain.wording import UserError
from curator.io.datasets.huggingface import HuggingFaceFormat, split_of
from curator.io.registry import default_registry
from tests.curator.io.standoff_samples import read

Put = Callable[..., Path]

BIGBIO: dict[str, Any] = {
    "id": "0",
    "document_id": "227508",
    "passages": [
        {"id": "1", "type": "title", "text": ["Renal pain"], "offsets": [[0, 10]]},
        {"id": "2", "type": "abstract", "text": ["Of \U0001f600 kidney and heart failure."], "offsets": [[11, 39]]},
    ],
    "entities": [
        {"id": "3", "type": "Disease", "text": ["Renal pain"], "offsets": [[0, 10]]}
        | {"normalized": [{"db_name": "MESH", "db_id": "D1"}, {"db_name": "MESH", "db_id": "D2"}]},
        {"id": "4", "type": "Disease", "text": ["kidney", "failure"], "offsets": [[16, 22], [33, 40]]}
        | {"normalized": [{"db_name": "MESH", "db_id": "-1"}]},
        {"id": "5", "type": "Part", "text": ["heart"], "offsets": [[28, 33]], "normalized": []},
        {"id": "6", "type": "Part", "text": ["absent"], "offsets": [[28, 33]], "normalized": []},
    ],
    "relations": [],
}
TAGGED = {"id": "t", "tokens": ["Renal", "pain", "of", "Ada"], "ner_tags": [1, 2, 0, 3]}
NAMES = {"info": {"features": {"ner_tags": {"feature": {"names": ["O", "B-Disease", "I-Disease", "S-Person"]}}}}}


def table(*rows: dict[str, Any], names: dict[str, Any] | None = None) -> pyarrow.Table:
    found = pyarrow.Table.from_pylist(list(rows))
    return found.replace_schema_metadata({"huggingface": json.dumps(names)} if names else None)


def arrow(path: Path, rows: pyarrow.Table, *, stream: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with (ipc.new_stream if stream else ipc.new_file)(str(path), rows.schema) as writer:
        writer.write_table(rows)
    return path


def test_a_saved_dataset_of_bigbio(tmp_path: Path) -> None:
    folder = tmp_path / "bc5"
    arrow(folder / "validation" / "data-00000-of-00001.arrow", table(BIGBIO))
    arrow(folder / "validation" / "cache-12.arrow", table({"text": "no"}))
    (folder / "validation" / "dataset_info.json").write_text("{}")
    (folder / "dataset_dict.json").write_text('{"splits": ["validation"]}')
    assert default_registry().recognise(folder).name == "huggingface"
    (found,), problems = read(HuggingFaceFormat(), folder)
    assert (found.external_id, found.split) == ("227508", Split.VALIDATION)
    assert found.text == "Renal pain\nOf \U0001f600 kidney and heart failure."
    assert found.passages == (Passage("title", 0, 10), Passage("abstract", 11, len(found.text)))
    assert [(m.text, m.ids, m.nil) for m in found.mentions] == [
        ("Renal pain", ("MESH:D1", "MESH:D2"), False),
        ("kidney failure", (), True),
        ("heart", (), False),
    ]
    assert all(found.text[one.start : one.end] in m.text for m in found.mentions for one in m.spans)
    assert [one.partition(":")[0] for one in problems] == ["note", "repaired", "set aside"]


@pytest.mark.parametrize("stream", [True, False])
def test_marked_words_are_mentions(tmp_path: Path, stream: bool) -> None:
    path = arrow(
        tmp_path / "any.dat", table(TAGGED, {"id": "u", "tokens": ["x"], "ner_tags": [9]}, names=NAMES), stream=stream
    )
    assert default_registry().recognise(path).name == "huggingface"
    (found, other), _ = read(HuggingFaceFormat(), path)
    assert (found.text, found.split) == ("Renal pain of Ada", None)
    assert [(m.text, m.type, m.spans) for m in found.mentions] == [
        ("Renal pain", "Disease", (Span(0, 10),)),
        ("Ada", "Person", (Span(14, 17),)),
    ]
    assert other.mentions == ()


def test_parquet_files_of_a_folder_say_their_splits(tmp_path: Path) -> None:
    for split in ("train", "test"):
        path = tmp_path / "d" / "data" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table({"pmid": 7, "title": "T", "abstract": "Pain", "label": 1}), path)
    (tmp_path / "d" / "README.md").write_text("# card")
    assert default_registry().recognise(tmp_path / "d").name == "huggingface"
    found, problems = read(HuggingFaceFormat(), tmp_path / "d")
    assert [(one.external_id, one.title, one.text, one.split) for one in found] == [
        ("7", "T", "T\nPain", Split.TEST),
        ("7", "T", "T\nPain", Split.TRAIN),
    ]
    assert problems == ["note: 2 documents have the field “label”, which is not read"]


@pytest.mark.parametrize(
    ("entities", "expected"),
    [
        ([{"start": 0, "end": 4, "label": "D", "kb_id": "X:1"}], [("Pain", "D", ("X:1",), False)]),
        ([{"start": 1, "end": 5, "text": "Pain", "type": "D", "ids": ["NIL"]}], [("Pain", "D", (), True)]),
        ({"start": [0, 8], "end": [4, 11], "label": ["D", "P"]}, [("Pain", "D", (), False), ("ear", "P", (), False)]),
        ([{"start": 90, "end": 95, "label": "D"}], []),
        ([{"text": "Pain"}], []),
    ],
)
def test_texts_with_entities(put: Put, entities: object, expected: list[object]) -> None:
    path = put(json.dumps({"text": "Pain of ear", "entities": entities}) + "\n")
    assert default_registry().recognise(path).name == "huggingface"
    (found,), _ = read(HuggingFaceFormat(), path)
    assert found.external_id == "file 1"
    assert [(m.text, m.type, m.ids, m.nil) for m in found.mentions] == expected


def test_older_tags_are_read_too(put: Put) -> None:
    row = {"tokens": ["a", "b", "c", "d"], "tags": ["I-X", "I-Y", "Z", "L-Z"]}
    (found,), _ = read(HuggingFaceFormat(), put(json.dumps(row)))
    assert [(m.text, m.type) for m in found.mentions] == [("a", "X"), ("b", "Y"), ("c d", "Z")]


@pytest.mark.parametrize(("more", "kinds"), [({}, []), ({"ner": ["B-X", "O"]}, ["X"])])
def test_numbered_tags_without_names_are_not_read(put: Put, more: dict[str, object], kinds: list[str]) -> None:
    path = put(json.dumps({"tokens": ["a", "b"], "ner_tags": [1, 0]} | more))
    (found,), problems = read(HuggingFaceFormat(), path)
    assert [one.type for one in found.mentions] == kinds
    assert problems == ["note: 1 document has the field “ner_tags”, which is not read"]


def test_names_of_splits() -> None:
    assert split_of("data/dev.jsonl") is Split.VALIDATION
    assert split_of("trainer.arrow") is None


def test_what_is_damaged_or_holds_no_text_is_refused(put: Put, tmp_path: Path) -> None:
    whole = arrow(tmp_path / "a.arrow", table(TAGGED)).read_bytes()
    cases = (whole[:300], b"PAR1" + b"x" * 40, b"ARROW1\0\0abc")
    for data in cases:
        with pytest.raises(UserError, match="damaged"):
            list(HuggingFaceFormat().open(put(data)))
    with pytest.raises(UserError, match="no row with a text"):
        list(HuggingFaceFormat().open(arrow(tmp_path / "b.arrow", table({"x": 1}))))
    (tmp_path / "e").mkdir()
    with pytest.raises(UserError, match="contains no Arrow"):
        HuggingFaceFormat().open(tmp_path / "e")


def test_without_pyarrow_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = arrow(tmp_path / "a.arrow", table(TAGGED))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UserError, match="curator\\[datasets\\]"):
        list(HuggingFaceFormat().open(path))


@pytest.mark.parametrize("end", [b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff"], ids=["far behind", "before"])
def test_offsets_out_of_the_file_are_refused_and_not_followed(tmp_path: Path, end: bytes) -> None:
    path = arrow(tmp_path / "x.arrow", table({"text": "Renal pain"}))
    data, stored = path.read_bytes(), b"\0\0\0\0\x0a\0\0\0Renal pain"
    assert data.count(stored) == 1
    path.write_bytes(data.replace(stored, stored[:4] + end + stored[8:]))
    with pytest.raises(UserError, match=r"x\.arrow is damaged"):
        list(HuggingFaceFormat().open(path))


@pytest.mark.parametrize("key", ["label", "labels", "entities"])
def test_triples_of_doccano_and_spacy_are_mentions(tmp_path: Path, key: str) -> None:
    path = tmp_path / "doccano.jsonl"
    lines = [
        {"id": 1, "text": "Of \U0001f600 fever and pain.", key: [[5, 10, "Symptom"], [11, 14, 7], [15, 19, None]]},
        {"id": 2, "text": "Nothing.", key: []},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    [first, second], problems = read(HuggingFaceFormat(), path)
    assert [(one.text, one.type, one.spans) for one in first.mentions] == [
        ("fever", "Symptom", (Span(5, 10),)),
        ("and", "7", (Span(11, 14),)),
        ("pain", "entity", (Span(15, 19),)),
    ]
    assert second.mentions == ()
    assert problems == []


def test_what_of_a_list_is_no_mention_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "doccano.jsonl"
    labels = [[0, 5, "Symptom"], [9, 9, "Empty"], ["0", 3, "X"], "positive", [1, 2], [4, 99, "Beyond"]]
    path.write_text('{"id": 1, "text": "Nothing."}\n\n' + json.dumps({"id": 2, "text": "fever", "label": labels}))
    reader = HuggingFaceFormat().open(path)
    [_, document] = reader
    assert [one.text for one in document.mentions] == ["fever"]
    assert {one.line for one in reader.problems} == {3}
    told = "\n".join(one.text for one in reader.problems)
    for words in ('[9, 9, "Empty"]', '["0", 3, "X"]', '"positive"', "[1, 2]", "4-99"):
        assert words in told
    assert len(reader.problems) == 5
