"""*View > Dashboard*: progress, speed, keys, accepted suggestions, NIL, models and agreement as plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from PySide6.QtCore import QDate, QEvent, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDateEdit,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QWidget,
)

from curator.domain.documents import Split
from curator.domain.statistics import IMPORTED, Headline, Plot, StatisticsFilter
from curator.domain.wording import UserError, language, ntr, tr
from curator.services.records.statistics import Statistics, as_json, head_figures, plots
from curator.ui.dashboard.plot_card import PlotCard
from curator.ui.dashboard.plot_files import save_all
from curator.ui.kit.compose import choice, column, offer, row
from curator.ui.kit.foreign_text import PlainLabel, tip
from curator.ui.kit.form import ShowDialog, ask_file
from curator.ui.kit.labels import ElidedLabel, ScaledLabel
from curator.ui.kit.sizing import USUAL_LINE
from curator.ui.queue.queue_model import SPLIT_WORDS

# The filter of the dashboard: curator, split, and period.

EVERYBODY, ALL_SPLITS, FROM_FILES = "Everybody", "All splits", "Decisions from files"
ALL_TIME, CHOSEN = "All time", "From … to …"
TIMES = {"Today": 0, "Last 7 days": 6, "Last 30 days": 29, "Last 12 months": 364}


class DashboardFilter(QWidget):
    """`where` is the chosen filter; `changed` is emitted when it changes."""

    changed = Signal()

    def __init__(self, *, today: Callable[[], date] = date.today, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._today = today
        splits = ((tr(words), split.value) for split, words in SPLIT_WORDS.items())
        times = ((tr(words), days) for words, days in TIMES.items())
        self.curators = self._combo(tr("Curator"), [(tr(EVERYBODY), "")])
        self.splits = self._combo(tr("Split"), [(tr(ALL_SPLITS), None), *splits])
        self.times = self._combo(tr("Time"), [(tr(ALL_TIME), None), *times, (tr(CHOSEN), CHOSEN)])
        self.since, self.until = self._day(tr("From")), self._day(tr("To"))
        self._compose()
        self._show_days()

    def _combo(self, name: str, rows: Sequence[tuple[str, object]]) -> QComboBox:
        combo = choice(name, rows, parent=self, fits=True)
        combo.currentIndexChanged.connect(lambda: self._show_days())
        combo.currentIndexChanged.connect(self.changed)
        return combo

    def _day(self, name: str) -> QDateEdit:
        day = self._today()
        edit = QDateEdit(QDate(day.year, day.month, day.day), self)
        edit.setAccessibleName(name)
        edit.setCalendarPopup(True)
        edit.setDisplayFormat("dd.MM.yyyy" if language() == "de" else "d MMM yyyy")
        edit.dateChanged.connect(self.changed)
        return edit

    def _compose(self) -> None:
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        for words, combo in ((tr("&Curator"), self.curators), (tr("S&plit"), self.splits), (tr("&Time"), self.times)):
            label = PlainLabel(words, self)
            label.setBuddy(combo)
            line.addWidget(label)
            line.addWidget(combo)
            line.addSpacing(8)
        line.addWidget(self.since)
        line.addWidget(self.until)
        line.addStretch(1)

    def _show_days(self) -> None:
        if hasattr(self, "until"):
            chosen = self.times.currentData() == CHOSEN
            self.since.setVisible(chosen)
            self.until.setVisible(chosen)

    def show_curators(self, names: Sequence[str]) -> None:
        """Set the curators; the chosen one is kept."""
        chosen = self.curators.currentData()
        kept = list(dict.fromkeys([*names, *([chosen] if chosen else [])]))
        if kept == [self.curators.itemData(at) for at in range(1, self.curators.count())]:
            return
        people = ((tr(FROM_FILES) if name == IMPORTED else name, name) for name in kept)
        offer(self.curators, [(tr(EVERYBODY), ""), *people])

    @property
    def where(self) -> StatisticsFilter:
        split = self.splits.currentData()
        since, until = self._days()
        return StatisticsFilter(self.curators.currentData() or "", Split(split) if split else None, since, until)

    def _days(self) -> tuple[date | None, date | None]:
        days = self.times.currentData()
        if days == CHOSEN:
            since, until = (_python(one.date()) for one in (self.since, self.until))
            return since, max(since, until)
        return (None if days is None else self._today() - timedelta(days=days)), None


def _python(day: QDate) -> date:
    return date(day.year(), day.month(), day.day())


WIDE = 980
"""With at least this width there are two plots side by side in the usual font; a larger font needs more."""
COUNTING = "Counting…"
REFRESH = "F5"


@dataclass(frozen=True, slots=True)
class DashboardView:
    """The plots and figures for a filter."""

    where: StatisticsFilter
    heads: tuple[Headline, ...]
    plots: tuple[Plot, ...]


def draw(found: Statistics, where: StatisticsFilter) -> DashboardView:
    """Draw the plots: takes a tenth of a second for a year of five people."""
    return DashboardView(where, head_figures(found, where), plots(found, where))


class Dashboard(ShowDialog):
    """`wanted` requests figures; `show_statistics` shows them. Filters, tables and files are handled here."""

    wanted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(tr("Dashboard – {name}", name=name), parent)
        self.setWindowFlags(Qt.WindowType.Window)  # it can be covered by the main window, or fill a second screen
        self._statistics: Statistics | None = None
        self._drawn: DashboardView | None = None
        self._columns = 0
        self._sought = ""
        self.filter = DashboardFilter(parent=self)
        self.heads: dict[str, HeadFigure] = {}
        self.cards: dict[str, PlotCard] = {}
        self.state = ElidedLabel(muted=True, parent=self)
        self.state.set_words(tr(COUNTING))
        self._compose()
        self.refresh = self.add_button(tr("&Refresh ({refresh})", refresh=REFRESH), self.wanted.emit)
        self.save = self.add_button(tr("&Save everything…"), self.ask_folder)
        self.save.setEnabled(False)
        QShortcut(QKeySequence(REFRESH), self, self.wanted.emit)
        self.filter.changed.connect(self._draw)
        self.resize(1120, 780)

    def _compose(self) -> None:
        self._strip = row(spacing=10)
        inside = QWidget(self)
        self._grid = QGridLayout(inside)
        self._grid.setContentsMargins(0, 0, 8, 0)
        self._grid.setSpacing(12)
        self.area = QScrollArea(self)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidget(inside)
        self.area.setAccessibleName(tr("Plots"))
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.body.addLayout(row((self.filter, 3), (self.state, 1)))
        self.body.addLayout(self._strip)
        self.body.addWidget(self.area, 1)

    # --- figures come ---

    def show_counting(self) -> None:
        self.state.set_words(tr(COUNTING))

    def show_statistics(self, found: Statistics, *, at: str, drawn: DashboardView | None = None) -> None:
        """`at` is the time of the figures; `drawn` their plots, made in a background thread."""
        self._statistics, self._drawn = found, drawn
        self.filter.show_curators(found.counts.curators)
        self.state.set_words(tr("As of {at}", at=at))
        self.save.setEnabled(True)
        self._draw()

    @property
    def where(self) -> StatisticsFilter:
        return self.filter.where

    def _draw(self) -> None:
        if self._statistics is None:
            return
        drawn = self._drawn
        if drawn is None or drawn.where != self.where:
            drawn = draw(self._statistics, self.where)
        self._show_heads(drawn.heads)
        if self.cards.keys() != {one.id for one in drawn.plots}:
            self.cards = {one.id: PlotCard(one, tell=self.state.set_words, parent=self) for one in drawn.plots}
            self._lay_out(again=True)
        for one in drawn.plots:
            self.cards[one.id].show_plot(one)
        self._give_room()
        if self._sought:
            self.show_card(self._sought)

    def show_card(self, id_: str) -> None:
        """Scroll to a plot and give it the keyboard focus, as soon as there are figures."""
        card = self.cards.get(id_)
        self._sought = "" if card is not None else id_
        if card is not None:
            self.area.ensureWidgetVisible(card)
            card.view.setFocus()

    def _give_room(self) -> None:
        """Make room at once: Qt would first squeeze new cards into the height of the window, and grow it an event
        later."""
        for card in self.cards.values():
            card.show()
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    def _show_heads(self, figures: Sequence[Headline]) -> None:
        for one in figures:
            if one.id not in self.heads:
                self.heads[one.id] = HeadFigure(self)
                self._strip.addWidget(self.heads[one.id], 1)
            self.heads[one.id].show_figure(one)

    # --- the layout ---

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() is QEvent.Type.ApplicationFontChange and self.cards:
            self._lay_out()
        return done

    def _lay_out(self, *, again: bool = False) -> None:
        larger = max(self.fontMetrics().height() / USUAL_LINE, 1.0)
        columns = 2 if self.width() >= WIDE * larger else 1
        if columns == self._columns and not again:
            return
        self._columns = columns
        for number, card in enumerate(self.cards.values()):
            self._grid.addWidget(card, number // columns, number % columns)
        for at in range(2):
            self._grid.setColumnStretch(at, int(at < columns))

    # --- files ---

    def ask_folder(self) -> QFileDialog:
        mode = QFileDialog.FileMode.Directory
        return ask_file(self, tr("Save everything in a folder"), self.save_to, mode=mode)

    def save_to(self, folder: Path) -> None:
        """Every plot as SVG and CSV, all figures as JSON, for the current filter."""
        if self._statistics is None:
            return
        drawn: list[Plot] = [one.plot for one in self.cards.values()]
        try:
            number = save_all(drawn, as_json(self._statistics, self.where), folder, self.font())
        except UserError as error:
            self.state.set_words(str(error))
        else:
            self.state.set_words(
                ntr(
                    "{n} plot and figures.json are saved in {folder}.",
                    "{n:,} plots and figures.json are saved in {folder}.",
                    number,
                    folder=folder,
                )
            )


class HeadFigure(QWidget):
    """A figure in large letters above its name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.value = ScaledLabel(scale=1.5, bold=True, parent=self)
        self.title = ScaledLabel(scale=0.88, parent=self)
        self.title.setWordWrap(True)
        self.title.setAlignment(Qt.AlignmentFlag.AlignTop)
        column(self.value, (self.title, 1), of=self, spacing=0)

    def show_figure(self, one: Headline) -> None:
        self.value.setText(one.words)
        self.title.setText(one.title)
        self.setToolTip(tip(one.hint))
        self.setAccessibleName(f"{one.title}: {one.words}")
        self.setAccessibleDescription(one.hint)
