"""The first page, shown while no project is open."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QWidget

from curator.domain.wording import tr
from curator.ui.kit.compose import button, column
from curator.ui.kit.foreign_text import PlainLabel, tip
from curator.ui.kit.form import sentence
from curator.ui.kit.row_list import scaled
from curator.ui.shell.recent import Recent

if TYPE_CHECKING:
    from curator.ui.shell.windows import Session

MOST_RECENT = 6
WIDTH_IN_LETTERS = 64
WHOLE = "curator.whole"
"""Property with the full text of a button that may be shortened."""


class WelcomePage(QWidget):
    """Buttons for a new project, an existing one, the demo projects and recent ones."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Welcome"))
        self._session = session
        self._column = QFrame(self)
        self._title = PlainLabel("Curator", self._column)
        self.first = button(tr("New project…"), session.new_project, parent=self)
        self.open = button(tr("Open project…"), session.choose_project, parent=self)
        self.pubmed = button(
            tr("Open demo project: PubMed abstracts"), lambda: session.open_demo("pubmed"), parent=self
        )
        self.wikia = button(tr("Open demo project: Wikia worlds"), lambda: session.open_demo("wikia"), parent=self)
        self._recent = column(spacing=4)
        self._rows = column(
            self._title,
            sentence(tr("Review the entities that documents mention, and train the linker as you go.")),
            self.first,
            self.open,
            sentence(tr("To try it out: invented documents with a knowledge base")),
            self.pubmed,
            self.wikia,
            self._recent,
            of=self._column,
            margins=None,
            spacing=10,
        )
        for place in (7, 4, 2):  # before the recent projects, the demos, and the first button
            self._rows.insertSpacing(place, 14)
        self._inside = QWidget()
        middle = column(2, self._column, 3, of=self._inside, margins=None)
        middle.setAlignment(self._column, Qt.AlignmentFlag.AlignHCenter)
        area = QScrollArea(self)  # large words or many projects on a small screen
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setWidget(self._inside)
        column(area, of=self)
        self._fit()

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
        for one in self._column.findChildren(QPushButton):
            one.setMinimumHeight(metrics.height() * 2)
            if whole := one.property(WHOLE):  # a long path is elided in the middle; the tooltip is full
                room = self._column.width() - 8 * metrics.averageCharWidth()
                one.setText(metrics.elidedText(whole, Qt.TextElideMode.ElideMiddle, room))
        self._rows.invalidate()
        needed = self._rows.totalHeightForWidth(self._column.width())
        self._column.setMinimumHeight(needed)  # its own size hint overestimates the width of sentences
        self._inside.setMinimumHeight(needed + 2 * metrics.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Return press the focused button, as in a dialog."""
        focused = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focused, QPushButton):
            focused.click()
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
            said = tr("Open {folder}", folder=one.folder)
            opens = button("", partial(self._session.open, one.folder), parent=self, name=said)
            opens.setProperty(WHOLE, f"{name}  —  {one.where}".replace("&", "&&"))
            opens.setFlat(True)
            opens.setStyleSheet("text-align: left; padding-left: 8px")
            opens.setToolTip(tip(str(one.folder)))
            self._recent.addWidget(opens)
        self._fit()
