"""What the dashboard is about: whose decisions, of which split, from when to when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta

from PySide6.QtCore import QDate, Signal
from PySide6.QtWidgets import QComboBox, QDateEdit, QHBoxLayout, QLabel, QWidget

from curator.domain.documents import Split
from curator.domain.statistics import IMPORTED, StatisticsFilter
from curator.domain.wording import tr

EVERYBODY, ALL_SPLITS, FROM_FILES = "Everybody", "All splits", "What came with files"
SPLITS = {Split.TRAIN: "Train", Split.VALIDATION: "Validation", Split.TEST: "Test"}
ALL_TIME, CHOSEN = "All time", "From … to …"
TIMES = {"Today": 0, "Last 7 days": 6, "Last 30 days": 29, "Last 12 months": 364}


class DashboardFilter(QWidget):
    """`where` is what is chosen; `changed` tells that it is another one."""

    changed = Signal()

    def __init__(self, *, today: Callable[[], date] = date.today, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._today = today
        self.curators = self._combo(tr("Curator"))
        self.curators.addItem(tr(EVERYBODY), "")
        self.splits = self._combo(tr("Split"))
        self.splits.addItem(tr(ALL_SPLITS), None)
        for split, words in SPLITS.items():
            self.splits.addItem(tr(words), split.value)
        self.times = self._combo(tr("Time"))
        for words in (tr(ALL_TIME), *map(tr, TIMES), tr(CHOSEN)):
            self.times.addItem(words)
        self.since, self.until = self._day(tr("From")), self._day(tr("To"))
        self._compose()
        self._show_days()

    def _combo(self, name: str) -> QComboBox:
        combo = QComboBox(self)
        combo.setAccessibleName(name)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.currentIndexChanged.connect(lambda: self._show_days())
        combo.currentIndexChanged.connect(self.changed)
        return combo

    def _day(self, name: str) -> QDateEdit:
        day = self._today()
        edit = QDateEdit(QDate(day.year, day.month, day.day), self)
        edit.setAccessibleName(name)
        edit.setCalendarPopup(True)
        edit.setDisplayFormat("d MMM yyyy")
        edit.dateChanged.connect(self.changed)
        return edit

    def _compose(self) -> None:
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        for words, combo in ((tr("&Curator"), self.curators), (tr("S&plit"), self.splits), (tr("&Time"), self.times)):
            label = QLabel(words, self)
            label.setBuddy(combo)
            line.addWidget(label)
            line.addWidget(combo)
            line.addSpacing(8)
        line.addWidget(self.since)
        line.addWidget(self.until)
        line.addStretch(1)

    def _show_days(self) -> None:
        if hasattr(self, "until"):
            chosen = self.times.currentText() == CHOSEN
            self.since.setVisible(chosen)
            self.until.setVisible(chosen)

    def show_curators(self, names: Sequence[str]) -> None:
        """Those that decided; who is chosen stays chosen."""
        chosen = self.curators.currentData()
        kept = list(dict.fromkeys([*names, *([chosen] if chosen else [])]))
        if kept == [self.curators.itemData(at) for at in range(1, self.curators.count())]:
            return
        self.curators.blockSignals(True)
        self.curators.clear()
        self.curators.addItem(tr(EVERYBODY), "")
        for name in kept:
            self.curators.addItem(tr(FROM_FILES) if name == IMPORTED else name, name)
        self.curators.setCurrentIndex(max(self.curators.findData(chosen), 0))
        self.curators.blockSignals(False)

    @property
    def where(self) -> StatisticsFilter:
        split = self.splits.currentData()
        since, until = self._days()
        return StatisticsFilter(self.curators.currentData() or "", Split(split) if split else None, since, until)

    def _days(self) -> tuple[date | None, date | None]:
        words = self.times.currentText()
        if words == CHOSEN:
            since, until = (_python(one.date()) for one in (self.since, self.until))
            return since, max(since, until)
        if words in TIMES:
            return self._today() - timedelta(days=TIMES[words]), None
        return None, None


def _python(day: QDate) -> date:
    return date(day.year(), day.month(), day.day())
