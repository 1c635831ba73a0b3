"""*Tools > Evaluate*: choose split, bundle and comparison, or a replay; then the figures and the report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QComboBox, QRadioButton, QTabWidget, QWidget

from curator.bootstrap import AtomicWriter
from curator.domain.documents import Split
from curator.domain.jobs import BundleInfo
from curator.domain.wording import UserError, guarded, localised, ntr, percent, tr
from curator.services.training.bundle_metrics import diff_rows
from curator.services.training.evaluation import HTML, EvaluationWish, ReplayWish, save_report
from curator.temporary import prefix_of
from curator.ui.kit.compose import choice
from curator.ui.kit.foreign_text import tip
from curator.ui.kit.form import FormDialog, ShowDialog, ask_file, sentence
from curator.ui.kit.messages import tell
from curator.ui.kit.record_tables import FigureTable
from curator.ui.queue.queue_model import SPLIT_WORDS
from curator.ui.training.promotion_diff import PromotionDiff

reports = cache(lambda: tempfile.TemporaryDirectory(prefix=prefix_of("report")))  # removed when the program ends

# Figures of evaluations and gates as text and rows.

Row = tuple[str, str, str]
ALONE = "The trained part alone, recall@1"
WORDS = {
    "right in all, NIL included": "Right overall (NIL included)",
    "NIL auPR": "Area under the NIL precision–recall curve",
    "risk-coverage area": "Area under the risk–coverage curve",
}


def evaluation_rows(result: Mapping[str, Any]) -> list[Row]:
    """(figure, value, 95 % interval) for *Tools > Evaluate*, from the result of the job."""
    rows = [
        (tr("Decided mentions"), localised(result.get("mentions", 0), ","), ""),
        (tr("of them in the knowledge base"), localised(result.get("in_kb", 0), ","), ""),
        (tr("of them NIL"), localised(result.get("nil_mentions", 0), ","), ""),
    ]
    for name, one in result.get("figures", {}).items():
        rows.append((_words(name), figure_words(name, one["value"]), interval_words(name, one["low"], one["high"])))
    for name, part in result.get("slices", {}).items():
        low, high = part.get("intervals", {}).get("recall@1", (None, None))
        words = interval_words("", low, high)
        rows.append((tr("Recall@1, {name} ({n:,})", name=name, n=part["in_kb"]), percent(part["recall_at_1"]), words))
    return rows


def comparison_rows(against: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """(figure, this bundle, the other, difference in points, its interval) of a comparison."""
    rows = []
    for name, one in against.get("figures", {}).items():
        apart = one.get("difference") or {"value": None}
        if apart["value"] is None:
            continue
        values = (figure_words(name, one.get("this")), figure_words(name, one.get("other")))
        between = interval_words(name, apart.get("low"), apart.get("high"), signed=True)
        rows.append((_words(name), *values, _signed(name, apart["value"]), between))
    return rows


def comparison_words(against: Mapping[str, Any]) -> str:
    """The result of the exact test, in a sentence."""
    test = against["decisions"]
    return tr(
        "Compared with linker {bundle}: {here:,} decisions are right only with this linker, {there:,} "
        "only with the other (McNemar's exact test: p {p_value}).",
        bundle=against["bundle"],
        here=test["only_this"],
        there=test["only_other"],
        p_value=_p_value(test["p_value"]),
    )


def mcnemar_words(comparison: Mapping[str, Any]) -> str:
    """The exact test of the old and the new linker, in a sentence; '' if not computed."""
    test = comparison.get("decisions") or comparison.get("mcnemar")
    if not isinstance(test, Mapping) or "p_value" not in test:
        return ""
    return tr(
        "{after:,} decisions are right only with the new linker, {before:,} only with the old one "
        "(McNemar's exact test: p {p_value}).",
        after=test.get("only_this", 0),
        before=test.get("only_other", 0),
        p_value=_p_value(float(test["p_value"])),
    )


def replay_rows(result: Mapping[str, Any]) -> list[Row]:
    """(figure, over all decisions, over the last ones) of a replay."""
    every, last = result["replay"]["every"], result["replay"]["last"]
    return [
        (tr("Decisions"), f"{localised(every['decisions'], ',')}", f"{localised(last['decisions'], ',')}"),
        (tr("Recall@1 of links"), percent(every["recall_at_1"]), percent(last["recall_at_1"])),
        (tr("Decided with one key (Enter)"), percent(1 - every["more_keys"]), percent(1 - last["more_keys"])),
        (
            tr("Decided with one key, including 1 … 9"),
            percent(1 - every["more_than_digit"]),
            percent(1 - last["more_than_digit"]),
        ),
        ("NIL F1", percent(every["nil_f1"]), percent(last["nil_f1"])),
    ]


def figure_words(name: str, value: float | None) -> str:
    """A figure in per cent; errors and areas as plain numbers."""
    if value is None:
        return "–"
    return localised(value, ".3f") if _is_plain(name) else percent(value)


def interval_words(name: str, low: float | None, high: float | None, *, signed: bool = False) -> str:
    """`90.1 – 92.3`, for differences `−0.2 to +1.1`; empty without an interval."""
    if low is None or high is None:
        return ""
    if signed:
        return tr("{low} to {high}", low=_signed(name, low), high=_signed(name, high))
    return (
        f"{localised(low, '.3f')} – {localised(high, '.3f')}"
        if _is_plain(name)
        else f"{localised(100 * low, '.1f')} – {localised(100 * high, '.1f')}"
    )


def _signed(name: str, value: float) -> str:
    """A difference in percentage points, without a unit."""
    words = figure_words(name, abs(value)).removesuffix(" %")
    return words if words.strip("0.,") == "" else ("+" if value > 0 else "−") + words


def _p_value(value: float) -> str:
    least = 0.0001
    return f"< {localised(least, '.4f')}" if value < least else f"= {localised(value, '.4f')}"


def _is_plain(name: str) -> bool:
    return name.startswith(("ECE", "Brier,", "risk-coverage"))


def _words(name: str) -> str:
    return tr(WORDS[name]) if name in WORDS else name[:1].upper() + name[1:]


def gate_rows(metrics: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(figure, old linker, new linker) on the same held-out documents, from a bundle's metrics."""
    old, new = metrics.get("old", {}), metrics.get("new", {})
    rows = []
    for words, path in GATE_FIGURES:
        before, after = _dig(old, path), _dig(new, path)
        if before is not None or after is not None:
            rows.append((tr(words), percent(before), percent(after)))
    alone = metrics.get("alone", {})
    if alone:
        rows.append((tr(ALONE), *_alone(alone)))
    return rows


GATE_FIGURES = (
    ("Recall@1 of the whole linker", ("recall", "1")),
    ("Recall@64 of the whole linker", ("recall", "64")),
    ("NIL F1", ("nil", "f1")),
    ("Right overall (NIL included)", ("accuracy",)),
)


def _alone(alone: Mapping[str, Any]) -> tuple[str, str]:
    return percent(alone.get("before_at_1")), percent(alone.get("after_at_1"))


def _dig(values: Mapping[str, Any], path: tuple[str, ...]) -> float | None:
    found: Any = values
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return float(found) if isinstance(found, int | float) else None


INTRO = "Compares a linker with the link and NIL decisions of documents that are done. Nothing in the project changes."
EVALUATE = "&Evaluate: link every document and report results with 95 % intervals"
REPLAY = "Re&play: a simulated curator decides document by document"
NO_OTHER = "nothing"
NO_MORE = "stop there"
SPLITS = (Split.VALIDATION, Split.TEST, Split.TRAIN)
NO_BUNDLE = "No index yet. Build one with Model › Rebuild index."
OTHER_AND_THIS = ("Other linker", "This linker")


class EvaluateDialog(FormDialog):
    """`wish` is the request. With `bundle`, this one is proposed, compared with the one in use."""

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
        self.splits.setCurrentIndex(next((at for at, one in enumerate(SPLITS) if documents.get(one)), 0))
        self.bundles = self._combo(tr("Linker"), [(_bundle_words(one), one.id) for one in reversed(bundles)])
        self.against = self._combo(
            tr("Compared with"), [(tr(NO_OTHER), None), *((_bundle_words(o), o.id) for o in reversed(bundles))]
        )
        self.then = self._combo(tr("Then"), [(tr(NO_MORE), None), *_split_rows(documents)])
        self.memory = QCheckBox(tr("The linker &remembers the training decisions"), self)
        self.memory.setChecked(True)
        self._choose(bundles, bundle)
        self._compose()
        self.replay.toggled.connect(self._show_kind)
        self._show_kind()

    def _combo(self, name: str, rows: Sequence[tuple[str, object]]) -> QComboBox:
        combo = choice(name, rows, parent=self)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(34)
        return combo

    def _compose(self) -> None:
        self.form.addRow(self.evaluation)
        self.form.addRow(self.replay)
        self.form.addRow(tr("&Split"), self.splits)
        self.form.addRow(tr("L&inker"), self.bundles)
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
        """Show the options of the kind; a replay has other splits and no comparison."""
        replay = self.replay.isChecked()
        self.form.setRowVisible(self.against, not replay)
        self.form.setRowVisible(self.then, replay)
        self.memory.setText(
            tr("The linker &learns from each document")
            if replay
            else tr("The linker &remembers the training decisions")
        )
        self.ok.setText(tr("Replay") if replay else tr("Evaluate"))

    def check(self) -> str:
        if self.bundles.currentData() is None:
            return tr(NO_BUNDLE)
        if not self.replay.isChecked() and self.against.currentData() == self.bundles.currentData():
            return tr("Comparing a linker with itself shows nothing. Choose a different one, or “nothing”.")
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
    """Shows the outcome of an evaluation or a replay. `open_url` shows the report in the desktop's browser; `name_of`
    and `title_of` name entities and documents in the table of differing answers."""

    mention_wanted = Signal(int, int)  # document, mention
    errors_wanted = Signal(str)  # id of the stored evaluation

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
        self.body.addWidget(sentence(tr("Linker {get}", get=result.get("bundle", "")), selectable=True))
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
        columns = ["", tr("This linker"), tr("Other linker"), tr("Difference"), tr("95 % interval")]
        tabs.addTab(_table(tr("Comparison"), columns, comparison_rows(against)), tr("&Comparison"))
        tabs.addTab(_table(tr("Figures"), head, evaluation_rows(result)), tr("&Figures"))
        self._rows: list[Sequence[str]] = [*comparison_rows(against), *evaluation_rows(result)]
        self.body.addWidget(tabs, 1)
        self._add_flips(tabs, against)

    def _add_flips(self, tabs: QTabWidget, against: Mapping[str, Any]) -> None:
        """Add the decisions with differing answers; each opens its mention."""
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
        text = "\n".join("\t".join(map(guarded, row)) for row in self._rows)
        self.add_button(tr("&Copy"), lambda: QGuiApplication.clipboard().setText(text))
        if "errors" in self._result:
            stored = str(self._result.get("stored", ""))
            errors = self.add_button(tr("&Errors…"), lambda: self.errors_wanted.emit(stored))
            errors.setEnabled(bool(stored))
            errors.setToolTip(tip(str(self._result.get("not_stored", ""))))
        self.save = self.add_button(tr("&Save report…"), self._ask_place)
        self.show_report = self.add_button(tr("&Open report"), self._open_report)
        for button in (self.save, self.show_report):
            button.setEnabled(HTML in self._result)

    def _ask_place(self) -> None:
        name = f"evaluation-{self._result.get('split', '')}.html"
        ask_file(self, tr("Save report"), self.save_to, filters=tr("Web page (*.html)"), name=name)

    def save_to(self, path: Path) -> None:
        try:
            save_report(self._result, path, AtomicWriter())
        except UserError as error:
            tell(self, tr("Save report"), str(error), wrong=True)

    def _open_report(self) -> None:
        """Open it from a temporary file, which exists until the program ends."""
        path = Path(tempfile.mkdtemp(dir=reports().name), "report.html")
        self.save_to(path)
        if path.is_file() and not self._open_url(QUrl.fromLocalFile(str(path))):
            words = tr("No web browser was found. The report is in {path}.", path=path)
            tell(self, tr("Open report"), words, wrong=True)


def _split_rows(documents: Mapping[Split, int]) -> list[tuple[str, object]]:
    def words(split: Split) -> str:
        number = documents.get(split, 0)
        return ntr("{split} (1 document)", "{split} ({n:,} documents)", number, split=tr(SPLIT_WORDS[split]))

    return [(words(split), split) for split in SPLITS]


def _bundle_words(bundle: BundleInfo) -> str:
    made = f"{localised(bundle.created_at.astimezone(), '%d %b %Y %H:%M')}, {bundle.recipe}"
    return tr("{made}, in use", made=made) if bundle.active else made


def _table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> FigureTable:
    table = FigureTable(name, head)
    table.show_rows(rows)
    return table
