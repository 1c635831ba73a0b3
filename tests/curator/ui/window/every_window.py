"""Every window and dialog class of the program, and how a test comes to one of each."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import (
    QDialog,
    QMainWindow,
    QWidget,
)

import curator.ui
from curator.domain.attributes import Scheme
from curator.domain.audit import DecidedPlace, DecidedWay, Inconsistencies, Inconsistency, InconsistencyKind
from curator.domain.decisions import Decision, Verdict
from curator.domain.documents import Document, DocumentState, SourceDocument, Split
from curator.services.importing.import_comparing import Compared
from curator.services.importing.import_report import ImportReport
from curator.services.importing.text_taking import TextChange
from curator.services.knowledge.nil_clusters import NilCluster
from curator.services.knowledge.remapping import RemapKind, Remapping, RemapPlan
from curator.services.knowledge.uses import Uses
from curator.services.linking.opinions import TEMPLATE
from curator.services.ports.queue import MentionContext, MentionUse
from curator.services.ports.safety import Backup
from curator.services.queue.corpus_search import Found, Hit
from curator.services.queue.team import Collision
from curator.services.rounds.agreement import AgreementReport, AgreementRow
from curator.services.training.embedding_map import EmbeddingMap, MapPoint
from curator.services.training.suspicious import SuspiciousGold, SuspiciousList
from curator.ui.bench.mention_editor import TypePicker
from curator.ui.corpus.corpus_window import CorpusWindow
from curator.ui.dashboard.conflicts_window import ConflictsWindow
from curator.ui.dashboard.suspicious_window import SuspiciousWindow
from curator.ui.deciding.mention_listing import BesideWindow, MentionListing
from curator.ui.entities.entities_window import EntitiesWindow
from curator.ui.entities.remap_window import RemapWindow
from curator.ui.entities.uses_window import UsesWindow
from curator.ui.files.changed_texts import ChangedTextsDialog
from curator.ui.files.document_columns import DocumentColumnsDialog
from curator.ui.files.import_report import ImportReportDialog
from curator.ui.files.save_as import SaveDialog
from curator.ui.inconsistencies.inconsistency_window import InconsistencyWindow
from curator.ui.jobs.jobs import JobKind, RunningJob
from curator.ui.kit.form import BaseDialog, FormDialog, ShowDialog
from curator.ui.kit.worker import Worker
from curator.ui.opinions.opinion_dialog import PromptDialog
from curator.ui.panels.attributes_dialog import AttributeDialog, AttributesDialog
from curator.ui.people.agreement_window import AgreementWindow
from curator.ui.people.rounds import NewRoundDialog
from curator.ui.safety.backups_dialog import BackupsDialog
from curator.ui.training.bundles import ManifestDialog, ReasonDialog
from curator.ui.training.evaluate import FiguresDialog
from curator.ui.training.map_window import MapDialog
from curator.ui.training.retrain_live import RetrainLive
from tests.curator.ui.window.fakes import Desk

ABSTRACT = {BaseDialog, FormDialog, ShowDialog, BesideWindow, MentionListing}
ROW = AgreementRow("all", 2, 0.5, 0.1, 0.1, 0.1, None, 0.1, 0.1, 0.1, 0.1)
POINTS = (
    MapPoint("7", "arrest", True, "D1", (0.0, 0.0), (4.0, 4.0), document=3),
    MapPoint("D1", "Heart Arrest", False, "D1", (10.0, 0.0), (5.0, 4.0)),
)


def _text(words: str) -> SourceDocument:
    return SourceDocument("1", "Gout", words, (), ())


def _context(number: int) -> MentionContext:
    return MentionContext(number, 1, "1", 0, "", "gout", " hurts", "Disease", Verdict.nil(), "ada", None)


def _backups(desk: Desk, folder: Path) -> BackupsDialog:
    dialog = BackupsDialog(parent=desk.window)
    at = datetime(2026, 5, 4, 12, tzinfo=UTC)
    dialog.show_backups([Backup(folder / "1.sqlite", at, 120_000_000, folder, 9385, 40)] * 2)
    dialog.say("Backed up.")
    return dialog


def _entities(desk: Desk, _: Path) -> EntitiesWindow:
    window = EntitiesWindow(
        contexts=lambda ids: [_context(one) for one in ids],
        linked=lambda _: [],
        same_named=lambda *_: [],  # type: ignore[arg-type, return-value]
        search=lambda *_: None,  # type: ignore[arg-type, return-value]
        lookup=lambda _: None,
        writable=True,
        parent=desk.window,
    )
    window.nils.show_clusters([NilCluster("gout", "Disease", (("gout", 2),), (1, 2), 1)] * 2)
    return window


def _remap(desk: Desk, _: Path) -> RemapWindow:
    window = RemapWindow(
        search=lambda *_: None,  # type: ignore[arg-type, return-value]
        lookup=lambda _: None,
        writable=True,
        parent=desk.window,
    )
    window.show_plan(RemapPlan("a", "b", (Remapping(RemapKind.OBSOLETE, "D1", "Gout", ("Disease",), 2),)))
    return window


def _uses(desk: Desk, _: Path) -> UsesWindow:
    found = MentionUse(_context(1), datetime(2026, 1, 1, tzinfo=UTC), Split.TRAIN, DocumentState.DONE, True, 0.5)
    window = UsesWindow(
        lambda one: Uses(one, None, False, None, (found,)),
        search=lambda *_: None,  # type: ignore[arg-type, return-value]
        lookup=lambda _: None,
        curator=lambda: "ada",
        writable=True,
        parent=desk.window,
    )
    window.worker.here = True
    window.show_entity("D1")
    return window


def _corpus(desk: Desk, _: Path) -> CorpusWindow:
    hit = Hit(1, "1", Split.TRAIN, 0, 4, "", "Gout", " hurts", "title")
    window = CorpusWindow(
        lambda _: [Found((hit,), 1, 1, 1, 1)],
        search=lambda *_: None,  # type: ignore[arg-type, return-value]
        lookup=lambda _: None,
        types=lambda: {"Disease": 1},
        writable=True,
        parent=desk.window,
    )
    window.worker.here = True
    window.page.form.line.setText("gout")
    window.page.form.changed.emit()
    return window


def _inconsistencies(desk: Desk, _: Path) -> InconsistencyWindow:
    ways = [Verdict.link("D1"), Verdict.nil()]
    places = [DecidedPlace(at, 1, "1", "gout", "gout", "Disease", one, "ada") for at, one in enumerate(ways, start=1)]
    made = tuple(DecidedWay(one.verdict, (one,)) for one in places)
    window = InconsistencyWindow(
        contexts=lambda ids: [_context(one) for one in ids],
        search=lambda *_: None,  # type: ignore[arg-type, return-value]
        lookup=lambda _: None,
        curator=lambda: "ada",
        writable=True,
        parent=desk.window,
    )
    window.worker.here = window.page.list.worker.here = True
    row = Inconsistency(InconsistencyKind.NIL, "a", "gout", "Disease", made, 1, "1")
    window.read(lambda _: (Inconsistencies((row,), {"D1": "Gout"}), None))
    return window


def conflicting(desk: Desk, words: str = "gout", bob: str = "bob") -> ConflictsWindow:
    """Two mentions of the second document: another decision is in force, then the curator's own."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    mine, theirs = Verdict.nil(), Verdict.link("MESH:D008012")
    rows = []
    for one, now in ((6, theirs), (7, mine)):
        own, other = Decision(1, one, mine, "ada", at), Decision(2, one, theirs, bob, at)
        context = replace(
            _context(one), document_id=2, text=words, verdict=now, curator=bob if now is theirs else "ada"
        )
        rows.append((Collision(one, "", own, other, other), context))
    window = ConflictsWindow(
        lambda: rows, name_of=desk.project.knowledge.name_of, curator=lambda: "ada", parent=desk.window
    )
    window.worker.close()
    window.worker = Worker(window, here=True)
    window.load()
    return window


def _suspicious(desk: Desk, _: Path) -> SuspiciousWindow:
    row = SuspiciousGold(1, 2, "arrest", ("MESH:D006323",), 0.1, "NIL", "NIL", 0.7)
    return SuspiciousWindow(SuspiciousList((row,), "1 of 9.", 9), name_of=str.lower, writable=True, parent=desk.window)


def _changed_texts(desk: Desk, _: Path) -> ChangedTextsDialog:
    def change(one: Compared) -> TextChange:
        return TextChange(
            Document(1, 1, "1", 0, "Gout", "Gout", (), Split.TRAIN, DocumentState.TODO, 1), one.source, (), ()
        )

    found = Compared(_text("Gout."), document_id=1)
    return ChangedTextsDialog([found], change=change, choices={}, parent=desk.window)


def _columns(desk: Desk, folder: Path) -> DocumentColumnsDialog:
    path = folder / "a.csv"
    path.write_text("PMID,text\n1,Gout\n")
    return DocumentColumnsDialog(desk.project.formats, path, parent=desk.window)


def _live(desk: Desk, _: Path) -> RetrainLive:
    job = RunningJob(1, JobKind.TRAIN, "Retrain", lambda _: None, 0.0)
    return RetrainLive(job, desk.window)


def _agreement(desk: Desk, _: Path) -> AgreementWindow:
    window = AgreementWindow("pilot", desk.window)
    window.show_report(AgreementReport("pilot", ("a", "b"), ROW, (ROW,), (ROW,), (ROW,)))
    return window


def _figures(desk: Desk, _: Path) -> FiguresDialog:
    stretch = {"decisions": 30, "recall_at_1": 0.5, "more_keys": 0.25, "more_than_digit": 0.125, "nil_f1": None}
    return FiguresDialog({"split": "train", "replay": {"every": stretch, "last": stretch}}, desk.window)


def _report(desk: Desk, _: Path) -> ImportReportDialog:
    return ImportReportDialog(ImportReport(("a.txt",), {"documents": 1}), desk.window)


def _types(desk: Desk, _: Path) -> TypePicker:
    picker = TypePicker(desk.window)
    picker.ask("gout", {"Disease": 2, "Chemical": 1}, at=QPoint(0, 0))
    return picker


SCHEME = Scheme().with_attribute("negation", ("affirmed", "negated")).with_attribute("time", ("past",), ("Disease",))


def _attributes(desk: Desk, _: Path) -> AttributesDialog:
    notes = lambda _: ["2 mentions keep their values."]  # noqa: E731
    return AttributesDialog(SCHEME, uses={1: 2}, notes=notes, types=("Disease",), writable=True, parent=desk.window)


Maker = Callable[[Desk, Path], QWidget]
MAKERS: dict[str, str | Maker] = {
    "AboutDialog": "help.about",
    "AgreementWindow": _agreement,
    "AttributeDialog": lambda desk, _: AttributeDialog(SCHEME, SCHEME.get(1), types=(), parent=desk.window),
    "AttributesDialog": _attributes,
    "BundlesDialog": "model.history",
    "ChangedTextsDialog": _changed_texts,
    "Dashboard": "view.dashboard",
    "DecisionsWindow": "view.decisions",
    "DetectDialog": "tools.detect",
    "DocumentColumnsDialog": _columns,
    "EntitiesWindow": _entities,
    "ErrorsWindow": "model.errors",
    "EvaluateDialog": "tools.evaluate",
    "ExportDialog": "project.export",
    "FetchPubMedDialog": "project.fetch",
    "FiguresDialog": _figures,
    "IAmDialog": "people.i_am",
    "ImportDialog": "project.import",
    "ImportKbDialog": "project.import_kb",
    "ImportReportDialog": _report,
    "ImportsDialog": "project.imports",
    "BackupsDialog": _backups,
    "InconsistencyWindow": _inconsistencies,
    "KbExportDialog": "project.export_kb",
    "MainWindow": lambda desk, _: desk.window,
    "ManifestDialog": lambda desk, _: ManifestDialog("Manifest", "text", desk.window),
    "Manual": "help.manual",
    "MapDialog": lambda desk, _: MapDialog("Map", EmbeddingMap(POINTS), desk.window),
    "NewProjectDialog": "project.new",
    "OpinionDialog": "tools.opinion",
    "PromptDialog": lambda desk, _: PromptDialog(TEMPLATE, parent=desk.window),
    "NewRoundDialog": lambda desk, _: NewRoundDialog(documents=2, parent=desk.window),
    "ReasonDialog": lambda desk, _: ReasonDialog("Promote", question="Why?", ok="Use anyway", parent=desk.window),
    "ReleaseDialog": "project.release",
    "RemapWindow": _remap,
    "RetrainDialog": "model.retrain",
    "RetrainLive": _live,
    "RoundsDialog": "people.rounds",
    "SaveDialog": lambda desk, folder: SaveDialog("Export", intro="To a file.", place=folder / "a", parent=desk.window),
    "SettingsDialog": "edit.settings",
    "ShortcutsDialog": "edit.shortcuts",
    "StepsWindow": "edit.steps",
    "SuspiciousWindow": _suspicious,
    "TypeMappingDialog": "project.types",
    "TypePicker": _types,
    "ConflictsWindow": lambda desk, _: conflicting(desk),
    "CorpusWindow": _corpus,
    "UsesWindow": _uses,
}


@cache  # each source is read for it
def classes() -> dict[str, type[QWidget]]:
    """Every class of `curator.ui` whose instances are windows."""
    found = {}
    for module in pkgutil.walk_packages(curator.ui.__path__, "curator.ui."):
        for name, one in inspect.getmembers(import_module(module.name), inspect.isclass):
            if one.__module__ == module.name and issubclass(one, QWidget) and one not in ABSTRACT and _is_window(one):
                found[name] = one
    return found


def _is_window(kind: type[QWidget]) -> bool:
    """A dialog or a main window, or a widget that makes itself a popup or a window."""
    if issubclass(kind, QDialog | QMainWindow):
        return True
    return bool(re.search(r"WindowType\.(Popup|Window|Tool|Dialog)\b", inspect.getsource(kind)))
