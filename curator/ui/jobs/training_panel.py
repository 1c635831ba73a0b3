"""A running training: its curves, figures and log. Missing figures are not drawn."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit, QWidget

from curator.domain.jobs import Progress
from curator.domain.wording import UserError, localised, percent, tr
from curator.ui.kit.compose import column, pane, row, splitter
from curator.ui.kit.form import ask_file, sentence
from curator.ui.kit.line_chart import Curve, LineChart, Tone
from curator.ui.kit.row_list import fixed_font

# The record of a running training: curves, figures and log, for the window and as CSV.

CURVES = ("loss", "learning_rate", "recall_at_1", "untrained", "recall_at_64", "nil_aupr", "throughput")
"""Keys of a progress event's data that are drawn over the steps; missing ones are not drawn. `untrained` comes once:
the recall@1 before training, drawn as a horizontal line, with the recall of each step."""
COLUMNS = ("step", "epoch", "seconds", *CURVES)
LATEST = ("step", "epoch", "seconds", "throughput", "seconds_left")
Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class LogLine:
    at: datetime
    phase: str
    text: str

    def __str__(self) -> str:
        return f"{self.at:%H:%M:%S}  " + ": ".join(part for part in (self.phase, self.text) if part)


@dataclass(slots=True)
class TrainingHistory:
    """`rows` are the figures of the events that had any, in order; `curves` the same by name, over steps."""

    rows: list[dict[str, float]] = field(default_factory=list)
    curves: dict[str, Points] = field(default_factory=lambda: {name: [] for name in CURVES})
    latest: dict[str, float] = field(default_factory=dict)
    log: list[LogLine] = field(default_factory=list)
    _phase: str = ""

    def take(self, progress: Progress, at: datetime) -> None:
        if progress.text or progress.phase != self._phase:
            self.log.append(LogLine(at, tr(progress.phase), progress.text))
            self._phase = progress.phase
        figures = {name: float(value) for name, value in progress.data.items() if _is_figure(name, value)}
        if not figures:
            return
        if "recall_at_1" in figures and "untrained" in self.latest:
            figures["untrained"] = self.latest["untrained"]
        figures.setdefault("step", self.latest.get("step", 0.0) + ("loss" in figures))
        self.latest.update({name: figures[name] for name in (*LATEST, *CURVES) if name in figures})
        self.rows.append(figures)
        for name in CURVES:
            if name in figures:
                self.curves[name].append((figures["step"], figures[name]))

    def say(self, text: str, at: datetime) -> None:
        """Add a line to the log that is not a progress event, such as the outcome."""
        self.log.append(LogLine(at, "", text))

    @property
    def losses(self) -> list[float]:
        return [value for _, value in self.curves["loss"]]

    def csv(self) -> str:
        """One line for each event with figures; columns that no event had are left out."""
        names = [name for name in COLUMNS if any(name in row for row in self.rows)]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([row.get(name, "") for name in names] for row in self.rows)
        return out.getvalue()


def _is_figure(name: str, value: Any) -> bool:
    known = name in COLUMNS or name == "seconds_left"
    return known and isinstance(value, int | float) and not isinstance(value, bool)


class TrainingPanel(QWidget):
    """`show_history` takes the history of a job; after it has grown, `grown` draws the rest."""

    refused = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history = TrainingHistory()
        self._logged = 0
        self._charted = True
        self.loss = LineChart(
            tr("Training loss"), words=figure_words, tick=lambda value: localised(value, "g"), parent=self
        )
        self.recall = LineChart(tr("Held-out recall"), words=percent, tick=percent_tick, parent=self)
        self.nil = LineChart(tr("NIL auPR"), words=percent, tick=percent_tick, parent=self)
        self.rate = LineChart(tr("Learning rate"), words=lambda value: localised(value, ".1e"), parent=self)
        self.small = (self.recall, self.nil, self.rate)
        self.figures = sentence("")
        self.figures.setAccessibleName(tr("Figures of the training"))
        self.log = QPlainTextEdit(self)
        self.log.setReadOnly(True)
        self.log.setAccessibleName(tr("Log of the training"))
        self.log.setFont(fixed_font())
        self.log.setTabChangesFocus(True)
        self._follows = True  # the newest line is visible, and stays visible
        down = self.log.verticalScrollBar()
        down.valueChanged.connect(self._scrolled)
        down.rangeChanged.connect(lambda: self._follow())
        self._compose()
        self.show_history(self._history)

    def _compose(self) -> None:
        self._beside = pane(*self.small, parent=self, spacing=8)
        self._charts = charts = QWidget(self)
        row((self.loss, 3), (self._beside, 2), of=charts, spacing=8)
        parts = splitter(charts, self.log, parent=self, sizes=(360, 130), stretch=(3, 1))
        column(self.figures, (parts, 1), of=self)

    def show_history(self, history: TrainingHistory) -> None:
        self._history, self._logged = history, 0
        self.log.clear()
        self._follows = True
        curves = history.curves
        self.loss.show_curves(Curve("loss", curves["loss"], smooth=True))
        self.recall.show_curves(
            Curve("@1", curves["recall_at_1"]),
            Curve(tr("untrained"), curves["untrained"], tone=Tone.THIRD),
            Curve("@64", curves["recall_at_64"], tone=Tone.SECOND),
        )
        self.nil.show_curves(Curve(tr("NIL auPR"), curves["nil_aupr"], tone=Tone.THIRD))
        self.rate.show_curves(Curve(tr("learning rate"), curves["learning_rate"]))
        self.grown()

    def set_charts(self, shown: bool) -> None:
        """Set the charts; jobs other than trainings have only a log."""
        self._charted = shown
        self.figures.setVisible(shown)
        self.grown()

    def grown(self) -> None:
        """Draw the new points."""
        self.figures.setText(figures_line(self._history))
        for chart in (self.loss, *self.small):
            chart.grown()
        for chart in self.small:
            chart.setVisible(not chart.is_empty)
        has_small = not all(chart.is_empty for chart in self.small)
        self._beside.setVisible(has_small)
        self._charts.setVisible(self._charted and (has_small or not self.loss.is_empty))
        self._write_log()

    def _write_log(self) -> None:
        """Append to the log; if the newest line was visible before, it stays visible from its beginning."""
        follows = self._follows
        for line in self._history.log[self._logged :]:
            self.log.appendPlainText(str(line))
        self._logged = len(self._history.log)
        cursor = self.log.textCursor()
        if follows and not cursor.hasSelection():  # a log that is shown later opens where its cursor is
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            self.log.setTextCursor(cursor)
            self._follows = True
            self._follow()

    def _scrolled(self, line: int) -> None:
        self._follows = line == self.log.verticalScrollBar().maximum()

    def _follow(self) -> None:
        """Scroll after the log became longer or its view lower."""
        if self._follows and not self.log.textCursor().hasSelection():
            down = self.log.verticalScrollBar()
            down.setValue(down.maximum())

    # --- export ---

    def ask_export(self) -> QFileDialog:
        filters = tr("Comma-separated values (*.csv)")
        return ask_file(self, tr("Export the curves"), self.export, filters=filters, name="training.csv")

    def export(self, path: Path) -> None:
        """Write all figures so far; `refused` reports an error."""
        from curator.bootstrap import AtomicWriter  # storage and formats are not needed for the first paint

        try:
            AtomicWriter().write({path: self._history.csv().encode()})
        except UserError as error:
            self.refused.emit(str(error))


def figure_words(value: float) -> str:
    """A loss or another plain figure, with the significant digits."""
    return localised(value, ",.3f") if abs(value) < 100 else localised(value, ",.0f")


def percent_tick(value: float) -> str:
    return f"{localised(100 * value, '.4g')} %"


def figures_line(history: TrainingHistory) -> str:
    """`step 120 · pass 2 · 31 mentions a second`, with the known figures."""
    latest = history.latest
    parts = [
        tr("step {value:,.0f}", value=latest["step"]) if "step" in latest else "",
        tr("pass {value:,.0f}", value=latest["epoch"]) if "epoch" in latest else "",
        tr("{value:,.0f} mentions per second", value=latest["throughput"])
        if latest.get("throughput", 0.0) >= 1.0
        else "",
    ]
    return " · ".join(part for part in parts if part)
