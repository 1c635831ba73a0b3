"""The first page, shown while no project is open."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from curator.domain.wording import tr
from curator.ui.kit.foreign_text import PlainLabel, tip
from curator.ui.kit.form import sentence
from curator.ui.kit.row_list import scaled
from curator.ui.shell.recent import Recent

MOST_RECENT = 6
WIDTH_IN_LETTERS = 64
WHOLE = "curator.whole"
"""Property with the full text of a button that may be shortened."""


class WelcomePage(QWidget):
    """Buttons for a new project, an existing one, the demo projects and recent ones."""

    new_wanted = Signal()
    open_wanted = Signal()
    demo_wanted = Signal(str)  # world
    recent_wanted = Signal(object)  # Path

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Welcome"))
        column = QFrame(self)
        self._rows = QVBoxLayout(column)
        self._rows.setSpacing(10)
        self._title = PlainLabel("Curator", column)
        self._rows.addWidget(self._title)
        self._rows.addWidget(
            sentence(tr("Review the entities that documents mention, and train the linker as you go."))
        )
        self._rows.addSpacing(14)
        self.first = self._button(tr("New project…"), "", self.new_wanted.emit)
        self.open = self._button(tr("Open project…"), "", self.open_wanted.emit)
        self._rows.addSpacing(14)
        self._rows.addWidget(sentence(tr("To try it out: invented documents with a knowledge base")))
        self.pubmed = self._button(
            tr("Open demo project: PubMed abstracts"), "pubmed", lambda: self.demo_wanted.emit("pubmed")
        )
        self.wikia = self._button(
            tr("Open demo project: Wikia worlds"), "wikia", lambda: self.demo_wanted.emit("wikia")
        )
        self._recent = QVBoxLayout()
        self._recent.setSpacing(4)
        self._rows.addSpacing(14)
        self._rows.addLayout(self._recent)
        self.note = sentence("")
        self._rows.addWidget(self.note)
        inside = QWidget()
        middle = QVBoxLayout(inside)
        middle.addStretch(2)
        middle.addWidget(column, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(3)
        area = QScrollArea(self)  # large words or many projects on a small screen
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setWidget(inside)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)
        self._column, self._inside = column, inside
        self._fit()

    def _button(self, words: str, why: str, then: object) -> QPushButton:
        button = QPushButton(words, self)
        button.setToolTip(tip(why))
        button.clicked.connect(then)
        self._rows.addWidget(button)
        return button

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            QTimer.singleShot(0, self, self._fit)  # after its contents have the new font

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()  # the font may have changed while another page was visible

    def _fit(self) -> None:
        """Set the column width in letters, for any font size, without cutting off text."""
        metrics = self.fontMetrics()
        self._title.setFont(scaled(self.font(), 2.4, bold=True))
        self._column.setFixedWidth(min(metrics.averageCharWidth() * WIDTH_IN_LETTERS, max(self.width() - 40, 200)))
        for button in self._column.findChildren(QPushButton):
            button.setMinimumHeight(metrics.height() * 2)
            if whole := button.property(WHOLE):  # a long path is elided in the middle; the tooltip is full
                room = self._column.width() - 8 * metrics.averageCharWidth()
                button.setText(metrics.elidedText(whole, Qt.TextElideMode.ElideMiddle, room))
        self._rows.invalidate()
        needed = self._rows.totalHeightForWidth(self._column.width())
        self._column.setMinimumHeight(needed)  # its own size hint overestimates the width of sentences
        self._inside.setMinimumHeight(needed + 2 * metrics.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Return press the focused button, as in a dialog."""
        button = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(button, QPushButton):
            button.click()
        else:
            super().keyPressEvent(event)

    def show_recent(self, projects: Sequence[Recent]) -> None:
        """Show recent projects, also missing ones: their folder may return, or be restored from a backup."""
        while (item := self._recent.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        if projects:
            self._recent.addWidget(sentence(tr("Recent projects")))
        for one in projects[:MOST_RECENT]:
            name = one.name if one.there else tr("{name} (not found)", name=one.name)
            button = QPushButton(self)
            button.setProperty(WHOLE, f"{name}  —  {one.where}".replace("&", "&&"))
            button.setFlat(True)
            button.setStyleSheet("text-align: left; padding-left: 8px")
            button.setAccessibleName(tr("Open {folder}", folder=one.folder))
            button.setToolTip(tip(str(one.folder)))
            button.clicked.connect(lambda _=False, folder=one.folder: self.recent_wanted.emit(folder))
            self._recent.addWidget(button)
        self._fit()
