"""Read the program's own JSON lines; see `decisions_jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

from curator.domain.decisions import FileComment, FileDecision, NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import DocumentState, Passage, SourceDocument, SourceMention, Split
from curator.domain.wording import UserError, tr
from curator.io.files.anchoring import Anchors, find_place, learn
from curator.io.files.field_meanings import identifiers_in, is_empty, kind_in
from curator.io.files.idstyle import IdStyle
from curator.io.files.reading import DocumentSourceReader, first_of
from curator.io.files.source import BOM, plain_text
from curator.io.wiki.zeshel_lines import LineError, parse_object

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


class DecisionsReader(DocumentSourceReader):
    """`SourceDocument.raw` keeps the parts of a line that a project cannot store, and its decisions."""

    format = "decisions"

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        count = 0
        for number, line in enumerate(self._source.lines(), 1):
            if not line.removeprefix(BOM).strip():
                continue
            try:
                document = self._document(parse_object(line.removeprefix(BOM)), number)
            except LineError as error:
                self._problem(number, "set aside", plain_text(tr("the document {error}", error=error)))
                continue
            count += 1
            yield document
        if not count:
            why = first_of(self.problems)
            raise UserError(
                tr("{path} contains no document in Curator's own format{why}", path=self._source.path, why=why)
            )

    def _document(self, value: Mapping[str, Any], line: int) -> SourceDocument:
        text = plain_text(_text(value, "text"))
        key = plain_text(str(value.get("id", ""))).strip()
        if not key:
            raise LineError(tr("has no `id`"))
        if text != value["text"]:
            self._problem(line, "repaired", tr("document {key} contains lone surrogates, read as U+FFFD", key=key))
        passages = tuple(_passage(one, len(text)) for one in _objects(value.get("passages")))
        anchors = Anchors(text, passages)
        listed = _objects(value.get("mentions"))
        if words := learn(
            anchors, ((_ranges(one.get("spans")), plain_text(str(one.get("text", "")))) for one in listed)
        ):
            self._problem(line, "note", tr("document {key}: {words}", key=key, words=words))
        found = [self._mention(one, n, text, anchors, line, key) for n, one in enumerate(listed)]
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
        self, value: Mapping[str, Any], record: int, text: str, anchors: Anchors, line: int, key: str
    ) -> SourceMention | None:
        ranges = _ranges(value.get("spans"))
        quote = plain_text(str(value.get("text", "")))
        where = tr('document {key}: mention "{quote}"', key=key, quote=quote[:80])
        place = find_place(anchors, ranges, quote, text) if ranges and quote.strip() else None
        if place is None:
            self._problem(
                line,
                "set aside",
                tr("{where}: its text does not occur at its spans, and no other position is unambiguous", where=where),
            )
            return None
        if place.repair:
            self._problem(
                line,
                "repaired",
                tr("{where}: {repair}; read as {words}", where=where, repair=place.repair, words=place.words),
            )
        decision = self._decision(value, where, line)
        words = " ".join(text[span.start : span.end] for span in place.spans)
        kind, stated = kind_in(value.get("type")), "|".join(identifiers_in(value.get("stated")))
        if not stated and not is_empty(value.get("stated")):
            self._problem(line, "note", tr("{where}: its identifiers in `stated` cannot be read", where=where))
        verdict = decision.verdict if decision else None
        linked = verdict.entity_ids if verdict else ()
        nil = verdict is not None and verdict.outcome is Outcome.NIL
        ids = linked or (() if nil else IdStyle().split(stated, kind))
        return SourceMention(
            place.spans,
            words,
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
            self._problem(
                line,
                "set aside",
                tr("{where}: invalid decision ({error})", where=where, error=plain_text(str(error))),
            )
            return None
        curator = plain_text(str(value.get("curator") or "")).strip()
        return FileDecision(verdict, curator or "unknown", at, plain_text(str(value.get("note") or "")))


def _text(value: Mapping[str, Any], key: str) -> str:
    if not isinstance(value.get(key), str):
        raise LineError(tr("has no text in `{key}`", key=key))
    return str(value[key])


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
