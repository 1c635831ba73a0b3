"""DocBin without spaCy: a file that spaCy wrote, what we write, and what is refused."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgpack
import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import SourceDocument, Span
from curator.domain.wording import UserError
from curator.io.datasets.docbin import GROUP, DocBinFormat, DocBinTokens, groups_of, string_id
from curator.io.registry import default_registry
from tests.curator.io.standoff_samples import read

Put = Callable[..., Path]

SPACY = (
    "eJzrWl6WWlScmZ+32EDPcGliSUlR8VxHZ08vbx9fP/+As4xHzjIePct4bFlJfnZqXvFRVo/TDtsOXip2/uxuKiiyy+lIGQMBwAylpQ483rjN"
    "yOQTTJwRSm9fzJJhLCo7BV3fvp2hxx4+9OaB0YTsYSKkAAdYv/qgQJWTBjOMppU9jP2ynLvuvzgAo2llz8TY38xLPqecg9G0smenmFR379s/"
    "yjCaVvZU73gmq3vcbiaMppU9iw6t8Xlzs349jKaVPX0zd6bMTJvNA6NpZc/86Vbqi9+cniNWZCw9wX3dBlrZI/jD7dBnq8wyGE0re85dk9c5"
    "uyl2FoymlT2303ZlL9j78d3K6+ZbD26r/kOmMfDyDRdYVlyQmJxafISXEQjAqkF4eU5qXnpJRvERHh4kM5YXlxRl5qUX32EQW7CIi2uhwkKd"
    "hXrLXTKLUxOLU5f7ugZ7WLkYLglIzMxbGLgsODU5Py9lcYSV4cLIxZGpxYtTE4sW5VYuyk9bUgBUsawYLL+0JD8lsXJhxeLK1OIlH+bPaFiS"
    "nFhSPLlxYeJp+w8QWxsalqblJKYDBTdlJBbHl+Zl5+WX58VD3H2IeMHVQDovPr0ov7SgePKRosYj2c1L8hJzUxcVJ0MqnIalIBXFk45owAJH"
    "qaLpgcNWp0ufTIy2bXx8QAoqDCucuY5oFHmZpcS63OiB6XidkhqWtLIjkgES8yxAzAHEPBOBthxhnABEK0uLU4viUxJLEicfEW5alJmyJCU/"
    "2XDKYr14vYUVBw4wH2FsACIAJe0hqg=="
)
"""Three documents as spaCy 3.8 wrote them: one with an entity and two spans, one with a word, an empty one."""


def packed(change: dict[str, Any]) -> bytes:
    content = msgpack.unpackb(zlib.decompress(base64.b64decode(SPACY)), strict_map_key=False)
    return zlib.compress(msgpack.packb({key: one for key, one in (content | change).items() if one is not None}))


def test_strings_are_hashed_as_spacy_does() -> None:
    assert string_id("hello") == 5983625672228268878
    assert string_id("\U0001f600\u00e9") == 4673430200946311244
    assert (string_id(""), string_id("IS_ALPHA"), string_id("ENT_KB_ID")) == (0, 1, 452)


def test_what_spacy_wrote_is_read(put: Put) -> None:
    path = put(base64.b64decode(SPACY), "train.dat")
    assert default_registry().recognise(path).name == "docbin"
    (first, second, third), problems = read(DocBinFormat(), path)
    assert (first.external_id, first.text) == ("doc1", "Pain of my \U0001f600 ear, today.\n\nYes  x")
    assert [(m.text, m.type, m.ids) for m in first.mentions] == [
        ("Pain", "Disease", ("MESH:D1",)),
        ("Pain of my", "Disease", ("X:1",)),
        ("my \U0001f600", "Y", ()),
    ]
    assert (second.text, third.text, second.external_id) == ("Second", "", "document 2")
    assert problems == [
        "note: parts of speech, lemmas, dependencies and similar annotations are not read",
        "note: 1 document has the field “x”, which is not read",
        "note: 1 document has the field “cats”, which is not read",
    ]


def test_entities_are_those_that_do_not_overlap_and_spans_are_all(make: SimpleNamespace, tmp_path: Path) -> None:
    source = SourceDocument("7", "T", "renal failure, and pain ", (), ())
    linked = Verdict.link("A:1", "B|2")
    added = [
        (Span(0, 13), "agent", linked),
        (Span(6, 13), "Y", Verdict.nil()),
        ((Span(0, 5), Span(19, 23)), "Z", linked),
        (Span(19, 24), "Y", linked),
        (Span(0, 5), "Y", Verdict.reject()),
    ]
    form = DocBinFormat()
    file = make.file(tmp_path / "x", SimpleNamespace(format="brat", head="", tail="", extra=""))
    (out,) = form.write([(file, [make.export(source, added=added)])], tmp_path / "out.spacy")
    tokens = DocBinTokens(out, zlib.decompress(out.read_bytes()))
    text, places = tokens.text(0)
    assert text == source.text
    found = [(text[places[start][0] : places[end - 1][1]], *more) for start, end, *more in tokens.entities(0)]
    assert found == [("renal failure", "agent", '["A:1", "B|2"]'), ("pain ", "Y", '["A:1", "B|2"]')]
    assert [one[2:] for one in groups_of(tokens, 0)][1] == ("Y", "NIL")
    said = [one.text for one in form.problems]
    assert any("is discontinuous" in one for one in said)
    assert any("1 mention overlaps others" in one and GROUP in one for one in said)
    assert any("is rejected" in one for one in said)


@pytest.mark.parametrize(
    "data",
    [
        base64.b64decode(SPACY)[:-30],
        packed({"tokens": b"1234567"}),
        packed({"tokens": b"12345678"}),
        packed({"lengths": None}),
        packed({"attrs": [77]}),
        packed({"attrs": "x"}),
        packed({"strings": [1], "spaces": b""}),
        zlib.compress(msgpack.packb({"version": "0.1", "attrs": []})[:-1]),
        zlib.compress(msgpack.packb({"version": "0.1", "attrs": [], "tokens": b"\0" * (30 << 20)})),
        b"\x78\x9cno",
    ],
)
def test_what_is_damaged_is_refused(put: Put, data: bytes) -> None:
    with pytest.raises(UserError):
        list(DocBinFormat().open(put(data)))


@pytest.mark.parametrize("groups", [[], [b"", b"\xff", b"\x90"], [1, {}, None], [msgpack.packb({b"x": 1})] * 3])
def test_groups_that_cannot_be_read_are_none(put: Put, groups: list[object]) -> None:
    (first, *_), _ = read(DocBinFormat(), put(packed({"span_groups": groups, "user_data": [b"\xff", 1]})))
    assert [m.text for m in first.mentions] == ["Pain"]


def test_user_data_and_categories_that_are_not_read_are_named(put: Put) -> None:
    data = msgpack.packb({"id": "x", "answer_of": 1, ("._.", "relations", 0, 4): [1], "meta": 5})
    _, problems = read(DocBinFormat(), put(packed({"user_data": [data], "cats": [{"good": 1.0}, {}, {}]})))
    assert problems[1:] == [
        f"note: 1 document has the field “{name}”, which is not read" for name in ("answer_of", "relations", "cats")
    ]


def test_a_word_that_is_missing_sets_its_document_aside(put: Put) -> None:
    found, problems = read(DocBinFormat(), put(packed({"strings": ["Second"]})))
    assert [one.text for one in found] == ["Second", ""]
    assert problems[0] == "set aside: document doc1: one of its words is missing from the file's strings"
