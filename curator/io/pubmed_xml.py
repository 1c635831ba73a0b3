"""PubMed XML (`PubmedArticleSet`, books included): title and labelled abstract parts, for reading only.

The text is the title and the abstract parts, one a line; inline markup (`<i>`, `<sup>`, MathML) leaves its letters,
and runs of white space become one space. Labels are on the passages, not in the text. No DTD is loaded, no entity is
resolved, nothing is fetched; a file that declares entities is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from lxml import etree

from curator.domain.documents import Passage, SourceDocument
from curator.domain.errors import UserError
from curator.io.export import ReadOnly
from curator.io.reading import RecordReader
from curator.io.source import Source

_RECORDS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation")
_ROOT = re.compile(rb"<(PubmedArticleSet|PubmedBookArticleSet|PubmedArticle|PubmedBookArticle|MedlineCitationSet)[\s>]")


class PubMedXmlReader(RecordReader):
    """Streams the records of one file; each is freed when the next is read."""

    format = "pubmed-xml"

    records = "PubMed"

    def _documents(self) -> Iterator[SourceDocument]:
        for record in self._records():
            document = self._document(record)
            if document is not None:
                yield document

    def _records(self) -> Iterator[Any]:
        with self._source.stream() as stream:
            parser = etree.iterparse(
                stream,
                events=("end",),
                tag=_RECORDS,
                load_dtd=False,
                dtd_validation=False,
                no_network=True,
                resolve_entities=False,
                huge_tree=False,
                remove_comments=True,
                remove_pis=True,
            )
            try:
                for _, record in parser:
                    if record.getparent() is not None and record.getparent().tag == "PubmedArticle":
                        continue  # a citation is read with its article
                    yield record
                    record.clear(keep_tail=False)
                    while record.getprevious() is not None:
                        del record.getparent()[0]
            except etree.XMLSyntaxError as error:
                _broken(self._source.path, error)

    def _document(self, record: Any) -> SourceDocument | None:
        line = record.sourceline or 0
        pmid = _text(record.find(".//PMID"))
        title = _text(_first(record, "ArticleTitle", "VernacularTitle", "BookTitle"))
        parts = [(part.get("Label") or "", _text(part)) for part in _abstract_parts(record)]
        parts = [(label.strip(), text) for label, text in parts if text]
        if not self._is_usable(pmid, title, parts, line):
            return None
        text, passages = join_parts(title, parts)
        return SourceDocument(pmid, title, text, passages, (), "", line)


class PubMedXmlFormat(ReadOnly):
    """Reads PubMed XML; there is nothing to write."""

    name = "pubmed-xml"
    title = "PubMed XML"
    can_read = True

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<") and _ROOT.search(head) is not None

    def open(self, path: Path) -> PubMedXmlReader:
        """Raises UserError for a missing, empty, truncated or foreign file, and for one that declares entities."""
        head = Source(path).head()
        if not self.sniff(path, head):
            raise UserError(f"{path} is not PubMed XML: it has no PubmedArticleSet; choose another format")
        if b"<!ENTITY" in head:
            raise UserError(f"{path} declares XML entities, which are refused: export it from PubMed again")
        reader = PubMedXmlReader(path)
        reader.prepare()
        return reader


def join_parts(title: str, parts: list[tuple[str, str]]) -> tuple[str, tuple[Passage, ...]]:
    """Title and (label, text) parts, one a line, with their passages."""
    text, passages = title, [Passage("title", 0, len(title))] if title else []
    for label, part in parts:
        text += "\n" if text else ""
        passages.append(Passage("abstract", len(text), len(text) + len(part), label))
        text += part
    return text, tuple(passages)


def _abstract_parts(record: Any) -> list[Any]:
    """`OtherAbstract` (another language, another publisher) is a sibling of the article and is not read."""
    abstract = _first(record, "Abstract")
    return [] if abstract is None else abstract.findall("AbstractText")


def _first(record: Any, *tags: str) -> Any:
    for tag in tags:
        for found in record.iter(tag):
            if _text(found):
                return found
    return None


def _text(element: Any) -> str:
    if element is None:
        return ""
    return " ".join("".join(element.itertext()).split())


def _broken(path: Path, error: etree.XMLSyntaxError) -> NoReturn:
    line = error.lineno or 0
    raise UserError(f"{path}, line {line}: broken XML ({error.msg}): fetch the file again") from error
