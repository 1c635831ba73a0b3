"""MEDIC in the form of DNorm and CTD's early releases: `ID|ALTERNATE|…||NAME|SYNONYM|…`, one disease a line.

The ids end at the first empty field. Ids of digits are OMIM's, the others MeSH's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from curator.domain.curies import medic_id
from curator.domain.entities import Entity
from curator.domain.wording import UserError, tr
from curator.io.files.reading import SourceReader
from curator.io.files.source import BOM, Source, without_line_end
from curator.io.kb.base import KbSource, clean_names, first_of_each, needs_some

TYPE = "Disease"
_LINE = re.compile(rb"(?:[CD]?\d*)(?:\|[CD]?\d+)*\|\|[^|\r\n]+(?:\|[^|\r\n]+)*\r?")
_LOOKED_AT = 5


class MedicReader(SourceReader):
    format = "medic"

    def __iter__(self) -> Iterator[Entity]:
        self.problems = []
        yield from needs_some(first_of_each(self._entities(), self.problems), self._source.path, self.problems)

    def _entities(self) -> Iterator[tuple[int, Entity]]:
        for number, line in enumerate(self._source.lines(), 1):
            text = without_line_end(line.removeprefix(BOM) if number == 1 else line)
            if not text.strip():
                continue
            ids, apart, names = text.partition("||")
            own, *others = [medic_id(one.strip()) for one in ids.split("|")]
            spelt = clean_names(names.split("|"))
            if not apart or not ids or not spelt:
                self._problem(number, "set aside", tr("is not `ID||NAME`: {text}", text=text[:60]))
                continue
            yield number, Entity(own, spelt[0], spelt[1:], (TYPE,), alt_ids=clean_names(others, besides=own))


def sniff(head: bytes) -> bool:
    lines = [one for one in head.split(b"\n")[:_LOOKED_AT] if one.strip()]
    return bool(lines) and all(_LINE.fullmatch(one) for one in lines)


def open_reader(path: Path) -> MedicReader:
    """Raises UserError for a missing, empty, truncated or foreign file."""
    if not sniff(Source(path).head()):
        raise UserError(tr("{path} is not MEDIC: its lines are not `ID||NAME|SYNONYM`", path=path))
    reader = MedicReader(path)
    reader.prepare()
    return reader


MEDIC = KbSource("medic", "MEDIC (ID||names)", sniff, open_reader)
