"""Reading and writing documents as the program's own JSON lines, with all project data about them.

One document a line, described by `resources/schemas/documents.schema.json`: {"format": "curator-documents", "id",
"file", "occurrence", "title", "split", "state", "flagged", "text", "passages": [{"kind", "start", "end", "label"}],
"comments", "mentions": [{"spans": [[start, end], …] in code points, "text", "type", "origin", "stated": the source's
identifiers, "outcome": null while undecided, "entities", "reason", "curator", "at", "note", "flagged", "comments"}]}.
Comments are [{"author", "at", "text"}]. A mention with a second opinion also has "opinion": {"entity": null for NIL,
"model", "prompt": a SHA-256, "at", "reason"}, which is written but not read. A mention with attributes has
"attributes": {name: value}. Unknown keys of a line are written back unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from curator.domain.audit import Comment
from curator.domain.decisions import FileComment, FileDecision, NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import (
    DocumentState,
    Passage,
    SourceDocument,
    SourceFile,
    SourceMention,
    Split,
    slice_spans,
)
from curator.domain.suggestions import Opinion
from curator.domain.wording import tr
from curator.io.files.export import WrittenSource
from curator.io.files.field_meanings import identifiers_in, is_empty, kind_in
from curator.io.files.format import Format
from curator.io.files.idstyle import IdStyle
from curator.io.files.json_stream import LineError, first_object, parse_object, text_in
from curator.io.files.reading import Placing, Reader
from curator.io.files.source import BOM, plain_text
from curator.services.ports.files import Carries, ExportDocument, ExportMention

FORMAT = "curator-documents"
KEYS = ("id", "text", "passages", "mentions", "split", "state")
"""Keys of older lines without a format."""
DECIDED = ("outcome", "entities", "reason", "curator", "at", "note")
_REASONS: Mapping[Outcome, type[NilReason | RejectReason | SkipReason]] = {
    Outcome.NIL: NilReason,
    Outcome.REJECTED: RejectReason,
    Outcome.SKIPPED: SkipReason,
}
_OURS = frozenset({"format", "id", "title", "split", "state", "flagged", "text", "passages", "comments", "mentions"})
_OF_MENTION = frozenset({"spans", "text", "type", "stated", "flagged", "comments"})


Chosen = TypeVar("Chosen", Split, DocumentState)


def is_document(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of ours."""
    return value.get("format") == FORMAT or all(key in value for key in KEYS)


class DecisionsReader(Reader):
    """`SourceDocument.raw` keeps the parts of a line that a project cannot store, and its decisions."""

    format = "decisions"
    none = "{path} contains no document in Curator's own format{why}"

    def documents(self) -> Iterator[SourceDocument]:
        for number, line in enumerate(self.source.lines(), 1):
            if not line.removeprefix(BOM).strip():
                continue
            try:
                document = self._document(parse_object(line.removeprefix(BOM)), number)
            except LineError as error:
                self.problems.set_aside(tr("the document {error}", error=error), number)
                continue
            yield document

    def _document(self, value: Mapping[str, Any], line: int) -> SourceDocument:
        text = plain_text(text_in(value, "text"))
        key = plain_text(str(value.get("id", ""))).strip()
        if not key:
            raise LineError(tr("has no `id`"))
        if text != value["text"]:
            self.problems.repaired(tr("document {key} contains lone surrogates, read as U+FFFD", key=key), line)
        passages = tuple(_passage(one, len(text)) for one in _objects(value.get("passages")))
        placing = Placing(text, passages, self.problems, key)
        listed = _objects(value.get("mentions"))
        stated = ((_ranges(one.get("spans")), plain_text(str(one.get("text", "")))) for one in listed)
        placing.learn(stated, line)
        found = [self._mention(one, n, placing, line, key) for n, one in enumerate(listed)]
        kept = {name: given for name, given in value.items() if name not in _OURS}
        records = [{name: given for name, given in one.items() if name not in _OF_MENTION} for one in listed]
        return SourceDocument(
            key,
            plain_text(str(value.get("title") or "")),
            text,
            passages,
            tuple(one for one in found if one is not None),
            plain_text(json.dumps({**kept, "mentions": records}, ensure_ascii=False)),
            line,
            split=_chosen(Split, value.get("split")),
            state=_chosen(DocumentState, value.get("state")),
            comments=_comments(value.get("comments")),
            flagged=value.get("flagged") is True,
        )

    def _mention(
        self, value: Mapping[str, Any], record: int, placing: Placing, line: int, key: str
    ) -> SourceMention | None:
        quote = plain_text(str(value.get("text", "")))
        where = tr('document {key}: mention "{quote}"', key=key, quote=quote[:80])
        spans = placing.find(_ranges(value.get("spans")), quote, where, line)
        if not spans:
            return None
        decision = self._decision(value, where, line)
        kind, stated = kind_in(value.get("type")), "|".join(identifiers_in(value.get("stated")))
        if not stated and not is_empty(value.get("stated")):
            self.problems.note(tr("{where}: its identifiers in `stated` cannot be read", where=where), line)
        verdict = decision.verdict if decision else None
        linked = verdict.entity_ids if verdict else ()
        nil = verdict is not None and verdict.outcome is Outcome.NIL
        ids = linked or (() if nil else IdStyle().split(stated, kind))
        return SourceMention(
            spans,
            slice_spans(placing.text, spans),
            kind,
            ids,
            stated,
            nil or (not ids and bool(stated.strip())),
            record,
            decision,
            _comments(value.get("comments")),
            value.get("flagged") is True,
        )

    def _decision(self, value: Mapping[str, Any], where: str, line: int) -> FileDecision | None:
        """None while undecided; an invalid decision is skipped, and the mention is undecided."""
        if value.get("outcome") is None:
            return None
        try:
            outcome = Outcome(value["outcome"])
            reason = _REASONS[outcome](str(value.get("reason"))) if outcome in _REASONS else None
            entities = tuple(dict.fromkeys(identifiers_in(value.get("entities"))))
            verdict = Verdict(outcome, entities, reason)
            at = datetime.fromisoformat(str(value.get("at")))
        except (ValueError, TypeError) as error:
            self.problems.set_aside(
                tr("{where}: invalid decision ({error})", where=where, error=plain_text(str(error))), line
            )
            return None
        curator = plain_text(str(value.get("curator") or "")).strip()
        return FileDecision(verdict, curator or "unknown", at, plain_text(str(value.get("note") or "")))


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _passage(value: Mapping[str, Any], length: int) -> Passage:
    start, end = value.get("start"), value.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= length:
        raise LineError(tr("has a passage from {start!r} to {end!r}, which is outside its text", start=start, end=end))
    return Passage(plain_text(str(value.get("kind", ""))), start, end, plain_text(str(value.get("label") or "")))


def _ranges(value: object) -> list[tuple[int, int]]:
    found = []
    for one in value if isinstance(value, list) else []:
        if not (isinstance(one, list) and len(one) == 2 and all(type(at) is int for at in one) and one[0] < one[1]):
            return []
        found.append((one[0], one[1]))
    return found


def _chosen(kind: type[Chosen], value: object) -> Chosen | None:
    return next((one for one in kind if one.value == value), None)


def _comments(value: object) -> tuple[FileComment, ...]:
    found = []
    for one in _objects(value):
        try:
            at = datetime.fromisoformat(str(one.get("at")))
        except ValueError:
            continue
        words = plain_text(str(one.get("text") or "")).strip()
        if words:
            found.append(FileComment(plain_text(str(one.get("author") or "unknown")), at, words))
    return tuple(found)


_OF_DECISION = frozenset({"origin", "opinion", "attributes", *DECIDED})


def document_line(item: ExportDocument, file: SourceFile) -> dict[str, Any]:
    document = item.document
    came = json.loads(item.raw) if file.format == "decisions" and item.raw else {}
    records = came.pop("mentions", [])
    return {
        "format": FORMAT,
        "id": document.external_id,
        "file": file.name,
        "occurrence": document.occurrence,
        "title": document.title,
        "split": document.split.value,
        "state": document.state.value,
        "flagged": item.flagged,
        "text": document.text,
        "passages": [asdict(one) for one in document.passages],
        "comments": _written_comments(item.comments, None),
        "mentions": [_mention(one, item.comments, records) for one in item.mentions],
        **came,
    }


def _mention(gold: ExportMention, comments: Sequence[Comment], records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    mention, decision = gold.mention, gold.decision
    came = dict(records[mention.record]) if 0 <= mention.record < len(records) else {}
    if decision is not None or not gold.unchanged:  # for a file read without its gold, its statements are written back
        came = {key: value for key, value in came.items() if key not in DECIDED}
    if attributes := held_attributes(came.pop("attributes", None)) | dict(gold.attributes):
        came["attributes"] = {name: value for name, value in attributes.items() if value is not None}
    if gold.opinion is not None:
        came["opinion"] = _opinion(gold.opinion)
    verdict = decision.verdict if decision else None
    return {
        "spans": [[span.start, span.end] for span in mention.spans],
        "text": mention.text,
        "type": mention.type,
        "origin": mention.origin.value,
        "stated": mention.raw_ids,
        "outcome": verdict.outcome.value if verdict else None,
        "entities": list(verdict.entity_ids) if verdict else [],
        "reason": verdict.reason.value if verdict and verdict.reason else None,
        "curator": decision.curator if decision else None,
        "at": decision.at.isoformat() if decision else None,
        "note": decision.note if decision else "",
        "flagged": mention.flagged,
        "comments": _written_comments(comments, mention.id),
        **came,
    }


def held_attributes(value: object) -> dict[str, str]:
    """Names and values of a mention's `attributes`; anything else is left out."""
    given = value if isinstance(value, dict) else {}
    return {name: held for name, held in given.items() if isinstance(held, str) and held.strip()}


def _opinion(opinion: Opinion) -> dict[str, str | None]:
    return {
        "entity": opinion.entity_id,
        "model": opinion.model,
        "prompt": opinion.prompt,
        "at": opinion.at.isoformat(),
        "reason": opinion.reason,
    }


def _written_comments(comments: Sequence[Comment], mention_id: int | None) -> list[dict[str, str]]:
    return [
        {"author": one.author, "at": one.at.isoformat(), "text": one.text}
        for one in comments
        if one.mention_id == mention_id and not one.deleted
    ]


class DecisionsFormat(Format):
    """Reads and writes the lines; with gold, decisions are read with their curators and times."""

    name = "decisions"
    title = "Curator JSON lines"
    refusal = "{path} is not Curator JSON lines: its lines lack the keys of a document; choose another file"
    reader = DecisionsReader
    endings = (".decisions.jsonl", ".jsonl", ".json")
    suffix = ".decisions.jsonl"
    carries = Carries(
        mentions=True,
        discontinuous=True,
        several_ids=True,
        nil=True,
        attributes=True,
        every_mention=True,
        own_fields=True,
    )
    carries_people = True

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return is_document(first_object(head))

    def holds_more(self, raw: str) -> bool:
        """Whether lines have unknown keys."""
        value = json.loads(raw)
        ours = {*KEYS, *DECIDED, "file", "occurrence"}
        return bool(value.keys() - ours or any(one.keys() - _OF_DECISION for one in value.get("mentions", ())))

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        listed = json.loads(raw).get("mentions", ()) if raw else ()
        found = ((number, held_attributes(one.get("attributes"))) for number, one in enumerate(listed))
        return {number: held for number, held in found if held}

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[str]:
        for file, documents in sources:
            for item in documents:
                yield json.dumps(document_line(item, file), ensure_ascii=False) + "\n"
