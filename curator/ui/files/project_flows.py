"""Flows around the project's content: import, type mapping, export. A dialog, then work in the background."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from curator.domain.entities import TypeMapping
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import ntr, tr
from curator.services.importing.fetching import FetchWish
from curator.services.importing.import_report import ImportReport
from curator.services.importing.importing import joined
from curator.services.importing.imports import UndoPlan
from curator.services.importing.kb_importing import KbWish
from curator.services.records.exporting import ExportForecast, ExportScope
from curator.ui.bench.workbench import Workbench
from curator.ui.files.demo_project import World, fill
from curator.ui.files.document_columns import TypeMappingDialog
from curator.ui.files.fetch_pubmed import FetchPubMedDialog
from curator.ui.files.import_documents import ImportDialog, ImportWish
from curator.ui.files.import_kb import REPLACES, ImportKbDialog
from curator.ui.files.import_report import ImportReportDialog, in_short
from curator.ui.files.imports import ImportsDialog
from curator.ui.files.save_as import ExportDialog
from curator.ui.jobs.jobs import JobKind
from curator.ui.kit.messages import ask, tell

STOPPED = "The import was stopped. Files that were imported stay; start it again to import the rest."
NOTHING = "There is no import to undo."
SYNCHRONISED = "The project's folder is synchronised by another program"
PLACE = "Folder of the project"
TYPES = "The types of mentions or entities changed. Check which entity types each mention type may link to."
Reporting = Generator[Progress, None, ImportReport]


class ProjectFlows(QObject):
    """The commands of the *Project* menu for an open project."""

    def __init__(self, bench: Workbench, *, index: Callable[[], None]) -> None:
        """`index` starts building what a new knowledge base needs."""
        super().__init__(bench)
        self._bench = bench
        self._index = index
        self.imports = ImportFlows(bench)

    @property
    def _window(self) -> QWidget:
        return self._bench.window()

    # --- documents ---

    def import_documents(self, paths: Sequence[Path] = ()) -> ImportDialog:
        project = self._bench.project
        gold = project.knowledge.info() is not None
        dialog = ImportDialog(
            project.formats,
            gold=gold,
            paths=paths,
            look=project.importing.preview,
            change=project.importing.change,
            parent=self._window,
        )
        dialog.accepted.connect(lambda: self.import_as_wished(dialog.wish))
        dialog.open()
        return dialog

    def import_as_wished(self, wish: ImportWish) -> None:
        """Import in the background; the report waits in the notice line."""
        importing = self._bench.project.importing

        def work() -> Reporting:
            return importing.documents(
                wish.paths,
                gold=wish.gold,
                split=wish.split,
                hold_out=wish.hold_out,
                choices=wish.choices,
                format_name=wish.format_name,
                left=wish.left,
            )

        before = set(self._bench.project.queue.mention_types())
        files = wish.paths[0].name if len(wish.paths) == 1 else tr("{n} files", n=len(wish.paths))
        self._run(tr("Import {files}", files=files), work, lambda report: self._imported(report, before))

    def _imported(self, report: ImportReport, types_before: set[str]) -> None:
        new_types = set(self._bench.project.queue.mention_types()) - types_before
        self._report(report, types=bool(new_types) and self._bench.project.knowledge.info() is not None)

    def _report(self, report: ImportReport, *, types: bool) -> None:
        """Announce the report; with `types`, the mapping of types opens after it."""
        notices = self._bench.notices
        if types:
            notices.add(tr(TYPES), self.edit_type_mapping)
        notices.add(in_short(report), lambda: ImportReportDialog(report, self._window).open())

    def fetch_from_pubmed(self) -> FetchPubMedDialog:
        return FetchFlow(self._bench, run=self._run, done=self._imported).open()

    # --- the knowledge base ---

    def import_knowledge_base(self, path: Path | None = None) -> ImportKbDialog:
        info = self._bench.project.knowledge.info()
        before = tr(REPLACES, name=info.name, entities=info.entities) if info is not None else ""
        dialog = ImportKbDialog(
            before=before,
            path=path,
            formats=self._bench.project.formats,
            present=self._bench.project.knowledge.sources(),
            parent=self._window,
        )
        dialog.accepted.connect(lambda: self.load_knowledge_base(dialog.path, dialog.wish))
        dialog.open()
        return dialog

    def load_knowledge_base(self, path: Path, wish: KbWish | None = None) -> None:
        """Import it; then its index is built, lexical first."""
        importing = self._bench.project.importing
        self._run(tr("Import {name}", name=path.name), lambda: importing.knowledge_base(path, wish), self._loaded)

    def _loaded(self, report: ImportReport) -> None:
        self._index()
        self._report(report, types=bool(self._bench.project.queue.mention_types()))

    def fill(self, knowledge_base: Path | None, wish: ImportWish | None) -> None:
        """Fill a new project: first the knowledge base, in which gold is looked up, then the documents."""
        importing = self._bench.project.importing

        def work() -> Reporting:
            reports = []
            if knowledge_base is not None:
                reports.append((yield from importing.knowledge_base(knowledge_base)))
            if wish is not None:
                steps = importing.documents(
                    wish.paths, gold=wish.gold, split=wish.split, hold_out=wish.hold_out, left=wish.left
                )
                reports.append((yield from steps))
            return joined(reports)

        def done(report: ImportReport) -> None:
            if knowledge_base is not None:
                self._index()
            self._bench.navigator.open_first()
            self._imported(report, set())

        self._run(tr("Set up {project}", project=self._bench.project.name), work, done)

    def fill_demo(self, world: World) -> None:
        project = self._bench.project

        def then(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                self._index()
                self._bench.navigator.open_first()  # an undecided document; the first files have gold
            else:
                self._bench.notices.add_outcome(tr("Demo project"), outcome)

        title = tr("Import the demo “{name}”", name=world.name)
        self._bench.jobs.run(JobKind.IMPORT, title, lambda: fill(project, world), then=then)

    # --- mapping and export ---

    def edit_type_mapping(self) -> TypeMappingDialog | None:
        project = self._bench.project
        info = project.knowledge.info()
        if info is None:
            tell(self._window, tr("Type mapping"), tr("There is no knowledge base yet. Import one first."))
            return None
        dialog = TypeMappingDialog(
            project.knowledge.mapping(),
            project.knowledge.propose_mapping(),
            mention_types=project.queue.mention_types(),
            entity_types=info.types,
            parent=self._window,
        )

        def save() -> None:
            mapping = dialog.mapping
            if mapping != project.knowledge.mapping():
                self._save_mapping(mapping)

        dialog.accepted.connect(save)
        dialog.open()
        return dialog

    def _save_mapping(self, mapping: TypeMapping) -> None:
        """Save in a worker thread: it changes every document with a mention of a changed type."""
        project = self._bench.project

        def work() -> dict[str, Any]:
            return {"message": project.knowledge.set_mapping(mapping).text}

        def then(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                self._bench.say(outcome.message)
            else:
                self._bench.notices.add_outcome(tr("Type mapping"), outcome)

        self._bench.jobs.ask(work, then=then)

    def export_gold(self) -> ExportDialog:
        project = self._bench.project
        dialog = ExportDialog(
            project.exporting.formats(),
            usual=project.exporting.usual_format(),
            carries=project.exporting.carries_people,
            name=project.exporting.usual_name,
            makes=project.exporting.makes,
            forecast=self._forecast(),
            place=project.folder.parent,
            parent=self._window,
        )
        dialog.accepted.connect(lambda: self._export(dialog.out, dialog.format, scope=dialog.scope))
        dialog.open()
        return dialog

    def _forecast(self) -> Callable[[str, ExportScope], ExportForecast]:
        """Gives what an export would write; the mentions of each scope are read once."""
        exporting = self._bench.project.exporting
        held = cache(exporting.holdings)
        return lambda name, scope: exporting.forecast(name, held(scope))

    def _export(self, out: Path, name: str, *, scope: ExportScope) -> None:
        exporting = self._bench.project.exporting

        def work() -> Generator[Progress, None, dict[str, Any]]:
            yield Progress("export", 0, 0, out.name)
            report = exporting.export(out, name, scope=scope)
            notes = "\n".join(one.text for one in report.problems)
            said = ntr("{n} note: see the details.", "{n:,} notes: see the details.", len(report.problems))
            return {"message": f"{report.text}\n\n{said}" if notes else report.text, "notes": notes}

        def then(outcome: JobOutcome) -> None:
            self._bench.notices.add_outcome(tr("Export"), outcome, details=str(outcome.result.get("notes", "")))

        self._bench.jobs.run(JobKind.EXPORT, tr("Export {name}", name=out.name), work, then=then)

    # --- inside ---

    def _run(self, title: str, work: Callable[[], Reporting], done: Callable[[ImportReport], None]) -> None:
        """Import in a worker thread; show a report at the end, or the error as a sentence."""

        def steps() -> Generator[Progress, None, dict[str, Any]]:
            report = yield from work()
            return {"report": report}

        def then(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                done(outcome.result["report"])
                return
            self._bench.notices.add_outcome(title, outcome)
            if outcome.state is JobState.CANCELLED:
                self._bench.say(tr(STOPPED))

        self._bench.jobs.run(JobKind.IMPORT, title, steps, then=then)


# The list of imports, and undoing one.


class ImportFlows(QObject):
    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        if not bench.project.read_only and (warning := bench.project.place_warning()):
            bench.notices.add(tr(SYNCHRONISED), lambda: tell(bench.window(), tr(PLACE), warning), wrong=True)

    def show_imports(self, chosen: Sequence[int] = ()) -> ImportsDialog:
        project = self._bench.project
        dialog = ImportsDialog(
            project.imports.files(),
            chosen=chosen or project.imports.last(),
            writable=not project.read_only,
            parent=self._bench.window(),
        )
        dialog.undo_wanted.connect(lambda ids: self.ask_undo(ids, dialog))
        dialog.open()
        return dialog

    def undo_last(self) -> None:
        """Show the list with the last import selected, and the effects of undoing it."""
        last = self._bench.project.imports.last()
        if not last:
            tell(self._bench.window(), tr("Undo import"), tr(NOTHING))
            return
        self.ask_undo(last, self.show_imports(last))

    def ask_undo(self, file_ids: tuple[int, ...], dialog: ImportsDialog) -> None:
        plan = self._bench.project.imports.plan(file_ids)
        words = "\n\n".join((_heading(plan), "\n".join(plan.words())))
        ask(dialog, tr("Undo import"), words, yes=tr("Undo the import"), then=lambda: self._undo(file_ids, dialog))

    def _undo(self, file_ids: tuple[int, ...], dialog: ImportsDialog) -> None:
        project = self._bench.project
        open_ = [True]
        dialog.finished.connect(lambda _: open_.clear())

        def work() -> dict[str, Any]:
            return {"message": project.imports.undo(file_ids).text}

        def then(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                self._bench.say(outcome.message)
            else:
                self._bench.notices.add_outcome(tr("Undo import"), outcome)
            if open_:
                dialog.show_files(project.imports.files())

        self._bench.jobs.ask(work, then=then)


def _heading(plan: UndoPlan) -> str:
    names = ", ".join(one.record.file.name for one in plan.files[:3]) + (", …" if len(plan.files) > 3 else "")
    return tr("Undo the import of {names}?", names=names)


# The flow of *Project > Fetch from PubMed*: the dialog, counting in the background, and the fetch as a job.

Run = Callable[[str, Callable[[], Reporting], Callable[[ImportReport], None]], None]


class FetchFlow(QObject):
    """Exists as long as its dialog or a fetch started by it."""

    def __init__(self, bench: Workbench, *, run: Run, done: Callable[[ImportReport, set[str]], None]) -> None:
        """`run` starts an import with a callback for its end; `done` shows a report."""
        super().__init__(bench)
        self._bench = bench
        self._run = run
        self._done = done
        self._dialog: FetchPubMedDialog | None = None

    def open(self) -> FetchPubMedDialog:
        fetching = self._bench.project.fetching
        dialog = FetchPubMedDialog(
            host=fetching.host,
            stopped=fetching.unfinished(),
            count=self._count,
            forget=fetching.forget,
            parent=self._bench.window(),
        )
        self._dialog = dialog
        dialog.accepted.connect(lambda: self._fetch(dialog.wish))
        dialog.finished.connect(self._closed)
        dialog.open()
        return dialog

    def _closed(self) -> None:
        """Called when the dialog is closed; a late answer is dropped."""
        self._dialog = None

    def _fetch(self, wish: FetchWish) -> None:
        fetching = self._bench.project.fetching
        before = set(self._bench.project.queue.mention_types())
        self._run(tr("Fetch from PubMed"), lambda: fetching.pubmed(wish), lambda report: self._done(report, before))

    def _count(self, query: str) -> None:
        project = self._bench.project

        def work() -> Generator[Progress, None, dict[str, Any]]:
            number = yield from project.fetching.count(query)
            return {"count": number}

        def then(outcome: JobOutcome) -> None:
            words = outcome.message
            if outcome.state is JobState.DONE:
                words = ntr("{n:,} record matches.", "{n:,} records match.", outcome.result["count"])
            if self._dialog is not None:
                self._dialog.set_count(query, words)

        self._bench.jobs.ask_in_steps(work, then=then)
