"""PubAnnotation read and written: types and identifiers in every manner, tracks, and what goes with a denotation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Passage, Span
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.standoff import pubannotation
from curator.io.standoff.pubannotation import PubAnnotationFormat
from tests.curator.io.standoff_samples import read, written

Put = Callable[..., Path]

DOCUMENT: dict[str, Any] = {
    "text": "\U0001f600 renal failure after aspirin",
    "sourcedb": "PubMed",
    "sourceid": "7",
    "project": "P",
    "denotations": [
        {"id": "T1", "span": {"begin": 2, "end": 15}, "obj": "Disease:D051437"},
        {"id": "T2", "span": {"begin": 22, "end": 29}, "obj": "mesh:D001241"},
        {"id": "T3", "span": [{"begin": 2, "end": 7}, {"begin": 16, "end": 21}], "obj": "Thing"},
    ],
    "relations": [{"id": "R1", "pred": "causes", "subj": "T2", "obj": "T1"}],
    "attributes": [
        {"id": "A1", "subj": "T3", "pred": "resolved_to", "obj": "X:1"},
        {"id": "A2", "subj": "R1", "pred": "sure", "obj": True},
    ],
    "tracks": [
        {
            "project": "Q",
            "namespaces": [],
            "denotations": [
                {"id": "T1", "span": {"begin": 2, "end": 15}, "obj": "http://purl.obolibrary.org/obo/DOID_1"}
            ],
        }
    ],
}


def dumped(*values: object, indent: int | None = 1) -> str:
    return json.dumps(list(values), indent=indent, ensure_ascii=False)


def test_types_and_identifiers_stand_in_many_places(put: Put) -> None:
    (found,), problems = read(PubAnnotationFormat(), put(dumped(DOCUMENT)))
    assert (found.external_id, found.title, problems) == ("7", DOCUMENT["text"], [])
    assert [(m.text, m.type, m.ids) for m in found.mentions] == [
        ("renal failure", "Disease", ("D051437",)),
        ("aspirin", "MESH", ("MESH:D001241",)),
        ("renal after", "Thing", ("X:1",)),
        ("renal failure", "DOID", ("DOID:1",)),
    ]


def test_namespaces_of_the_document_are_known(put: Put) -> None:
    names = [
        {"prefix": "_base", "uri": "http://purl.obolibrary.org/obo/"},
        {"prefix": "m", "uri": "http://id.nlm.nih.gov/mesh/"},
    ]
    spans = [{"span": {"begin": 0, "end": 1}, "obj": obj} for obj in ("DOID_4", "m:D01", "Other")]
    (found,), _ = read(PubAnnotationFormat(), put(dumped({"text": "a", "namespaces": names, "denotations": spans})))
    assert [(m.type, m.ids) for m in found.mentions] == [("DOID", ("DOID:4",)), ("MESH", ("MESH:D01",)), ("Other", ())]


@pytest.mark.parametrize(
    "text",
    [
        dumped(DOCUMENT),
        json.dumps(DOCUMENT),
        "\ufeff" + dumped(DOCUMENT, {"text": "", "sourceid": 3, "divid": 1}, indent=None) + "\n",
        json.dumps(DOCUMENT) + "\r\n" + json.dumps(DOCUMENT) + "\r\n",
    ],
)
def test_unchanged_files_go_back_byte_for_byte(make: SimpleNamespace, put: Put, text: str, tmp_path: Path) -> None:
    (out,) = written(make, PubAnnotationFormat(), put(text), tmp_path / "out.json")
    assert out.read_bytes().decode() == text


def changed(make: SimpleNamespace, put: Put, tmp_path: Path, **changes: Any) -> tuple[dict[str, Any], list[str]]:
    form = PubAnnotationFormat()
    (out,) = written(make, form, put(dumped(DOCUMENT)), tmp_path / "out.json", **changes)
    (value,) = json.loads(out.read_text())
    return value, [one.text for one in form.problems]


def test_decisions_are_written_where_the_document_says_them(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    verdicts = {
        0: Verdict.link("MESH:D1"),
        1: Verdict.nil(),
        2: Verdict.link("X:1", "no prefix"),
        3: Verdict.link("DOID:2"),
    }
    value, _ = changed(make, put, tmp_path, verdicts=verdicts)
    assert [one["obj"] for one in value["denotations"]] == ["Disease:MESH:D1", "MESH", "Thing"]
    (again,), _ = read(PubAnnotationFormat(), tmp_path / "out.json")
    assert [(m.type, m.ids, m.nil) for m in again.mentions] == [
        ("Disease", ("MESH:D1",), False),
        ("MESH", (), True),
        ("Thing", ("X:1", "no prefix"), False),
        ("DOID", ("DOID:2",), False),
    ]
    assert value["attributes"][:2] == DOCUMENT["attributes"]


def test_what_is_about_a_deleted_denotation_goes_with_it(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    value, problems = changed(make, put, tmp_path, removed=[1, 2])
    assert [one["id"] for one in value["denotations"]] == ["T1"]
    assert (value["relations"], value["attributes"]) == ([], [])
    assert value["tracks"] == DOCUMENT["tracks"]
    assert problems == ["document 7: R1 was removed together with the denotation it refers to"]


def test_new_mentions_get_keys_of_their_own(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    value, _ = changed(make, put, tmp_path, added=[((Span(2, 7), Span(22, 29)), "X", Verdict.link("A:1"))])
    assert value["denotations"][3] == {
        "id": "T4",
        "span": [{"begin": 2, "end": 7}, {"begin": 22, "end": 29}],
        "obj": "X",
    }
    assert value["attributes"][2] == {"id": "A3", "subj": "T4", "pred": "identifier", "obj": "A:1"}


def test_blocks_are_passages_and_wrong_places_are_set_aside(put: Put) -> None:
    value = {
        "text": "abc def",
        "blocks": [
            {"span": {"begin": 0, "end": 3}, "obj": "Title"},
            {"span": {"begin": 0, "end": 3}, "obj": "Sentence"},
        ],
        "denotations": [
            {"span": {"begin": begin, "end": end}, "obj": "X"}
            for begin, end in ((0, 8), (2, 2), (-1, 1), ("a", 1), (0, 3))
        ],
    }
    (found,), problems = read(PubAnnotationFormat(), put(dumped(value)))
    assert found.passages == (Passage("title", 0, 3),)
    assert len(found.mentions) == 1
    assert [one.partition(":")[0] for one in problems] == ["set aside"] * 4


@pytest.mark.parametrize("name", ["d", "d.zip"])
def test_folders_and_archives_of_files(put: Put, tmp_path: Path, name: str) -> None:
    from curator.io.files.export import write_files

    write_files(tmp_path / name, [(f"{n}.json", json.dumps({**DOCUMENT, "sourceid": str(n)}).encode()) for n in (1, 2)])
    assert default_registry().recognise(tmp_path / name).name == "pubannotation"
    found, _ = read(PubAnnotationFormat(), tmp_path / name)
    assert [one.external_id for one in found] == ["1", "2"]


@pytest.mark.parametrize(
    "text", ['[{"text": "a", "denotations": [', '{"tracks": []}', "[" * 100_000 + '"text" "tracks"']
)
def test_broken_files_are_sentences(put: Put, text: str) -> None:
    with pytest.raises(UserError):
        list(PubAnnotationFormat().open(put(text)))


def test_keys_behind_escapes_are_found_too() -> None:
    raw = json.dumps({**DOCUMENT, "attributes": [{"id": "A1", "subj": "T1", "pred": "certainty", "obj": "high"}]})
    hidden = raw.replace('"attributes"', '"\\u0061ttributes"').replace('"relations"', '"relation\\u0073"')
    assert hidden != raw
    form = PubAnnotationFormat()
    assert form.relations(hidden, "") == form.relations(raw, "") != []
    assert form.attributes_in(hidden) == form.attributes_in(raw) == {0: {"certainty": "high"}}


def test_only_documents_with_something_in_them_are_edited(
    make: SimpleNamespace, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited: list[str] = []
    text = pubannotation._Edit.text
    monkeypatch.setattr(pubannotation._Edit, "text", lambda self: edited.append(self.value["text"]) or text(self))
    source = "\n".join(json.dumps(one) for one in ({"text": "a", "sourcedb": "x"}, DOCUMENT, {"text": "b"})) + "\n"
    (out,) = written(make, PubAnnotationFormat(), put(source), tmp_path / "out.json")
    assert out.read_text(encoding="utf-8") == source
    assert edited == [DOCUMENT["text"]]
