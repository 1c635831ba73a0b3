"""Shared by the readers of all formats: their source, the report, and the positions of mentions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from curator.domain.documents import Passage, SourceDocument, SourceMention, Span, slice_spans
from curator.domain.entities import ObsoleteEntity
from curator.domain.wording import UnreadableError, UserError, ntr, tr
from curator.io.files.anchoring import Anchors, Range, find_place, learn
from curator.io.files.idstyle import read_ids
from curator.io.files.report import Report, first_of
from curator.io.files.source import Files, Source

NOT_AVAILABLE = ("[not available].", "[not available]")
"""PubMed's title for a record without a translated title."""
TITLE_LENGTH = 300
MOST_SET_ASIDE = 1 << 20  # characters of other files that are kept for the round trip


class SourceReader:
    """Reads one file as a stream; each iteration starts at the beginning."""

    format: str

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = Source(path)
        self.problems = Report()
        self.obsolete: list[ObsoleteEntity] = []  # of a knowledge base

    @property
    def position(self) -> tuple[int, int]:
        return self.source.position

    def prepare(self) -> None:
        """Detect a truncated file before its first record is stored. Raises UserError."""
        self.source.verify()


class Reader(SourceReader, ABC):
    """See `ports.DocumentReader`. A subclass yields the documents, and says that there is `none`."""

    none = "{path} contains no document that can be read{why}"
    head = tail = extra = ""

    def __iter__(self) -> Iterator[SourceDocument]:
        self.problems, self.head, self.tail, self.extra = Report(), "", "", ""
        count = 0
        for count, document in enumerate(self.documents(), 1):  # noqa: B007  # the count is used after the loop
            yield document
        if not count:
            raise UserError(self.nothing())

    def nothing(self) -> str:
        return tr(self.none, path=self.path, why=first_of(self.problems))

    @abstractmethod
    def documents(self) -> Iterator[SourceDocument]:
        """The usable documents. At the end, reports, `head`, `tail` and `extra` are complete."""


class RecordReader(Reader):
    """Records of titles and abstracts without mentions."""

    def __iter__(self) -> Iterator[SourceDocument]:
        documents = without = 0
        for document in super().__iter__():
            documents += 1
            without += not any(passage.kind == "abstract" for passage in document.passages)
            yield document
        if without:
            self.problems.note(
                tr("{without} of {documents} records have no abstract", without=without, documents=documents)
            )

    def is_usable(self, pmid: str, title: str, abstract: object, line: int) -> bool:
        """Whether a record can be a document; other records are skipped with a report."""
        if pmid and (title or abstract):
            return True
        empty = tr("record {pmid!r} has no title and no abstract", pmid=pmid)
        nameless = tr("record {pmid!r} has no PMID", pmid=title)
        self.problems.set_aside(empty if pmid else nameless, line)
        return False


class FilesReader(Reader):
    """Reads the files of one source."""

    def __init__(self, files: Files) -> None:
        super().__init__(files.path)
        self.files = files

    @property
    def position(self) -> tuple[int, int]:
        return self.files.position

    def prepare(self) -> None:
        """Does nothing: the listing was read when the source was opened, and each file is checked when it is read."""

    def text(self, name: str) -> str | None:
        """A file's text; None for one that is not a text, which is reported. Raises UnreadableError."""
        try:
            return self.files.text(name)
        except UnreadableError:  # with it, the next import may be whole
            raise
        except UserError as error:
            self.problems.set_aside(str(error))
            return None

    def others(self, used: Iterable[str]) -> dict[str, str]:
        """The texts of other files, kept for the round trip; files that are not short texts are noted.

        Raises UnreadableError.
        """
        kept: dict[str, str] = {}
        size, left = 0, []
        for name in sorted({*self.files.names} - {*used}):
            try:
                text = self.files.read(name, MOST_SET_ASIDE).decode("utf-8")
            except UnreadableError:
                raise
            except (UserError, UnicodeDecodeError):
                left.append(name)
                continue
            size += len(text)
            if size > MOST_SET_ASIDE:
                left.append(name)
                continue
            kept[name] = text
        if left:
            one, several = "{n} other file is not kept: {left}", "{n:,} other files are not kept: {left}"
            self.problems.note(ntr(one, several, len(left), left=", ".join(left[:5])))
        return kept


class Placing:
    """Finds the positions of one document's mentions, and reports what was repaired and what has none."""

    def __init__(self, text: str, passages: Sequence[Passage], problems: Report, key: str) -> None:
        self.text = text
        self.anchors = Anchors(text, passages)
        self.problems = problems
        self._key = key

    def learn(self, stated: Iterable[tuple[Sequence[Range], str]], line: int = 0) -> None:
        """Learn how the document's offsets are counted, from the ranges and the quoted text of each mention."""
        if words := learn(self.anchors, stated):
            self.problems.note(tr("document {key}: {words}", key=self._key, words=words), line)

    def find(self, ranges: Sequence[Range], quote: str, where: str, line: int = 0) -> tuple[Span, ...]:
        """The spans of a mention, whose place in the file `where` describes; none, with a report, if it is unclear."""
        found = find_place(self.anchors, ranges, quote, self.text) if ranges else None
        if found is None:
            there = " ".join(self.text[start:end] for start, end in ranges if 0 <= start < end)[:80]
            words = '{where}: the text there is "{found}", and no other position is unambiguous'
            self.problems.set_aside(tr(words, where=where, found=there), line)
            return ()
        if found.repair:
            words = tr("{where}: {repair}; read as {words}", where=where, repair=found.repair, words=found.words)
            self.problems.repaired(words, line)
        return found.spans

    def inside(self, ranges: Sequence[Range]) -> tuple[Span, ...]:
        """The spans of a mention without a quoted text; none if one is empty or outside of the text."""
        usable = bool(ranges) and all(0 <= start < end <= len(self.text) for start, end in ranges)
        return tuple(Span(start, end) for start, end in sorted(ranges)) if usable else ()


def are_apart(spans: Sequence[Span]) -> bool:
    """Whether the spans are in order and share no character."""
    return all(one.end <= other.start for one, other in pairwise(spans))


def stated_mention(
    text: str, spans: Sequence[Span], kind: str, stated: Sequence[str], record: int, ids: tuple[str, ...] | None = None
) -> SourceMention:
    """The mention with these identifiers as stated in its file; NIL if none of them is one."""
    ids = read_ids(stated) if ids is None else ids
    nil = bool(stated) and not ids
    return SourceMention(tuple(spans), slice_spans(text, spans), kind, ids, "|".join(stated), nil, record)


# --- texts and locations ---


def first_line(text: str) -> str:
    """A title for a text without one: its first line that is not blank."""
    for line in text.removeprefix("\ufeff").split("\n", 20):
        if line.strip():
            return line.strip()[:TITLE_LENGTH]
    return ""


def plain_passages(text: str) -> tuple[Passage, ...]:
    """A short first line as the title and the rest as a section; one section if there is no such line."""
    line, newline, rest = text.partition("\n")
    title = line.rstrip("\r")
    if newline and title.strip() and len(title) <= TITLE_LENGTH and rest.strip():
        return Passage("title", 0, len(title)), Passage("section", len(line) + 1, len(text))
    return (Passage("section", 0, len(text)),) if text else ()


def mention_place(document: str, words: str) -> str:
    return tr('document {key}: "{quote}"', key=document, quote=words)
