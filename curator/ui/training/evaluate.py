"""*Tools > Evaluate*: which split and bundle, compared with which, or a replay; then the figures and the report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QComboBox, QFileDialog, QRadioButton, QTabWidget, QWidget

from curator.domain.bundles import BundleInfo
from curator.domain.documents import Split
from curator.domain.errors import UserError
from curator.domain.wording import ntr, tr
from curator.services.training.evaluation import EvaluationWish, ReplayWish
from curator.services.training.promotion_diff import diff_rows
from curator.services.training.reports import HTML, save_report
from curator.ui.kit.form import FormDialog, ShowDialog, file_dialog, sentence
from curator.ui.kit.messages import tell
from curator.ui.kit.table import FigureTable
from curator.ui.queue.queue_model import SPLIT_WORDS
from curator.ui.training.figures import comparison_rows, comparison_words, evaluation_rows, replay_rows
from curator.ui.training.promotion_diff import PromotionDiff

INTRO = "Compares a linker with the link and NIL decisions of documents that are done. Nothing in the project changes."
EVALUATE = "&Evaluate: link every document, count, and give 95 % intervals"
REPLAY = "Re&play: a simulated curator decides document by document"
NO_OTHER = "nothing"
NO_MORE = "end there"
SPLITS = (Split.VALIDATION, Split.TEST, Split.TRAIN)
NO_BUNDLE = "There is no index yet. Model › Build index makes one."
OTHER_AND_THIS = ("The other", "This bundle")


class EvaluateDialog(FormDialog):
    """`wish` says what was asked for. With `bundle` that one is proposed, compared with the one that serves."""

    def __init__(
        self,
        documents: Mapping[Split, int],
        bundles: Sequence[BundleInfo],
        parent: QWidget | None = None,
        *,
        bundle: str = "",
    ) -> None:
        super().__init__(tr("Evaluate"), intro=tr(INTRO), ok=tr("Evaluate"), parent=parent)
        self.evaluation, self.replay = QRadioButton(tr(EVALUATE), self), QRadioButton(tr(REPLAY), self)
        kinds = QButtonGroup(self)
        for button in (self.evaluation, self.replay):
            kinds.addButton(button)
        self.evaluation.setChecked(True)
        self.splits = self._combo(tr("Split"), _split_rows(documents))
        self.bundles = self._combo(tr("Bundle"), [(_bundle_words(one), one.id) for one in reversed(bundles)])
        self.against = self._combo(
            tr("Compared with"), [(tr(NO_OTHER), None), *((_bundle_words(o), o.id) for o in reversed(bundles))]
        )
        self.then = self._combo(tr("Then"), [(tr(NO_MORE), None), *_split_rows(documents)])
        self.memory = QCheckBox(tr("The linker &remembers the train decisions"), self)
        self.memory.setChecked(True)
        self._choose(bundles, bundle)
        self._compose()
        self.replay.toggled.connect(self._show_kind)
        self._show_kind()

    def _combo(self, name: str, rows: Sequence[tuple[str, object]]) -> QComboBox:
        combo = QComboBox(self)
        combo.setAccessibleName(name)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(34)
        for words, data in rows:
            combo.addItem(words, data)
        return combo

    def _compose(self) -> None:
        self.form.addRow(self.evaluation)
        self.form.addRow(self.replay)
        self.form.addRow(tr("&Split"), self.splits)
        self.form.addRow(tr("&Bundle"), self.bundles)
        self.form.addRow(tr("&Compared with"), self.against)
        self.form.addRow(tr("&Then"), self.then)
        self.form.addRow("", self.memory)

    def _choose(self, bundles: Sequence[BundleInfo], bundle: str) -> None:
        active = next((one.id for one in bundles if one.active), None)
        self.bundles.setCurrentIndex(max(self.bundles.findData(bundle or active), 0))
        if bundle:
            before = next((one.parent for one in bundles if one.id == bundle), "")
            other = active if active != bundle else before
            self.against.setCurrentIndex(max(self.against.findData(other), 0))

    def _show_kind(self) -> None:
        """A replay goes on with another split, and compares with no bundle."""
        replay = self.replay.isChecked()
        self.form.setRowVisible(self.against, not replay)
        self.form.setRowVisible(self.then, replay)
        self.memory.setText(
            tr("The linker &learns from each document") if replay else tr("The linker &remembers the train decisions")
        )
        self.ok.setText(tr("Replay") if replay else tr("Evaluate"))

    def check(self) -> str:
        if self.bundles.currentData() is None:
            return tr(NO_BUNDLE)
        if not self.replay.isChecked() and self.against.currentData() == self.bundles.currentData():
            return tr("A bundle compared with itself tells nothing. Choose another one, or compare with nothing.")
        return ""

    @property
    def wish(self) -> EvaluationWish | ReplayWish:
        split, bundle = Split(self.splits.currentData()), self.bundles.currentData()
        remembers = self.memory.isChecked()
        if self.replay.isChecked():
            then = self.then.currentData()
            return ReplayWish(split, bundle, Split(then) if then is not None else None, memory=remembers)
        return EvaluationWish(split, bundle, self.against.currentData(), memory=remembers)


class FiguresDialog(ShowDialog):
    """The outcome of an evaluation or a replay. `open_url` shows the report in the desktop's browser; `name_of` and
    `title_of` name entities and documents in the table of what two bundles answer differently."""

    mention_wanted = Signal(int, int)  # document, mention

    def __init__(
        self,
        result: Mapping[str, Any],
        parent: QWidget | None = None,
        *,
        open_url: Callable[[QUrl], bool] = QDesktopServices.openUrl,
        name_of: Callable[[str], str] = str,
        title_of: Callable[[int], str] = str,
    ) -> None:
        replay = "replay" in result
        super().__init__(
            tr("Replay of {split}" if replay else "Evaluation on {split}", split=result.get("split", "")), parent
        )
        self._result, self._open_url = result, open_url
        self._name_of, self._title_of = name_of, title_of
        self.resize(*((560, 340) if replay else (660, 620)))
        self.body.addWidget(sentence(str(result.get("message", "")), selectable=True))
        if replay:
            last = result["replay"]["last"]["decisions"]
            head = ["", tr("All decisions"), tr("The last {number:,}", number=last)]
            self._add_table(tr("Figures"), head, replay_rows(result))
        else:
            self._add_evaluation(result)
        self.body.addWidget(sentence(tr("Bundle {get}", get=result.get("bundle", "")), selectable=True))
        self._add_buttons()

    def _add_evaluation(self, result: Mapping[str, Any]) -> None:
        against = result.get("against")
        head = ["", tr("Figure"), tr("95 % interval")]
        if against is None:
            self._add_table(tr("Figures"), head, evaluation_rows(result))
            return
        self.body.addWidget(sentence(comparison_words(against), selectable=True))
        tabs = QTabWidget(self)
        tabs.setDocumentMode(True)
        columns = ["", tr("This bundle"), tr("The other"), tr("Difference"), tr("95 % interval")]
        tabs.addTab(_table(tr("Comparison"), columns, comparison_rows(against)), tr("&Comparison"))
        tabs.addTab(_table(tr("Figures"), head, evaluation_rows(result)), tr("&Figures"))
        self._rows: list[Sequence[str]] = [*comparison_rows(against), *evaluation_rows(result)]
        self.body.addWidget(tabs, 1)
        self._add_flips(tabs, against)

    def _add_flips(self, tabs: QTabWidget, against: Mapping[str, Any]) -> None:
        """The decisions on which the two differ, each opens its mention."""
        self.flips = PromotionDiff(
            diff_rows(against),
            name_of=self._name_of,
            title_of=self._title_of,
            answers=OTHER_AND_THIS,
            parent=self,
        )
        self.flips.mention_wanted.connect(self.mention_wanted)
        tabs.addTab(self.flips, tr("&Decisions that differ ({n:,})", n=len(self.flips.rows)))
        self.resize(900, 620)

    def _add_table(self, name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self._rows = list(rows)
        self.body.addWidget(_table(name, head, rows), 1)

    def _add_buttons(self) -> None:
        copy = self.add_button(tr("&Copy"))
        text = "\n".join("\t".join(row) for row in self._rows)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        self.save = self.add_button(tr("&Save report…"))
        self.show_report = self.add_button(tr("&Open report"))
        for button in (self.save, self.show_report):
            button.setEnabled(HTML in self._result)
        self.save.clicked.connect(self._ask_place)
        self.show_report.clicked.connect(self._open_report)

    def _ask_place(self) -> None:
        dialog = file_dialog(
            self, tr("Save report"), mode=QFileDialog.FileMode.AnyFile, filters=tr("Web page (*.html)")
        )
        dialog.setDefaultSuffix("html")
        dialog.selectFile(f"evaluation-{self._result.get('split', '')}.html")
        dialog.fileSelected.connect(lambda place: self.save_to(Path(place)))
        dialog.open()

    def save_to(self, path: Path) -> None:
        try:
            save_report(self._result, path)
        except UserError as error:
            tell(self, tr("Save report"), str(error), wrong=True)

    def _open_report(self) -> None:
        """In a temporary file, which has to stay as long as the browser may read it."""
        path = Path(tempfile.mkdtemp(prefix="curator-report-")) / "report.html"
        self.save_to(path)
        if path.is_file() and not self._open_url(QUrl.fromLocalFile(str(path))):
            tell(
                self,
                tr("Open report"),
                tr("No program for web pages was found. The report is in {path}.", path=path),
                wrong=True,
            )


def _split_rows(documents: Mapping[Split, int]) -> list[tuple[str, object]]:
    def words(split: Split) -> str:
        number = documents.get(split, 0)
        return ntr("{split} (1 document)", "{split} ({n:,} documents)", number, split=tr(SPLIT_WORDS[split]))

    return [(words(split), split) for split in SPLITS]


def _bundle_words(bundle: BundleInfo) -> str:
    made = f"{bundle.created_at.astimezone():%d %b %Y %H:%M}, {bundle.recipe}"
    return tr("{made}, serves", made=made) if bundle.active else made


def _table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> FigureTable:
    table = FigureTable(name, head)
    table.show_rows(rows)
    return table
