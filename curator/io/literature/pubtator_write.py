"""Write PubTator: unchanged lines are written back byte for byte, everything else is edited line by line.

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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from curator.domain.documents import SourceFile
from curator.domain.relations import RelationKind
from curator.domain.wording import tr
from curator.io.bioc.source_ids import source_style, stated_ids
from curator.io.files.export import Action, WrittenSource, action_for, entity_ids, left_out, write_streams
from curator.io.files.idstyle import IdStyle
from curator.io.files.reading import mention_place
from curator.io.files.relations import relations_for, unwritten
from curator.io.files.source import BOM, join_lines, line_end, split_lines, without_line_end
from curator.io.literature.pubtator_relations import relation_line, relation_lines
from curator.services.ports.files import ExportDocument, ExportMention, Problem

ENDINGS = (".pubtator", ".txt")
_MENTION = re.compile(r"[^\t]*\t\s*\d+\s*\t\s*\d+\s*\t")
_RELATION = re.compile(r"[^\t]*\t[A-Za-z][^\t]*\t[^\t]+\t")
WIDOWED = 'document {document}: a relation refers to "{id}", which no mention has any more'
_BREAKS = str.maketrans("\n\r\t", "   ")


def write_files(
    files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path, problems: list[Problem]
) -> list[Path]:
    """See `export.write_streams`. Data that PubTator cannot represent are noted in `problems`."""

    def pieces(sources: Sequence[WrittenSource]) -> Iterator[bytes]:
        before = ""
        for number, (file, documents) in enumerate(sources):
            if number and not before.endswith(("\n\n", "\n\r\n")):
                yield b"\n" if before.endswith("\n") else b"\n\n"
            for piece in _file_text(file, documents, problems):
                text = piece.removeprefix(BOM) if number else piece
                before = text or before
                yield text.encode("utf-8")

    return write_streams(files, out, pieces, format_name="pubtator", suffix=".pubtator.txt", endings=ENDINGS)


def _file_text(file: SourceFile, documents: Iterable[ExportDocument], problems: list[Problem]) -> Iterator[str]:
    own = file.format == "pubtator"
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


def edited_record(item: ExportDocument, style: IdStyle, problems: list[Problem]) -> str:
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


def _relations(item: ExportDocument, pmid: str, style: IdStyle, problems: list[Problem], *, own: bool) -> list[str]:
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


def _stays(gold: ExportMention, action: Action, item: ExportDocument, problems: list[Problem]) -> bool:
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


def new_record(item: ExportDocument, file: SourceFile, style: IdStyle, problems: list[Problem]) -> str:
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


def _carried(gold: ExportMention, item: ExportDocument, problems: list[Problem]) -> bool:
    if len(gold.mention.spans) == 1:
        return True
    where = mention_place(item.document.external_id, gold.mention.text)
    problems.append(
        left_out(gold, tr("{where} is discontinuous, which PubTator does not support: left out", where=where))
    )
    return False


def _safe_id(item: ExportDocument, problems: list[Problem]) -> str:
    wanted = item.document.external_id
    safe = re.sub(r"[|\t\r\n]", "_", wanted.strip())[:200] or "document"
    if safe != wanted:
        problems.append(
            Problem(
                0,
                "repaired",
                tr(
                    "document id {wanted!r} was written as {safe!r}: PubTator reserves | and tab",
                    wanted=wanted,
                    safe=safe,
                ),
            )
        )
    return safe


def _order(gold: ExportMention) -> tuple[int, int]:
    span = gold.mention.spans[0]
    return span.start, -span.end
