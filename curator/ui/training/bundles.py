"""*Model > Bundles*: list with the bundle in use, measurements and disk use; promote, roll back, delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton, QWidget

from curator.domain.jobs import Activation, ActivationKind, BundleInfo, GateVerdict
from curator.domain.wording import localised, percent, tr
from curator.services.training.bundle_metrics import diff_rows, diff_words, queue_asked
from curator.services.training.bundles import DiskReport, DiskUse, size_words
from curator.services.training.embedding_map import has_map
from curator.ui.kit.form import EmptyPage, FormDialog, ShowDialog, sentence
from curator.ui.kit.record_tables import FigureTable, RecordColumn, RecordTable
from curator.ui.kit.row_list import fixed_font
from curator.ui.training.evaluate import gate_rows

VERDICTS = {
    GateVerdict.PROMOTE: "better",
    GateVerdict.NO_GAIN: "no gain",
    GateVerdict.REFUSED: "worse",
    GateVerdict.NOT_GATED: "–",
}


def bundle_columns(disk: Callable[[str], DiskUse | None]) -> list[RecordColumn[BundleInfo]]:
    """`disk` returns the disk use of a linker, once it is known. The one in use is bold."""
    bold = QFont()
    bold.setBold(True)

    def column(
        heading: str,
        words: Callable[[BundleInfo], str],
        *,
        spoken: Callable[[BundleInfo], str] | None = None,
        tip: Callable[[BundleInfo], str] = lambda one: one.summary or one.path,
    ) -> RecordColumn[BundleInfo]:
        return RecordColumn(heading, words, spoken=spoken, tip=tip, font=lambda one: bold if one.active else None)

    def size(of: Callable[[DiskUse], int]) -> Callable[[BundleInfo], str]:
        return lambda one: size_words(of(found)) if (found := disk(one.id)) is not None else "…"

    return [
        column(
            "",
            lambda one: f"● {tr('in use')}" if one.active else "",
            spoken=lambda one: tr("in use") if one.active else tr("not in use"),
        ),
        column(tr("Created"), lambda one: localised(one.created_at.astimezone(), "%d %b %Y, %H:%M")),
        column(tr("Recipe"), lambda one: one.recipe),
        column(tr("Components"), lambda one: ", ".join(one.stages) + (tr(" · calibrated") if one.calibrated else "")),
        column(tr("Check"), lambda one: VERDICTS[one.verdict]),
        column(tr("Recall@1 before"), lambda one: _recall(one, "old")),
        column(tr("Recall@1 after"), lambda one: _recall(one, "new")),
        column(tr("On disk"), size(lambda use: use.size)),
        column(tr("Own files"), size(lambda use: use.own)),
        column(tr("Linker"), lambda one: one.id, tip=lambda one: one.id),
    ]


def _recall(bundle: BundleInfo, which: str) -> str:
    report = bundle.metrics.get(which)
    recall = report.get("recall", {}).get("1") if isinstance(report, dict) else None
    return percent(recall) if recall is not None else ""


LEAST = 12
"""Letters of the identifier that are shown at least; it takes the remaining width."""
NONE, FIRST = "No linkers yet", "Import a knowledge base; its index becomes the first linker."
UNTRAINED = "An untrained linker; no check was needed."


class BundlesDialog(ShowDialog):
    """Every signal carries a bundle's id; the caller checks whether the action is allowed."""

    promote_wanted = Signal(str)
    rollback_wanted = Signal()
    delete_wanted = Signal(str)
    manifest_wanted = Signal(str)
    changes_wanted = Signal(str)
    map_wanted = Signal(str)
    compare_wanted = Signal(str)

    def __init__(
        self,
        bundles: Sequence[BundleInfo],
        *,
        writable: bool,
        activations: Sequence[Activation] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Linkers"), parent)
        self._writable = writable
        self._disk: Mapping[str, DiskUse] = {}
        self._activations = list(activations)
        columns = bundle_columns(lambda id_: self._disk.get(id_))
        self.table: RecordTable[BundleInfo] = RecordTable(
            tr("Linkers"), columns, wide=len(columns) - 1, least=LEAST, sortable=False, parent=self
        )
        self.model = self.table.lines
        self.disk = sentence(tr("Calculating disk use…"))
        self.disk.setAccessibleName(tr("Disk use"))
        self.summary = sentence("", selectable=True)
        self.figures = FigureTable(
            tr("Old and new linker"), [tr("On held-out documents"), tr("before"), tr("after")], self
        )
        self.empty = EmptyPage(tr(NONE), tr(FIRST), self)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.empty, 1)
        for part in (self.disk, self.summary, self.figures):
            self.body.addWidget(part)
        self.promote = self._action(tr("&Use…"), self.promote_wanted)
        self.rollback = self.add_button(tr("&Roll back…"), self.rollback_wanted.emit)
        self.changes = self._action(tr("&What changed…"), self.changes_wanted)
        self.compare = self._action(tr("&Compare…"), self.compare_wanted)
        self.map = self._action(tr("Embedding &map…"), self.map_wanted)
        self.manifest = self._action(tr("Ma&nifest…"), self.manifest_wanted)
        self.delete = self._action(tr("&Delete…"), self.delete_wanted)
        self.table.selectionModel().currentRowChanged.connect(lambda: self._show_row())
        self.show_bundles(bundles)
        self.resize(1120, 600)

    def _action(self, words: str, signal: SignalInstance) -> QPushButton:
        """A button that emits the chosen bundle's id."""
        return self.add_button(words, lambda: signal.emit(self.chosen.id) if self.chosen is not None else None)

    # --- what is shown ---

    def show_bundles(self, bundles: Sequence[BundleInfo], activations: Sequence[Activation] | None = None) -> None:
        """Show bundles and keep the current one; initially, or if it is gone, select the one in use."""
        kept = self.chosen.id if self.chosen is not None else ""
        if activations is not None:
            self._activations = list(activations)
        self.model.show_rows(list(bundles)[::-1])
        self.empty.stand_in(self.table, empty=not bundles)
        for part in (self.disk, self.summary):
            part.setVisible(bool(bundles))
        at = self.model.place(lambda one: one.id == kept)
        self.table.go_to(at if at is not None else self.model.place(lambda one: one.active) or 0)
        self.rollback.setEnabled(self._writable and len(bundles) > 1)
        self._show_row()

    def show_disk(self, report: DiskReport) -> None:
        self._disk = report.bundles
        self.model.refresh()
        words = tr(
            "All linkers together take {size}; files shared by several are counted once.", size=size_words(report.total)
        )
        if report.trainings:
            kept = tr(
                "Interrupted training runs keep {size} so that they can be resumed.", size=size_words(report.trainings)
            )
            words = f"{words} {kept}"
        self.disk.setText(words)

    @property
    def chosen(self) -> BundleInfo | None:
        return self.table.current

    def _show_row(self) -> None:
        bundle = self.chosen
        self.summary.setText(self._words(bundle) if bundle is not None else "")
        rows = gate_rows(bundle.metrics) if bundle is not None else []
        self.figures.show_rows(rows)
        self.figures.setVisible(bool(rows))
        other = bundle is not None and not bundle.active
        self.promote.setEnabled(self._writable and other)
        self.delete.setEnabled(self._writable and other)
        self.manifest.setEnabled(bundle is not None)
        self.compare.setEnabled(bundle is not None and len(self._same_kb(bundle)) > 1)
        self.changes.setEnabled(bundle is not None and "flips" in bundle.metrics)
        self.map.setEnabled(bundle is not None and has_map(bundle))

    def _same_kb(self, bundle: BundleInfo) -> list[BundleInfo]:
        """Bundles with the same knowledge base, which can be compared with this one."""
        return [one for one in self.model.rows if one.kb_hash == bundle.kb_hash]

    def _words(self, bundle: BundleInfo) -> str:
        """The gate's sentence, flipped decisions, origin of the bundle, and times and reasons of use."""
        changed = (
            diff_words(diff_rows(bundle.metrics), asked=queue_asked(bundle.metrics))
            if "flips" in bundle.metrics
            else ""
        )
        served = served_words(self._activations, bundle.id)
        made = tr("Based on linker {bundle}.", bundle=bundle.parent) if bundle.parent else ""
        head = " ".join(part for part in (bundle.summary or tr(UNTRAINED), changed, made) if part)
        return "\n".join(part for part in (head, served) if part)


def promote_question(bundle: BundleInfo | None) -> str:
    """The question before using a bundle that the gate did not promote."""
    found = bundle.verdict if bundle is not None else GateVerdict.NOT_GATED
    rest = tr(
        "Decisions stay; suggestions for undecided mentions are recalculated. You can roll back in Model › Linkers."
    )
    if found is GateVerdict.REFUSED:
        return tr(
            "The check found this linker worse on held-out documents. Use it anyway? {rest}",
            rest=rest,
        )
    if found is GateVerdict.NO_GAIN:
        return tr("This linker was no better on held-out documents. Use it anyway? {rest}", rest=rest)
    return tr("Use this linker? {rest}", rest=rest)


def delete_question(bundle: BundleInfo, freed: int | None) -> str:
    """The question before a deletion: what is deleted and what is kept."""
    frees = tr(" This frees {size}.", size=size_words(freed)) if freed is not None else ""
    return tr(
        "Delete the linker {id} ({recipe}, {at:%d %b %Y, %H:%M})?{frees} This cannot be undone. "
        "Decisions and the other linkers stay.",
        id=bundle.id,
        recipe=bundle.recipe,
        at=bundle.created_at.astimezone(),
        frees=frees,
    )


# Asks for the reason of a choice against a measurement; it is stored in the history.

EMPTY = "Enter a reason; it is saved in the history with your name."


class ReasonDialog(FormDialog):
    """`reason` is not empty once it is accepted."""

    def __init__(self, title: str, *, question: str, ok: str, parent: QWidget | None = None) -> None:
        super().__init__(title, intro=question, ok=ok, parent=parent)
        self.line = QLineEdit(self)
        self.line.setAccessibleName(tr("Reason"))
        self.line.setPlaceholderText(tr("for example: rare names matter more here"))
        self.form.addRow(tr("&Reason"), self.line)
        self.line.setFocus()
        self.resize(560, self.sizeHint().height())

    @property
    def reason(self) -> str:
        return self.line.text().strip()

    def check(self) -> str:
        return "" if self.reason else tr(EMPTY)


KINDS = {
    ActivationKind.JOB: "put into use when it was created",
    ActivationKind.CURATOR: "put into use",
    ActivationKind.ROLLBACK: "put back into use by a rollback",
}


class ManifestDialog(ShowDialog):
    """Shows plain text that can be searched, selected and copied."""

    def __init__(self, title: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.text = QPlainTextEdit(text, self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(title)
        self.text.setTabChangesFocus(True)
        self.text.setFont(fixed_font())
        self.body.addWidget(self.text, 1)
        self.add_button(tr("&Copy"), lambda: QGuiApplication.clipboard().setText(text))
        self.resize(760, 560)


def served_words(activations: Sequence[Activation], bundle_id: str) -> str:
    """A line for each time the bundle was put in use, with curator and reason."""
    lines = []
    for one in activations:
        if one.bundle_id == bundle_id:
            why = f": {one.reason}" if one.reason else ""
            words = tr(
                "{time} {what} ({curator})",
                time=localised(one.at.astimezone(), "%d %b %Y, %H:%M"),
                what=tr(KINDS[one.kind]),
                curator=one.actor,
            )
            lines.append(f"{words}{why}")
    return "\n".join(lines)


def manifest_words(notes: Sequence[str], manifest: str, served: str) -> str:
    """The three parts under their headings; empty ones are left out."""
    parts = ((tr("When it was in use"), served), (tr("Training notes"), "\n".join(notes)), (tr("Manifest"), manifest))
    shown = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in parts if text]
    return "\n\n".join(shown) or tr("The manifest of this linker cannot be read.")
