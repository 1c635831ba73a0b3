"""PubTator: `PMID|t|title`, `PMID|a|abstract`, tab-separated annotation and relation lines, blank lines between.

Offsets are code points over title + one separator character + abstract. The stored text has a line feed for that
separator: a title never contains one, so detected mentions never cross from title to abstract, and the text can be
split again. With an empty abstract only the title is stored; with an empty title the separator stays, since offsets
count it. A document begins at its header line, so every line belongs to exactly one record or, before the first, to
`head`.

Relations in PubTator: lines `PMID<tab>Type<tab>ID<tab>ID`, between entities rather than mentions.

An end may have its entity's type (`Chemical|MESH:D008012`), which is its role; a variant's form (`c|DEL|12_14|`) is an
entity. Other roles than types have no place in PubTator. Further columns, such as BioRED's novelty, are a
note.

Write PubTator: unchanged lines are written back byte for byte, everything else is edited line by line.

* An unchanged mention's line is kept; a changed decision rewrites only the id column, a moved or retyped mention the
  columns of offsets, text and type. A 7th column is kept if it is still valid (empty, or one part for each id),
  otherwise it is emptied.
* NIL is `-1`. Ids are written in the file's style (`IdStyle`).
* A deleted or rejected mention's line is removed; relation and other lines stay, except relations that a curator
  deleted. New relations follow the last non-empty line.
* A new mention's line follows the last mention line that starts no later, otherwise it is before the first mention
  line, or after the headers if there is none.
* A document from another format gets a new record, with line breaks written as spaces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, slice_spans
from curator.domain.relations import Relation, RelationKind, SourceEnd, SourceRelation
from curator.domain.wording import tr
from curator.io.bioc.bioc import CDR, CDR_ROLES
from curator.io.bioc.source_ids import source_style, stated_ids
from curator.io.files.anchoring import Range
from curator.io.files.export import Action, WrittenSource, action_for, entity_ids
from curator.io.files.format import Format
from curator.io.files.idstyle import Besides, IdStyle, detect_style, typed_entity
from curator.io.files.reading import Placing, Reader, mention_place
from curator.io.files.relations import relations_for, unique_keys, unwritten
from curator.io.files.report import Report
from curator.io.files.source import BOM, Source, join_lines, line_end, split_lines, without_line_end
from curator.services.ports.files import Carries, ExportDocument, ExportMention, Problem

NAME = re.compile(r"[A-Za-z][A-Za-z _:-]*(:\d+)?")
"""The form of the second column of a relation's line."""


def relation_lines(raw: str, style: IdStyle) -> Iterator[tuple[int, SourceRelation]]:
    """The relation lines, with their numbers in the record, from 0."""
    tabbed = ((number, line) for number, line in enumerate(split_lines(raw)) if "\t" in line)
    lines = ((number, without_line_end(line).split("\t")) for number, line in tabbed)
    rows = [(number, columns) for number, columns in lines if is_relation(columns)]
    keys = unique_keys([" ".join(one.strip() for one in columns[1:4]) for _, columns in rows])
    for (number, columns), key in zip(rows, keys, strict=True):
        ends = tuple(_end(one, style) for one in columns[2:4])
        note = " ".join(one.strip() for one in columns[4:]).strip()
        yield number, SourceRelation(key, columns[1].strip(), ends, note=note)


def is_relation(columns: Sequence[str]) -> bool:
    return len(columns) >= 4 and NAME.fullmatch(columns[1]) is not None


def relation_line(pmid: str, relation: Relation, style: IdStyle, types: Collection[str]) -> str | None:
    """The line of a relation that is not in the record, without its end; None if PubTator has no form for it. A role is
    written only if it is one of these `types` of mentions. The chemical of `CID` is first."""
    if relation.kind is not RelationKind.ENTITIES or NAME.fullmatch(relation.type) is None:
        return None
    reverse = relation.type == CDR and [one.role for one in relation.ends] == [*reversed(CDR_ROLES)]
    ends = [
        f"{one.role}|" * (one.role in types) + style.spell(one.entity_id)
        for one in (reversed(relation.ends) if reverse else relation.ends)
    ]
    note = [" ".join(relation.note.split())] if relation.note else []
    return "\t".join([pmid, relation.type, *ends, *note])


def _end(column: str, style: IdStyle) -> SourceEnd:
    role, words = typed_entity(column)
    ids = style.split(words, "")
    return SourceEnd(role, entity=ids[0] if len(ids) == 1 else words)


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


class PubTatorReader(Reader):
    """Streams one PubTator file. Raises UserError while iterating if the file is damaged."""

    format = "pubtator"
    none = "{path} contains no PubTator document: no line like `PMID|t|title`"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._style: IdStyle | None = None

    def prepare(self) -> None:
        """Check the whole file (gzip) and learn its identifier style."""
        super().prepare()
        self._style = detect_style(_annotation_rows(self.source))

    def documents(self) -> Iterator[SourceDocument]:
        self._besides = Besides()
        self._style = self._style or detect_style(_annotation_rows(self.source))
        self.extra = self._style.dump()
        mentions = with_ids = 0
        for record in self._records():
            document = self._document(record, self._style)
            mentions += len(document.mentions)
            with_ids += sum(1 for m in document.mentions if m.ids)
            yield document
        self.problems += self._besides.problems()
        if mentions and not with_ids:
            self.problems.note(tr("no mention in this file has an identifier: all count as NIL"))

    def _records(self) -> Iterator[_Record]:
        record: _Record | None = None
        for number, line in enumerate(self.source.lines(), 1):
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
                self.problems.set_aside(tr("is before the first document: {shown}", shown=_shown(line)), number)
        if record is not None:
            yield record

    def _document(self, record: _Record, style: IdStyle) -> SourceDocument:
        title, abstract = record.part(record.title), record.part(record.abstract)
        if record.abstract < 0:
            self.problems.note(tr("document {pmid} has no abstract line", pmid=record.pmid), record.line)
        if record.title < 0:
            self.problems.note(tr("document {pmid} has no title line", pmid=record.pmid), record.line)
        text, passages = join_text(title, abstract)
        placing = Placing(text, passages, self.problems, record.pmid)
        placing.learn(_stated(record), record.line)
        mentions = []
        for index, line in enumerate(record.lines):
            if index in (record.title, record.abstract) or not line.strip():
                continue
            mention = self._mention(record, index, placing, style)
            if mention is not None:
                mentions.append(mention)
        return SourceDocument(record.pmid, title, text, passages, tuple(mentions), "".join(record.lines), record.line)

    def _mention(self, record: _Record, index: int, placing: Placing, style: IdStyle) -> SourceMention | None:
        """The mention of one line; None for relations, and for lines skipped with a problem."""
        number, columns = record.line + index, without_line_end(record.lines[index]).split("\t")
        if reason := _unusable(columns, record.pmid):
            if reason != "relation":
                self.problems.set_aside(f"{reason}: {_shown(record.lines[index])}", number)
            return None
        start, end, quote, kind = int(columns[1]), int(columns[2]), columns[3], columns[4].strip()
        where = tr('document {pmid}: "{quote}" at {start}-{end}', pmid=record.pmid, quote=quote, start=start, end=end)
        spans = placing.find([(start, end)], quote, where, number)
        if not spans:
            return None
        raw_ids = columns[5] if len(columns) > 5 else ""
        ids = style.split(raw_ids, kind)
        self._besides.see(raw_ids)
        return SourceMention(spans, slice_spans(placing.text, spans), kind, ids, raw_ids, not ids, index)


def join_text(title: str, abstract: str) -> tuple[str, tuple[Passage, ...]]:
    """The stored text and its passages; empty parts have no passage."""
    passages = [Passage("title", 0, len(title))] if title else []
    if not abstract:
        return title, tuple(passages)
    start = len(title) + 1
    passages.append(Passage("abstract", start, start + len(abstract)))
    return f"{title}\n{abstract}", tuple(passages)


def _stated(record: _Record) -> Iterator[tuple[list[Range], str]]:
    """The offsets and quoted texts of a document's annotations."""
    for index, line in enumerate(record.lines):
        columns = without_line_end(line).split("\t")
        if index not in (record.title, record.abstract) and line.strip() and not _unusable(columns, record.pmid):
            yield [(int(columns[1]), int(columns[2]))], columns[3]


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


_MENTION = re.compile(r"[^\t]*\t\s*\d+\s*\t\s*\d+\s*\t")
_RELATION = re.compile(r"[^\t]*\t[A-Za-z][^\t]*\t[^\t]+\t")
WIDOWED = 'document {document}: a relation refers to "{id}", which no mention has any more'
_BREAKS = str.maketrans("\n\r\t", "   ")


def _file_text(file: SourceFile, documents: Iterable[ExportDocument], problems: Report) -> Iterator[str]:
    own = file.format == PubTatorFormat.name
    style = source_style(file)
    style = style if own else replace(style, columns=6)
    yield file.head if own else ""
    complete = True
    for item in documents:
        if not complete:
            yield "\n\n"
        text = edited_record(item, style, problems) if own and item.raw else new_record(item, file, style, problems)
        complete = text.endswith("\n")
        yield text
    yield file.tail if own else ""


def edited_record(item: ExportDocument, style: IdStyle, problems: Report) -> str:
    """The record with the changed mentions' lines rewritten; `item.raw` itself if nothing changed."""
    lines: list[str | None] = list(split_lines(item.raw))
    new: list[ExportMention] = []
    changed = False
    for record in item.removed_records:
        lines[record], changed = None, True
    for gold in item.mentions:
        action, record = action_for(gold, item.document.external_id, problems), gold.mention.record
        if action is Action.KEEP:
            continue
        if record >= 0:
            old = lines[record] or ""
            lines[record] = _edited(old, gold, action, style) if _stays(gold, action, item, problems) else None
            changed = changed or lines[record] != old
        elif action is Action.WRITE and _carried(gold, item, problems):
            new.append(gold)
    gone = [number for number, one in relation_lines(item.raw, style) if one.key in item.removed_relations]
    for number in gone:
        lines[number] = None
    related = _relations(item, item.document.external_id, style, problems, own=True)
    if not (changed or new or gone or related):
        return item.raw
    text = _assembled(item, lines, new, related, style)
    problems += _widowed(item.raw, text, item.document.external_id)
    return text


def _widowed(before: str, after: str, document: str) -> list[Problem]:
    """A note for each identifier in a relation line that no mention of the record has any longer."""
    gone = _named(before) - _named(after)
    if not gone:
        return []
    relations = [line.split("\t")[2:4] for line in split_lines(after) if _RELATION.match(line)]
    named = {one for ends in relations for end in ends for one in (end.strip(), end.rpartition("|")[2].strip())}
    return [Problem(0, "note", tr(WIDOWED, document=document, id=one)) for one in sorted(gone & named)]


def _named(text: str) -> set[str]:
    """The identifiers in the sixth columns, whole and in parts."""
    columns = (without_line_end(line).split("\t") for line in split_lines(text) if _MENTION.match(line))
    ids = [one[5] for one in columns if len(one) > 5]
    return {part.strip() for one in ids for part in (one, *re.split(r"[|+,;]", one))} - {"", "-", "-1"}


def _relations(item: ExportDocument, pmid: str, style: IdStyle, problems: Report, *, own: bool) -> list[str]:
    """The lines of new relations, without their ends; with `own` only the curators'."""
    kinds = (RelationKind.ENTITIES,)
    typed = own and any(end.role for _, one in relation_lines(item.raw, style) for end in one.ends)
    types = {gold.mention.type for gold in item.mentions} if typed else ()
    lines = []
    for one in relations_for(item, problems, own=own, kinds=kinds, written=(), title="PubTator"):
        line = relation_line(pmid, one, style, types)
        if line is None:
            unwritten(item, problems, one, "PubTator")
        else:
            lines.append(line)
    return lines


def _assembled(
    item: ExportDocument, lines: list[str | None], new: list[ExportMention], related: list[str], style: IdStyle
) -> str:
    """Join the lines, inserting new ones. New lines have the line end of the record's first line; a record without a
    final line end stays without one."""
    ending = line_end(item.raw)
    pmid = item.document.external_id
    kept = [line for line in lines if line is not None]
    for gold in sorted(new, key=_order):
        span = gold.mention.spans[0]
        ids = style.join(entity_ids(gold), mention_type=gold.mention.type)
        kept.insert(_place(kept, pmid, span.start), _annotation(pmid, gold, ids, style) + ending)
    last = max((number for number, line in enumerate(kept, 1) if line.strip()), default=0)
    kept[last:last] = [line + ending for line in related]
    return join_lines(kept, ending, final=item.raw.endswith("\n"))


def _place(lines: list[str], pmid: str, start: int) -> int:
    starts = [(i, int(found[1])) for i, line in enumerate(lines) if (found := _mention_start(line, pmid))]
    before = [i for i, other in starts if other <= start]
    if before:
        return before[-1] + 1
    if starts:
        return starts[0][0]
    headers = [i for i, line in enumerate(lines) if re.match(r"[^|\t]{1,200}\|[ta]\|", line)]
    return headers[-1] + 1 if headers else 0


def _mention_start(line: str, pmid: str) -> re.Match[str] | None:
    if line.partition("\t")[0].strip() != pmid:
        return None
    return re.match(r"[^\t]*\t\s*(\d{1,18})\s*\t\s*\d{1,18}\s*\t", line)


def _stays(gold: ExportMention, action: Action, item: ExportDocument, problems: Report) -> bool:
    return action is not Action.DROP and _carried(gold, item, problems)


def _edited(line: str, gold: ExportMention, action: Action, style: IdStyle) -> str:
    if gold.reshaped:
        line = _moved(line, gold)
    return _rewritten(line, gold, style) if action is Action.WRITE else line


def _moved(line: str, gold: ExportMention) -> str:
    """The line with the mention's current offsets, text and type."""
    body = without_line_end(line)
    columns, mention = body.split("\t"), gold.mention
    place = (str(mention.spans[0].start), str(mention.spans[0].end))
    columns[1:5] = [*place, mention.text.translate(_BREAKS), mention.type.translate(_BREAKS)]
    return "\t".join(columns) + line[len(body) :]


def _rewritten(line: str, gold: ExportMention, style: IdStyle) -> str:
    body = without_line_end(line)
    columns = body.split("\t")
    columns += [""] * (6 - len(columns))
    ids = entity_ids(gold)
    columns[5] = style.join(ids, columns[5], gold.mention.type)
    if len(columns) > 6 and not _still_fits(columns[6], len(ids)):
        columns[6] = ""
        if style.columns < 7:
            columns = columns[:6] + columns[7:]
    return "\t".join(columns) + line[len(body) :]


def _still_fits(seventh: str, ids: int) -> bool:
    """Whether a 7th column is valid: empty and scores always are; parts of a composite mention only if there are as
    many as ids."""
    if not seventh.strip() or re.fullmatch(r"\s*[-+]?\d*\.?\d+(e-?\d+)?\s*", seventh, re.IGNORECASE):
        return True
    return seventh.count("|") + 1 == ids


def new_record(item: ExportDocument, file: SourceFile, style: IdStyle, problems: Report) -> str:
    """A document that did not come from PubTator, or has no record."""
    text, pmid = item.document.text, _safe_id(item, problems)
    cut = _title_end(item)
    title, abstract = ("", text) if cut < 0 else (text[:cut], text[cut + 1 :])
    shift = 1 if cut < 0 else 0
    lines = [f"{pmid}|t|{title.translate(_BREAKS)}", f"{pmid}|a|{abstract.translate(_BREAKS)}"]
    chosen = [
        gold
        for gold in item.mentions
        if action_for(gold, item.document.external_id, problems) is not Action.DROP and _carried(gold, item, problems)
    ]
    for gold in sorted(chosen, key=_order):
        ids = stated_ids(gold, item, file)
        column = "" if ids is None else style.join(ids, mention_type=gold.mention.type)
        lines.append(_annotation(pmid, gold, column, style, shift=shift))
    lines += _relations(item, pmid, style, problems, own=False)
    return "\n".join(lines) + "\n\n"


def _title_end(item: ExportDocument) -> int:
    """The position of the separator after the title, which may be the passage's last character; -1 if the text does not
    begin with the title passage."""
    text = item.document.text
    first = min(item.document.passages, key=lambda p: p.start, default=None)
    if first is not None and first.kind == "title" and first.start == 0:
        cut = first.end
    elif text.startswith("\n"):
        cut = 0
    else:
        return -1 if text else 0
    if cut >= len(text) or text[cut].isspace():
        return cut
    return cut - 1 if cut and text[cut - 1].isspace() else -1


def _annotation(pmid: str, gold: ExportMention, ids: str, style: IdStyle, *, shift: int = 0) -> str:
    mention, span = gold.mention, gold.mention.spans[0]
    quote, kind = mention.text.translate(_BREAKS), mention.type.translate(_BREAKS)
    columns = [pmid, str(span.start + shift), str(span.end + shift), quote, kind, ids.translate(_BREAKS)]
    return "\t".join(columns + [""] * (style.columns - 6))


def _carried(gold: ExportMention, item: ExportDocument, problems: Report) -> bool:
    if len(gold.mention.spans) == 1:
        return True
    where = mention_place(item.document.external_id, gold.mention.text)
    problems.left_out(gold, tr("{where} is discontinuous, which PubTator does not support: left out", where=where))
    return False


def _safe_id(item: ExportDocument, problems: Report) -> str:
    wanted = item.document.external_id
    safe = re.sub(r"[|\t\r\n]", "_", wanted.strip())[:200] or "document"
    if safe != wanted:
        words = "document id {wanted!r} was written as {safe!r}: PubTator reserves | and tab"
        problems.repaired(tr(words, wanted=wanted, safe=safe))
    return safe


def _order(gold: ExportMention) -> tuple[int, int]:
    span = gold.mention.spans[0]
    return span.start, -span.end


class PubTatorFormat(Format):
    name = "pubtator"
    title = "PubTator"
    refusal = "{path} is not PubTator: no line like `PMID|t|title`; choose another format"
    reader = PubTatorReader
    endings = (".pubtator", ".txt")
    suffix = ".pubtator.txt"
    carries = Carries(mentions=True, several_ids=True, nil=True, relations=True)

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        lines = filter(str.strip, head.decode("utf-8", "ignore").split("\n"))
        ids = [header[1] if (header := HEADER.match(line)) else "" for line in lines]
        likely = [bool(one) and not _IN_TEXT.search(one) for one in ids]
        return any(likely[:1]) or any(there and " " not in one for there, one in zip(likely, ids, strict=True))

    def holds_more(self, raw: str) -> bool:
        """Whether a mention has more than identifiers, such as the parts of a composite mention."""
        return any(line.count("\t") > 5 and line.split("\t", 6)[6].strip() for line in raw.split("\n"))

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """The seventh columns."""
        rows = ((at, line.split("\t")) for at, line in enumerate(split_lines(raw)))
        return {at: {tr("column 7"): row[6].strip()} for at, row in rows if len(row) > 6 and not is_relation(row)}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        return [relation for _, relation in relation_lines(raw, IdStyle.load(extra))]

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[str]:
        before = ""
        for number, (file, documents) in enumerate(sources):
            if number and not before.endswith(("\n\n", "\n\r\n")):
                yield "\n" if before.endswith("\n") else "\n\n"
            for piece in _file_text(file, documents, self.problems):
                text = piece.removeprefix(BOM) if number else piece
                before = text or before
                yield text
