"""Decisions out of the project, through the formats' writers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from curator.domain.decisions import Decision
from curator.domain.documents import Document, DocumentState, Mention, MentionOrigin, SourceFile
from curator.domain.errors import UserError
from curator.domain.mention_edits import MentionShape
from curator.domain.provisional import is_new
from curator.domain.wording import tr
from curator.services.formats import left_behind
from curator.services.ports import (
    DocumentFormat,
    ExportDocument,
    FormatRegistry,
    GoldMention,
    Problem,
    Store,
    UnitOfWork,
)
from curator.services.rounds import ANY_ROUND, adjudicated_by
from curator.services.text_taking import restated_of


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written; `unchanged` mentions went back exactly as the file had them. `problems` says what the format
    cannot carry."""

    format: str
    paths: tuple[Path, ...]
    documents: int
    mentions: int
    unchanged: int
    problems: tuple[Problem, ...] = ()


class ExportScope(StrEnum):
    """What is written. DECIDED: every document, with what has been decided so far. DONE: documents that are done.
    ADJUDICATED: mentions whose decision came out of a round's adjudication, and their documents."""

    DECIDED = "decided"
    DONE = "done"
    ADJUDICATED = "adjudicated"


NOTHING = {
    ExportScope.DECIDED: "There is nothing to export: no document is in the project.",
    ExportScope.DONE: "There is nothing to export: no document is done.",
    ExportScope.ADJUDICATED: "There is nothing to export: nothing has been adjudicated yet (People › Adjudicate…).",
}


NEW_ENTITIES = (
    "{mentions:,} mentions are linked to entities that this project made, with identifiers such as NEW:0001. The file "
    "does not say what they are: give the updated knowledge base with it (`curator kb export`)."
)

LEFT_BEHIND = (
    "Relations and other fields of files that came as {source} were not written as {wanted}: they go back only into "
    "the format that they came from."
)


class ExportService:
    def __init__(self, store: Store, formats: FormatRegistry) -> None:
        self._store = store
        self._formats = formats

    def formats(self) -> list[tuple[str, str]]:
        """(name, title) of the formats that can be written."""
        return [(one.name, one.title) for one in self._formats.formats() if one.can_write]

    def usual_format(self) -> str:
        """The format that most of the imported files have, where it can be written; else the first that can be."""
        writable = [name for name, _ in self.formats()]
        with self._store.read() as unit:
            found = Counter(file.format for file in unit.documents.files() if file.format in writable)
        return found.most_common(1)[0][0] if found else writable[0]

    def carries_people(self, format_name: str) -> bool:
        """Whether the format says who decided and when."""
        return self._formats.by_name(format_name).carries_people

    def export(self, out: Path, format_name: str, *, scope: ExportScope = ExportScope.DECIDED) -> ExportReport:
        """Write what `scope` says, one file for each imported file, atomically. Raises UserError."""
        wanted = self._formats.by_name(format_name)
        self._refuse_project_folder(out)
        with self._store.read() as unit:
            files = unit.documents.files()
            wants = documents_of(unit, scope)
            chosen = [
                (file, [one for one in unit.documents.ids_of_file(file.id) if wants is None or one in wants])
                for file in files
            ]
        chosen = [(file, ids) for file, ids in chosen if ids]
        if not chosen:
            raise UserError(tr(NOTHING[scope]))
        counts: Counter[str] = Counter()
        paths = wanted.write([(file, self._documents(ids, counts, scope)) for file, ids in chosen], out)
        return ExportReport(
            format=wanted.name,
            paths=tuple(paths),
            documents=counts["documents"],
            mentions=counts["mentions"],
            unchanged=counts["unchanged"],
            problems=(*wanted.problems, *_about_new(counts["new"]), *self._left_behind(chosen, wanted)),
        )

    def _left_behind(self, chosen: Sequence[tuple[SourceFile, object]], wanted: DocumentFormat) -> list[Problem]:
        """A note for each format whose files may hold what does not come along."""
        found = {one.name: one for one in self._formats.formats()}
        sources = dict.fromkeys(file.format for file, _ in chosen if file.format in found)
        return [
            Problem(0, "note", tr(LEFT_BEHIND, source=found[name].title, wanted=wanted.title))
            for name in sources
            if left_behind(found[name], wanted)
        ]

    def _refuse_project_folder(self, out: Path) -> None:
        folder = self._store.folder.resolve()
        if folder in (out.resolve(), *out.resolve().parents):
            raise UserError(
                tr(
                    "{path} lies in the project's own folder. Choose a place outside of {folder}.",
                    path=out,
                    folder=folder.name,
                )
            )

    def _documents(self, ids: list[int], counts: Counter[str], scope: ExportScope) -> Iterator[ExportDocument]:
        for document_id in ids:
            with self._store.read() as unit:
                document = export_document(unit, document_id)
            if scope is ExportScope.ADJUDICATED:
                document = adjudicated_only(document)
            counts["documents"] += 1
            counts["mentions"] += len(document.mentions)
            counts["unchanged"] += sum(one.as_it_was for one in document.mentions)
            counts["new"] += sum(map(names_new_entity, document.mentions))
            yield document


def names_new_entity(gold: GoldMention) -> bool:
    """Whether it is linked to an entity that a curator made."""
    return gold.decision is not None and any(map(is_new, gold.decision.verdict.entity_ids))


def _about_new(mentions: int) -> list[Problem]:
    """No format says what an identifier of the project's own means."""
    return [Problem(0, "note", tr(NEW_ENTITIES, mentions=mentions))] if mentions else []


def adjudicated_only(item: ExportDocument) -> ExportDocument:
    """The document with its adjudicated mentions alone; the source's lines of the others are left out with them."""
    kept = tuple(one for one in item.mentions if one.decision is not None and adjudicated_by(one.decision.note))
    ids = {one.mention.id for one in kept}
    left = {one.mention.record for one in item.mentions if one.mention.id not in ids and one.mention.record >= 0}
    return replace(item, mentions=kept, removed_records=tuple(sorted({*item.removed_records, *left})))


def documents_of(unit: UnitOfWork, scope: ExportScope) -> set[int] | None:
    """Ids of the documents that a scope holds; None for all."""
    if scope is ExportScope.DONE:
        return set(unit.documents.ids(state=DocumentState.DONE))
    if scope is ExportScope.ADJUDICATED:
        found = unit.mentions.get_many(unit.records.noted(ANY_ROUND))
        return {one.document_id for one in found.values()}
    return None


def export_document(unit: UnitOfWork, document_id: int) -> ExportDocument:
    """A document with its living mentions and their decisions, as a writer gets it."""
    document = unit.documents.get(document_id)
    mentions = unit.mentions.of_document(document_id, deleted=True)
    decisions = unit.decisions.current_of_document(document_id)
    first = unit.mentions.first_shapes(document_id)
    restated = restated_of(unit, document_id)
    gold = [
        GoldMention(
            one,
            decisions.get(one.id),
            _is_unchanged(unit, document, one, decisions) and not (one.id in restated and one.id in decisions),
            reshaped=one.id in first and first[one.id] != MentionShape.of(one),
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
        comments=tuple(unit.notes.comments(document_id)),
        flagged=unit.notes.document_flagged(document_id),
    )


def _is_unchanged(unit: UnitOfWork, document: Document, mention: Mention, current: dict[int, Decision]) -> bool:
    """Whether the file's own line says what is decided now: the import's decision, the same again, or none ever."""
    if mention.origin is not MentionOrigin.SOURCE:
        return False
    decision = current.get(mention.id)
    if decision is not None and decision.is_imported:
        return True
    if decision is None and not current and document.state is DocumentState.TODO:
        return True  # nobody worked on this document: spare a look-up for each mention
    past = unit.decisions.history(mention.id)
    imported = next((one.verdict for one in past if one.is_imported), None)
    return imported == decision.verdict if decision is not None else imported is None
