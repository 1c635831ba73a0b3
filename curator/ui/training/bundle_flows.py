"""Flows around bundles: promote with a reason, roll back, delete, show differences, manifest and map."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from curator.domain.decisions import Change, ChangeKind
from curator.domain.jobs import BundleInfo, GateVerdict, JobOutcome
from curator.domain.wording import DamagedTextError, UserError, localised, tr
from curator.services.training.bundle_metrics import diff_rows, queue_asked
from curator.services.training.bundles import DiskReport, manifest_text, notes_of
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.form import OneWindow, bring_up
from curator.ui.kit.messages import ask, tell

if TYPE_CHECKING:
    from curator.ui.kit.form import ShowDialog
    from curator.ui.training.bundles import BundlesDialog
    from curator.ui.training.map_window import MapDialog

PROMOTE, ROLL_BACK, DELETE = "Use linker", "Roll back", "Delete linker"
BACK = "Roll back to the linker {bundle} ({recipe}, made on {made})? Decisions stay; suggestions are recalculated."
GONE = "That mention is no longer in the project."


class BundleFlows(QObject):
    """Handles the requests of the bundles window and the training window. `compare_wanted` carries a bundle's id,
    `curve_wanted` requests the project's learning curve."""

    compare_wanted = Signal(str)
    curve_wanted = Signal()

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._history = OneWindow(self._make_history)
        self._beside: set[ShowDialog] = set()
        self._disk: DiskReport | None = None
        bench.bridge.changed.connect(self._changed)

    @property
    def _window(self) -> QWidget:
        return self._history.window or self._bench.window()

    # --- the window ---

    def show_bundles(self) -> BundlesDialog:
        return self._history.show()

    def _make_history(self) -> BundlesDialog:
        from curator.ui.training.bundles import BundlesDialog

        project = self._bench.project
        dialog = BundlesDialog(
            project.retraining.bundles(),
            writable=not project.read_only,
            activations=project.retraining.activations(),
            parent=self._bench.window(),
        )
        dialog.promote_wanted.connect(self.ask_promote)
        dialog.rollback_wanted.connect(self.ask_rollback)
        dialog.delete_wanted.connect(self.ask_delete)
        dialog.manifest_wanted.connect(self.show_manifest)
        dialog.changes_wanted.connect(self.show_changes)
        dialog.map_wanted.connect(self.show_map)
        dialog.compare_wanted.connect(self.compare_wanted)
        self._weigh()
        return dialog

    def _changed(self, change: Change) -> None:
        if self._history.window is not None and change.kind is ChangeKind.BUNDLE:
            retraining = self._bench.project.retraining
            self._history.window.show_bundles(retraining.bundles(), retraining.activations())
            self._weigh()

    def _weigh(self) -> None:
        """Measure disk use in a worker thread, as it checks every file."""
        project = self._bench.project

        def work() -> dict[str, Any]:
            return {"disk": project.retraining.disk()}

        def then(outcome: JobOutcome) -> None:
            self._disk = outcome.result.get("disk")
            if self._history.window is not None and self._disk is not None:
                self._history.window.show_disk(self._disk)

        self._bench.jobs.ask(work, then=then)

    # --- which serves ---

    def ask_promote(self, bundle_id: str) -> None:
        """Promote a bundle; one refused by its gate needs a reason."""
        from curator.ui.training.bundles import ReasonDialog, promote_question

        bundle = self._bundle(bundle_id)
        question = promote_question(bundle)
        if bundle is not None and bundle.verdict is GateVerdict.REFUSED:
            dialog = ReasonDialog(PROMOTE, question=question, ok=tr("Use anyway"), parent=self._window)
            dialog.accepted.connect(lambda: self._promote(bundle_id, dialog.reason))
            dialog.open()
            return
        gated = bundle is not None and bundle.verdict is GateVerdict.NO_GAIN
        yes = tr("Use anyway" if gated else "Use")
        ask(self._window, tr(PROMOTE), question, yes=yes, then=lambda: self._promote(bundle_id, ""))

    def _promote(self, bundle_id: str, reason: str) -> None:
        self._try(PROMOTE, lambda: self._bench.project.retraining.promote(bundle_id, reason=reason))

    def ask_rollback(self) -> None:
        retraining = self._bench.project.retraining
        before = retraining.earlier()
        if before is None:
            self._try(ROLL_BACK, retraining.rollback)  # which says that there is none
            return
        made = localised(before.created_at.astimezone(), "%d %b %Y, %H:%M")
        ask(
            self._window,
            tr(ROLL_BACK),
            tr(BACK, bundle=before.id, recipe=before.recipe, made=made),
            yes=tr(ROLL_BACK),
            then=lambda: self._try(ROLL_BACK, retraining.rollback),
        )

    def ask_delete(self, bundle_id: str) -> None:
        from curator.ui.training.bundles import delete_question

        bundle = self._bundle(bundle_id)
        if bundle is None:
            return
        if len(self._bench.jobs):
            tell(
                self._window,
                tr(DELETE),
                tr("Background work may need this linker. Delete it when the work has finished."),
            )
            return
        use = self._disk.bundles.get(bundle_id) if self._disk is not None else None
        delete = self._bench.project.retraining.delete
        question = delete_question(bundle, use.own if use is not None else None)
        ask(
            self._window,
            tr(DELETE),
            question,
            yes=tr("Delete"),
            then=lambda: self._try(DELETE, lambda: delete(bundle_id)),
        )

    # --- what a bundle says ---

    def show_manifest(self, bundle_id: str) -> None:
        from curator.ui.training.bundles import ManifestDialog, manifest_words, served_words

        bundle = self._bundle(bundle_id)
        if bundle is not None:
            served = served_words(self._bench.project.retraining.activations(), bundle_id)
            text = manifest_words(notes_of(bundle), manifest_text(bundle), served)
            self.show_beside(
                ManifestDialog(tr("Manifest of linker {bundle}", bundle=bundle_id), text, self._bench.window())
            )

    def show_changes(self, bundle_id: str) -> None:
        """The promotion diff of a bundle against the bundle it was compared with."""
        from curator.ui.kit.form import ShowDialog
        from curator.ui.training.promotion_diff import PromotionDiff

        bundle = self._bundle(bundle_id)
        if bundle is None:
            return
        dialog = ShowDialog(tr("What changed with linker {bundle}", bundle=bundle_id), self._bench.window())
        rows = diff_rows(bundle.metrics)
        asked = queue_asked(bundle.metrics)
        diff = PromotionDiff(rows, asked=asked, name_of=self.name_of, title_of=self.title_of, parent=dialog)
        diff.mention_wanted.connect(self.open_mention)
        body: QVBoxLayout = dialog.body
        body.addWidget(diff, 1)
        dialog.resize(900, 560)
        self.show_beside(dialog)

    def show_map(self, bundle_id: str) -> MapDialog | None:
        from curator.services.training.embedding_map import read_map
        from curator.ui.training.map_window import MapDialog

        bundle = self._bundle(bundle_id)
        if bundle is None:
            return None
        drawn = read_map(bundle)
        documents = {one.mention: one.document for one in drawn.points if one.mention is not None}
        dialog = MapDialog(tr("Embedding map of linker {bundle}", bundle=bundle_id), drawn, self._bench.window())
        dialog.mention_wanted.connect(lambda mention: self.open_mention(documents.get(mention), mention))
        dialog.entity_wanted.connect(self.look_up)
        navigator = self._bench.navigator

        def follow() -> None:
            dialog.show_current(navigator.mention_id)

        navigator.mention_changed.connect(follow)
        dialog.finished.connect(lambda: navigator.mention_changed.disconnect(follow))
        follow()
        self.show_beside(dialog)
        return dialog

    def open_mention(self, document_id: int | None, mention_id: int) -> None:
        """Go to a mention in the main window."""
        bench = self._bench
        found = document_id if document_id is not None else bench.project.queue.document_of(mention_id)
        try:
            opened = bench.project.queue.open(found) if found is not None else None
        except DamagedTextError as error:
            bench.say(str(error))
            return
        except UserError:
            opened = None
        if opened is None or opened.view(mention_id) is None:
            bench.say(tr(GONE))
            return
        bench.navigator.open(opened.document.id, mention_id)
        bench.window().raise_()
        bench.window().activateWindow()
        bench.focus_document()

    def look_up(self, entity_id: str) -> None:
        """Show an entity in the search panel."""
        bench = self._bench
        bench.window().raise_()
        bench.window().activateWindow()
        bench.start_search(entity_id)

    def name_of(self, entity_id: str) -> str:
        return self._bench.project.knowledge.name_of(entity_id)

    def title_of(self, document_id: int) -> str:
        try:
            return self._bench.project.queue.row(document_id).external_id
        except UserError:
            return str(document_id)

    def close_windows(self) -> None:
        """Close the separate windows with the project."""
        self._history.close()
        for one in list(self._beside):
            one.close()

    def show_beside(self, dialog: ShowDialog) -> None:
        """Show a window that closes with the project and may be covered by the main window."""
        dialog.setWindowFlags(Qt.WindowType.Window)
        self._beside.add(dialog)
        dialog.finished.connect(lambda _: self._beside.discard(dialog))
        bring_up(dialog)

    # --- inside ---

    def _bundle(self, bundle_id: str) -> BundleInfo | None:
        return next((one for one in self._bench.project.retraining.bundles() if one.id == bundle_id), None)

    def _try(self, title: str, action: Callable[[], Change]) -> None:
        try:
            change = action()
        except UserError as error:
            tell(self._window, title, str(error), wrong=True)
        else:
            self._bench.say(change.text)
