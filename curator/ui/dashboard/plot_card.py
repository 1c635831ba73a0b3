"""One plot of the dashboard: what it shows in a sentence, the drawing or its table, and saving."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from curator.domain.errors import UserError
from curator.domain.plots import Plot
from curator.domain.wording import tr
from curator.ui.dashboard.plot_files import save_plot
from curator.ui.dashboard.plot_table import PlotTableModel, plot_table
from curator.ui.dashboard.plot_view import PlotView
from curator.ui.kit.form import file_dialog, sentence
from curator.ui.kit.labels import ScaledLabel
from curator.ui.kit.theme import theme_of

KINDS = {
    "svg": ("Drawing (SVG)…", "Drawing (*.svg)"),
    "csv": ("Figures (CSV)…", "Comma-separated values (*.csv)"),
    "json": ("Figures (JSON)…", "JSON (*.json)"),
}
"""Ending -> what the menu says, what the file dialog says."""


class PlotCard(QWidget):
    """`show_plot` takes the plot, now and again; `tell` gets a sentence about what was saved or refused."""

    def __init__(self, plot: Plot, *, tell: Callable[[str], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tell = tell
        self.title = ScaledLabel(plot.title, scale=1.05, bold=True, parent=self)
        self.summary = sentence(plot.summary, selectable=True)
        self.summary.setAlignment(Qt.AlignmentFlag.AlignTop)  # beside a taller card
        self.note = sentence(plot.note)
        self.view = PlotView(plot, self)
        self.model = PlotTableModel(plot, self)
        self.table = plot_table(self.model, tr("{title}: table", title=plot.title), self)
        self.switch = self._button(tr("Table"), tr("Show “{title}” as a table", title=plot.title))
        self.switch.setCheckable(True)
        self.save = self._button(tr("Save as"), tr("Save “{title}” as SVG, CSV or JSON", title=plot.title))
        self.save.setMenu(self._menu())
        self._compose()
        self.switch.toggled.connect(self._turn)
        self.show_plot(plot)

    def _button(self, words: str, name: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setAccessibleName(name)
        button.setAutoDefault(False)
        button.setFlat(True)
        return button

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        for ending, (words, _) in KINDS.items():
            menu.addAction(tr(words)).triggered.connect(lambda _=False, one=ending: self.ask_place(one))
        return menu

    def _compose(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.switch)
        head.addWidget(self.save)
        self.faces = QStackedWidget(self)
        self.faces.addWidget(self.view)
        self.faces.addWidget(self.table)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(14, 10, 14, 12)
        whole.setSpacing(6)
        whole.addLayout(head)
        whole.addWidget(self.summary)
        whole.addWidget(self.faces, 1)
        whole.addWidget(self.note)

    @property
    def plot(self) -> Plot:
        return self.view.plot

    def show_plot(self, plot: Plot) -> None:
        self.summary.setText(plot.summary)
        self.note.setText(plot.note)
        self.view.show_plot(plot)
        self.model.show_plot(plot)
        for part in (self.switch, self.save):
            part.setEnabled(not plot.is_empty)
        self.faces.setVisible(not plot.is_empty)
        self._turn(self.switch.isChecked())

    def _turn(self, table: bool) -> None:
        self.faces.setCurrentWidget(self.table if table else self.view)
        self.note.setVisible(table and bool(self.plot.note) and not self.plot.is_empty)

    # --- saving ---

    def ask_place(self, ending: str) -> QFileDialog:
        title = tr("Save “{title}”", title=self.plot.title)
        dialog = file_dialog(self, title, mode=QFileDialog.FileMode.AnyFile, filters=tr(KINDS[ending][1]))
        dialog.setDefaultSuffix(ending)
        dialog.selectFile(f"{self.plot.id}.{ending}")
        dialog.fileSelected.connect(lambda name: self.save_to(Path(name)))
        dialog.open()
        return dialog

    def save_to(self, path: Path) -> None:
        try:
            save_plot(self.plot, path, self.font())
        except UserError as error:
            self._tell(str(error))
        else:
            self._tell(tr("“{title}” is saved as {path}.", title=self.plot.title, path=path))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme_of(self.palette()).border, 1))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.end()
