"""Identifiers in fields that are not read as identifiers: they are named in the report of an import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from curator.domain.documents import SourceDocument
from curator.domain.id_fields import id_in
from curator.domain.wording import ntr
from curator.services.ports.files import DocumentFormat, Problem

MOST_NAMED = 20


class UnreadFields:
    """Counts, over the documents of one file, the mentions without an identifier that have one in another field."""

    def __init__(self, form: DocumentFormat) -> None:
        self._form = form
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def look(self, source: SourceDocument) -> None:
        records = {one.record for one in source.mentions if not one.ids and one.record >= 0}
        if not records or not source.raw:
            return
        for record, name, value in self._fields(source.raw):
            if record in records and (example := id_in(name, value)):
                self._counts[name] += 1
                self._examples.setdefault(name, example)

    def problems(self, known: list[Problem]) -> list[Problem]:
        """A note for each field, the most frequent first, without those that `known` names."""
        named = [one for one in self._counts.most_common(MOST_NAMED) if not any(f"“{one[0]}”" in p.text for p in known)]
        return [
            Problem(
                0,
                "note",
                ntr(
                    "the field “{name}” looks like an identifier, such as {example}, and was not read as one "
                    "({n} mention)",
                    "the field “{name}” looks like an identifier, such as {example}, and was not read as one "
                    "({n:,} mentions)",
                    number,
                    name=name,
                    example=self._examples[name][:80],
                ),
            )
            for name, number in named
        ]

    def _fields(self, raw: str) -> Iterator[tuple[int, str, str]]:
        for records in (self._form.attributes_in(raw), self._form.fields_in(raw)):
            for record, fields in records.items():
                yield from ((record, name, value) for name, value in fields.items())
