"""No two formats claim one file, and no file of a format is missing here."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
import sys
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UnreadableError, UserError
from curator.io.files import source
from curator.io.files.source import Source, holds_many, open_files
from curator.io.registry import default_registry
from curator.services.importing.import_sources import document_formats
from curator.services.ports.files import DocumentFormat, FormatRegistry
from tests.curator.io.conftest import export_document, fresh
from tests.curator.io.standoff_samples import FEW, again, documents, plain

Put = Callable[..., Path]
DATA_PLACES = ("bc5cdr", "ncbi_disease", "formats", "scale", "zeshel/documents", "zeshel/mentions")
READ_ONLY: dict[str, str] = {
    "medline": "PMID- 1\nTI  - Pain\nAB  - Of text.\n\n",
    "pubmed-xml": "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>"
    "<ArticleTitle>Pain</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
    "mediawiki": "<mediawiki><page><title>A</title><revision><text>[[b]]</text></revision></page></mediawiki>",
    "cas-json": json.dumps(
        {"%TYPES": {}, "%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "a"}]}
    ),
    "huggingface": json.dumps({"text": "Pain", "label": 1}) + "\n",
    "label-studio": json.dumps([{"id": 1, "annotations": [{"result": []}], "data": {"text": "Pain"}}]),
}
ENDINGS = {"text": ".txt", "table": ".csv", "docbin": ".spacy", "xmi": ".xmi", "webanno": ".tsv"}
SOURCE = SourceDocument(
    "d1",
    "Pain",
    "Pain\nof the ear.",
    (Passage("title", 0, 4), Passage("section", 5, 16)),
    (SourceMention((Span(0, 4),), "Pain", "Disease"), SourceMention((Span(12, 15),), "ear", "Part")),
)
LONG = "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(256))
"""More than fits into one read, even packed."""


def claims(registry: FormatRegistry, path: Path) -> list[str]:
    """The names of the formats that say a source is theirs, each asked alone; those recognised by exclusion are not."""
    strict = [form for form in registry.formats() if form.can_read and not form.by_exclusion]
    by_path = [form.name for form in strict if form.sniff_path(path)]
    if by_path:
        return by_path  # no text, which the others are not asked about
    if holds_many(path):
        files = open_files(path)
        return [form.name for form in strict if form.takes_folders and form.sniff_files(files)]
    head = Source(path).head()
    return [form.name for form in strict if form.sniff(path, head)]


def sample(form: DocumentFormat, folder: Path) -> Path:
    """A source of the format: written by itself, or a small one by hand."""
    path = folder / f"sample{ENDINGS.get(form.name, '.dat')}"
    if form.name in READ_ONLY:
        path.write_text(READ_ONLY[form.name])
        return path
    item = fresh(export_document(SOURCE), [("MESH:D1",), ("MESH:D2",)])
    if form.name in ("brat", "zeshel"):
        path = folder / "sample"
    paths = form.write([(SourceFile(1, "x.y", "x.y", "other", ""), [item])], path)
    return path if path.exists() else paths[0]


@pytest.mark.parametrize("name", [one.name for one in default_registry().formats() if one.can_read])
def test_what_a_format_writes_is_claimed_by_it_alone(name: str, tmp_path: Path) -> None:
    registry = default_registry()
    form = registry.by_name(name) if name not in READ_ONLY else next(f for f in registry.formats() if f.name == name)
    path = sample(form, tmp_path)
    if name == "zeshel":
        path = next((path / "mentions").iterdir())
    assert registry.recognise(path).name == name
    assert claims(registry, path) in ([name], [] if name == "text" else [name])
    if path.is_file() and name != "docbin":
        path.write_bytes(BOM_UTF8 + path.read_bytes())
        assert registry.recognise(path).name == name


def test_binary_datasets_are_claimed_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([{"text": "a"}]), path)
    assert claims(default_registry(), path) == ["huggingface"]


def test_every_real_file_is_claimed_by_one_format(shared_data: Path) -> None:
    registry = default_registry()
    files = [one for place in DATA_PLACES for one in sorted((shared_data / place).rglob("*")) if one.is_file()]
    assert len(files) > 20
    found = {one: claims(registry, one) for one in files if "types" not in one.name}
    assert {one.name: names for one, names in found.items() if len(names) != 1} == {}


def test_every_knowledge_base_is_no_document(shared_data: Path) -> None:
    registry = default_registry()
    for one in (
        *(shared_data / "kb").iterdir(),
        *(shared_data / "obo").iterdir(),
        *(shared_data / "mesh_native").iterdir(),
    ):
        assert claims(registry, one) == [], one


def test_what_each_can_carry_is_said() -> None:
    facts = {one.name: one for one in document_formats(default_registry())}
    assert {name for name, one in facts.items() if not one.written} == set(READ_ONLY)
    assert facts["table"].carries["people"]
    assert facts["decisions"].carries["discontinuous"]
    assert not facts["text"].carries["mentions"]
    assert not facts["docbin"].carries["discontinuous"]


class FailingDisk:
    """Every read of a file counts; the one with the number `at` fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = self.reads = 0
        real, disk = io.open, self

        class Raw(io.FileIO):
            def readinto(self, buffer: Any) -> int | None:
                disk.read()
                return super().readinto(buffer)

            def readall(self) -> bytes:
                disk.read()
                return super().readall()

            def read(self, size: int | None = -1) -> bytes | None:
                disk.read()
                return super().read(-1 if size is None else size)

        def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if mode != "rb":
                return real(file, mode, *args, **kwargs)
            self.read()
            return io.BufferedReader(Raw(file))

        monkeypatch.setattr(io, "open", opened)

    def read(self) -> None:
        self.reads += 1
        if self.reads == self.at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def fails(self, at: int) -> None:
        self.at, self.reads = at, 0


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FailingDisk:
    return FailingDisk(monkeypatch)


def whole(path: Path) -> object:
    """What an import takes from a source."""
    source._listed.cache_clear()
    form = default_registry().recognise(path)
    reader = form.open(path)
    documents = list(reader)
    return form.name, documents, [one.text for one in reader.problems], reader.head, reader.tail, reader.extra


def corpus(form: DocumentFormat, folder: Path) -> Path:
    """A folder with two documents of the format, each in a file of its own."""
    folder.mkdir()
    if form.name == "huggingface":
        for split in ("train", "test"):
            rows = [{"text": f"{split} {LONG}", "label": 1}]
            parquet.write_table(pyarrow.Table.from_pylist(rows), folder / f"{split}.parquet")
        return folder
    if form.name == "cas-json":
        for name in ("d1", "d2"):
            (folder / f"{name}.json").write_text(READ_ONLY[form.name].replace('"a"', f'"{LONG}"'))
        return folder
    long = replace(
        SOURCE,
        text=f"{SOURCE.text} {LONG}",
        passages=(SOURCE.passages[0], Passage("section", 5, len(SOURCE.text) + 1 + len(LONG))),
    )
    items = [fresh(export_document(replace(long, external_id=one)), [("MESH:D1",), ()]) for one in ("d1", "d2")]
    if form.name in ("pubannotation", "webannotation"):  # which write several into one file
        for item in items:
            form.write(
                [(SourceFile(1, "x.y", "x.y", "other", ""), [item])], folder / f"{item.document.external_id}.json"
            )
    else:
        form.write([(SourceFile(1, "x.y", "x.y", "other", ""), items)], folder)
    return folder


def whole_kb(path: Path) -> object:
    reader = default_registry().open_kb(path)
    return reader.format, list(reader), [one.text for one in reader.problems]


def outcome(read: Callable[[Path], object], path: Path) -> object:
    """What is read, or None after the disk's failure; any other error is raised."""
    try:
        return read(path)
    except UnreadableError as error:
        assert "Input/output error" in str(error)  # noqa: PT017 other errors are raised
        return None


def read_with_failures(path: Path, disk: FailingDisk, read: Callable[[Path], object] = whole) -> None:
    """Each read fails once: all is there, or the disk's failure is said."""
    expected = read(path)
    reads = disk.reads
    assert reads
    for at in range(1, reads + 1):
        disk.fails(at)
        assert outcome(read, path) in (None, expected), f"read {at}"


SEEDS = Path(__file__).resolve().parents[3] / "fuzz" / "seeds"
KBS = [one for kb in sorted(SEEDS.glob("kb-*")) if kb.name != "kb-workbook" for one in sorted(kb.iterdir())]
READ = [one for one in default_registry().formats() if one.can_read]


@pytest.mark.parametrize("form", READ, ids=lambda one: one.name)
def test_a_failing_read_is_no_other_format(form: DocumentFormat, tmp_path: Path, disk: FailingDisk) -> None:
    path = sample(form, tmp_path)
    read_with_failures(next((path / "mentions").iterdir()) if form.name == "zeshel" else path, disk)


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("form", [one for one in READ if one.takes_folders], ids=lambda one: one.name)
def test_a_failing_read_leaves_no_document_out(
    form: DocumentFormat, packed: bool, tmp_path: Path, disk: FailingDisk
) -> None:
    path = corpus(form, tmp_path / "corpus")
    read_with_failures(Path(shutil.make_archive(str(path), "zip", path)) if packed else path, disk)


@pytest.mark.parametrize("path", KBS, ids=lambda one: one.parent.name)
def test_a_failing_read_leaves_no_entity_out(path: Path, disk: FailingDisk) -> None:
    read_with_failures(path, disk, whole_kb)


# --- what is written is read ---


WRITTEN = [one.name for one in default_registry().formats() if one.can_write and one.carries.mentions]
SEVERAL_TARGETS = {
    "brat": ("o", "o.zip"),
    "xmi": ("o", "o.zip"),
    "webanno-tsv": ("o.zip",),
    "table": (".csv", ".tsv", ".xlsx"),
}
OTHERWISE = {"docbin": {"passages": ()}, "blink": {"passages": ()}, "decisions": {"split": None, "state": None}}
"""What a reader makes of documents that did not say it."""


@pytest.mark.parametrize("name", [one for one in WRITTEN if one not in ("pubtator", "zeshel")])
@FEW
@given(data=st.data())
def test_what_is_written_is_read(make: SimpleNamespace, name: str, data: st.DataObject) -> None:
    """Also what is written once more as it was read. PubTator and ZESHEL change texts: their own tests say how."""
    form = default_registry().by_name(name)
    found = data.draw(documents(apart=form.carries.discontinuous))
    if name == "blink":  # which has one line for each mention
        found = [one for one in found if one.mentions]
    if name == "webanno-tsv":
        found = [one for one in found if one.text.strip()]
    target = data.draw(st.sampled_from(SEVERAL_TARGETS.get(name) or form.endings))
    if found:
        once, twice, _ = again(make, form, found, f"o{target}" if target.startswith(".") else target)
        bare = [replace(one, mentions=tuple(replace(m, decision=None) for m in one.mentions)) for one in once]
        assert [replace(one, **OTHERWISE.get(name, {})) for one in bare] == plain(found)
        assert once == twice
        assert [one for one in form.problems if one.severity != "note"] == []


# --- what is refused ---


@pytest.mark.parametrize("form", [one for one in READ if one.name not in ("text", "table")], ids=lambda one: one.name)
@pytest.mark.parametrize("text", ["hello\n", "<a/>", "{}", "[1]\n"])
def test_a_file_of_another_kind_is_refused_in_a_sentence(form: DocumentFormat, put: Put, text: str) -> None:
    with pytest.raises(UserError, match=r"file\.txt"):
        list(form.open(put(text)))


BESIDE = {
    "xmi": ("c/sample.xmi", "TypeSystem.xml"),
    "table": ("c/sample.csv", "sample.documents.csv"),
    "brat": ("c/sample.txt", "sample.ann"),
}
"""A file of the format, and one beside it that belongs to it."""


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
@pytest.mark.parametrize("name", BESIDE)
def test_a_link_beside_a_file_leads_nowhere_else(name: str, put: Put, tmp_path: Path) -> None:
    place, beside = BESIDE[name]
    form, path = default_registry().by_name(name), put("", place)
    item = fresh(export_document(SOURCE), [("MESH:D1",), ("MESH:D2",)])
    made = replace(item, document=replace(item.document, external_id="sample"))
    form.write([(SourceFile(1, "x.y", "x.y", "other", ""), [made])], path if name == "table" else path.parent)
    assert len(list(form.open(path))) == 1
    private = (path.parent / beside).rename(tmp_path / beside)
    (path.parent / beside).symlink_to(private)
    with pytest.raises(UserError, match=f"{beside} was not opened: it leads out of the folder"):
        form.open(path)
