"""The linker's messages as domain objects, and back; separate from the process handling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curator.domain.documents import Span
from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate, Contrast, NilEstimate, Stamp, Suggestion, WordEffect
from curator.jobs.wire import (
    UNPACK,
    CandidatesOnWire,
    Contrasted,
    DecidedDocumentOnWire,
    Detected,
    DocumentOnWire,
    EntityOnWire,
    Linked,
    LinkedMentionOnWire,
)
from curator.services.ports.processes import DecidedDocument, DetectedMention, LinkDocument

BATCH_DOCUMENTS, BATCH_MENTIONS = 8, 128


def parts_of(documents: Sequence[LinkDocument], *, urgent: bool = False) -> list[Sequence[LinkDocument]]:
    """The documents of each message: eight, more if they have few mentions, one if it is `urgent`."""
    usual = max(sum(len(one.mentions) for one in documents) // max(len(documents), 1), 1)  # mentions per document
    size = 1 if urgent else max(BATCH_DOCUMENTS, BATCH_MENTIONS // usual)
    return [documents[i : i + size] for i in range(0, len(documents), size)]


def document_to_wire(document: LinkDocument) -> DocumentOnWire:
    return {
        "id": document.id,
        "revision": document.revision,
        "text": document.text,
        "mentions": [
            {
                "id": m.id,
                "spans": [[s.start, s.end] for s in m.spans],
                "types": list(m.types),
                "opinion": m.opinion,
            }
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
                "opinion": one.mention.opinion,
                "entity_ids": list(one.entity_ids),
            }
            for one in document.mentions
        ],
    }


def entity_to_wire(entity: Entity) -> EntityOnWire:
    """An entity in the form sent to the linker."""
    return {
        "id": entity.id,
        "name": entity.name,
        "synonyms": list(entity.synonyms),
        "types": list(entity.types),
        "definition": entity.definition,
        "alt_ids": list(entity.alt_ids),
        "parents": list(entity.parents),
    }


def suggestions_from_wire(message: Linked) -> list[Suggestion]:
    return suggestions_of(UNPACK(message["mentions"]), Stamp(message["bundle"], int(message["revision"])))


def suggestions_of(mentions: Sequence[LinkedMentionOnWire], stamp: Stamp) -> list[Suggestion]:
    return [_suggestion(raw, stamp) for raw in mentions]


def _suggestion(raw: LinkedMentionOnWire, stamp: Stamp) -> Suggestion:
    nil = raw["nil"]
    return Suggestion(
        mention_id=int(raw["id"]),
        candidates=_candidates(raw["candidates"]),
        nil=NilEstimate(float(nil["score"]), bool(nil["is_nil"]), bool(nil["calibrated"])),
        stamp=stamp,
        expanded=raw["expanded"],
    )


def _candidates(raw: CandidatesOnWire) -> tuple[Candidate, ...]:
    stages = tuple(raw["scores"])
    scores = [dict(zip(stages, own, strict=True)) for own in zip(*raw["scores"].values(), strict=True)]
    times, documents = zip(*raw["decided"], strict=True) if raw["decided"] else ((), ())
    columns = (raw["entity_ids"], raw["names"], map(tuple, raw["types"]), raw["matched"], raw["score"], scores)
    return tuple(map(Candidate, *columns, raw["probability"], times, documents))


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


@dataclass(frozen=True, slots=True)
class LinkerOptions:
    """`device` is auto, cpu, cuda or mps; `threads` 0 leaves the choice to the library; `cache` is the embedding
    cache's folder, from which damaged indexes are rebuilt ('' = the default)."""

    device: str = "auto"
    threads: int = 0
    cache: str = ""
