"""BLINK's JSON lines: one mention per line, between its left and right contexts.

Consecutive lines with the same document identifier and text are mentions of one document; other lines are separate
documents. Contexts are joined to the mention unchanged if a line has the mention's offset (`start`, as in our files),
and else with a space, since BLINK strips its contexts. The identifier is `entity_ids` (ours), `label_document_id`,
`label_id`, or the title if that is only a row number. The record is the lines without their contexts, which are in the
text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError, ntr, tr
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.export import Action, WrittenSource, action_for
from curator.io.files.format import Format
from curator.io.files.idstyle import NIL, NIL_WORDS, read_id, read_ids, written_id
from curator.io.files.json_stream import LineError, first_object, has_keys, parse_object, text_in
from curator.io.files.reading import Reader, first_line, mention_place, plain_passages
from curator.io.files.report import Report
from curator.io.files.source import BOM, plain_text
from curator.services.ports.files import Carries, ExportDocument, ExportMention, LeftOut

# Write BLINK's JSON lines. * The line of an unchanged mention is written back exactly, with unknown keys. * A decision
# is `label_id`, the first entity, and `entity_ids`, all of them; `NIL` for none. `label` and `label_title` belong to
# another entity and are emptied. * A line holds one contiguous mention: discontinuous mentions and documents without
# mentions are left out.

CONTEXTS = ("context_left", "mention", "context_right")
SMALL = 2**30
GROWTH = 100
"""Each line repeats the text of its document: characters that may be written in any case, and else for each character
of the texts."""
_ABOUT = ("label", "label_title", "label_document_id", "Wikipedia_ID", "Wikipedia_URL", "Wikipedia_title")


@dataclass(slots=True)
class _Tally:
    """Counted over all files and reported once: documents without a line, and lines without a description; and the
    characters of the texts, and of their repetitions."""

    documents: int = 0
    descriptions: int = 0
    read: int = 0
    written: int = 0

    def count(self, item: ExportDocument) -> None:
        """Raises UserError before a document would fill the disk with repetitions of its text."""
        size = len(item.document.text)
        self.read += size
        self.written += size * len(item.mentions)
        if self.written > max(SMALL, GROWTH * self.read):
            raise UserError(
                tr(
                    "BLINK repeats the whole text of a document for each of its mentions: up to document {document}, "
                    "{size:,.0f} MB of text would become a file of more than {whole:,.0f} MB. Choose another format; "
                    "nothing was changed.",
                    document=item.document.external_id,
                    size=self.read / 1e6,
                    whole=self.written / 1e6,
                )
            )

    def report(self, problems: Report) -> None:
        if self.documents:
            text = ntr(
                "BLINK has one line for each mention: {n} document without mentions was left out",
                "BLINK has one line for each mention: {n:,} documents without mentions were left out",
                self.documents,
            )
            problems.append(LeftOut(0, "note", text, documents=self.documents))
        if self.descriptions:
            one = "{n} line has no `label` and no `label_title`: join it with the knowledge base by `label_id`"
            several = (
                "{n:,} lines have no `label` and no `label_title`: join them with the knowledge base by `label_id`"
            )
            problems.note(ntr(one, several, self.descriptions))


def _written_lines(
    documents: Iterable[ExportDocument], file: SourceFile, problems: Report, tally: _Tally
) -> Iterator[str]:
    """The lines of all documents, with their ends."""
    for item in documents:
        tally.count(item)
        records = json.loads(item.raw) if file.format == "blink" and item.raw else []
        count = 0
        for gold in item.mentions:
            value = _line(gold, item, file, records, problems)
            if value is not None:
                count += 1
                yield json.dumps(value, ensure_ascii=False) + "\n"
                tally.descriptions += value.get("label") == ""
        tally.documents += not count


def _line(
    gold: ExportMention, item: ExportDocument, file: SourceFile, records: list[Any], problems: Report
) -> dict[str, Any] | None:
    action = action_for(gold, item.document.external_id, problems)
    mention = gold.mention
    if action is Action.DROP:
        return None
    if len(mention.spans) != 1:
        where = mention_place(item.document.external_id, mention.text)
        problems.left_out(gold, tr("{where} is discontinuous, which BLINK does not support: left out", where=where))
        return None
    came = records[mention.record] if 0 <= mention.record < len(records) else None
    if came is not None and action is Action.KEEP:
        (left, start, end, right), value = came
        text = item.document.text
        return {**value, "context_left": text[:left], "mention": text[start:end], "context_right": text[right:]}
    return _new_line(gold, item, file, dict(came[1]) if came is not None else {}, keep=action is Action.MOVE)


def _new_line(
    gold: ExportMention, item: ExportDocument, file: SourceFile, value: dict[str, Any], *, keep: bool
) -> dict[str, Any]:
    mention, text = gold.mention, item.document.text
    span = mention.spans[0]
    value |= {
        "context_doc_id": item.document.external_id,
        "context_left": text[: span.start],
        "mention": mention.text,
        "context_right": text[span.end :],
        "start": span.start,
        "type": mention.type,
    }
    if keep:
        return value
    ids = stated_ids(gold, item, file)
    for key in _ABOUT:
        if key in value or key in ("label", "label_title"):
            value[key] = ""
    value["label_id"] = next(iter(ids or ()), NIL if ids is not None else "unknown")
    value["entity_ids"] = [_unmistakable(one) for one in ids] if ids else []
    return value


def _unmistakable(entity_id: str) -> str:
    """The identifier unchanged if it is read back unchanged."""
    return entity_id if read_id(entity_id) == entity_id else written_id(entity_id)


_DOCUMENT = ("context_doc_id", "context_document_id", "document_id", "doc_id")
_LINE = ("id", "query_id", "mention_id")
_ENTITY = ("label", "label_id", "entity_ids", "type", "world", "start", "Wikipedia_ID", "Wikipedia_URL")
_TITLES = ("label_title", "Wikipedia_title", "wikipedia_title", "entity")
_UNKNOWN = frozenset({"", "unknown", "-1"})
_KNOWN = frozenset({*CONTEXTS, *_DOCUMENT, *_LINE, *_ENTITY, *_TITLES, "label_document_id"})


@dataclass(frozen=True, slots=True)
class _Line:
    """One mention in its text. `places` are the ends of the contexts and of the mention in the line."""

    number: int
    key: str
    text: str
    places: tuple[int, int, int, int]
    value: Mapping[str, Any]


class BlinkReader(Reader):
    format = "blink"
    none = "{path} contains no usable BLINK mention{why}"

    def documents(self) -> Iterator[SourceDocument]:
        for _, lines in groupby(self._lines(), key=lambda one: (one.key, one.text)):
            yield self._document(list(lines))

    def _lines(self) -> Iterator[_Line]:
        for number, line in enumerate(self.source.lines(), 1):
            if line.removeprefix(BOM).strip():
                try:
                    yield _parsed(parse_object(line.removeprefix(BOM)), number)
                except LineError as error:
                    self.problems.set_aside(tr("the mention {error}", error=error), number)

    def _document(self, lines: list[_Line]) -> SourceDocument:
        first = lines[0]
        mentions = tuple(_mention(line, record) for record, line in enumerate(lines))
        raw = json.dumps([[line.places, line.value] for line in lines], ensure_ascii=False)
        return SourceDocument(
            first.key,
            first_line(first.text),
            first.text,
            plain_passages(first.text),
            mentions,
            plain_text(raw),
            first.number,
        )


def _parsed(value: Mapping[str, Any], number: int) -> _Line:
    """Raises LineError."""
    for key in CONTEXTS:
        text_in(value, key)
    left, mention, right = (plain_text(value[key]) for key in CONTEXTS)
    if not mention.strip():
        raise LineError(tr("is empty"))
    exact = value.get("start") == len(left)
    before = "" if exact or not left or left[-1].isspace() or mention[0].isspace() else " "
    after = "" if exact or not right or right[0].isspace() or mention[-1].isspace() else " "
    start = len(left) + len(before)
    end = start + len(mention)
    places = (len(left), start, end, end + len(after))
    given = {key: "" if key in CONTEXTS else one for key, one in value.items()}
    stated = next((value[one] for one in (*_DOCUMENT, *_LINE) if value.get(one) not in (None, "")), "")
    key = plain_text(str(stated)).strip() or f"line {number}"
    return _Line(number, key, left + before + mention + after + right, places, given)


def _mention(line: _Line, record: int) -> SourceMention:
    _, start, end, _ = line.places
    words = line.text[start:end]
    start += len(words) - len(words.lstrip())
    words = words.strip()
    value = line.value
    raw = [plain_text(str(one)).strip() for one in _stated(value)]
    ids = read_ids(raw)
    kind = plain_text(str(value.get("type") or value.get("world") or "entity"))
    nil = bool(raw) and not ids
    return SourceMention((Span(start, start + len(words)),), words, kind, ids, "|".join(raw), nil, record)


def _stated(value: Mapping[str, Any]) -> list[object]:
    """The identifiers that a line states; `NIL` means no entity, and an empty result that nothing is stated."""
    ours = value.get("entity_ids")
    if isinstance(ours, list) and ours:
        return ours
    known = value.get("label_document_id")
    label = value.get("label_id")
    if isinstance(known, str) and known.strip():
        return [known]
    if isinstance(label, str) and label.strip().lower() in NIL_WORDS - _UNKNOWN:
        return ["NIL"]
    if isinstance(label, str) and label.strip() not in _UNKNOWN and not label.strip().isdecimal():
        return [label]
    title = next((value[one] for one in _TITLES if isinstance(value.get(one), str)), "")
    if title.strip().lower() not in _UNKNOWN:
        return [title]
    return [label] if label is not None and str(label).strip() not in _UNKNOWN else []


class BlinkFormat(Format):
    name = "blink"
    title = "BLINK JSON lines"
    refusal = f"{{path}} is not BLINK: its lines lack {', '.join(CONTEXTS)}; choose another format"
    reader = BlinkReader
    endings = (".jsonl", ".json")
    suffix = ".blink.jsonl"
    carries = Carries(mentions=True, several_ids=True, nil=True, own_fields=True)

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return has_keys(first_object(head), CONTEXTS)

    def holds_more(self, raw: str) -> bool:
        return any(value.keys() - _KNOWN for _, value in json.loads(raw))

    def written(self, files: Sequence[WrittenSource], out: Path) -> list[Path]:
        self._tally = _Tally()
        paths = super().written(files, out)
        self._tally.report(self.problems)
        return paths

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[str]:
        for file, documents in sources:
            yield from _written_lines(documents, file, self.problems, self._tally)
