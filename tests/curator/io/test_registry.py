"""Recognition by content, and the sentence for everything that cannot be read."""

from __future__ import annotations

import errno
import gzip
import importlib
import json
import pkgutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

import curator.io
from curator.domain.wording import UserError
from curator.io.files.format import Format
from curator.io.formats import FORMATS, KNOWLEDGE_BASES
from curator.io.kb.base import KbReader
from curator.io.registry import default_registry
from curator.services.ports.files import DocumentFormat, FormatRegistry

Put = Callable[..., Path]

SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds"

ZESHEL = json.dumps({"title": "A", "text": "A " + "word " * 30000, "document_id": "0A"}) + "\n"
CONTENT = {
    "pubtator": "\n1|t|<PubmedArticle in a title\n1|a|b\n",
    "zeshel": ZESHEL,
    "medline": "\nPMID- 1\nTI  - a|t|b\n",
    "pubmed-xml": "<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>",
    "bioc-xml": "<!DOCTYPE collection SYSTEM 'BioC.dtd'><collection><source/><document/></collection>",
    "bioc-json": json.dumps({"infons": {}, "documents": [{"passages": [{"offset": 0, "text": "1|t|a PMID- 1"}]}]}),
}
KB = {
    "jsonl": '{"id": "X:1", "name": "x"}\n',
    "obo": "format-version: 1.2\n\n[Term]\nid: X:1\nname: x\n",
    "zeshel": ZESHEL,
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(("name", "content"), CONTENT.items())
def test_documents_are_recognised_by_content(put: Put, name: str, content: str, zipped: bool) -> None:
    assert default_registry().recognise(put(content, "misleading.obo.xml.json", zipped=zipped)).name == name


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(("name", "content"), KB.items())
def test_knowledge_bases_are_recognised_by_content(put: Put, name: str, content: str, zipped: bool) -> None:
    reader = default_registry().open_kb(put(content, "misleading.txt", zipped=zipped))
    assert reader.format == name
    assert len(list(reader)) == 1


def test_the_ports_are_implemented() -> None:
    registry: FormatRegistry = default_registry()
    formats: list[DocumentFormat] = list(registry.formats())
    expected = {
        "pubtator": (True, True),
        "bioc-xml": (True, True),
        "bioc-json": (True, True),
        "zeshel": (True, True),
        "pubmed-xml": (True, False),
        "medline": (True, False),
        "decisions": (True, True),
    }
    found = {f.name: (f.can_read, f.can_write) for f in formats}
    assert expected.items() <= found.items()
    assert len(found) == len(formats)
    assert registry.by_name("PubTator").name == "pubtator"
    with pytest.raises(UserError, match=r"no format 'word'.*pubtator"):
        registry.by_name("word")


def refused(path: Path) -> str:
    registry = default_registry()
    with pytest.raises(UserError) as documents:
        list(registry.recognise(path).open(path))
    with pytest.raises(UserError) as kb:
        list(registry.open_kb(path))
    for error in (documents, kb):
        assert str(path) in str(error.value)
    return str(documents.value)


def test_files_that_cannot_be_read(put: Put, tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "none")
    assert "is a folder" in refused(tmp_path)
    assert "is empty" in refused(put(""))
    assert "is empty" in refused(put(" \n\n"))
    assert "is empty" in refused(put("", zipped=True))
    assert "binary" in refused(put(b"\x7fELF\0\0\1"))
    assert "UTF-16" in refused(put("1|t|a".encode("utf-16")))
    assert "zip archive" in refused(put(b"PK\x03\x04abc"))
    assert "none of the document formats" in refused(put("hello\n", "file.dat"))


def test_truncated_and_damaged_gzip(put: Put) -> None:
    text = "".join(f"{n}|t|title {n * n}\n{n}|a|{n * 7919}\n\n" for n in range(5000))
    data = gzip.compress(text.encode())
    path = put(data[: len(data) // 2])
    with pytest.raises(UserError, match="truncated gzip"):
        default_registry().by_name("pubtator").open(path)
    path = put(data[:30])
    assert "truncated gzip" in refused(path)
    broken = bytearray(data)
    broken[-6] ^= 0xFF
    with pytest.raises(UserError, match="damaged"):
        default_registry().by_name("pubtator").open(put(bytes(broken)))


def test_no_permission(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put("1|t|a\n")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("curator.io.files.atomic.os.open", refuse)
    assert "no permission" in refused(path)


def test_each_kind_in_the_others_place_is_said(put: Put) -> None:
    with pytest.raises(UserError, match="is a knowledge base"):
        default_registry().recognise(put(KB["obo"]))
    with pytest.raises(UserError, match="is PubTator, not a knowledge base"):
        default_registry().open_kb(put(CONTENT["pubtator"]))


def test_a_workbook_whose_headings_say_nothing_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["Kode", "Bezeichnung"])
    book.active.append(["A:1", "Morbus"])
    book.save(path)
    assert "headings do not say what it contains" in refused(path)
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as cut:
        for name in whole.namelist():
            cut.writestr(name, whole.read(name)[: -50 if "sheet" in name else None])
    assert "b.xlsx is a damaged workbook (" in refused(tmp_path / "b.xlsx")


def declared(base: type) -> set[type]:
    """The formats in the modules of `curator.io`: the classes with a title, each where it is written."""
    modules = [importlib.import_module(info.name) for info in pkgutil.walk_packages(curator.io.__path__, "curator.io.")]
    values = [(module.__name__, one) for module in modules for one in vars(module).values() if isinstance(one, type)]
    return {one for name, one in values if issubclass(one, base) and one.__module__ == name and "title" in vars(one)}


def test_every_format_that_is_written_is_registered() -> None:
    assert declared(Format) == set(FORMATS), "list it in curator/io/formats.py"
    assert declared(KbReader) == set(KNOWLEDGE_BASES), "list it in curator/io/formats.py"


def test_every_format_that_is_only_read_has_a_seed_to_fuzz() -> None:
    registry = default_registry()
    names = {form.name for form in registry.formats() if not form.can_write}
    names |= {f"kb-{name}" for name, _ in registry.knowledge_bases()}
    assert [name for name in sorted(names) if not (SEEDS / name).is_dir()] == []
