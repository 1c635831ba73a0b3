"""A round as a file, for a colleague on another computer: JSON lines, one object per line.

The first line is the header: {"format": "curator-round", "version": 1, "name", "kind", "made"}. Then one line per
document: {"document": its id in its file, "occurrence", "sha256": of its text}, and one per judgement: {"document",
"occurrence", "sha256", "spans": [[start, end], …] in code points, "mention": the text there, "type", "curator",
"outcome", "entities", "reason", "at"}. If attributes were set, the header has "attributes" with their definitions, and
there is a line for each mention and curator: the same up to "curator", and "attributes": [{"attribute", "value", "at"}]
with the numbers of the definitions; null means cleared. Older versions of the program leave these out. Texts are not
included: both sides have the same documents, and the hash detects a different text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curator.domain.decisions import Change, ChangeKind, Outcome, Verdict
from curator.domain.documents import MentionOrigin, Span
from curator.domain.rounds import RoundKind
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.curating.attributes import save_in, scheme_of
from curator.services.curating.mention_edits import checked
from curator.services.importing.import_report import counted
from curator.services.ports.files import FileWriter
from curator.services.ports.storage import UnitOfWork
from curator.services.rounds.round_attributes import (
    ADDED,
    MOST_WORDS,
    AttributeReading,
    FileScheme,
    head_of,
    in_short,
    moment,
    scheme_in,
    set_in_round,
)
from curator.services.rounds.round_lines import (
    FORMAT,
    VERSION,
    attribute_lines,
    document_line,
    head_line,
    judgement_line,
    lines_of,
    name_in,
    verdict_in,
)
from curator.services.rounds.rounds import named

MOST_PROBLEMS = 20
FROM_FILES = "rounds_from_files"
OWN_ONE = (
    "{n} judgement in the file has your own name, “{name}”. If a colleague has the same name, your judgements count as "
    "those of one person: change one name in the settings, and ask for the file again."
)
OWN = (
    "{n:,} judgements in the file have your own name, “{name}”. If a colleague has the same name, your judgements "
    "count as those of one person: change one name in the settings, and ask for the file again."
)
OLDER_ONE = "{n} judgement by “{name}” differs from a later one here and was left out."
OLDER = "{n:,} judgements by “{name}” differ from later ones here and were left out."
REPLACED_ONE = "{n} judgement by “{name}” was replaced by a later one from the file."
REPLACED = "{n:,} judgements by “{name}” were replaced by later ones from the file."
GREW = "Kept attributes from a file of the round “{name}”, hidden"


@dataclass(frozen=True, slots=True)
class RoundExport:
    path: Path
    documents: int
    judgements: int
    attributes: int = 0


@dataclass(slots=True)
class RoundImport:
    """The result of an import: `judgements` and `attributes` (values) are the numbers of new ones; `known` is the
    number of both that existed. `problems` lists what could not be imported, or is hidden."""

    name: str = ""
    made: bool = False
    documents: int = 0
    judgements: int = 0
    attributes: int = 0
    known: int = 0
    curators: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return tr(
            "Imported {judgements} by {curators} into “{name}”; {known:,} were already there. The round "
            "has {documents} here.",
            judgements=self._new,
            curators=", ".join(self.curators) or tr("nobody"),
            name=self.name,
            known=self.known,
            documents=counted("documents", self.documents),
        )

    @property
    def _new(self) -> str:
        judgements = ntr("{n} judgement", "{n:,} judgements", self.judgements)
        if not self.attributes:
            return judgements
        values = ntr("{n} attribute value", "{n:,} attribute values", self.attributes)
        return tr("{judgements} and {values}", judgements=judgements, values=values)


class RoundFiles(Service):
    """Writes and reads such files."""

    def __init__(self, context: Context, files: FileWriter) -> None:
        super().__init__(context)
        self._files = files

    def export(self, name: str, out: Path, *, curators: tuple[str, ...] = ()) -> RoundExport:
        """The round with the judgements of some curators, or of all. On a UserError nothing is written."""
        with self._store.read() as unit:
            found = named(unit, name)
            heads = {one: document_line(unit, one) for one in unit.rounds.document_ids(found.id)}
            current = [one for one in unit.rounds.current(found.id) if not curators or one.curator in curators]
            edits = list(set_in_round(unit, found.id, curators))
            scheme = scheme_of(unit)
            lines = [
                {
                    "format": FORMAT,
                    "version": VERSION,
                    "name": found.name,
                    "kind": found.kind.value,
                    "made": found.at.isoformat(),
                    **({"attributes": head_of(scheme)} if scheme.attributes else {}),
                },
                *heads.values(),
                *(judgement_line(unit, one, heads) for one in current),
                *attribute_lines(unit, edits, heads),
            ]
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)
        self._store.settle()
        self._files.write({out: text.encode("utf-8", "surrogatepass")})
        return RoundExport(out, len(heads), len(current), sum(one.value_id is not None for one in edits))

    def read(self, path: Path) -> RoundImport:
        """Import a file's judgements; a missing round is created. Importing a file again changes nothing.

        Raises UserError, with line and reason, for another kind of file; then nothing is changed.
        """
        lines = lines_of(path)
        head = head_line(path, lines)
        report = RoundImport(name=str(head["name"]))
        changes = []
        with self._store.write() as unit:
            round_id = self._round(unit, head, report)
            scheme = FileScheme(scheme_of(unit), scheme_in(path, head), adopt=round_id in _from_files(unit))
            _Reading(unit, round_id, report, scheme, own=self._curator()).take(path, lines)
            report.documents = len(unit.rounds.document_ids(round_id))
            changes += self._define(unit, scheme, report)
        for change in (*changes, Change(ChangeKind.ROUND, self._curator(), report.text)):
            self._events.emit(change)
        return report

    def _define(self, unit: UnitOfWork, found: FileScheme, report: RoundImport) -> list[Change]:
        """Store the attributes added from the file, as a step; report missing ones."""
        before = scheme_of(unit)
        known = {one.id for one in before.attributes}
        report.problems += found.said()
        if found.scheme == before:
            return []
        new = [f"“{one.name}”" for one in found.scheme.attributes if one.id not in known and not one.hidden]
        text = tr(ADDED, names=", ".join(new)) if new else tr(GREW, name=report.name)
        return [save_in(unit, found.scheme, text, curator=self._curator(), at=self._clock.now())]

    def _round(self, unit: UnitOfWork, head: Mapping[str, Any], report: RoundImport) -> int:
        there = next((one for one in unit.rounds.all() if one.name == report.name), None)
        if there is not None:
            return there.id
        report.made = True
        made = unit.rounds.create(report.name, RoundKind(head["kind"]), [], at=self._clock.now())
        unit.meta.set(FROM_FILES, json.dumps([*_from_files(unit), made]))
        return made


class _Reading:
    """Reads the lines of one file into a round. `own` is the name of the curator who reads it."""

    def __init__(self, unit: UnitOfWork, round_id: int, report: RoundImport, scheme: FileScheme, *, own: str) -> None:
        self._unit = unit
        self._round = round_id
        self._report = report
        self._attributes = AttributeReading(unit, round_id, scheme)
        self._documents: dict[tuple[str, int, str], int | None] = {}
        self._mentions: dict[int, dict[tuple[tuple[Span, ...], str], int]] = {}
        self._joined: set[tuple[int, str]] = set()  # mentions and curators already checked
        self._known = {(one.mention_id, one.curator): one for one in unit.rounds.current(round_id)}
        self._unknown: set[str] = set()
        self._own = own
        self._mine = 0
        self._older: Counter[str] = Counter()
        self._replaced: Counter[str] = Counter()

    def take(self, path: Path, lines: Iterable[tuple[int, dict[str, Any]]]) -> None:
        for number, line in lines:
            try:
                self._take(line)
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise UserError(
                    tr(
                        "{path}, line {number}: this is not a line of a round ({error}). Ask for the "
                        "file again; nothing was changed.",
                        path=path,
                        number=number,
                        error=in_short(error),
                    )
                ) from error
        if self._unknown:
            some = ", ".join(sorted(self._unknown)[:MOST_PROBLEMS])
            self._say(
                ntr(
                    "{n} entity is not in this knowledge base: {some}",
                    "{n:,} entities are not in this knowledge base: {some}",
                    len(self._unknown),
                    some=some,
                )
            )
        self._say_names()
        self._report.curators.sort()

    def _say_names(self) -> None:
        """Two people with the same name count as one curator; report signs of this."""
        if self._mine:
            self._say(ntr(OWN_ONE, OWN, self._mine, name=self._own))
        for name, number in sorted((+self._older).items()):
            self._say(ntr(OLDER_ONE, OLDER, number, name=name))
        for name, number in sorted((+self._replaced).items()):
            self._say(ntr(REPLACED_ONE, REPLACED, number, name=name))

    def _take(self, line: Mapping[str, Any]) -> None:
        document_id = self._document(str(line["document"]), int(line["occurrence"]), str(line["sha256"]))
        if document_id is None or not {"outcome", "attributes"} & line.keys():
            return
        if "outcome" not in line:
            self._attribute(document_id, line)
            return
        verdict, at = self._meant(verdict_in(line)), moment(line["at"])
        curator = name_in(line["curator"])
        mention_id = self._mention(document_id, line, curator)
        if mention_id is None:
            return
        known = self._known.get((mention_id, curator))
        if known is not None and (known.at >= at or known.verdict == verdict):
            self._report.known += 1
            self._older[curator] += known.verdict != verdict and known.at > at
            return
        self._replaced[curator] += known is not None
        self._mine += curator == self._own
        self._unknown.update(set(verdict.entity_ids) - self._unit.kb.get_many(verdict.entity_ids).keys())
        made = self._unit.rounds.judge(self._round, [mention_id], [verdict], curator=curator, at=at)
        self._known[mention_id, curator] = made[0]
        self._report.judgements += 1
        self._by(curator)

    def _meant(self, verdict: Verdict) -> Verdict:
        """The verdict with the primary ids of its entities, as for imported gold; unknown ids stay."""
        if verdict.outcome is not Outcome.LINK:
            return verdict
        primary = self._unit.kb.resolve(verdict.entity_ids)
        return Verdict.link(*dict.fromkeys(primary.get(one, one) for one in verdict.entity_ids))

    def _by(self, curator: str) -> None:
        if curator not in self._report.curators:
            self._report.curators.append(curator)

    def _attribute(self, document_id: int, line: Mapping[str, Any]) -> None:
        curator = name_in(line["curator"])
        mention_id = self._mention(document_id, line, curator)
        if mention_id is None:
            return
        behind = max((one.id for one in self._known.values() if one.curator == curator), default=0)
        new, known = self._attributes.take(mention_id, curator, line, behind=behind)
        self._report.attributes += new
        self._report.known += known
        if new:
            self._by(curator)

    def _document(self, external_id: str, occurrence: int, sha256: str) -> int | None:
        key = external_id, occurrence, sha256
        if key not in self._documents:
            found = self._unit.records.document_with(external_id, occurrence, sha256)
            self._documents[key] = found
            if found is None:
                self._say(
                    tr(
                        "Document {document} is not in this project, or it has a different text: left out",
                        document=external_id,
                    )
                )
            else:
                self._unit.rounds.add_documents(self._round, [found])
        return self._documents[key]

    def _mention(self, document_id: int, line: Mapping[str, Any], curator: str) -> int | None:
        """The mention at these spans; if the project has none, the curator made it in the round."""
        spans = tuple(sorted(Span(int(start), int(end)) for start, end in line["spans"]))
        key = spans, str(line["type"])
        if document_id not in self._mentions:
            every = self._unit.rounds.mentions(self._round, document_id)
            self._mentions[document_id] = {(one.mention.spans, one.mention.type): one.mention.id for one in every}
        known = self._mentions[document_id]
        if key not in known:
            try:
                new = checked(self._unit.documents.get(document_id), spans, key[1])
            except UserError:  # outside of the text, in overlapping parts, blank
                new = None
            if new is None or new.text != line["mention"]:
                self._say(
                    tr(
                        "“{mention}” in {document} was not found at its position: left out",
                        mention=str(line["mention"])[:MOST_WORDS],
                        document=line["document"],
                    )
                )
                return None
            (known[key],) = self._unit.mentions.add(document_id, [new], origin=MentionOrigin.CURATOR, deleted=True)
        if (known[key], curator) not in self._joined:
            self._joined.add((known[key], curator))
            if self._unit.mentions.get(known[key]).deleted:
                self._unit.rounds.add_mention(self._round, known[key], curator)
        return known[key]

    def _say(self, problem: str) -> None:
        if len(self._report.problems) < MOST_PROBLEMS:
            self._report.problems.append(problem)


def _from_files(unit: UnitOfWork) -> list[int]:
    """Ids of the rounds that this project has from files: their attributes are defined by the project that created
    them."""
    return list(json.loads(unit.meta.get(FROM_FILES) or "[]"))
