"""MEDLINE / nbib: `PMID- `, `TI  - `, `AB  - ` with indented continuation lines, for reading only.

The text is the title and the abstract, one a line. The labels of a structured abstract are in the text as in the file
(`METHODS: ...`); the passages have them as labels and begin after them.

PubMed XML (`PubmedArticleSet`, including books): title and labelled abstract parts, for reading only.

The text is the title and the abstract parts, one a line; inline markup (`<i>`, `<sup>`, MathML) is reduced to its text,
and runs of white space in the XML become one space. Labels belong to the passages, not to the text. No DTD is loaded,
no entity is resolved, nothing is downloaded; a file that declares entities is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curator.domain.documents import Passage, SourceDocument
from curator.domain.wording import ntr, tr
from curator.io.files.format import ReadOnly
from curator.io.files.reading import NOT_AVAILABLE, RecordReader
from curator.io.files.source import BOM, without_line_end
from curator.io.files.xml_stream import records

_FIELD = re.compile(r"([A-Z][A-Z0-9]{1,3}) *- ?(.*)", re.DOTALL)
_START = re.compile(r"^PMID *- *\d", re.MULTILINE)
# a label is in capitals, at the beginning of the abstract or after a sentence
_LABEL = re.compile(r"(?:^|(?<=[.?!:;)\]\"'] ))([A-Z][A-Z0-9 ,/&()'-]{2,80}): ")


@dataclass(slots=True)
class _Record:
    line: int
    fields: dict[str, list[str]] = field(default_factory=dict)
    last: str = ""

    def add(self, tag: str, value: str) -> None:
        self.fields.setdefault(tag, []).append(value.strip())
        self.last = tag

    def go_on(self, value: str) -> None:
        self.fields[self.last][-1] = f"{self.fields[self.last][-1]} {value.strip()}".strip()

    def first(self, *tags: str) -> str:
        return next((v for tag in tags for v in self.fields.get(tag, ()) if v), "")


class MedlineReader(RecordReader):
    """Streams the records of one file."""

    format = "medline"
    none = "{path} contains no MEDLINE record with a PMID and a title or abstract"

    def documents(self) -> Iterator[SourceDocument]:
        for record in self._records():
            document = self._document(record)
            if document is not None:
                yield document

    def _records(self) -> Iterator[_Record]:
        """A record ends at a blank line or at the next `PMID`."""
        record: _Record | None = None
        for number, line in enumerate(self.source.lines(), 1):
            line = without_line_end(line.removeprefix(BOM) if number == 1 else line)
            found = _FIELD.match(line)
            if record is not None and (not line.strip() or (found and found[1] == "PMID" and "PMID" in record.fields)):
                yield record
                record = None
            if not line.strip():
                continue
            record = record or _Record(number)
            if found:
                record.add(found[1], found[2])
            elif line[0] in " \t" and record.last:
                record.go_on(line)
            else:
                self.problems.set_aside(tr("is neither a field nor its continuation: {line}", line=line[:80]), number)
        if record is not None:
            yield record

    def _document(self, record: _Record) -> SourceDocument | None:
        pmid, title, abstract = record.first("PMID"), record.first("TI", "TT", "BTI"), record.first("AB")
        if title.lower() in NOT_AVAILABLE:
            title = record.first("TT") or title
        if not self.is_usable(pmid, title, abstract, record.line):
            return None
        text = f"{title}\n{abstract}" if title and abstract else title or abstract
        passages = [Passage("title", 0, len(title))] if title else []
        passages += abstract_passages(abstract, len(text) - len(abstract)) if abstract else []
        return SourceDocument(pmid, title, text, tuple(passages), (), "", record.line)


class MedlineFormat(ReadOnly):
    name = "medline"
    title = "MEDLINE (nbib)"
    refusal = "{path} is not MEDLINE: no line like `PMID- 12345`; choose another format"
    reader = MedlineReader

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return _START.search(head.decode("utf-8", "ignore")) is not None


def abstract_passages(abstract: str, start: int) -> list[Passage]:
    """The parts of a structured abstract, which begins with a label; any other abstract as a whole."""
    labels = list(_LABEL.finditer(abstract))
    if not labels or labels[0].start() != 0:
        return [Passage("abstract", start, start + len(abstract))]
    ends = [label.start() for label in labels[1:]] + [len(abstract)]
    passages = []
    for label, end in zip(labels, ends, strict=True):
        body = abstract[label.end() : end].rstrip()
        passages.append(Passage("abstract", start + label.end(), start + label.end() + len(body), label[1]))
    return passages


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
