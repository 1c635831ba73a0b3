"""PubMed XML (`PubmedArticleSet`, including books): title and labelled abstract parts, for reading only.

The text is the title and the abstract parts, one a line; inline markup (`<i>`, `<sup>`, MathML) is reduced to its text,
and runs of white space in the XML become one space. Labels belong to the passages, not to the text. No DTD is loaded,
no entity is resolved, nothing is downloaded; a file that declares entities is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from curator.domain.documents import Passage, SourceDocument
from curator.domain.wording import ntr
from curator.io.files.format import ReadOnly
from curator.io.files.reading import NOT_AVAILABLE, RecordReader
from curator.io.files.xml_stream import records

_ROOT = re.compile(
    rb"<(PubmedArticleSet|PubmedBookArticleSet|PubmedArticle|PubmedBookArticle|MedlineCitationSet|MedlineCitation)[\s>]"
)
_WHITE = re.compile("[ \t\r\n]+")
_PART = "AbstractText"


class PubMedXmlReader(RecordReader):
    """Streams the records of one file; each is freed when the next is read."""

    format = "pubmed-xml"
    none = "{path} contains no PubMed record with a PMID and a title or abstract"

    def documents(self) -> Iterator[SourceDocument]:
        self._others, deleted = 0, 0
        for record in records(self.source, _tags(self.source.head())):
            if record.tag == "DeleteCitation":
                deleted += len(record)
            elif (document := self._document(record)) is not None:
                yield document
        if self._others:
            one = "{n} record has an abstract only in another language or for laypeople; it was not read"
            several = "{n:,} records have an abstract only in another language or for laypeople; it was not read"
            self.problems.note(ntr(one, several, self._others))
        if deleted:
            one = "according to the file, {n} older record was withdrawn; nothing was changed"
            several = "according to the file, {n:,} older records were withdrawn; nothing was changed"
            self.problems.note(ntr(one, several, deleted))

    def _document(self, record: Any) -> SourceDocument | None:
        line = record.sourceline or 0
        pmid = _text(record.find(".//PMID"))
        title = _title(record)
        abstract = _first(record, "Abstract")
        parts = [] if abstract is None else [(one.get("Label") or "", _text(one)) for one in abstract.iter(_PART)]
        parts = [(label.strip(), text) for label, text in parts if text]
        self._others += not parts and _first(record, "OtherAbstract") is not None
        if not self.is_usable(pmid, title, parts, line):
            return None
        text, passages = join_parts(title, parts)
        return SourceDocument(pmid, title, text, passages, (), "", line)


class PubMedXmlFormat(ReadOnly):
    name = "pubmed-xml"
    title = "PubMed XML"
    refusal = "{path} is not PubMed XML: it has no PubmedArticleSet; choose another format"
    reader = PubMedXmlReader

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return head.lstrip().startswith(b"<") and _ROOT.search(head) is not None


def join_parts(title: str, parts: list[tuple[str, str]]) -> tuple[str, tuple[Passage, ...]]:
    """Title and (label, text) parts, one a line, with their passages."""
    text, passages = title, [Passage("title", 0, len(title))] if title else []
    for label, part in parts:
        text += "\n" if text else ""
        passages.append(Passage("abstract", len(text), len(text) + len(part), label))
        text += part
    return text, tuple(passages)


def _tags(head: bytes) -> tuple[str, ...]:
    """The record elements of a file with this beginning. A citation in an article is read with it."""
    found = _ROOT.search(head)
    if found is not None and found[1] in (b"MedlineCitationSet", b"MedlineCitation"):
        return "MedlineCitation", "DeleteCitation"
    return "PubmedArticle", "PubmedBookArticle", "DeleteCitation"


def _title(record: Any) -> str:
    """The title: the original one if the translated one is `[Not Available].` or missing; for a book, the book's."""
    title = _text(_first(record, "ArticleTitle"))
    if title and title.lower() not in NOT_AVAILABLE:
        return title
    return _text(_first(record, "VernacularTitle")) or title or _text(_first(record, "BookTitle"))


def _first(record: Any, tag: str) -> Any:
    return next((found for found in record.iter(tag) if _text(found)), None)


def _text(element: Any) -> str:
    """The text, with white space of the markup as single spaces; no-break and thin spaces are kept."""
    if element is None:
        return ""
    return _WHITE.sub(" ", "".join(element.itertext())).strip(" ")
