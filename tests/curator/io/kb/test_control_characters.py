"""No knowledge base format brings a control character into an id or a name; each is reported with its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.entities import Entity
from curator.io.registry import default_registry

Put = Callable[..., Path]
TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix X: <http://x.org/X/> .
<http://x.org/X/1\\u0001> a skos:Concept ; skos:prefLabel "one" .
X:2 a skos:Concept ; skos:prefLabel "t\\u0000wo" ; skos:altLabel "zw\\u0002ei", "\\u0003" .
"""


def line(**values: object) -> str:
    return json.dumps(values) + "\n"


def stanza(number: str, name: str, *more: str) -> str:
    return "\n".join(("[Term]", f"id: X:{number}", f"name: {name}", *more, "", ""))


def node(number: str, name: str) -> dict[str, object]:
    return {"id": f"X:{number}", "lbl": name, "type": "CLASS", "meta": {"synonyms": [{"val": "zw\0ei"}]}}


TEXTS = {
    "jsonl": (line(id="X:1\0", name="one") + line(id="X:2", name="t\0wo", synonyms=["zw\1ei", "\2"]), [1, 2]),
    "obo": (
        f"format-version: 1.2\n\n{stanza(chr(49) + chr(1), 'one')}"
        + stanza("2", "t\1wo", 'synonym: "zw\2ei" EXACT []'),
        [3, 7],
    ),
    "table": ("id,name,synonyms\nX:1\1,one,\nX:2,t\1wo,zw\1ei|\2\n", [2, 3]),
    "skos": (TURTLE, [0, 0]),
    "obographs": (json.dumps({"graphs": [{"id": "x", "nodes": [node("1\0", "one"), node("2", "t\0wo")]}]}), [0, 0]),
    "ctd": ("# Fields:\n# PathwayName\tPathwayID\none\tX:1\1\nt\1wo\tX:2\n", [3, 4]),
    "zeshel": (
        line(title="one", text="one .", document_id="X:1\0") + line(title="t\1wo", text="two .", document_id="X:2"),
        [1, 2],
    ),
    "mesh-ascii": (
        "*NEWRECORD\nRECTYPE = D\nMH = one\nUI = D1\1\n\n*NEWRECORD\nRECTYPE = D\nMH = t\1wo\nUI = D2\n",
        None,
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_an_id_with_one_is_set_aside_and_a_name_loses_it(put: Put, name: str) -> None:
    text, lines = TEXTS[name]
    reader = default_registry().open_kb(put(text))
    assert reader.format == name
    found = {one.name: one for one in reader}
    assert "one" not in found
    assert "t wo" in found
    assert set(found["t wo"].synonyms) <= {"zw ei"}
    problems = [(one.severity, one.line) for one in reader.problems if "control" in one.text]
    assert [severity for severity, _ in problems] == ["set aside", "repaired"]
    assert lines is None or [where for _, where in problems] == lines


def test_what_is_obsolete_and_other_ids(put: Put) -> None:
    text = (
        line(id="X:1", name="one", alt_ids=["X:8\0", "X:9"], parents=["X:\0"], definition="a\n\0b", types=["T\0"])
        + line(id="X:2\0", name="old", obsolete=True, replaced_by=["X:1"])
        + line(id="X:3", name="older", obsolete=True, consider=["X:1", "X:\0"])
    )
    reader = default_registry().open_kb(put(text))
    assert list(reader) == [Entity("X:1", "one", types=("T",), definition="a\n b", alt_ids=("X:9",))]
    assert [(one.id, one.consider) for one in reader.obsolete] == [("X:3", ("X:1",))]
    assert [one.line for one in reader.problems if "control" in one.text] == [1, 2, 3]


def test_umls_rows(tmp_path: Path) -> None:
    row = "C000000{}|ENG|P|L1|PF|S1|Y|A1||M1|D1|NCI|MH|D1|{}|0|N||\n"
    (tmp_path / "MRCONSO.RRF").write_text(row.format(1, "one") + row.format(2, "t\1wo"), encoding="utf-8")
    reader = default_registry().open_kb(tmp_path)
    assert [one.name for one in reader] == ["one"]
    assert [one.line for one in reader.problems if "control" in one.text] == [2]
