"""JSON forms of the linker's inputs and outputs, for a protocol of one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.errors import ModelError
from models.types import (
    DetectedMention,
    DocumentInput,
    LinkedDocument,
    LinkedMention,
    MentionInput,
    NilEstimate,
    Progress,
    ScoredCandidate,
)

Json = dict[str, Any]


def document_to_json(document: DocumentInput) -> Json:
    mentions = [
        {"key": mention.key, "spans": [list(span) for span in mention.spans], "types": list(mention.types)}
        for mention in document.mentions
    ]
    return {"key": document.key, "text": document.text, "mentions": mentions}


def document_from_json(raw: Mapping[str, Any]) -> DocumentInput:
    """Raises ModelError where a field is missing, or a span is not a range of the text."""
    try:
        text = str(raw["text"])
        mentions = tuple(_mention_from_json(mention, len(text)) for mention in raw["mentions"])
        return DocumentInput(str(raw["key"]), text, mentions)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"The document {raw.get('key')!r} cannot be linked: {error}.") from error


def _mention_from_json(raw: Mapping[str, Any], length: int) -> MentionInput:
    spans = tuple((int(start), int(end)) for start, end in raw["spans"])
    if any(not 0 <= start <= end <= length for start, end in spans):
        raise ValueError(f"the mention {raw['key']!r} lies outside of its text")
    return MentionInput(str(raw["key"]), spans, tuple(str(kind) for kind in raw.get("types", ())))


def linked_to_json(document: LinkedDocument) -> Json:
    return {"key": document.key, "mentions": [_linked_mention_to_json(mention) for mention in document.mentions]}


def linked_from_json(raw: Mapping[str, Any]) -> LinkedDocument:
    return LinkedDocument(raw["key"], tuple(_linked_mention_from_json(mention) for mention in raw["mentions"]))


def _linked_mention_to_json(mention: LinkedMention) -> Json:
    candidates = [
        {
            "id": candidate.entity_id,
            "name": candidate.name,
            "types": list(candidate.types),
            "matched": candidate.matched,
            "score": candidate.score,
            "scores": dict(candidate.scores),
        }
        for candidate in mention.candidates
    ]
    nil = {"score": mention.nil.score, "is_nil": mention.nil.is_nil, "calibrated": mention.nil.calibrated}
    head = {"key": mention.key, "surface": mention.surface, "expanded": mention.expanded}
    return head | {"candidates": candidates, "nil": nil}


def _linked_mention_from_json(raw: Mapping[str, Any]) -> LinkedMention:
    candidates = tuple(
        ScoredCandidate(c["id"], c["name"], tuple(c["types"]), c["matched"], c["score"], dict(c["scores"]))
        for c in raw["candidates"]
    )
    nil = NilEstimate(raw["nil"]["score"], raw["nil"]["is_nil"], raw["nil"]["calibrated"])
    return LinkedMention(raw["key"], raw["surface"], raw["expanded"], candidates, nil)


def detected_to_json(mention: DetectedMention) -> Json:
    ids = list(mention.entity_ids)
    return {"start": mention.start, "end": mention.end, "types": list(mention.types), "entity_ids": ids}


def detected_from_json(raw: Mapping[str, Any]) -> DetectedMention:
    return DetectedMention(raw["start"], raw["end"], tuple(raw["types"]), tuple(raw["entity_ids"]))


def progress_to_json(progress: Progress) -> Json:
    return {"stage": progress.stage, "done": progress.done, "total": progress.total}


def progress_from_json(raw: Mapping[str, Any]) -> Progress:
    return Progress(raw["stage"], raw["done"], raw["total"])
