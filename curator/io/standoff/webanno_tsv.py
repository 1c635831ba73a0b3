"""WebAnno TSV 3 (WebAnno, INCEpTION): one document per file; a folder or a zip archive of them is one source.

Mentions are the annotations of entity layers (named entities and custom layers); parts of speech, lemmas, relations,
chains and slots stay in the record, which is the file. A type is the feature `value`, or the layer's name; identifiers
are in `identifier`. `SourceMention.record` counts the mentions' annotations in the order of their first tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span, Utf16Map
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, ntr, tr
from curator.io.files.archives import Files, holds_many, open_files
from curator.io.files.idstyle import read_ids
from curator.io.files.source import BOM, Source
from curator.io.standoff.cas_relations import webanno_cells, webanno_relations
from curator.io.standoff.standoff import FilesReader, first_line
from curator.io.standoff.webanno_tree import (
    EMPTY,
    FORMAT,
    ID_FEATURES,
    NULL,
    TYPE_FEATURES,
    Sentence,
    TokenUnit,
    WebAnnoAnnotation,
    WebAnnoTree,
    annotations_of,
    held_attributes,
    parse,
    type_and_ids,
    unescape,
)
from curator.io.standoff.webanno_write import write_files
from curator.services.ports.files import Carries, ExportDocument, Problem

LONGEST_GAP = 1 << 20  # characters between two sentences; more is a broken offset


@dataclass(frozen=True, slots=True)
class Text:
    """A document's text, the start of each sentence, and the unit of the file's offsets."""

    text: str
    starts: tuple[int, ...]
    map: Utf16Map | None

    def offset(self, stated: int) -> int:
        """The code point at a stated offset; -1 if it is outside of the text."""
        if self.map is None:
            return stated if stated <= len(self.text) else -1
        return self.map.to_code_point(stated) if stated <= self.map.to_utf16(len(self.text)) else -1

    def span(self, first: TokenUnit, last: TokenUnit) -> Span | None:
        """The span from one unit to another; None if the text does not match the units."""
        start, end = self.offset(first.start), self.offset(last.end)
        if not 0 <= start < end or not (self.holds(first) and self.holds(last)):
            return None
        return Span(start, end)

    def holds(self, unit: TokenUnit) -> bool:
        """Whether the unit's form is at its offsets."""
        start, end = self.offset(unit.start), self.offset(unit.end)
        there = self.text[start:end] if 0 <= start <= end else ""
        return bool(there) and there in (unit.form, unescape(unit.form))


def assembled(tree: WebAnnoTree) -> Text:
    """The document's text. Offsets count UTF-16 units unless they match the tokens only as code points."""
    wide, plain = _assembled(tree, wide=True), _assembled(tree, wide=False)
    if wide.text == plain.text and wide.text.isascii():
        return wide
    return max(wide, plain, key=lambda text: sum(text.holds(unit) for unit in tree.units()))


def _assembled(tree: WebAnnoTree, *, wide: bool) -> Text:
    parts, starts, at, length = list[str](), list[int](), 0, 0
    for sentence in tree.sentences:
        gap = min(max(_start(sentence, wide=wide) - at, 0), LONGEST_GAP)
        parts += ["\n" * gap, sentence.text]
        starts.append(length + gap)
        length += gap + len(sentence.text)
        at += gap + _size(sentence.text, wide=wide)
    text = "".join(parts)
    return Text(text, tuple(starts), Utf16Map(text) if wide else None)


def _start(sentence: Sentence, *, wide: bool) -> int:
    """The start of a sentence, from its first token's offset."""
    if not sentence.units:
        return 0
    first = sentence.units[0]
    before = sentence.text.partition(first.form)[0] if first.form and first.form in sentence.text else ""
    return first.start - _size(before, wide=wide)


def _size(text: str, *, wide: bool) -> int:
    return len(text) + (sum(ch > "\uffff" for ch in text) if wide and not text.isascii() else 0)


class WebAnnoReader(FilesReader):
    """Yields the documents in the order of their names."""

    format = "webanno-tsv"

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        found = 0
        for name in self._files.names:
            content = self._text(name)
            if content is None:
                continue
            if not content.removeprefix(BOM).startswith(FORMAT):
                self._problem(1, "set aside", tr("{name} does not begin with {format}", name=name, format=FORMAT))
                continue
            found += 1
            yield self._document(name, content)
        if not found:
            raise UserError(tr("{path} contains no readable WebAnno TSV 3 document", path=self._files.path))

    def _document(self, name: str, content: str) -> SourceDocument:
        tree = parse(content)
        text = assembled(tree)
        for index in tree.odd[:50]:
            self._problem(
                index + 1,
                "set aside",
                tr("{name}: this is not the line of a token: {lines}", name=name, lines=tree.lines[index][:80]),
            )
        wrong = [unit for unit in tree.units() if not text.holds(unit)]
        if wrong:
            self._problem(
                wrong[0].line + 1,
                "note",
                ntr(
                    "{name}: {n} token is not at its offsets",
                    "{name}: {n:,} tokens are not at their offsets",
                    len(wrong),
                    name=name,
                ),
            )
        if text.map is None:
            self._problem(1, "repaired", tr("{name}: the offsets count code points, not UTF-16 units", name=name))
        mentions = [
            mention
            for record, one in enumerate(annotations_of(tree))
            if (mention := self._mention(name, one, record, text)) is not None
        ]
        passages = tuple(
            Passage("section", start, start + len(sentence.text))
            for start, sentence in zip(text.starts, tree.sentences, strict=True)
            if sentence.text
        )
        key = name.removesuffix(".tsv")
        return SourceDocument(key, first_line(text.text), text.text, passages, tuple(mentions), content, 1)

    def _mention(self, name: str, one: WebAnnoAnnotation, record: int, text: Text) -> SourceMention | None:
        kind, stated = type_and_ids(one)
        span = text.span(one.units[0], one.units[-1])
        if span is None:
            words = " ".join(unit.form for unit in one.units)
            self._problem(
                one.units[0].line + 1,
                "set aside",
                tr('{name}: {kind} "{words}" was not found at its offsets', name=name, kind=kind, words=words[:80]),
            )
            return None
        ids = read_ids(stated)
        nil = bool(stated) and not ids
        return SourceMention((span,), text.text[span.start : span.end], kind, ids, "|".join(stated), nil, record)


class WebAnnoFormat:
    """Reads and writes WebAnno TSV 3. `problems` lists data that the last `write` left out."""

    name = "webanno-tsv"
    title = "WebAnno TSV 3"
    can_read = True
    can_write = True
    document_endings = (".tsv",)
    carries = Carries(mentions=True, several_ids=True, nil=True, relations=True, attributes=True, own_fields=True)
    carries_people = False

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return head.startswith(FORMAT.encode())

    def sniff_files(self, files: Files) -> bool:
        return bool(_members(files, self))

    def reads(self, files: Files) -> Sequence[str]:
        return _members(files, self)

    def open(self, path: Path) -> WebAnnoReader:
        """Raises UserError for a missing, empty, unsafe or foreign source."""
        files = open_files(path)
        if holds_many(path):
            files = files.only(_members(files, self))
        elif not self.sniff(path, Source(path).head()):
            files = files.only([])
        if not files.names:
            raise UserError(
                tr(
                    "{path} is not WebAnno TSV: no file begins with `{format}`; choose another format",
                    path=path,
                    format=FORMAT,
                )
            )
        return WebAnnoReader(files)

    def holds_more(self, raw: str) -> bool:
        """Whether a layer of chains or parts of speech, or another feature of a mention or relation, has a value."""
        tree = parse(raw)
        related = {layer.name for _, layer, _, _ in webanno_cells(tree)}
        columns = [
            column
            for layer in tree.layers
            for place, column in enumerate(layer.columns)
            if not (layer.holds_mentions and place in (layer.feature(ID_FEATURES), layer.feature(TYPE_FEATURES)))
            and layer.name not in related
        ]
        cells = (part for unit in tree.units() for column in columns for part in unit.cells[column].split("|"))
        return any(cell.partition("[")[0] not in (EMPTY, NULL) for cell in cells)

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        listed = annotations_of(parse(raw))
        return {record: found for record, one in enumerate(listed) if (found := held_attributes(one))}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        return webanno_relations(raw, extra)

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `webanno_write.write_files`."""
        self.problems = []
        return write_files(files, out, self.problems)


def _members(files: Files, form: WebAnnoFormat) -> list[str]:
    return [name for name in files.with_suffix(".tsv") if form.sniff(files.path, files.head(name, 64))]
