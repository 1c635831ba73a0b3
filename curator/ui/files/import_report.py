"""What an import did: counts, and every problem with its file and line."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from curator.domain.wording import ntr, tr
from curator.services.importing.import_report import ImportReport, counted
from curator.ui.kit.form import ShowDialog, sentence

MOST_NAMES = 4
MOST_ROWS = 5000
"""Rows that the table shows; the copied text has all."""


class ImportReportDialog(ShowDialog):
    def __init__(self, report: ImportReport, parent: QWidget | None = None) -> None:
        super().__init__(tr("Import report"), parent)
        self._report = report
        self.setMinimumWidth(480)
        self.summary = sentence(summary(report), selectable=True)
        self.body.addWidget(self.summary)
        self.table = self._table() if report.problems else None
        if self.table is not None:
            self.body.addWidget(self.table, 1)
            self.resize(820, 460)
        self.copy = self.add_button(tr("&Copy"))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(as_text(self._report)))

    def _table(self) -> QTableWidget:
        problems = self._report.problems[:MOST_ROWS]
        table = QTableWidget(len(problems), 4, self)
        table.setAccessibleName(tr("Problems"))
        table.setHorizontalHeaderLabels([tr("File"), tr("Line"), "", tr("Problem")])
        table.verticalHeader().hide()
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.horizontalHeader().setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        for row, one in enumerate(problems):
            line = f"{one.problem.line:,}" if one.problem.line else "–"
            for column, words in enumerate((Path(one.file).name, line, one.problem.severity, one.problem.text)):
                item = QTableWidgetItem(words)
                item.setToolTip(words)
                table.setItem(row, column, item)
        table.resizeColumnsToContents()
        return table


def in_short(report: ImportReport) -> str:
    """What came in and the number of problems, for one line."""
    problems = len(report.problems)
    noted = ntr("{n:,} problem.", "{n:,} problems.", problems) if problems else tr("No problems.")
    counts = _counts(report) or tr("nothing new")
    return tr("Imported {files}: {counts}. {noted}", files=_files(report), counts=counts, noted=noted)


def _files(report: ImportReport) -> str:
    if len(report.files) > MOST_NAMES:
        return ntr("{n:,} file", "{n:,} files", len(report.files))
    return ", ".join(Path(one).name for one in report.files) or tr("nothing")


def _counts(report: ImportReport) -> str:
    return ", ".join(counted(word, number) for word, number in report.counts.items() if number)


def summary(report: ImportReport) -> str:
    """Counts and the number of problems in two sentences."""
    files, counts = _files(report), _counts(report)
    problems = len(report.problems)
    noted = (
        ntr("{n:,} problem noted below.", "{n:,} problems noted below.", problems) if problems else tr("No problems.")
    )
    if not counts:
        return tr("Imported {files} in {seconds:.1f} s. {noted}", files=files, seconds=report.seconds, noted=noted)
    return tr(
        "Imported {files} in {seconds:.1f} s: {counts}. {noted}",
        files=files,
        seconds=report.seconds,
        counts=counts,
        noted=noted,
    )


def as_text(report: ImportReport) -> str:
    """Everything, for pasting into a message: file:line, severity, problem."""
    lines = [summary(report)]
    for one in report.problems:
        line = f":{one.problem.line}" if one.problem.line else ""
        lines.append(f"{one.file}{line}: {one.problem.severity}: {one.problem.text}")
    return "\n".join(lines) + "\n"
