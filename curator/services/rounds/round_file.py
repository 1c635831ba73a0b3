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
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from string import whitespace
from typing import Any, TypeVar

from curator.domain.attributes import (
    LONGEST,
    Attribute,
    AttributeEdit,
    AttributeValue,
    Scheme,
    dump_scheme,
    load_scheme,
    same_name,
)
from curator.domain.decisions import Change, ChangeKind, NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import MentionOrigin, Span, text_hash
from curator.domain.rounds import Judgement, RoundKind
from curator.domain.wording import UNPAIRED, UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.curating.attributes import save_in, scheme_of
from curator.services.curating.mention_edits import checked
from curator.services.importing.import_report import counted
from curator.services.ports.files import FileWriter
from curator.services.ports.storage import UnitOfWork
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


# Writing and reading the lines of a round's file; errors name the line.

FORMAT, VERSION = "curator-round", 1
REASONS: dict[Outcome, type[NilReason] | type[RejectReason] | type[SkipReason]] = {
    Outcome.NIL: NilReason,
    Outcome.REJECTED: RejectReason,
    Outcome.SKIPPED: SkipReason,
}
LONGEST_LINE, LONGEST_NAME = 1 << 24, 1000
BOM = "\ufeff"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters."""
NO_ROUND = "{path} is not a round exported by Curator. Choose a file exported with People › Rounds."
NO_FILE = "{path} is a folder, a device or a pipe. Choose the file that a colleague exported."


def lines_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines that are not blank, with their numbers. Raises UserError."""
    for number, line in enumerate(_raw_lines(path), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(
                tr(
                    "{path}, line {number}: this is not JSON ({error}). Ask for the file again.",
                    path=path,
                    number=number,
                    error=error,
                )
            ) from error
        if not isinstance(value, dict):
            raise UserError(
                tr(
                    "{path}, line {number}: this is not a JSON object. Ask for the file again.",
                    path=path,
                    number=number,
                )
            )
        yield number, value


def _raw_lines(path: Path) -> Iterator[str]:
    """The lines of a file of any size, one at a time. Raises UserError."""
    try:
        if path.exists() and not path.is_file():  # reading a pipe could wait without limit
            raise UserError(tr(NO_FILE, path=path))
        with path.open(encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            while line := file.readline(LONGEST_LINE):
                if len(line) == LONGEST_LINE:
                    raise UserError(tr(NO_ROUND, path=path))
                yield line
    except (OSError, UnicodeError) as error:
        raise UserError(
            tr("{path} cannot be read ({error}). Choose the file that a colleague exported.", path=path, error=error)
        ) from error


def head_line(path: Path, lines: Iterator[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """The header, which is the first of all lines. Raises UserError if there is none, or one of a newer version."""
    _, head = next(lines, (0, {}))
    if head.get("format") != FORMAT or head.get("kind") not in list(RoundKind) or not _is_short(head.get("name")):
        raise UserError(tr(NO_ROUND, path=path))
    if type(head.get("version")) is not int:
        raise UserError(tr(NO_ROUND, path=path))
    if head["version"] != VERSION:
        raise UserError(
            tr(
                "{path} was written by a newer version of Curator (version {head}). Update Curator on this computer.",
                path=path,
                head=head.get("version"),
            )
        )
    return head


def document_line(unit: UnitOfWork, document_id: int) -> dict[str, Any]:
    """The line that identifies a document and its text."""
    document = unit.documents.get(document_id, compared=True)
    return {
        "document": document.external_id,
        "occurrence": document.occurrence,
        "sha256": text_hash(document.text),
    }


def judgement_line(unit: UnitOfWork, one: Judgement, heads: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    """A judgement. `heads`: the lines of the documents, by id."""
    return {
        **_place(unit, one.mention_id, heads),
        "curator": one.curator,
        "outcome": one.verdict.outcome.value,
        "entities": list(one.verdict.entity_ids),
        "reason": one.verdict.reason.value if one.verdict.reason else None,
        "at": one.at.isoformat(),
    }


def _place(unit: UnitOfWork, mention_id: int, heads: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    mention = unit.mentions.get(mention_id)
    return {
        **heads[mention.document_id],
        "spans": [[span.start, span.end] for span in mention.spans],
        "mention": mention.text,
        "type": mention.type,
    }


def attribute_lines(
    unit: UnitOfWork, edits: Sequence[AttributeEdit], heads: Mapping[int, dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """A line for each mention and curator."""
    found: dict[tuple[int, str], list[AttributeEdit]] = {}
    for one in edits:
        found.setdefault((one.mention_id, one.curator), []).append(one)
    for (mention_id, curator), some in found.items():
        yield {**_place(unit, mention_id, heads), "curator": curator, "attributes": facts_of(some)}


def verdict_in(line: Mapping[str, Any]) -> Verdict:
    """The verdict in a line. Raises KeyError, TypeError or ValueError for an invalid line."""
    outcome = Outcome(line["outcome"])
    if outcome is Outcome.CLEARED:
        raise ValueError("a judgement that was taken back does not travel")
    if line.get("reason") and outcome not in REASONS:
        raise ValueError("this outcome has no reasons")
    reason = REASONS[outcome](line["reason"]) if line.get("reason") else None
    entities = line.get("entities", [])
    if not isinstance(entities, list) or not all(map(_is_short, entities)):
        raise ValueError("the entities are no list of identifiers")
    return Verdict(outcome, tuple(entities), reason)


def name_in(value: object) -> str:
    """The name of a curator, without spaces around it, as in the settings. Raises ValueError."""
    name = value.strip(f"{BOM}{whitespace}") if isinstance(value, str) else value
    if not isinstance(name, str) or not _is_short(name):
        raise ValueError("a judgement has no curator")
    return name


def _is_short(value: object) -> bool:
    """Whether it is a text of one line."""
    short = isinstance(value, str) and len(value) <= LONGEST_NAME and is_name(value)
    return short and not _CONTROL.search(str(value))


# Attributes in the file of a round: the definitions of the project that wrote it, and its curators' values.
#
# A file refers to attributes and values by its project's numbers, and defines them in its header with their current and
# former names. They are matched here by name, even if renamed since on either side; attributes deleted or unknown here
# are kept hidden and reported. A project that has the round from a file gets the definitions instead.

Named = TypeVar("Named", Attribute, AttributeValue)
OTHER_NAME = (
    "“{name}” has the name “{theirs}” in the file: it was renamed in one of the projects. It was read as “{name}”."
)
ONE_HIDDEN = (
    "{n} value of “{name}” is hidden: the attribute or value was deleted in this project, or never defined. It was "
    "kept; restoring it in Annotate › Attributes of the project shows it."
)
HIDDEN = (
    "{n:,} values of “{name}” are hidden: the attribute or value was deleted in this project, or never defined. They "
    "were kept; restoring them in Annotate › Attributes of the project shows them."
)
MOST_WORDS = 200
ADDED = "Added the attributes that the round uses: {names}"


def set_in_round(unit: UnitOfWork, round_id: int, curators: Sequence[str]) -> Iterator[AttributeEdit]:
    """The last value of each attribute of each mention by curator, including cleared ones; of all curators if none are
    named."""
    for name in unit.attributes.curators(round_id):
        if not curators or name in curators:
            last = {(one.mention_id, one.attribute_id): one for one in unit.attributes.of_round(round_id, name)}
            yield from last.values()


def head_of(scheme: Scheme) -> list[dict[str, Any]]:
    """The definitions, for the header of a file."""
    return list(json.loads(dump_scheme(scheme)))


def scheme_in(path: Path, head: Mapping[str, Any]) -> Scheme:
    """The definitions of a file; none for an older file. Raises UserError for damaged ones."""
    try:
        found = load_scheme(json.dumps(head.get("attributes", [])))
        _check(found)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UserError(
            tr(
                "{path}, line 1: the definitions of attributes are damaged ({error}). Ask for the file again; "
                "nothing was changed.",
                path=path,
                error=in_short(error),
            )
        ) from error
    return found


def _check(scheme: Scheme) -> None:
    """Raises ValueError for impossible definitions: numbers, names or types of the wrong kind."""
    rows: list[Sequence[Attribute | AttributeValue]] = [
        scheme.attributes,
        *(one.values for one in scheme.attributes),
    ]
    for one in (one for row in rows for one in row):
        names = (one.name, *one.former)
        if type(one.id) is not int or not all(is_name(name) and len(name) <= LONGEST for name in names):
            raise ValueError(f"{names[0]!r} is no attribute or value")
    if any(len({one.id for one in row}) < len(row) for row in rows):
        raise ValueError("a number is used twice")
    if not all(is_name(kind) for one in scheme.attributes for kind in one.types):
        raise ValueError("a type is no text")


def is_name(value: object) -> bool:
    """Whether a JSON value is a non-blank text that a database can store."""
    return isinstance(value, str) and bool(value.strip()) and not UNPAIRED.search(value)


def moment(text: str) -> datetime:
    """A time with its zone. Raises ValueError or TypeError for anything else."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return found


def in_short(error: Exception) -> str:
    """What is wrong with a line, in short: an invalid value may be very long."""
    if isinstance(error, KeyError):
        return tr("“{name}” is missing", name=str(error.args[0])[:MOST_WORDS])
    return str(error)[:MOST_WORDS] if isinstance(error, ValueError) else tr("a value has the wrong form")


class FileScheme:
    """Finds the attributes and values of a file among those of this project, whose list `scheme` is; missing ones are
    added. With `adopt`, the file's definitions become this project's."""

    def __init__(self, here: Scheme, there: Scheme, *, adopt: bool) -> None:
        self.scheme = here
        self._there = there
        self._adopt = adopt
        self._found: dict[tuple[int, int | None], tuple[int, int | None]] = {}
        self._other_names: dict[tuple[str, str], None] = {}
        self._hidden: Counter[str] = Counter()
        if adopt:
            for one in there.shown:
                for value in one.shown:
                    self.place(one.id, value.id)
            self._hidden.clear()
            self._other_names.clear()
            self._found.clear()

    def place(self, attribute_id: int, value_id: int | None) -> tuple[int, int | None]:
        """(attribute, value) of this project for those of the file. Raises ValueError for numbers that it does not
        define."""
        key = attribute_id, value_id
        if key not in self._found:
            theirs = _numbered(self._there.attributes, attribute_id)
            own = self._attribute(theirs)
            self._found[key] = own.id, None if value_id is None else self._value(own, theirs, value_id).id
        self._count(*self._found[key])
        return self._found[key]

    def said(self) -> list[str]:
        """Notes for the curator, as sentences."""
        names = [tr(OTHER_NAME, name=own, theirs=theirs) for own, theirs in self._other_names]
        return [*names, *(ntr(ONE_HIDDEN, HIDDEN, n, name=name) for name, n in self._hidden.items())]

    def _attribute(self, theirs: Attribute) -> Attribute:
        own = _like(self.scheme.attributes, theirs)
        if own is not None:
            self._note(own, theirs)
            return own
        values = [one.name for one in theirs.shown]
        if self._adopt and not theirs.hidden:
            try:
                self.scheme = self.scheme.with_attribute(theirs.name, values, theirs.types)
            except UserError:  # this project has as many as it can have
                self.scheme = self.scheme.with_kept(theirs.name, theirs.types)
        else:
            self.scheme = self.scheme.with_kept(theirs.name, theirs.types)
        return self.scheme.attributes[-1]

    def _value(self, own: Attribute, theirs: Attribute, value_id: int) -> AttributeValue:
        value = _numbered(theirs.values, value_id)
        found = _like(own.values, value)
        if found is not None:
            self._note(found, value)
            return found
        if own.hidden or (self._adopt and not value.hidden):
            try:
                self.scheme = self.scheme.with_value(own.id, value.name)
            except UserError:
                self.scheme = self.scheme.with_kept_value(own.id, value.name)
        else:
            self.scheme = self.scheme.with_kept_value(own.id, value.name)
        return self.scheme.get(own.id).values[-1]

    def _note(self, own: Attribute | AttributeValue, theirs: Attribute | AttributeValue) -> None:
        if not same_name(own.name, theirs.name):
            self._other_names[own.name, theirs.name] = None

    def _count(self, attribute_id: int, value_id: int | None) -> None:
        """Values that are hidden here."""
        own = self.scheme.get(attribute_id)
        value = next((one for one in own.values if one.id == value_id), None)
        if value is not None and (own.hidden or value.hidden):
            self._hidden[f"{own.name}: {value.name}"] += 1


def _numbered(known: Sequence[Named], number: int) -> Named:
    found = next((one for one in known if one.id == number), None)
    if found is None:
        raise ValueError(f"the attribute or value {number} is not defined in line 1")
    return found


def _like(known: Sequence[Named], theirs: Named) -> Named | None:
    """The one with the same current or former name; deleted ones last."""
    ways: tuple[Callable[[Named], bool], ...] = (
        lambda own: same_name(own.name, theirs.name),
        lambda own: any(same_name(own.name, one) for one in theirs.former),
        lambda own: any(same_name(theirs.name, one) for one in own.former),
    )
    order = sorted(known, key=lambda own: own.hidden)
    return next(
        (own for hidden in (False, True) for way in ways for own in order if own.hidden == hidden and way(own)), None
    )


class AttributeReading:
    """Reads lines with attributes into a round."""

    def __init__(self, unit: UnitOfWork, round_id: int, scheme: FileScheme) -> None:
        self._unit = unit
        self._round = round_id
        self._scheme = scheme
        self._last: dict[str, dict[tuple[int, int], AttributeEdit]] = {}  # by curator, of a mention's attribute

    def take(self, mention_id: int, curator: str, line: Mapping[str, Any], *, behind: int) -> tuple[int, int]:
        """Append values later than the curator's here; returns the numbers of new and known values.

        `behind`: see `AttributeEdit`. Raises KeyError, TypeError or ValueError for an invalid line.
        """
        new = known = 0
        for theirs, their_value, at in _edits(line):
            attribute, value = self._scheme.place(theirs, their_value)
            last = self._of(curator).get((mention_id, attribute))
            if (last is None and value is None) or (last and (last.at >= at or last.value_id == value)):
                known += value is not None
                continue
            new += 1
            self._of(curator)[mention_id, attribute] = AttributeEdit(0, mention_id, attribute, value, curator, at)
            self._unit.attributes.append(
                [(mention_id, attribute, value)], curator=curator, at=at, round_id=self._round, behind=behind
            )
        return new, known

    def _of(self, curator: str) -> dict[tuple[int, int], AttributeEdit]:
        if curator not in self._last:
            there = self._unit.attributes.of_round(self._round, curator)
            self._last[curator] = {(one.mention_id, one.attribute_id): one for one in there}
        return self._last[curator]


def _edits(line: Mapping[str, Any]) -> list[tuple[int, int | None, datetime]]:
    """(attribute, value, when) of a line with attributes."""
    return [
        (int(one["attribute"]), None if one["value"] is None else int(one["value"]), moment(one["at"]))
        for one in line["attributes"]
    ]


def facts_of(edits: Iterable[AttributeEdit]) -> list[dict[str, Any]]:
    """The attributes in the form of a file's line."""
    return [{"attribute": one.attribute_id, "value": one.value_id, "at": one.at.isoformat()} for one in edits]
