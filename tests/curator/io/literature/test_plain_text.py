"""Texts as documents: their encodings, what is no plain text, folders and archives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.domain.documents import Passage, SourceDocument
from curator.domain.wording import UserError
from curator.io.files.export import write_files
from curator.io.literature.plain_text import PlainTextFormat
from curator.io.registry import default_registry
from tests.curator.io.standoff_samples import FEW, again, documents, plain, read

Put = Callable[..., Path]

TEXT = "Renal failure\r\n\r\nA \U0001f600 case.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_is_a_document_with_its_text_as_it_is(put: Put, encoding: str, zipped: bool) -> None:
    path = put(TEXT.encode(encoding), "case 1.txt" + (".gz" if zipped else ""), zipped=zipped)
    if encoding != "utf-16" or not zipped:
        assert default_registry().recognise(path).name == "text"
    (found,), problems = read(PlainTextFormat(), path)
    assert (found.external_id, found.title, found.text, problems) == ("case 1", "Renal failure", TEXT, [])
    assert found.passages == (Passage("title", 0, 13), Passage("section", 15, len(TEXT)))


@pytest.mark.parametrize("name", ["d", "d.zip"])
def test_a_folder_has_a_document_for_each_text(tmp_path: Path, name: str) -> None:
    pieces = [("a.txt", b"one"), ("deep/b.TXT", "zwei".encode("utf-16")), ("bad.txt", b"x\ny\xff"), ("c.pdf", b"%PDF")]
    write_files(tmp_path / name, pieces)
    assert default_registry().recognise(tmp_path / name).name == "text"
    found, problems = read(PlainTextFormat(), tmp_path / name)
    assert [(one.external_id, one.text) for one in found] == [("a", "one"), ("deep/b", "zwei")]
    assert len(problems) == 2
    assert "bad.txt, line 2: byte 4 of the file is not UTF-8" in problems[0]
    assert "c.pdf" in problems[1]


@pytest.mark.parametrize("data", [b"ab\nc\xe9d", b"\xff\xfea\0\n\0\0\xd8", b"ab\nc\0"])
def test_another_encoding_is_an_error_with_its_line(put: Put, data: bytes) -> None:
    with pytest.raises(UserError, match="line 2"):
        list(PlainTextFormat().open(put(data, "a.txt")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "prose"),
        ("a.txt", "{broken"),
        ("a.txt", "<html>"),
        ("a.txt", "1|t|a PubTator in UTF-16"),
        ("a.txt", "a\tb\nc\td\n"),
    ],
)
def test_what_has_a_structure_is_no_plain_text(put: Put, name: str, text: str) -> None:
    form = PlainTextFormat()
    assert not form.sniff(put(text, name), text.encode())
    assert not form.sniff_path(put(text.encode("utf-16"), name))


def test_a_single_document_goes_into_a_file(make: SimpleNamespace, tmp_path: Path, put: Put) -> None:
    form = PlainTextFormat()
    path = put(TEXT, "a.txt")
    (found,) = list(form.open(path))
    item = make.export(found)
    (out,) = form.write([(make.file(path, form.open(path)), [item])], tmp_path / "out.txt")
    assert out.read_bytes().decode() == TEXT
    assert form.problems == []


@FEW
@given(found=documents(), name=st.sampled_from(["o", "o.zip"]))
def test_texts_are_read_as_they_were_written(make: SimpleNamespace, found: list[SourceDocument], name: str) -> None:
    once, twice, form = again(make, PlainTextFormat(), found, name)
    assert once == twice == [dataclasses.replace(one, mentions=()) for one in plain(found)]
    assert form.problems == []
