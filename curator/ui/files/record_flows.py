"""Flows that export records from the project, and the list of suspicious gold."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import UserError, ntr, tr
from curator.services.importing.import_report import counted
from curator.services.records.kb_export import LEAST
from curator.ui.bench.workbench import Workbench
from curator.ui.jobs.jobs import JobKind
from curator.ui.kit.messages import tell

if TYPE_CHECKING:
    from curator.ui.dashboard.suspicious_window import SuspiciousWindow
    from curator.ui.files.save_as import KbExportDialog, ReleaseDialog, SaveDialog

AUDIT_INTRO = (
    "Writes every decision, undo and judgement: who, when, what was suggested at the time and what it "
    "replaced. A name ending in .csv gives a table, .jsonl gives JSON lines with the scores of the "
    "suggestions."
)
SAVED = "SHA-256 {sha}"


class RecordFlows(QObject):
    """*Project > Release, Export audit trail, Export knowledge base* and *Model > Suspicious gold*."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._suspicious: SuspiciousWindow | None = None
        bench.bridge.stepped.connect(self._renew)

    @property
    def _window(self) -> QWidget:
        return self._bench.window()

    def _place(self, name: str) -> Path:
        return self._bench.project.folder.parent / f"{self._bench.project.name}{name}"

    # --- out of the project ---

    def release(self) -> ReleaseDialog:
        from curator.ui.files.save_as import ReleaseDialog

        dialog = ReleaseDialog(place=self._place("-release.zip"), parent=self._window)

        def write() -> dict[str, Any]:
            report = self._bench.project.release.export(dialog.out, scope=dialog.scope)
            words = tr(
                "Released {decisions} from {documents} to {path}.",
                decisions=ntr("{n} decision", "{n:,} decisions", report.decisions),
                documents=counted("documents", report.documents),
                path=report.path,
            )
            return {"message": words, "notes": tr(SAVED, sha=report.sha256)}

        dialog.accepted.connect(lambda: self._run(tr("Release"), write))
        dialog.open()
        return dialog

    def export_audit(self) -> SaveDialog:
        from curator.ui.files.save_as import SaveDialog

        place = self._place("-audit.csv")
        dialog = SaveDialog(tr("Export audit trail"), intro=tr(AUDIT_INTRO), place=place, parent=self._window)

        def write() -> dict[str, Any]:
            report = self._bench.project.audit.export(dialog.out)
            return {
                "message": ntr(
                    "Wrote {n} entry to {path}.",
                    "Wrote {n:,} entries to {path}.",
                    report.entries,
                    path=report.path,
                )
            }

        dialog.accepted.connect(lambda: self._run(tr("Export audit trail"), write))
        dialog.open()
        return dialog

    def export_knowledge_base(self) -> KbExportDialog:
        from curator.ui.files.save_as import KbExportDialog

        dialog = KbExportDialog(place=self._place("-kb.jsonl"), least=LEAST, parent=self._window)

        def write() -> dict[str, Any]:
            report = self._bench.project.kb_export.export(dialog.out, least=dialog.least)
            words = tr(
                "Wrote {entities:,} entities to {path}, with {names:,} new names and {provisional:,} "
                "entities created in this project. {name} lists the names.",
                entities=report.entities,
                path=report.path,
                names=report.names,
                provisional=report.provisional,
                name=report.list_path.name,
            )
            return {"message": words}

        dialog.accepted.connect(lambda: self._run(tr("Export knowledge base"), write))
        dialog.open()
        return dialog

    def _run(self, title: str, write: Callable[[], dict[str, Any]]) -> None:
        """Run in a worker thread; show its message and notes at the end."""

        def work() -> Generator[Progress, None, dict[str, Any]]:
            yield Progress("export", 0, 0, title)
            return write()

        def then(outcome: JobOutcome) -> None:
            self._bench.notices.add_outcome(title, outcome, details=str(outcome.result.get("notes", "")))

        self._bench.jobs.run(JobKind.EXPORT, title, work, then=then)

    # --- suspicious gold ---

    def show_suspicious(self) -> SuspiciousWindow:
        from curator.ui.dashboard.suspicious_window import SuspiciousWindow

        if self._suspicious is not None:
            self._renew()
            self._suspicious.raise_()
            self._suspicious.activateWindow()
            return self._suspicious
        project = self._bench.project
        window = SuspiciousWindow(
            project.suspicious.found(), name_of=self._name_of, writable=not project.read_only, parent=self._window
        )
        window.mention_wanted.connect(self._go)
        window.keep_wanted.connect(self._keep)
        window.check_wanted.connect(self._check)
        window.finished.connect(lambda _: self._forget())
        self._suspicious = window
        window.show()
        return window

    def _forget(self) -> None:
        self._suspicious = None

    def _check(self) -> None:
        service = self._bench.project.suspicious

        def then(outcome: JobOutcome) -> None:
            if outcome.state is JobState.DONE:
                self._bench.say(outcome.message)
                self._renew()
            else:
                self._bench.notices.add_outcome(tr("Suspicious gold"), outcome)

        try:
            self._bench.jobs.start(
                JobKind.EVALUATE,
                tr("Look for suspicious gold"),
                lambda progress, end: service.start(on_progress=progress, on_end=end),
                then=then,
            )
        except UserError as error:
            tell(self._suspicious or self._window, tr("Suspicious gold"), str(error), wrong=True)

    def _keep(self, mention_id: int) -> None:
        try:
            change = self._bench.project.suspicious.keep(mention_id)
        except UserError as error:
            self._bench.say(str(error))
        else:
            self._bench.say(change.text)
        self._renew()

    def _go(self, document_id: int, mention_id: int) -> None:
        self._bench.navigator.open(document_id, mention_id)
        self._window.activateWindow()
        self._bench.focus_document()

    def _renew(self) -> None:
        if self._suspicious is not None:
            self._suspicious.show_list(self._bench.project.suspicious.found())

    def _name_of(self, entity_id: str) -> str:
        return self._bench.project.knowledge.name_of(entity_id)

    def close_windows(self) -> None:
        if self._suspicious is not None:
            self._suspicious.close()
