"""Exports decisions with the formats' writers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from curator.domain.attributes import alike
from curator.domain.decisions import Decision, Outcome
from curator.domain.documents import (
    Document,
    DocumentState,
    Mention,
    MentionOrigin,
    MentionShape,
    SourceFile,
    slice_spans,
)
from curator.domain.entities import is_new
from curator.domain.statistics import Holdings
from curator.domain.wording import DamagedTextError, UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.core.relation_reading import RelationReader
from curator.services.curating.attributes import scheme_of
from curator.services.importing.import_report import counted
from curator.services.importing.import_sources import left_behind
from curator.services.importing.text_taking import restated_of
from curator.services.ports.files import (
    DocumentFormat,
    ExportDocument,
    ExportMention,
    FileWriter,
    FormatRegistry,
    LeftOut,
    Problem,
)
from curator.services.ports.storage import UnitOfWork
from curator.services.rounds.rounds import ANY_ROUND, adjudicated_by

# What an exporter gets of each document: the mentions with their decisions, compared with the text.

OTHER_MENTION = (
    "Mention {number} of document {name} differs from the text at its place: the project is damaged. Check it "
    "(Project › Check project or `curator check`), and restore a backup (Project › Backups or `curator restore`)."
)


class ExportScope(StrEnum):
    """The scope of an export. DECIDED: every document, with its current decisions. DONE: documents that are done.
    ADJUDICATED: mentions whose decision came out of a round's adjudication, and their documents."""

    DECIDED = "decided"
    DONE = "done"
    ADJUDICATED = "adjudicated"


def names_new_entity(gold: ExportMention) -> bool:
    """Whether it is linked to a provisional entity."""
    return gold.decision is not None and any(map(is_new, gold.decision.verdict.entity_ids))


def any_unread(names: Iterable[str], gold: ExportMention) -> bool:
    """Whether the file's record of a mention has an attribute with one of these names that the project lacks."""
    return any(not any(alike(name, own) for own, _ in gold.attributes) for name in names)


def adjudicated_only(item: ExportDocument) -> ExportDocument:
    """The document with only its adjudicated mentions, and without the source's lines of the others."""
    kept = tuple(one for one in item.mentions if one.decision is not None and adjudicated_by(one.decision.note))
    ids = {one.mention.id for one in kept}
    left = {one.mention.record for one in item.mentions if one.mention.id not in ids and one.mention.record >= 0}
    related = tuple(one for one in item.relations if ids.issuperset(one.mention_ids))
    removed = tuple(sorted({*item.removed_records, *left}))
    return replace(item, mentions=kept, removed_records=removed, relations=related)


def documents_of(unit: UnitOfWork, scope: ExportScope) -> set[int] | None:
    """Ids of the documents in a scope; None for all."""
    if scope is ExportScope.DONE:
        return set(unit.documents.ids(state=DocumentState.DONE))
    if scope is ExportScope.ADJUDICATED:
        found = unit.mentions.get_many(unit.records.noted(ANY_ROUND))
        return {one.document_id for one in found.values()}
    return None


def export_document(unit: UnitOfWork, document_id: int, relations: RelationReader) -> ExportDocument:
    """A document with its mentions that are not deleted, their decisions and relations, for a writer. Raises
    DamagedTextError if the text differs from the one imported."""
    document = unit.documents.get(document_id, compared=True)
    mentions = unit.mentions.of_document(document_id, deleted=True)
    decisions = unit.decisions.current_of_document(document_id)
    first = unit.mentions.first_shapes(document_id)
    restated = restated_of(unit, document_id)
    attributes = _attributes(unit, [one.id for one in mentions])
    opinions = unit.suggestions.opinions([one.id for one in mentions])
    gold = [
        ExportMention(
            one,
            decisions.get(one.id),
            _is_unchanged(unit, document, one, decisions) and not (one.id in restated and one.id in decisions),
            reshaped=one.id in first and first[one.id] != MentionShape.of(one),
            opinion=opinions.get(one.id),
            attributes=attributes.get(one.id, ()),
        )
        for one in mentions
        if not one.deleted
    ]
    removed = (one.record for one in mentions if one.deleted and one.origin is MentionOrigin.SOURCE)
    records = sorted(record for record in removed if record >= 0)
    return ExportDocument(
        document,
        unit.documents.raw(document_id),
        tuple(gold),
        tuple(records),
        comments=tuple(unit.comments.of_document(document_id)),
        flagged=unit.documents.document_flagged(document_id),
        relations=tuple(relations.of(unit, document_id)),
        removed_relations=relations.removed(unit, document_id),
    )


def check_quotes(item: ExportDocument) -> None:
    """Raises DamagedTextError if a mention differs from the text at its place, which only damage can cause."""
    for gold in item.mentions:
        if slice_spans(item.document.text, gold.mention.spans) != gold.mention.text:
            raise DamagedTextError(tr(OTHER_MENTION, name=item.document.external_id, number=gold.mention.id))


def _attributes(unit: UnitOfWork, mention_ids: list[int]) -> dict[int, tuple[tuple[str, str | None], ...]]:
    """Names and values of attributes that were set, including cleared ones, without deleted attributes."""
    scheme = scheme_of(unit)
    chosen = unit.attributes.values(mention_ids) if scheme.shown else {}
    found = {}
    for mention, values in chosen.items():
        pairs = ((one, one.value(values[one.id])) for one in scheme.shown if one.id in values)
        found[mention] = tuple((one.name, value.name if value is not None else None) for one, value in pairs)
    return found


def _is_unchanged(unit: UnitOfWork, document: Document, mention: Mention, current: dict[int, Decision]) -> bool:
    """Whether the file's line already contains the current decision: the imported one, an equal one, or none at all."""
    if mention.origin is not MentionOrigin.SOURCE:
        return False
    decision = current.get(mention.id)
    if decision is not None and decision.is_imported:
        return True
    if decision is None and not current and document.state is DocumentState.TODO:
        return True  # nobody worked on this document: no look-up per mention needed
    past = unit.decisions.history(mention.id)
    imported = next((one.verdict for one in past if one.is_imported), None)
    return imported == decision.verdict if decision is not None else imported is None


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The result of an export; `unchanged` mentions were written exactly as in their file. `problems` lists data that
    the format cannot represent, and data left out; documents left out as `damaged` are first."""

    format: str
    paths: tuple[Path, ...]
    documents: int
    mentions: int
    unchanged: int
    problems: tuple[Problem, ...] = ()
    damaged: int = 0

    @property
    def text(self) -> str:
        """The result in a sentence or two."""
        wrote = tr(
            "Wrote {documents} with {mentions} to {where}.",
            documents=counted("documents", self.documents),
            mentions=counted("mentions", self.mentions),
            where=self.where,
        )
        return f"{ntr(ONE_DAMAGED, DAMAGED, self.damaged)} {wrote}" if self.damaged else wrote

    @property
    def where(self) -> str:
        """The files, or their folder and number if there are many."""
        if len(self.paths) <= SHOWN_PATHS:
            return ", ".join(map(str, self.paths))
        folder = os.path.commonpath([one.parent for one in self.paths])
        return tr("{folder} ({n:,} files)", folder=folder, n=len(self.paths))


@dataclass(frozen=True, slots=True)
class ExportForecast:
    """What an export would write, from counts: `lost` says in sentences what the project has and the format cannot
    hold."""

    documents: int
    mentions: int
    links: int
    nil: int
    relations: int
    lost: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The numbers in a sentence."""
        open_ = self.mentions - self.links - self.nil
        held = [
            ntr("{n:,} link", "{n:,} links", self.links) if self.links else "",
            ntr("{n:,} NIL decision", "{n:,} NIL decisions", self.nil) if self.nil else "",
            tr("{n:,} without a decision", n=open_) if open_ else "",
            ntr("{n:,} added relation", "{n:,} added relations", self.relations) if self.relations else "",
        ]
        return tr(
            "This export writes {documents} with {mentions}: {held}.",
            documents=counted("documents", self.documents),
            mentions=counted("mentions", self.mentions),
            held=", ".join(filter(None, held)) or tr("no decisions"),
        )


class ExportTarget(StrEnum):
    """The kind of an export's target."""

    FILE = "file"
    FOLDER = "folder"
    ARCHIVE = "archive"


NOTHING = {
    ExportScope.DECIDED: "Nothing to export: the project has no documents.",
    ExportScope.DONE: "Nothing to export: no document is done.",
    ExportScope.ADJUDICATED: "Nothing to export: nothing has been adjudicated yet (People › Adjudicate).",
}


NEW_ENTITY = (
    "{n} mention is linked to an entity that was created in this project, with an identifier such as "
    "NEW:0001. The file does not describe it: pass on the updated knowledge base as well (`curator kb "
    "export`)."
)
NEW_ENTITIES = (
    "{n:,} mentions are linked to entities that were created in this project, with identifiers such as "
    "NEW:0001. The file does not describe them: pass on the updated knowledge base as well (`curator kb "
    "export`)."
)

ONE_UNREAD = (
    "{n} mention has attributes in its file that the project has not read, and they were not written: choose "
    "Annotate › Attributes of the project and read them first."
)
UNREAD = (
    "{n:,} mentions have attributes in their files that the project has not read, and they were not written: choose "
    "Annotate › Attributes of the project and read them first."
)
ONE_UNHELD = "{n} mention has attributes that were not written: {wanted} cannot hold them."
UNHELD = "{n:,} mentions have attributes that were not written: {wanted} cannot hold them."
ONE_MENTION_LOST = "{wanted} cannot hold mentions: {n} mention with its decision is not written."
MENTIONS_LOST = "{wanted} cannot hold mentions: {n:,} mentions with their decisions are not written."
ONE_NIL_LOST = "{wanted} cannot hold NIL: {n} NIL decision is not written."
NIL_LOST = "{wanted} cannot hold NIL: {n:,} NIL decisions are not written."
ONE_COMPOSITE_LOST = "{wanted} cannot hold several entities for a mention: {n} mention is not written in full."
COMPOSITE_LOST = "{wanted} cannot hold several entities for a mention: {n:,} mentions are not written in full."
ONE_IN_PIECES_LOST = "{wanted} cannot hold mentions of several spans: {n} mention is not written in full."
IN_PIECES_LOST = "{wanted} cannot hold mentions of several spans: {n:,} mentions are not written in full."
ONE_ATTRIBUTED_LOST = "{wanted} cannot hold attributes: those of {n} mention are not written."
ATTRIBUTED_LOST = "{wanted} cannot hold attributes: those of {n:,} mentions are not written."
ONE_RELATION_LOST = "{wanted} cannot hold relations: {n} relation that was added in this project is not written."
RELATIONS_LOST = "{wanted} cannot hold relations: {n:,} relations that were added in this project are not written."
ONE_ONLY_THERE = (
    "Relations and special fields of {n} document that was imported as {source} are written only in that format."
)
ONLY_THERE = (
    "Relations and special fields of {n:,} documents that were imported as {source} are written only in that format."
)
SHOWN_PATHS = 3
PROJECT = ".curation"
"""The suffix of every project's folder."""
ONE_LEFT_BEHIND = (
    "{n} document that was imported as {source} has relations or other fields that were not written as "
    "{wanted}: they are exported only in their original format."
)
LEFT_BEHIND = (
    "{n:,} documents that were imported as {source} have relations or other fields that were not "
    "written as {wanted}: they are exported only in their original format."
)

ONE_FIELDS_LEFT = (
    "{n} document that was imported as {source} has fields that were not written as {wanted}: they are exported only "
    "in their original format."
)
FIELDS_LEFT = (
    "{n:,} documents that were imported as {source} have fields that were not written as {wanted}: they are exported "
    "only in their original format."
)

ONE_DAMAGED = "{n} damaged document was left out."
DAMAGED = "{n:,} damaged documents were left out."
ONE_IS_DAMAGED = "Nothing was exported, since the document is damaged: {first}"
ALL_DAMAGED = "Nothing was exported, since all {n:,} documents are damaged: {first}"
UNSAVED = "Not everything that was written is saved in the project: {why}"
ONE_RELATION = "{n} relation that was added in this project was left out: {wanted} does not hold relations."
RELATIONS = "{n:,} relations that were added in this project were left out: {wanted} does not hold relations."


@dataclass(slots=True)
class _Tally:
    """Counts while documents are written. Mentions are counted by id, since the writer reports those left out at the
    end."""

    files_left: int  # not read to their end
    documents: int = 0
    unchanged: dict[int, bool] = field(default_factory=dict)
    new: int = 0
    attributed: int = 0
    unread: int = 0  # with attributes that are only in the file
    related: int = 0  # relations that curators added
    with_relations: bool = False  # whether the format written has relations: it reports those that it cannot write
    with_more: Counter[str] = field(default_factory=Counter)  # by the source format of documents
    damaged: list[str] = field(default_factory=list)  # what is wrong with documents that are left out
    unsaved: str = ""  # why the project's disk does not hold all of it

    def take(self, item: ExportDocument, source: DocumentFormat | None, holder: DocumentFormat | None) -> None:
        """Count a document. `source`: its original format if some of its data are lost; `holder`: the same if
        attributes are lost."""
        self.documents += 1
        self.unchanged |= {one.mention.id: one.as_it_was for one in item.mentions}
        self.new += sum(map(names_new_entity, item.mentions))
        self.attributed += sum(any(value for _, value in one.attributes) for one in item.mentions)
        self.related += sum(not one.source for one in item.relations)
        if holder is not None and item.raw:
            held = holder.attributes_in(item.raw)
            self.unread += sum(any_unread(held.get(one.mention.record, ()), one) for one in item.mentions)
        if source is not None and item.raw and self._loses(item, source):
            self.with_more[source.name] += 1

    def _loses(self, item: ExportDocument, source: DocumentFormat) -> bool:
        related = not self.with_relations and any(one.source for one in item.relations)
        return related or source.holds_more(item.raw)

    def report(self, wanted: DocumentFormat, paths: list[Path], titles: Mapping[str, str]) -> ExportReport:
        out = [one for one in wanted.problems if isinstance(one, LeftOut)]
        gone = {mention for one in out for mention in one.mentions}
        written = [unchanged for mention, unchanged in self.unchanged.items() if mention not in gone]
        behind = [
            Problem(
                0,
                "note",
                ntr(ONE_FIELDS_LEFT, FIELDS_LEFT, number, source=titles[name], wanted=wanted.title)
                if self.with_relations
                else ntr(ONE_LEFT_BEHIND, LEFT_BEHIND, number, source=titles[name], wanted=wanted.title),
            )
            for name, number in self.with_more.items()
        ]
        return ExportReport(
            format=wanted.name,
            paths=tuple(paths),
            documents=self.documents - sum(one.documents for one in out),
            mentions=len(written),
            unchanged=sum(written),
            damaged=len(self.damaged),
            problems=(
                *(LeftOut(0, "set aside", one) for one in self.damaged),
                *wanted.problems,
                *_about_new(self.new),
                *self._unheld(wanted),
                *_about_relations(self.related, wanted),
                *behind,
                *([Problem(0, "note", tr(UNSAVED, why=self.unsaved))] if self.unsaved else []),
            ),
        )

    def _unheld(self, wanted: DocumentFormat) -> list[Problem]:
        """Attributes that the format cannot represent."""
        said = []
        if self.attributed and not wanted.carries.attributes:
            said.append(Problem(0, "note", ntr(ONE_UNHELD, UNHELD, self.attributed, wanted=wanted.title)))
        if self.unread and wanted.carries.attributes:
            said.append(Problem(0, "note", ntr(ONE_UNREAD, UNREAD, self.unread)))
        return said


class _EmptyFileError(DamagedTextError):
    """All documents of a file are damaged."""


class ExportService(Service):
    def __init__(self, context: Context, formats: FormatRegistry, writer: FileWriter) -> None:
        super().__init__(context)
        self._formats = formats
        self._relations = RelationReader(formats)
        self._writer = writer

    def formats(self) -> list[tuple[str, str]]:
        """(name, title) of the formats that can be written."""
        return [(one.name, one.title) for one in self._formats.formats() if one.can_write]

    def usual_format(self) -> str:
        """The most frequent format of the imported files that can be written and keeps the decisions; else the first
        one that can and does."""
        with self._store.read() as unit:
            files = Counter(file.format for file in unit.files.all())
            has_nil = unit.documents.counts().decisions_by_outcome[Outcome.NIL] > 0
        keeping = [
            one.name
            for one in self._formats.formats()
            if one.can_write and one.carries.mentions and (one.carries.nil or not has_nil)
        ]
        return next((name for name, _ in files.most_common() if name in keeping), keeping[0])

    def holdings(self, scope: ExportScope) -> Holdings:
        """What the project has in this scope. Reads every mention: call it from a worker thread."""
        with self._store.read() as unit:
            noted = ANY_ROUND if scope is ExportScope.ADJUDICATED else ""
            return unit.records.holdings(done=scope is ExportScope.DONE, noted=noted)

    def forecast(self, format_name: str, held: Holdings) -> ExportForecast:
        """What an export of this scope to the format would write, and what it would lose."""
        form = self._formats.by_name(format_name)
        carries = form.carries
        mentions = held.mentions + (held.others if carries.every_mention else 0)
        return ExportForecast(
            held.documents,
            mentions if carries.mentions else 0,
            held.links if carries.mentions else 0,
            held.nil if carries.mentions and carries.nil else 0,
            held.relations if carries.relations else 0,
            (*_lost(held, form), *self._only_in_files(form)),
        )

    def _only_in_files(self, wanted: DocumentFormat) -> Iterator[str]:
        """Sentences about relations and fields of the imported files that only their own format holds."""
        titles = {one.name: one.title for one in self._formats.formats() if left_behind(one, wanted)}
        found = Counter[str]()
        with self._store.read() as unit:
            for file in unit.files.all():
                if file.format in titles:  # the documents of a file are counted one by one
                    found[file.format] += len(unit.documents.ids_of_file(file.id))
        yield from (ntr(ONE_ONLY_THERE, ONLY_THERE, number, source=titles[name]) for name, number in found.items())

    def carries_people(self, format_name: str) -> bool:
        """Whether the format contains who decided and when."""
        return self._formats.by_name(format_name).carries_people

    def usual_name(self, format_name: str) -> str:
        """The default name of an export: a file if the format can hold all documents in one."""
        form = self._formats.by_name(format_name)
        return f"gold{form.endings[0]}" if form.endings else f"gold-{form.name}"

    def makes(self, out: Path, format_name: str) -> tuple[ExportTarget, int]:
        """The kind of target of an export of all documents to `out`, and the number of imported files."""
        form = self._formats.by_name(format_name)
        with self._store.read() as unit:
            files = sum(bool(unit.documents.ids_of_file(file.id)) for file in unit.files.all())
        if out.is_dir():
            return ExportTarget.FOLDER, files
        if form.endings:
            return ExportTarget.FILE if files == 1 or out.name.lower().endswith(
                form.endings
            ) else ExportTarget.FOLDER, files
        if form.document_endings and out.name.lower().endswith(form.document_endings):
            return ExportTarget.FILE, 1
        return ExportTarget.ARCHIVE if out.suffix.lower() == ".zip" else ExportTarget.FOLDER, files

    def write_report(self, report: ExportReport, path: Path) -> None:
        """Every line of a report as a text file. Raises UserError."""
        lines = [report.text, *(one.text for one in report.problems)]
        self._writer.write({path: "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")})

    def export(self, out: Path, format_name: str, *, scope: ExportScope = ExportScope.DECIDED) -> ExportReport:
        """Write the `scope` atomically: into one file, or a file for each imported file (see `makes`). What it holds is
        saved in the project first. Damaged documents are left out. Raises UserError, also if all are damaged."""
        wanted = self._formats.by_name(format_name)
        self._refuse_project_folder(out)
        with self._store.read() as unit:
            wants, files = documents_of(unit, scope), unit.files.all()
            chosen = [
                (file, [one for one in unit.documents.ids_of_file(file.id) if wants is None or one in wants])
                for file in files
            ]
        chosen = [(file, ids) for file, ids in chosen if ids]
        if not chosen:
            raise UserError(tr(NOTHING[scope]))
        with self._writer.sparing(Path(file.path) for file in files):
            try:
                return self._write(out, wanted, chosen, scope)
            except _EmptyFileError:  # nothing was written
                damaged = self._damaged(chosen, scope)
                with self._kept_as_folder(out, format_name, files=len(chosen)):
                    return self._write(out, wanted, chosen, scope, damaged=damaged)

    def _write(
        self,
        out: Path,
        wanted: DocumentFormat,
        chosen: Sequence[tuple[SourceFile, list[int]]],
        scope: ExportScope,
        *,
        damaged: Mapping[int, str] = MappingProxyType({}),
    ) -> ExportReport:
        """Write the chosen documents of each file without `damaged` ones. Raises _EmptyFileError, before anything is
        written, if damage is found of which a file consists."""
        sound = [(file, [one for one in ids if one not in damaged]) for file, ids in chosen]
        sound = [(file, ids) for file, ids in sound if ids]
        if not sound:
            raise UserError(ntr(ONE_IS_DAMAGED, ALL_DAMAGED, len(damaged), first=next(iter(damaged.values()))))
        known = {one.name: one for one in self._formats.formats()}
        tally = _Tally(files_left=len(sound), with_relations=wanted.carries.relations, damaged=list(damaged.values()))
        sources = []
        for file, ids in sound:
            source = known.get(file.format)
            loses = source if source is not None and left_behind(source, wanted) else None
            same = file.format == wanted.name or file.format in wanted.carries.takes_from
            holder = source if source is not None and source.carries.attributes and not same else None
            sources.append((file, self._documents(ids, tally, scope, loses, holder)))
        paths = wanted.write(sources, out)
        return tally.report(wanted, paths, {name: one.title for name, one in known.items()})

    @contextmanager
    def _kept_as_folder(self, out: Path, format_name: str, *, files: int) -> Iterator[None]:
        """Make the folder for several files, since the writer would write a file if only one of them is left."""
        made = files > 1 and not out.exists() and self.makes(out, format_name)[0] is ExportTarget.FOLDER
        try:
            if made:
                with suppress(OSError):  # which the writer says
                    out.mkdir()
            yield
        except BaseException:
            if made:
                with suppress(OSError):
                    out.rmdir()
            raise

    def _damaged(self, chosen: Sequence[tuple[SourceFile, list[int]]], scope: ExportScope) -> dict[int, str]:
        """What is wrong with the damaged documents among the chosen ones."""
        found = {}
        for document_id in (one for _, ids in chosen for one in ids):
            try:
                self._document(document_id, scope)
            except DamagedTextError as error:
                found[document_id] = str(error)
        return found

    def _document(self, document_id: int, scope: ExportScope) -> ExportDocument:
        """Raises DamagedTextError if the text, or a mention that is exported, is not what was imported."""
        with self._store.read() as unit:
            document = export_document(unit, document_id, self._relations)
        if scope is ExportScope.ADJUDICATED:
            document = adjudicated_only(document)
        check_quotes(document)
        return document

    def _refuse_project_folder(self, out: Path) -> None:
        place = out.resolve()
        own = self._store.folder.resolve()
        folder = next((one for one in (place, *place.parents) if one == own or one.suffix == PROJECT), None)
        if folder is not None:
            raise UserError(
                tr(
                    "{path} is inside a project's folder. Choose a location outside {folder}.",
                    path=out,
                    folder=folder.name,
                )
            )

    def _documents(
        self,
        ids: list[int],
        tally: _Tally,
        scope: ExportScope,
        loses: DocumentFormat | None,
        holder: DocumentFormat | None,
    ) -> Iterator[ExportDocument]:
        """See `_Tally.take`."""
        before = tally.documents
        for document_id in ids:
            try:
                document = self._document(document_id, scope)
            except DamagedTextError as error:
                tally.damaged.append(str(error))
                continue
            tally.take(document, loses, holder)
            yield document
        if tally.documents == before:
            raise _EmptyFileError(tally.damaged[-1])
        tally.files_left -= 1
        if tally.files_left:
            return
        try:
            self._store.settle()
        except UserError as error:
            tally.unsaved = str(error)  # written nevertheless: it may be all that remains


def _lost(held: Holdings, wanted: DocumentFormat) -> Iterator[str]:
    """Sentences about what the project has and the format cannot hold."""
    carries, title = wanted.carries, wanted.title
    if held.mentions and not carries.mentions:
        yield ntr(ONE_MENTION_LOST, MENTIONS_LOST, held.mentions, wanted=title)
    if carries.mentions:
        if held.nil and not carries.nil:
            yield ntr(ONE_NIL_LOST, NIL_LOST, held.nil, wanted=title)
        if held.composite and not carries.several_ids:
            yield ntr(ONE_COMPOSITE_LOST, COMPOSITE_LOST, held.composite, wanted=title)
        if held.discontinuous and not carries.discontinuous:
            yield ntr(ONE_IN_PIECES_LOST, IN_PIECES_LOST, held.discontinuous, wanted=title)
        if held.attributed and not carries.attributes:
            yield ntr(ONE_ATTRIBUTED_LOST, ATTRIBUTED_LOST, held.attributed, wanted=title)
    if held.relations and not carries.relations:
        yield ntr(ONE_RELATION_LOST, RELATIONS_LOST, held.relations, wanted=title)


def _about_new(mentions: int) -> list[Problem]:
    """A note that no format explains the project's own identifiers."""
    return [Problem(0, "note", ntr(NEW_ENTITY, NEW_ENTITIES, mentions))] if mentions else []


def _about_relations(number: int, wanted: DocumentFormat) -> list[Problem]:
    """A note if the format has no relations; other formats report themselves which relations they cannot write."""
    if not number or wanted.carries.relations:
        return []
    text = ntr(ONE_RELATION, RELATIONS, number, wanted=wanted.title)
    return [Problem(0, "note", text)]
