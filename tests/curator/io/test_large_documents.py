"""Documents with thousands of mentions and relations, as books have: each format takes time by their number, not by
its square, which took minutes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from curator.domain.decisions import Decision, Verdict
from curator.domain.documents import Document, DocumentState, Mention, MentionOrigin, SourceFile, Span, Split
from curator.domain.relations import Relation, RelationEnd
from curator.io.bioc.bioc import BioCAnnotation
from curator.io.bioc.bioc_xml_tree import XmlTree
from curator.io.registry import default_registry
from curator.services.ports.files import ExportDocument, ExportMention
from tests.fuzz.writing import write_back
from tests.rewriting import AT

MENTIONS = 8000
FORMATS = [one for one in default_registry().formats() if one.can_read and one.can_write and one.carries.mentions]


def book() -> ExportDocument:
    """Each word is a mention with an attribute, and each is in relation with another one."""
    words = [f"word{number}" for number in range(MENTIONS)]
    mentions, at = [], 0
    for number, word in enumerate(words):
        span = Span(at, at + len(word))
        mentions.append(Mention(number, 1, (span,), word, "Disease", MentionOrigin.SOURCE, "", -1))
        at = span.end + 1
    text = " ".join(words)
    verdicts = (Verdict.link("MESH:D000001"), Verdict.nil())
    golds = tuple(
        ExportMention(
            one, Decision(1, one.id, verdicts[one.id % 2], "a", AT), False, attributes=(("certainty", "high"),)
        )
        for one in mentions
    )
    ends = ((one, (7 * one + 1) % MENTIONS) for one in range(MENTIONS))
    relations = tuple(
        Relation(first + 1, 1, "Binds", (RelationEnd("", first), RelationEnd("", second)), author="a", at=AT)
        for first, second in ends
    )
    document = Document(1, 1, "1", 0, "", text, (), Split.TRAIN, DocumentState.DONE, 0)
    return ExportDocument(document, "", golds, (), relations=relations)


@pytest.mark.soak
@pytest.mark.parametrize("name", [one.name for one in FORMATS])
def test_a_book_is_written_read_and_written_back(name: str, tmp_path: Path) -> None:
    (form,) = (one for one in FORMATS if one.name == name)
    out = tmp_path / ("book" + (form.endings[0] if form.endings else ""))
    started = time.process_time()
    form.write([(SourceFile(1, "x", "x", "other", "0" * 64), [book()])], out)
    for path in [out] if out.is_file() else sorted(out.rglob("*.*"))[:1]:
        write_back(form, path, reader := form.open(path), list(reader))
    assert time.process_time() - started < 60


@pytest.mark.soak
def test_a_mention_is_added_to_a_bioc_passage_of_thousands_of_elements() -> None:
    """40,000 elements took 8 s, as the position of each was counted from the start; now it takes milliseconds."""
    others = "<text>a</text>" * 40_000
    tree = XmlTree(f'<document><id>1</id><passage><offset>0</offset>{others}<relation id="R"/></passage></document>')
    started = time.process_time()
    tree.add(0, -1, BioCAnnotation("T", (), "a", ((0, 1),)))
    assert time.process_time() - started < 1
    assert '<text>a</text><annotation id="T">' in tree.text()
