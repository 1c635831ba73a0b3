"""PubTator: `PMID|t|title`, `PMID|a|abstract`, tab-separated annotation and relation lines, blank lines between.

Offsets are code points over title + one separator character + abstract. The stored text has a line feed for that
separator: a title never contains one, so detected mentions never cross from title to abstract, and the text can be
split again. With an empty abstract only the title is stored; with an empty title the separator stays, since offsets
count it. A document begins at its header line, so every line belongs to exactly one record or, before the first, to
`head`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.files.anchoring import Anchors, Stated
from curator.io.files.idstyle import Besides, IdStyle, detect_style
from curator.io.files.reading import DocumentSourceReader
from curator.io.files.source import BOM, Source, split_lines, without_line_end
from curator.io.literature.pubtator_relations import is_relation, relations_of
from curator.io.literature.pubtator_write import ENDINGS, write_files
from curator.services.ports.files import Carries, ExportDocument, Problem

HEADER = re.compile(r"([^|\t\r\n]{1,200})\|([ta])\|")
_IN_TEXT = re.compile(r'[{}<>"]|[\s(]$')
"""In what looks like an identifier, but is text or JSON: `Pr(>|t|)`, `where |a| < 1`."""
STYLE_BYTES = 1 << 25  # identifiers in the first 32 MiB of a file are enough to learn its style

_ANNOTATION = re.compile(r"[^\t\r\n]{1,200}\t\s*\d{1,18}\s*\t\s*\d{1,18}\s*\t")


@dataclass(slots=True)
class _Record:
    """The lines of one document, headers found so far, and the number of its first line."""

    line: int
    pmid: str
    lines: list[str] = field(default_factory=list)
    title: int = -1
    abstract: int = -1

    def take(self, line: str, header: re.Match[str] | None) -> None:
        if header is not None and header[2] == "t" and self.title < 0:
            self.title = len(self.lines)
        elif header is not None and header[2] == "a" and self.abstract < 0:
            self.abstract = len(self.lines)
        self.lines.append(line)

    def continues_with(self, header: re.Match[str]) -> bool:
        """A second title begins a second document, even with the same PMID."""
        return header[1].strip() == self.pmid and not (header[2] == "t" and self.title >= 0)

    def part(self, index: int) -> str:
        return without_line_end(self.lines[index]).split("|", 2)[2] if index >= 0 else ""


class PubTatorReader(DocumentSourceReader):
    """Streams one PubTator file. Raises UserError while iterating if the file is damaged."""

    format = "pubtator"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._style: IdStyle | None = None
        self._besides = Besides()

    def prepare(self) -> None:
        """Check the whole file (gzip) and learn its identifier style."""
        super().prepare()
        self._style = detect_style(_annotation_rows(self._source))

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        self._besides = Besides()
        if self._style is None:
            self.prepare()
        assert self._style is not None
        self.extra = self._style.dump()
        mentions = with_ids = documents = 0
        for record in self._records():
            document = self._document(record, self._style)
            documents += 1
            mentions += len(document.mentions)
            with_ids += sum(1 for m in document.mentions if m.ids)
            yield document
        if not documents:
            raise UserError(
                tr("{path} contains no PubTator document: no line like `PMID|t|title`", path=self._source.path)
            )
        self.problems += self._besides.problems()
        if mentions and not with_ids:
            self._problem(0, "note", tr("no mention in this file has an identifier: all count as NIL"))

    def _records(self) -> Iterator[_Record]:
        record: _Record | None = None
        for number, line in enumerate(self._source.lines(), 1):
            if number == 1 and line.startswith(BOM):
                self.head, line = BOM, line[1:]
            header = HEADER.match(line)
            if header is not None and (record is None or not record.continues_with(header)):
                if record is not None:
                    yield record
                record = _Record(number, header[1].strip())
            if record is not None:
                record.take(line, header)
                continue
            self.head += line
            if line.strip():
                self._problem(number, "set aside", tr("is before the first document: {shown}", shown=_shown(line)))
        if record is not None:
            yield record

    def _document(self, record: _Record, style: IdStyle) -> SourceDocument:
        title, abstract = record.part(record.title), record.part(record.abstract)
        if record.abstract < 0:
            self._problem(record.line, "note", tr("document {pmid} has no abstract line", pmid=record.pmid))
        if record.title < 0:
            self._problem(record.line, "note", tr("document {pmid} has no title line", pmid=record.pmid))
        text, passages = join_text(title, abstract)
        anchors = Anchors(text, passages)
        if words := anchors.learn(_stated(record)):
            self._problem(record.line, "note", tr("document {key}: {words}", key=record.pmid, words=words))
        mentions = []
        for index, line in enumerate(record.lines):
            if index in (record.title, record.abstract) or not line.strip():
                continue
            mention = self._mention(record, index, anchors, style, text)
            if mention is not None:
                mentions.append(mention)
        return SourceDocument(record.pmid, title, text, passages, tuple(mentions), "".join(record.lines), record.line)

    def _mention(
        self, record: _Record, index: int, anchors: Anchors, style: IdStyle, text: str
    ) -> SourceMention | None:
        """The mention of one line; None for relations, and for lines skipped with a problem."""
        number, columns = record.line + index, without_line_end(record.lines[index]).split("\t")
        if reason := _unusable(columns, record.pmid):
            if reason != "relation":
                self._problem(number, "set aside", f"{reason}: {_shown(record.lines[index])}")
            return None
        start, end, quote, kind = int(columns[1]), int(columns[2]), columns[3], columns[4].strip()
        anchor = anchors.find(start, end, quote)
        where = tr('document {pmid}: "{quote}" at {start}-{end}', pmid=record.pmid, quote=quote, start=start, end=end)
        if anchor is None:
            found = text[start:end] if start < end else ""
            self._problem(
                number,
                "set aside",
                tr(
                    '{where}: the text there is "{found}", and no other position is unambiguous',
                    where=where,
                    found=found[:80],
                ),
            )
            return None
        span = anchor.span
        if anchor.repair:
            self._problem(
                number,
                "repaired",
                tr(
                    "{where}: {repair}; read as {start}-{end}",
                    where=where,
                    repair=anchor.repair,
                    start=span.start,
                    end=span.end,
                ),
            )
        raw_ids = columns[5] if len(columns) > 5 else ""
        ids = style.split(raw_ids, kind)
        self._besides.see(raw_ids)
        return SourceMention((span,), text[span.start : span.end], kind, ids, raw_ids, not ids, index)


class PubTatorFormat:
    """Reads and writes PubTator. `problems` lists data that the last `write` left out."""

    name = "pubtator"
    title = "PubTator"
    can_read = True
    can_write = True
    endings = ENDINGS
    carries = Carries(mentions=True, several_ids=True, nil=True, relations=True)
    carries_people = False

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        lines = filter(str.strip, head.decode("utf-8", "ignore").split("\n"))
        ids = [header[1] if (header := HEADER.match(line)) else "" for line in lines]
        likely = [bool(one) and not _IN_TEXT.search(one) for one in ids]
        return any(likely[:1]) or any(there and " " not in one for there, one in zip(likely, ids, strict=True))

    def open(self, path: Path) -> PubTatorReader:
        """Raises UserError for a missing, empty, truncated or foreign file."""
        if not self.sniff(path, Source(path).head()):
            raise UserError(tr("{path} is not PubTator: no line like `PMID|t|title`; choose another format", path=path))
        reader = PubTatorReader(path)
        reader.prepare()
        return reader

    def holds_more(self, raw: str) -> bool:
        """Whether a mention has more than identifiers, such as the parts of a composite mention."""
        return any(line.count("\t") > 5 and line.split("\t", 6)[6].strip() for line in raw.split("\n"))

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsFields`: the seventh columns."""
        rows = ((at, line.split("\t")) for at, line in enumerate(split_lines(raw)))
        return {at: {tr("column 7"): row[6].strip()} for at, row in rows if len(row) > 6 and not is_relation(row)}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        return relations_of(raw, extra)

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `pubtator_write.write_files`."""
        self.problems = []
        return write_files(files, out, self.problems)


def join_text(title: str, abstract: str) -> tuple[str, tuple[Passage, ...]]:
    """The stored text and its passages; empty parts have no passage."""
    passages = [Passage("title", 0, len(title))] if title else []
    if not abstract:
        return title, tuple(passages)
    start = len(title) + 1
    passages.append(Passage("abstract", start, start + len(abstract)))
    return f"{title}\n{abstract}", tuple(passages)


def _stated(record: _Record) -> Iterator[Stated]:
    """The offsets and quoted texts of a document's annotations."""
    for index, line in enumerate(record.lines):
        columns = without_line_end(line).split("\t")
        if index not in (record.title, record.abstract) and line.strip() and not _unusable(columns, record.pmid):
            yield int(columns[1]), int(columns[2]), columns[3]


def _unusable(columns: Sequence[str], pmid: str) -> str:
    """Why a line is not a mention: "relation", or the reason for skipping it; '' for a mention."""
    if len(columns) < 2:
        return tr("is not a header, an annotation or a relation")
    if columns[0].strip() != pmid:
        return tr("belongs to document {strip!r} but is in document {pmid}", strip=columns[0].strip()[:40], pmid=pmid)
    if is_relation(columns):
        return "relation"
    if len(columns) < 5:
        return tr("an annotation needs at least 5 columns, this one has {number}", number=len(columns))
    if not all(c.strip().isascii() and c.strip().isdigit() and len(c) < 20 for c in columns[1:3]):
        return tr("the offsets are not numbers")
    return ""


def _annotation_rows(source: Source) -> Iterator[list[str]]:
    size = 0
    for line in source.lines():
        size += len(line)
        if size > STYLE_BYTES:
            return
        if _ANNOTATION.match(line):
            columns = without_line_end(line).split("\t")
            if len(columns) >= 5:
                yield columns


def _shown(line: str) -> str:
    line = without_line_end(line)
    return line if len(line) <= 80 else line[:77] + "..."
