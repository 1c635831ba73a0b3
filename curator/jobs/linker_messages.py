"""The linker's messages as domain objects, and back; kept apart from the process handling."""

from __future__ import annotations

from curator.domain.contrasts import Contrast, WordEffect
from curator.domain.documents import Span
from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.jobs.wire import (
    CandidateOnWire,
    Contrasted,
    DecidedDocumentOnWire,
    Detected,
    DocumentOnWire,
    EntityOnWire,
    Linked,
    LinkedMentionOnWire,
)
from curator.services.ports import DecidedDocument, DetectedMention, LinkDocument


def document_to_wire(document: LinkDocument) -> DocumentOnWire:
    return {
        "id": document.id,
        "revision": document.revision,
        "text": document.text,
        "mentions": [
            {"id": m.id, "spans": [[s.start, s.end] for s in m.spans], "types": list(m.types)}
            for m in document.mentions
        ],
    }


def decided_to_wire(document: DecidedDocument) -> DecidedDocumentOnWire:
    return {
        "id": document.id,
        "text": document.text,
        "mentions": [
            {
                "id": one.mention.id,
                "spans": [[s.start, s.end] for s in one.mention.spans],
                "types": list(one.mention.types),
                "entity_ids": list(one.entity_ids),
            }
            for one in document.mentions
        ],
    }


def entity_to_wire(entity: Entity) -> EntityOnWire:
    """What the linker knows of an entity."""
    return {
        "id": entity.id,
        "name": entity.name,
        "synonyms": list(entity.synonyms),
        "types": list(entity.types),
        "definition": entity.definition,
        "alt_ids": list(entity.alt_ids),
    }


def suggestions_from_wire(message: Linked) -> list[Suggestion]:
    stamp = Stamp(message["bundle"], int(message["revision"]))
    return [_suggestion(raw, stamp) for raw in message["mentions"]]


def _suggestion(raw: LinkedMentionOnWire, stamp: Stamp) -> Suggestion:
    nil = raw["nil"]
    return Suggestion(
        mention_id=int(raw["id"]),
        candidates=tuple(_candidate(c) for c in raw["candidates"]),
        nil=NilEstimate(float(nil["score"]), bool(nil["is_nil"]), bool(nil["calibrated"])),
        stamp=stamp,
        expanded=raw["expanded"],
    )


def _candidate(raw: CandidateOnWire) -> Candidate:
    return Candidate(
        entity_id=raw["entity_id"],
        name=raw["name"],
        types=tuple(raw["types"]),
        matched=raw["matched"],
        score=float(raw["score"]),
        scores={stage: float(score) for stage, score in raw["scores"].items()},
        probability=float(raw["probability"]),
        decided_times=int(raw["decided"][0]),
        decided_documents=int(raw["decided"][1]),
    )


def contrast_from_wire(message: Contrasted) -> Contrast:
    first, second = message["entities"]
    return Contrast(
        mention_id=int(message["mention"]),
        first=first,
        second=second,
        lead=float(message["lead"]),
        words=tuple(
            WordEffect(Span(int(start), int(end)), None if change is None else float(change))
            for start, end, change in message["words"]
        ),
        stamp=Stamp(message["bundle"], int(message["revision"])),
    )


def detected_from_wire(message: Detected) -> list[DetectedMention]:
    return [
        DetectedMention(
            Span(int(raw["start"]), int(raw["end"])), tuple(raw["types"]), next(iter(raw["entity_ids"]), "")
        )
        for raw in message["mentions"]
    ]
