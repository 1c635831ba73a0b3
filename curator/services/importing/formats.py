"""What each registered format can carry: the one source of `curator formats` and of the manual's table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from curator.services.ports import DocumentFormat, FormatRegistry

COLUMNS = {
    "mentions": "Mentions",
    "discontinuous": "Discontinuous",
    "several_ids": "Several identifiers",
    "nil": "NIL",
    "relations": "Relations",
    "own_fields": "Fields of its own",
    "people": "Who and when",
}
"""What a format may carry -> the heading of its column."""


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """One document format. `carries` has a value for each of `COLUMNS`; `people` is about what is written."""

    name: str
    title: str
    read: bool
    written: bool
    carries: dict[str, bool]

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "in": self.read, "out": self.written, **self.carries}


def document_formats(registry: FormatRegistry) -> list[FormatFacts]:
    """By title, those that can be read and written first."""
    facts = [_facts(one) for one in registry.formats()]
    return sorted(facts, key=lambda one: (not (one.read and one.written), not one.read, one.title.lower()))


def _facts(form: DocumentFormat) -> FormatFacts:
    told = asdict(form.carries) | {"people": form.can_write and form.carries_people}
    carries = {name: bool(told[name]) for name in COLUMNS}
    return FormatFacts(form.name, form.title, form.can_read, form.can_write, carries)


def left_behind(source: DocumentFormat, wanted: DocumentFormat) -> bool:
    """Whether relations or own fields of files of one format have no way into the other."""
    return (
        source.name != wanted.name
        and source.name not in wanted.carries.takes_from
        and (source.carries.relations or source.carries.own_fields)
    )
