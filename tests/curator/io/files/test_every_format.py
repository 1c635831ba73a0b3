"""No two formats claim one file, and no file of a format is missing here."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.io import default_registry
from curator.io.files.archives import TakesFolders, holds_many, open_files
from curator.io.files.source import Source
from curator.io.registry import ByExclusion, Registry, TakesPaths
from curator.services.importing.import_sources import document_formats
from curator.services.ports import DocumentFormat
from tests.curator.io.conftest import export_document, fresh

DATA_PLACES = ("bc5cdr", "ncbi_disease", "formats", "scale", "zeshel/documents", "zeshel/mentions")
READ_ONLY: dict[str, str] = {
    "medline": "PMID- 1\nTI  - Pain\nAB  - Of text.\n\n",
    "pubmed-xml": "<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>",
    "mediawiki": "<mediawiki><page><title>A</title><revision><text>[[b]]</text></revision></page></mediawiki>",
    "huggingface": json.dumps({"text": "Pain", "label": 1}) + "\n",
}
ENDINGS = {"text": ".txt", "table": ".csv", "docbin": ".spacy", "xmi": ".xmi", "webanno": ".tsv"}
SOURCE = SourceDocument(
    "d1",
    "Pain",
    "Pain\nof the ear.",
    (Passage("title", 0, 4), Passage("section", 5, 16)),
    (SourceMention((Span(0, 4),), "Pain", "Disease"), SourceMention((Span(12, 15),), "ear", "Part")),
)


def claims(registry: Registry, path: Path) -> list[str]:
    """The names of the formats that say a source is theirs, each asked alone; those recognised by exclusion are not."""
    strict = [form for form in registry.formats() if form.can_read and not isinstance(form, ByExclusion)]
    by_path = [form.name for form in strict if isinstance(form, TakesPaths) and form.sniff_path(path)]
    if by_path:
        return by_path  # no text, which the others are not asked about
    if holds_many(path):
        files = open_files(path)
        return [form.name for form in strict if isinstance(form, TakesFolders) and form.sniff_files(files)]
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
