"""*People > Agreement*: the figures of a round, by pair, type and document, and the curator's own consistency."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from curator.domain.wording import localised, percent, tr
from curator.services.rounds.agreement import ALL, AgreementReport, AgreementRow, ConsistencyRow
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.record_tables import RecordColumn, RecordTable, number_column

HEAD = (
    "Links: Krippendorff's alpha {alpha}{interval} over {items:,} mentions that at least two of "
    "{people} linked or marked NIL; observed agreement {observed}."
)
SPANS = "Spans: F1 {exact} exact, {overlap} overlapping."
NO_SPANS = "Spans cannot be compared yet: no document was judged completely by two curators."
NOTHING = "Nothing can be compared yet: in “{name}” no mention was judged by two curators. Import a colleague's file."
ONLY_ATTRIBUTES = "No link can be compared yet; the tab Attributes shows the values that curators set."
CALCULATING = "Calculating the figures…"
EXPLAINED = (
    "Alpha: Krippendorff, nominal, missing judgements allowed; Jaccard and MASI give partial credit to "
    "overlapping sets of entities. Kappa: Cohen, mean over pairs. Fleiss: mentions that all curators "
    "judged. Rejected and skipped mentions do not count as links; span F1 covers documents that both "
    "curators judged completely."
)
BRACKETS = "In brackets: the 95 % interval of alpha from 1,000 resamples of the documents."
CONSISTENT = "How often a curator gives the same answer when a decided mention is judged again in a round."
PARTS = {"Pairs": "Pair", "Types": "Type", "Documents": "Document", "Attributes": "Attribute"}
"""The grouping of each table, and the heading of its first column."""
NO_REPEATS = "No mentions have been judged again yet. People › Rounds makes a round of your own consistency."


class AgreementWindow(ShowDialog):
    """Opens at once; `show_report` fills it once the figures are computed. `export_wanted` carries the CSV text."""

    export_wanted = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(tr("Agreement in “{round}”", round=name), parent)
        self.setWindowModality(self.windowModality().NonModal)
        self.report: AgreementReport | None = None
        self.head = sentence(tr(CALCULATING), selectable=True)
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName(tr("Agreement by"))
        self.tables: dict[str, RecordTable[AgreementRow]] = {}
        self.explained = sentence(tr(EXPLAINED))
        self.body.addWidget(self.head, 0)
        self.body.addWidget(self.tabs, 1)
        self.body.addWidget(self.explained)
        self.export = self.add_button(tr("&Export as CSV…"), self._export)
        self._show_parts(False)
        self.body.setAlignment(self.head, Qt.AlignmentFlag.AlignTop)
        self.resize(980, 560)

    def _show_parts(self, shown: bool) -> None:
        self.export.setEnabled(shown)
        for part in (self.tabs, self.explained):
            part.setVisible(shown)

    def show_report(self, report: AgreementReport, consistency: Sequence[ConsistencyRow] = ()) -> None:
        self.report = report
        self.head.setText(head_words(report))
        bounded = any(row.interval is not None for _, row in report.rows)
        self.explained.setText(" ".join([tr(EXPLAINED), *([tr(BRACKETS)] if bounded else [])]))
        parts = ([report.whole, *report.pairs], report.by_type, report.by_document, report.by_attribute)
        for title, rows in zip(PARTS, parts, strict=True):
            if title == "Attributes" and not rows:
                continue
            self.tables[title] = table = RecordTable(
                tr("Agreement: {title}", title=tr(title)), _columns(title), parent=self
            )
            table.show_rows(rows)
            self.tabs.addTab(table, tr(title))
        self.tabs.addTab(_consistency(consistency, self), tr("Own consistency"))
        self._show_parts(True)

    def show_problem(self, words: str) -> None:
        """Show the reason why there are no figures."""
        self.head.setText(words)

    def _export(self) -> None:
        if self.report is not None:
            self.export_wanted.emit(self.report.as_csv())


def head_words(report: AgreementReport) -> str:
    whole = report.whole
    if not whole.items and not report.by_attribute:
        return tr(NOTHING, name=report.round)
    if not whole.items:
        return tr(ONLY_ATTRIBUTES)
    spans = tr(NO_SPANS)
    if whole.exact is not None:
        spans = tr(SPANS, exact=figure(whole.exact), overlap=figure(whole.overlap))
    links = tr(
        HEAD,
        alpha=tr("not defined") if whole.alpha is None else figure(whole.alpha),
        interval=_interval(whole),
        items=whole.items,
        people=", ".join(report.curators),
        observed=percent(whole.observed),
    )
    return f"{links} {spans}"


def figure(value: float | None) -> str:
    return "–" if value is None else localised(value, ".3f").replace("-", "−")


def _interval(row: AgreementRow) -> str:
    return (
        tr(" ({low} to {high})", low=figure(row.interval.low), high=figure(row.interval.high))
        if row.interval is not None
        else ""
    )


def _columns(title: str) -> list[RecordColumn[AgreementRow]]:
    def column(heading: str, name: str) -> RecordColumn[AgreementRow]:
        return RecordColumn(
            heading, lambda row: figure(getattr(row, name)), by=lambda row: getattr(row, name), figure=True
        )

    return [
        RecordColumn(tr(PARTS[title]), lambda row: tr("all") if row.part == ALL else row.part),
        number_column(tr("Mentions"), lambda row: row.items),
        RecordColumn(tr("Observed"), lambda row: percent(row.observed), by=lambda row: row.observed, figure=True),
        column(tr("Kappa"), "cohen"),
        column("Fleiss", "fleiss"),
        RecordColumn(
            tr("Alpha"), lambda row: figure(row.alpha) + _interval(row), by=lambda row: row.alpha, figure=True
        ),
        column("Jaccard", "alpha_jaccard"),
        column("MASI", "alpha_masi"),
        column(tr("Spans"), "exact"),
        column(tr("Overlap"), "overlap"),
    ]


def _consistency(rows: Sequence[ConsistencyRow], parent: QWidget) -> QWidget:
    if not rows:
        words = sentence(tr(NO_REPEATS))
        words.setContentsMargins(12, 12, 12, 12)
        return words
    table: RecordTable[ConsistencyRow] = RecordTable(
        tr("Own consistency"),
        [
            RecordColumn(tr("Curator"), lambda row: row.curator),
            RecordColumn(tr("When"), lambda row: tr("all") if row.period == ALL else row.period),
            number_column(tr("Judged again"), lambda row: row.items),
            RecordColumn(tr("Same answer"), lambda row: percent(row.share), by=lambda row: row.share, figure=True),
            RecordColumn(tr("Kappa"), lambda row: figure(row.kappa), by=lambda row: row.kappa, figure=True),
            number_column(tr("Days between"), lambda row: row.days, ".0f"),
        ],
        parent=parent,
    )
    table.show_rows(rows)
    table.setToolTip(tr(CONSISTENT))
    return table
