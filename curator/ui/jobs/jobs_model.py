"""The background work of the session as a table, the newest first."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from curator.domain.jobs import JobState
from curator.domain.wording import tr
from curator.ui.jobs.jobs import Jobs, RunningJob
from curator.ui.jobs.jobs_bar import words_of

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
HEADERS = ("Work", "How far", "Began", "Took")
ENDS = {
    JobState.DONE: "✓ Done",
    JobState.CANCELLED: "Cancelled",
    JobState.FAILED: "✗ Did not finish",
    JobState.CRASHED: "✗ Broke off",
}
JOB_ROLE = int(Qt.ItemDataRole.UserRole)


class JobsModel(QAbstractTableModel):
    """`renew` after jobs came or ended, `tick` while they run."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._rows: list[RunningJob] = []
        self.renew()

    def renew(self) -> None:
        """New jobs come on top; the others keep their rows, so that the chosen one stays chosen."""
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
            return self._words(job)[index.column()]
        return job if role == JOB_ROLE else None

    def _words(self, job: RunningJob) -> tuple[str, ...]:
        now = self._jobs.now()
        state = words_of(job, now) if job.outcome is None else tr(ENDS[job.outcome.state])
        return job.title, state, f"{job.at:%H:%M:%S}", took_words(job.seconds(now))


def took_words(seconds: float) -> str:
    """`0:07`, `1:48`, `1 h 05 min`."""
    whole = round(max(seconds, 0.0))
    if whole >= 3600:
        return tr("{hours} h {minutes:02d} min", hours=whole // 3600, minutes=whole % 3600 // 60)
    return f"{whole // 60}:{whole % 60:02d}"
