"""Saves and restores a window's layout: position, splitters, columns, hidden panes.

Parts are identified by object name: a `QSplitter`, a table's header (by the table's name), and any widget that was
marked with `keep_shown`. A part without a name is not saved.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QRect, QSize, QTimer, Signal
from PySide6.QtWidgets import QApplication, QHeaderView, QMainWindow, QSplitter, QStyle, QTableView, QWidget

from curator.ui.kit.layout_store import SavedLayout, forget_layout, keep_layout, layout_of, on_screen, usual_layout

WAIT = 700
"""Milliseconds of quiet before a change is written."""
SHOWN, MOVED = "curator.keep_shown", "curator.moved"


def keep_shown(widget: QWidget, name: str) -> None:
    """Make the layout save whether this pane is shown."""
    widget.setObjectName(name)
    widget.setProperty(SHOWN, True)


class WindowLayout(QObject):
    """`restore_window` before the window is shown, `take` when a project opens, `leave` before it closes."""

    was_reset = Signal()

    def __init__(self, window: QMainWindow, *, usual_size: QSize) -> None:
        super().__init__(window)
        self._window = window
        self._usual_size = usual_size
        self._project: Path | None = None
        self._part: QWidget | None = None
        self._timer = QTimer(self, singleShot=True, interval=WAIT)
        self._timer.timeout.connect(self.save)
        window.installEventFilter(self)

    def restore_window(self, project: Path | None = None) -> bool:
        """Restore the window's position, moved onto an existing screen. False if nothing was saved."""
        layout = layout_of(project) if project is not None else usual_layout()
        if layout.place is None:
            return False
        title = self._window.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)  # the place is without a frame
        screens = [one.availableGeometry().adjusted(0, title, 0, 0) for one in QApplication.screens()]
        place = on_screen(QRect(*layout.place), screens, self._window.minimumSize())
        if place is None:
            return False
        self._window.setGeometry(place)
        if layout.maximised:
            self._window.showMaximized()
        return True

    def take(self, part: QWidget, project: Path) -> None:
        """Restore the project's panes and watch them."""
        self._part, self._project = part, project
        self._apply(layout_of(project))
        for splitter in self._splitters():
            splitter.splitterMoved.connect(lambda *_, one=splitter: self._moved(one))
        for header in self._headers():
            header.sectionResized.connect(lambda *_: self._timer.start())

    def leave(self) -> None:
        """Save the current layout and forget the project's panes; idempotent."""
        if self._part is not None:
            self.save()
        self._part = self._project = None
        self._timer.stop()

    def save(self) -> None:
        self._timer.stop()
        keep_layout(self.present(), self._project)

    def reset(self) -> None:
        """Restore the default layout; listeners of `was_reset` lay out the moved parts."""
        self._timer.stop()
        forget_layout(self._project)
        for splitter in self._splitters():
            splitter.setProperty(MOVED, False)
        for pane in self._panes():
            pane.show()
        self._window.showNormal()
        self._window.resize(self._usual_size)
        self.was_reset.emit()

    def present(self) -> SavedLayout:
        """The current layout; sizes only of parts that the curator moved, so that the others follow the window's
        width."""
        kept = self._window.normalGeometry() if self._window.isMaximized() else self._window.geometry()
        return SavedLayout(
            place=(kept.x(), kept.y(), kept.width(), kept.height()),
            maximised=self._window.isMaximized(),
            splitters={one.objectName(): tuple(one.sizes()) for one in self._splitters() if one.property(MOVED)},
            columns={_name(one): tuple(one.sectionSize(i) for i in range(one.count())) for one in self._headers()},
            hidden=tuple(one.objectName() for one in self._panes() if one.isHidden()),
        )

    def _apply(self, layout: SavedLayout) -> None:
        for splitter in self._splitters():
            sizes = layout.splitters.get(splitter.objectName(), ())
            if len(sizes) == splitter.count() and sum(sizes) > 0:
                splitter.setProperty(MOVED, True)
                splitter.setSizes(list(sizes))
        for header in self._headers():
            sizes = layout.columns.get(_name(header), ())
            if len(sizes) == header.count():
                for section, size in enumerate(sizes):
                    header.resizeSection(section, size)
        for pane in self._panes() if layout.place is not None else ():
            pane.setVisible(pane.objectName() not in layout.hidden)

    def _moved(self, splitter: QSplitter) -> None:
        splitter.setProperty(MOVED, True)
        self._timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        placed = event.type() in (QEvent.Type.Resize, QEvent.Type.Move)
        if placed and watched is self._window and self._window.isVisible():
            self._timer.start()
        return super().eventFilter(watched, event)

    # --- what takes part ---

    def _splitters(self) -> list[QSplitter]:
        found = self._part.findChildren(QSplitter) if self._part is not None else []
        return [one for one in found if one.objectName()]

    def _headers(self) -> list[QHeaderView]:
        tables = self._part.findChildren(QTableView) if self._part is not None else []
        return [one.horizontalHeader() for one in tables if one.objectName() and not one.horizontalHeader().isHidden()]

    def _panes(self) -> list[QWidget]:
        found = self._part.findChildren(QWidget) if self._part is not None else []
        return [one for one in found if one.property(SHOWN)]


def _name(header: QHeaderView) -> str:
    table = header.parentWidget()
    return table.objectName() if table is not None else ""
