"""Files of other programs, as published: each is read whole, and written back as it was where its format is written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from lxml import etree

from curator.io.registry import default_registry

DOCUMENTS = {
    "bc5cdr/train.pubtator.txt": 500,
    "bc5cdr/dev.pubtator.txt": 500,
    "ncbi_disease/train.pubtator.txt": 593,
    "bc5cdr/bioc/cdr_dev.BioC.xml.gz": 500,
    "formats/bioc_xml/teamtat_sample_training.xml": 60,
    "formats/bioc_xml/yfpeng_everything.xml": 2,
    "formats/pubannotation/3181839.json": 8,
    "formats/webanno_tsv/example2.tsv": 1,
    "formats/uima/cassis_cas_with_smileys.xmi": 1,
    "formats/medline/biopython_pubmed_result2.txt": 4,
    "zeshel/mentions/train.json": 4,
    "zeshel/mentions/val.json": 4,
    "zeshel/documents/starwars.json": 6,
}
"""The number of documents."""
KNOWLEDGE_BASES = {
    "mesh_native/desc-samples.xml": (43, 308),
    "mesh_native/supp-samples.xml": (19, 70),
    "mesh_native/medic_2012.txt": (11915, 76237),
    "kb/mesh_medic.jsonl.gz": (38186, 190256),
    "obo/doid_2016-09-01.obo.gz": (6971, 18577),
    "obo/hp_2014.obo.gz": (10783, 17749),
    "zeshel": (23, 28),
}
"""The numbers of entities and of names."""


def content(path: Path) -> object:
    """What a file says: its bytes, or what its markup is where that is laid out in many ways."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if b"<collection>" in data:
        return etree.tostring(etree.fromstring(data, etree.XMLParser(remove_blank_text=True)), method="c14n")
    return json.loads(data) if path.suffix == ".json" and data.count(b"\n") < 3 else data


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(make: SimpleNamespace, shared_data: Path, tmp_path: Path, name: str) -> None:
    path = shared_data / name
    form = default_registry().recognise(path)
    reader = form.open(path)
    documents = list(reader)
    assert len(documents) == DOCUMENTS[name]
    assert [one.text for one in reader.problems if one.severity == "set aside"] == []
    if form.can_write:
        items = [make.export(one) for one in documents]
        written = form.write([(make.file(path, reader), items)], tmp_path / f"out{path.suffix.removesuffix('.gz')}")
        (out,) = [one for one in written if one.name == path.name] or written[:1]
        assert content(out) == content(path)


@pytest.mark.parametrize("name", KNOWLEDGE_BASES)
def test_knowledge_bases(shared_data: Path, name: str) -> None:
    reader = default_registry().open_kb(shared_data / name)
    entities = list(reader)
    names = sum(1 + len(one.synonyms) for one in entities)
    assert (len(entities), names) == KNOWLEDGE_BASES[name]
    assert [one.text for one in reader.problems if one.severity != "note"] == []
    assert all(one.types for one in entities if one.tree_numbers)
    assert reader.position[0] == reader.position[1]
