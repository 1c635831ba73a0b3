"""*View > Background work*: every job of the session with its progress, its log and a training's live curves."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDockWidget,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QPushButton,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from curator.domain.jobs import JobState
from curator.domain.wording import localised, tr
from curator.ui.jobs.jobs import JobKind, Jobs, RunningJob
from curator.ui.jobs.jobs_bar import flat, words_of
from curator.ui.jobs.training_panel import TrainingPanel
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.form import sentence
from curator.ui.kit.messages import tell

# The background work of the session as a table, the newest first.

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
HEADERS = ("Work", "Progress", "Started", "Duration")
ENDS = {
    JobState.DONE: "✓ Done",
    JobState.CANCELLED: "Cancelled",
    JobState.FAILED: "✗ Failed",
    JobState.CRASHED: "✗ Crashed",
}
JOB_ROLE = int(Qt.ItemDataRole.UserRole)


class JobsModel(QAbstractTableModel):
    """Call `renew` after jobs started or ended, `tick` while they run."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._rows: list[RunningJob] = []
        self.renew()

    def renew(self) -> None:
        """Insert new jobs at the top; others keep their rows, so that the selection is kept."""
        listed = self._jobs.listed
        known = {job.number for job in self._rows}
        new = [job for job in listed if job.number not in known]
        if new:
            self.beginInsertRows(NO_PARENT, 0, len(new) - 1)
            self._rows = [*new, *self._rows]
            self.endInsertRows()
        self.tick()

    def tick(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(HEADERS) - 1))

    def job(self, row: int) -> RunningJob | None:
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, number: int) -> int | None:
        return next((row for row, job in enumerate(self._rows) if job.number == number), None)

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole or orientation is not Qt.Orientation.Horizontal:
            return None
        return tr(HEADERS[section]) if 0 <= section < len(HEADERS) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        job = self.job(index.row()) if index.isValid() else None
        if job is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(self._words(job)[index.column()], role)
        return job if role == JOB_ROLE else None

    def _words(self, job: RunningJob) -> tuple[str, ...]:
        now = self._jobs.now()
        state = words_of(job, now) if job.outcome is None else tr(ENDS[job.outcome.state])
        return job.title, state, localised(job.at, "%H:%M:%S"), took_words(job.seconds(now))


def took_words(seconds: float) -> str:
    """`0:07`, `1:48`, `1 h 05 min`."""
    whole = round(max(seconds, 0.0))
    if whole >= 3600:
        return tr("{hours} h {minutes:02d} min", hours=whole // 3600, minutes=whole % 3600 // 60)
    return f"{whole // 60}:{whole % 60:02d}"


NOTHING = (
    "Nothing has run since the project was opened. Imports, index builds, training runs and evaluations are "
    "listed here."
)


class JobsDock(QDockWidget):
    """Docked below the text or floating. `left` asks to return the focus to the text."""

    left = Signal()
    training_wanted = Signal(object)  # RunningJob: its own window, with its result

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(tr("Background work"), parent)
        self.setObjectName("jobs")
        self.setAccessibleName(tr("Background work"))
        self._jobs = jobs
        self.model = JobsModel(jobs, self)
        self.table = self._make_table()
        self.headline = sentence(tr(NOTHING), selectable=True)
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName(tr("Progress of the selected task"))
        self.bar.setFixedHeight(10)
        flat(self.bar)
        self.cancel = self._button(tr("&Cancel"), tr("Cancel the selected task"))
        self.result = self._button(
            tr("&Details…"), tr("Show the result of the training: the comparison and what changes")
        )
        self.export = self._button(tr("E&xport curves…"), tr("Export the curves of the selected training"))
        self.panel = TrainingPanel(self)
        self._shown = 0  # number of the job shown in the panel
        self._compose()
        self._connect()
        self._show_chosen()

    def _make_table(self) -> QTableView:
        table = QTableView(self)
        table.setAccessibleName(tr("Background work of this session"))
        table.setModel(self.model)
        table.verticalHeader().hide()
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        return table

    def _button(self, words: str, name: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setAccessibleName(name)
        return button

    def _compose(self) -> None:
        detail = QWidget(self)
        column = QVBoxLayout(detail)
        column.setContentsMargins(8, 4, 8, 8)
        line = QHBoxLayout()
        line.addWidget(self.headline, 1)
        for button in (self.cancel, self.result, self.export):
            line.addWidget(button)
        column.addLayout(line)
        column.addWidget(self.bar)
        column.addWidget(self.panel, 1)
        self.parts = QSplitter(Qt.Orientation.Horizontal, self)
        self.parts.addWidget(self.table)
        self.parts.addWidget(detail)
        self.parts.setChildrenCollapsible(False)
        self.parts.setSizes([480, 800])
        self.setWidget(self.parts)

    def _connect(self) -> None:
        self._timer = QTimer(self, interval=1000)
        self._timer.timeout.connect(self._tick)
        self._jobs.changed.connect(self._changed)
        self._jobs.progressed.connect(self._progressed)
        self.table.selectionModel().currentRowChanged.connect(lambda: self._show_chosen())
        self.table.activated.connect(self._activated)
        self.cancel.clicked.connect(lambda: self._jobs.cancel(self.chosen))
        self.result.clicked.connect(lambda: self.training_wanted.emit(self.chosen))
        self.export.clicked.connect(self.panel.ask_export)
        self.panel.refused.connect(lambda words: tell(self, tr("Export the curves"), words, wrong=True))

    # --- coming and going ---

    def turn(self) -> None:
        """Open and focus the table, or close if it has the focus already."""
        focus = self.focusWidget()
        if self.isVisible() and focus is not None and focus.hasFocus():
            self.leave()
            return
        self.show()
        self.raise_()
        if self.chosen is None and self.model.rowCount():
            self.table.setCurrentIndex(self.model.index(0, 0))
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        self.hide()
        self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._changed()

    # --- what is shown ---

    @property
    def chosen(self) -> RunningJob | None:
        return self.model.job(self.table.currentIndex().row())

    def _changed(self) -> None:
        newest = self.model.job(0)
        self.model.renew()
        found = self.model.job(0)
        if found is not None and (self.chosen is None or (newest is self.chosen and newest is not found)):
            self.table.setCurrentIndex(self.model.index(0, 0))  # the newest stays selected
        if len(self._jobs):
            self._timer.start()
        else:
            self._timer.stop()
        self._show_chosen()

    def _tick(self) -> None:
        if self.isVisible():
            self.model.tick()
            self._show_state()

    def _progressed(self, job: RunningJob) -> None:
        if self.isVisible() and job is self.chosen:
            self.model.tick()
            self._show_state()
            self.panel.grown()

    def _show_chosen(self) -> None:
        job = self.chosen
        if job is not None and job.number != self._shown:
            self._shown = job.number
            self.panel.show_history(job.history)
        elif job is not None:
            self.panel.grown()
        self.panel.setVisible(job is not None)
        self.panel.set_charts(job is not None and job.kind is JobKind.TRAIN)
        self._show_state()

    def _show_state(self) -> None:
        job = self.chosen
        runs = job is not None and job.outcome is None
        training = job is not None and job.kind is JobKind.TRAIN
        self.bar.setVisible(runs)
        self.cancel.setVisible(runs)
        self.result.setVisible(training)
        self.export.setVisible(training and job is not None and bool(job.history.rows))
        if job is None:
            self.headline.setText(tr(NOTHING))
            return
        self.cancel.setEnabled(not job.cancelling)
        fraction = job.progress.fraction if not job.cancelling else None
        self.bar.setRange(0, 1000 if fraction is not None else 0)
        self.bar.setValue(round(1000 * (fraction or 0)))
        self.headline.setText(job.outcome.message if job.outcome is not None else words_of(job, self._jobs.now()))

    def _activated(self, index: QModelIndex) -> None:
        job = self.model.job(index.row())
        if job is not None and job.kind is JobKind.TRAIN:
            self.training_wanted.emit(job)
