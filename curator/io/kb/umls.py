"""The UMLS Metathesaurus in rich release format: a folder with `MRCONSO.RRF`, with `MRSTY`, `MRDEF`, `MRCUI`.

The files are sorted by CUI, as NLM and MetamorphoSys write them, and are read in parallel: one concept is in memory at
a time, plus, from `MRCUI`, the ids of merged concepts, which become alternate ids. The name is the UMLS's preferred
name among those read. Relations (`MRREL`) are not read: entities have no parents.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Self

from curator.domain.entities import Entity
from curator.domain.wording import UserError, tr
from curator.io.files.opening import own_file
from curator.io.files.source import Source
from curator.io.kb.base import CONTROL, KbReader, inverted
from curator.services.ports.files import KbOptions

LANGUAGES = {
    "en": "ENG",
    "cs": "CZE",
    "da": "DAN",
    "de": "GER",
    "es": "SPA",
    "et": "EST",
    "el": "GRE",
    "eu": "BAQ",
    "fi": "FIN",
    "fr": "FRE",
    "he": "HEB",
    "hr": "SCR",
    "hu": "HUN",
    "it": "ITA",
    "ja": "JPN",
    "ko": "KOR",
    "lv": "LAV",
    "nl": "DUT",
    "no": "NOR",
    "pl": "POL",
    "pt": "POR",
    "ru": "RUS",
    "sv": "SWE",
    "tr": "TUR",
    "uk": "UKR",
    "zh": "CHI",
}
"""ISO 639-1 -> the UMLS's own codes."""
CONCEPTS, TYPES, DEFINITIONS, MERGED = "MRCONSO.RRF", "MRSTY.RRF", "MRDEF.RRF", "MRCUI.RRF"
_CUI, _LAT, _TS, _STT, _ISPREF, _SAB, _STR, _SUPPRESS = 0, 1, 2, 4, 6, 11, 14, 16
_WIDTHS = {CONCEPTS: 18, TYPES: 6, DEFINITIONS: 8, MERGED: 7}
PREFIX = "UMLS"


class UmlsReader(KbReader):
    """Streams a folder, chosen by its path, its `MRCONSO.RRF` or the folder above. A problem's line is in the file that
    it names."""

    format = "umls"
    title = "UMLS RRF (a folder with MRCONSO.RRF)"
    refusal = f"{{path}} contains no {CONCEPTS}: choose the folder META of a UMLS release"
    chooses = frozenset({"languages", "vocabularies", "types", "suppressed"})

    def __init__(self, path: Path, options: KbOptions | None = None) -> None:
        super().__init__(path, options)
        self._sources: dict[str, Source] = {}
        self._languages = frozenset(LANGUAGES.get(one.lower(), one.upper()) for one in self.options.read_languages)
        self._vocabularies = frozenset(self.options.vocabularies)
        self._types = frozenset(one.casefold() for one in self.options.types)
        self._suppressed = self.options.suppressed

    @staticmethod
    def sniff(head: bytes) -> bool:  # noqa: ARG004
        return False

    @classmethod
    def sniff_path(cls, path: Path) -> bool:
        return folder_of(path) is not None

    @classmethod
    def open(cls, path: Path, options: KbOptions | None = None) -> Self:
        """Raises UserError if there is no `MRCONSO.RRF`, for a truncated gzip file, and for a link that leads out of
        the folder."""
        folder = folder_of(path)
        if folder is None:
            raise UserError(tr(cls.refusal, path=path))
        reader = cls(folder, options)
        reader._sources = {name: found for name in _WIDTHS if (found := _source(folder, name)) is not None}
        for one in reader._sources.values():
            if one.path != path:
                own_file(one.path, path if path.is_dir() else folder)
        return reader.prepared()

    @property
    def position(self) -> tuple[int, int]:
        return self._sources[CONCEPTS].position

    def prepare(self) -> None:
        for source in self._sources.values():
            source.verify()

    def checked(self) -> Iterator[Entity]:
        return (entity for _, entity in self.entities())  # concepts are ascending, and rows have no control characters

    def entities(self) -> Iterator[tuple[int, Entity]]:
        for name in (TYPES, DEFINITIONS, MERGED):
            if name not in self._sources:
                words = "{name} was not found next to {concepts}: its data is missing"
                self.problems.note(tr(words, name=name, concepts=CONCEPTS))
        merged = self._merged()
        types, definitions = self._beside(TYPES), self._beside(DEFINITIONS)
        for cui, rows in self._by_concept(CONCEPTS):
            of_type, defined = types.of(cui), definitions.of(cui)
            names = self._names(rows)
            if not names or not self._wanted(of_type):
                continue
            yield (
                0,
                Entity(
                    f"{PREFIX}:{cui}",
                    names[0],
                    synonyms=tuple(names[1:]),
                    types=tuple(dict.fromkeys(row[3] for row in of_type)),
                    definition=self._definition(defined),
                    alt_ids=tuple(f"{PREFIX}:{one}" for one in merged.get(cui, ())),
                ),
            )

    def _wanted(self, of_type: list[list[str]]) -> bool:
        return not self._types or any(
            row[1].casefold() in self._types or row[3].casefold() in self._types for row in of_type
        )

    def _names(self, rows: list[list[str]]) -> list[str]:
        """The preferred name first, then the others in the file's order; each once."""
        kept = [row for row in rows if self._is_read(row)]
        if not kept:
            return []
        best = min(kept, key=lambda row: (row[_TS] != "P", row[_STT] != "PF", row[_ISPREF] != "Y"))
        names = dict.fromkeys([best[_STR].strip(), *(row[_STR].strip() for row in kept)])
        return [name for name in names if name]

    def _is_read(self, row: list[str]) -> bool:
        return (
            row[_LAT] in self._languages
            and (not self._vocabularies or row[_SAB] in self._vocabularies)
            and (self._suppressed or row[_SUPPRESS] in ("N", ""))
        )

    def _definition(self, rows: list[list[str]]) -> str:
        """The first definition from the chosen vocabularies, or else the first of all."""
        usable = [row for row in rows if self._suppressed or row[6] in ("N", "")]
        chosen = [row for row in usable if row[4] in self._vocabularies] or usable
        return " ".join(chosen[0][5].split()) if chosen else ""

    def _merged(self) -> dict[str, list[str]]:
        """For each CUI those that were merged into it (`SY`), following chains."""
        if MERGED not in self._sources:
            return {}
        successor = {row[0]: row[5] for row in self._rows(MERGED) if row[2] == "SY" and row[5] and row[5] != row[0]}
        return inverted(successor)

    def _beside(self, name: str) -> _Beside:
        return _Beside(self._by_concept(name) if name in self._sources else iter(()))

    def _by_concept(self, name: str) -> Iterator[tuple[str, list[list[str]]]]:
        """The rows of each CUI. Raises UserError if CUIs are not ascending, since other files are read in step."""
        last = ""
        for cui, rows in groupby(self._rows(name), key=itemgetter(0)):
            if cui <= last:
                path = self._sources[name].path
                raise UserError(
                    tr(
                        "{path} is not sorted by CUI ({cui} comes after {last}): sort its lines and try again",
                        path=path,
                        cui=cui,
                        last=last,
                    )
                )
            last = cui
            yield cui, list(rows)

    def _rows(self, name: str) -> Iterator[list[str]]:
        """Fields without the line's end; each line ends with a pipe, so the last field is empty."""
        width = _WIDTHS[name]
        for number, line in enumerate(self._sources[name].lines(), 1):
            text = line.rstrip("\r\n")
            row = text.split("|")
            if CONTROL.search(text) is not None:
                self.problems.set_aside(tr("in {name}: a control character", name=name), number)
            elif len(row) > width:
                yield row
            elif len(row) > 1:
                text = tr("in {name}: {number} fields instead of {width}", name=name, number=len(row) - 1, width=width)
                self.problems.set_aside(text, number)


class _Beside:
    """Rows of another sorted file, requested by ascending CUIs."""

    def __init__(self, groups: Iterator[tuple[str, list[list[str]]]]) -> None:
        self._groups = groups
        self._at = next(groups, None)

    def of(self, cui: str) -> list[list[str]]:
        while self._at is not None and self._at[0] < cui:
            self._at = next(self._groups, None)
        return self._at[1] if self._at is not None and self._at[0] == cui else []


def _source(folder: Path, name: str) -> Source | None:
    found = (path for path in (folder / name, folder / f"{name}.gz") if path.is_file())
    return next((Source(path) for path in found), None)


def folder_of(path: Path) -> Path | None:
    if path.is_file():
        return path.parent if path.name.removesuffix(".gz") == CONCEPTS else None
    return next((one for one in (path, path / "META") if _source(one, CONCEPTS) is not None), None)
