"""MEDLINE: continuation lines, labelled abstracts, records that cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.documents import SourceDocument
from curator.domain.wording import UserError
from curator.io.literature.pubmed import MedlineFormat, MedlineReader

Put = Callable[..., Path]


def read(path: Path) -> tuple[list[SourceDocument], MedlineReader]:
    reader = MedlineFormat().open(path)
    return list(reader), reader


def parts(document: SourceDocument) -> list[tuple[str, str, str]]:
    return [(p.kind, p.label, document.text[p.start : p.end]) for p in document.passages]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_continuation_lines_are_joined_by_one_space(put: Put, ending: str) -> None:
    lines = ["", "PMID- 5", "TI  - Long ", "      title.", "AB  - Some text - with", "      a dash.", "AU  - Doe", ""]
    (document,), reader = read(put(ending.join(lines)))
    assert document.text == "Long title.\nSome text - with a dash."
    assert parts(document) == [("title", "", "Long title."), ("abstract", "", "Some text - with a dash.")]
    assert (document.external_id, document.line, reader.problems) == ("5", 2, [])


def test_labels_stand_in_the_text_and_on_the_passages(put: Put) -> None:
    abstract = "AIMS: To see. RNA: it helps. MATERIALS AND METHODS: Eyes."
    (document,), _ = read(put(f"PMID- 5\nTI  - T\nAB  - {abstract}\n"))
    assert document.text == f"T\n{abstract}"
    assert parts(document)[1] == ("abstract", "AIMS", "To see.")
    assert parts(document)[-1] == ("abstract", "MATERIALS AND METHODS", "Eyes.")


def test_an_abstract_that_does_not_begin_with_a_label_is_whole(put: Put) -> None:
    (document,), _ = read(put("PMID- 5\nAB  - We saw. RESULTS: none.\n"))
    assert parts(document) == [("abstract", "", "We saw. RESULTS: none.")]


def test_records_without_blank_line_between(put: Put) -> None:
    documents, reader = read(put("PMID- 1\nTI  - a\nPMID- 2\nTI  - b\nAB  - c\n"))
    assert [(d.external_id, d.line) for d in documents] == [("1", 1), ("2", 3)]
    assert [p.text for p in reader.problems] == ["1 of 2 records have no abstract"]


def test_book_and_vernacular_titles(put: Put) -> None:
    documents, _ = read(put("PMID- 1\nBTI - Book\nAB  - x\n\nPMID- 2\nTT  - Titre\nAB  - x\n"))
    assert [d.title for d in documents] == ["Book", "Titre"]


def test_unusable_records_and_lines_are_set_aside(put: Put) -> None:
    documents, reader = read(put("PMID- 1\nTI  - a\nAB  - x\nwhat\n\nTI  - no id\n\nPMID- 3\nAU  - x\n"))
    assert [d.external_id for d in documents] == ["1"]
    assert [(p.line, p.severity) for p in reader.problems] == [(4, "set aside"), (6, "set aside"), (8, "set aside")]


def test_nothing_usable_is_an_error(put: Put) -> None:
    with pytest.raises(UserError, match="contains no MEDLINE record"):
        read(put("PMID- 3\nAU  - x\n"))
    with pytest.raises(UserError, match="cannot be written"):
        MedlineFormat().write([], Path("x"))


def test_real_files(shared_data: Path) -> None:
    folder = shared_data / "formats/medline"
    documents, reader = read(folder / "biopython_pubmed_result2.txt")
    assert [d.external_id for d in documents] == ["16403221", "16377612", "14871861", "14630660"]
    assert reader.problems == []
    assert [p.label for p in documents[0].passages] == ["", "BACKGROUND", "RESULTS", "CONCLUSION"]
    (one,), _ = read(folder / "jzsh2000_20000000.medline")
    assert "  " not in one.text
