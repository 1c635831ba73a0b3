"""The linker process's messages about detected mentions."""

from __future__ import annotations

from curator.domain.documents import Span
from curator.jobs.linker_messages import detected_from_wire
from curator.services.ports.processes import DetectedMention


def test_a_mention_that_only_the_memory_knows_has_no_entity() -> None:
    mentions = [
        {"start": 0, "end": 4, "types": ["Disease"], "entity_ids": ["D1", "D2"]},
        {"start": 5, "end": 9, "types": ["Disease"], "entity_ids": []},
    ]
    assert detected_from_wire({"event": "detected", "document": 1, "mentions": mentions}) == [
        DetectedMention(Span(0, 4), ("Disease",), "D1"),
        DetectedMention(Span(5, 9), ("Disease",), ""),
    ]
