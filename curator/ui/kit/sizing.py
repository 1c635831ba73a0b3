"""Sizes dialogs by the interface font: none is larger than the screen, and no text is cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

USUAL_LINE = 18
"""Line height in pixels of the font for which the dialog sizes were chosen."""
SCROLLED = "curator.scrolled"


def fit_to_words(dialog: QDialog, buttons: QDialogButtonBox | None) -> None:
    """Scale a dialog with the interface font, and enlarge it until its sentences fit, up to the size of the screen (or
    the window if larger). Then the contents can be scrolled; the `buttons` stay visible."""
    larger = max(dialog.fontMetrics().height() / USUAL_LINE, 1.0)
    room = _room(dialog)
    if _needed(dialog.layout(), room).width() > room.width():
        _stack(dialog, buttons)
    needed = _needed(dialog.layout(), room)
    if needed.boundedTo(room) != needed:
        _scroll(dialog, buttons)
    if (arranged := dialog.layout()) is not None:
        arranged.activate()  # the previous minimum size no longer applies
    width = min(max(int(dialog.width() * larger), dialog.sizeHint().width()), room.width())
    height = max(int(dialog.height() * larger), dialog.sizeHint().height())
    layout = dialog.layout()
    if layout is not None and layout.hasHeightForWidth():
        height = max(height, layout.heightForWidth(width))
    comfortable = max(room.height() - 2 * _frame(dialog).height(), needed.height())
    dialog.resize(width, min(height, comfortable, room.height()))


def make_room_for_words(dialog: QDialog, buttons: QDialogButtonBox | None) -> None:
    """Enlarge an open dialog for text added later, or let it scroll if the screen is too low."""
    layout, room = dialog.layout(), _room(dialog)
    if layout is None or not layout.hasHeightForWidth():
        return
    height = layout.minimumHeightForWidth(dialog.width())
    if height > room.height():
        _scroll(dialog, buttons)
    grow(dialog, QSize(dialog.width(), max(dialog.height(), min(height, room.height()))))


def grow(dialog: QDialog, size: QSize) -> None:
    """Resize a dialog; if it is shown, move it back onto the screen if necessary."""
    dialog.resize(size)
    handle = dialog.windowHandle()
    if handle is None or not handle.isVisible():
        return  # it is positioned when shown
    if handle.isExposed():
        _move_onto_screen(dialog)
    else:
        handle.installEventFilter(_Placed(dialog))


class _Placed(QObject):
    """Waits until the desktop has positioned a window, which it does by the initial size."""

    def __init__(self, dialog: QDialog) -> None:
        super().__init__(dialog)
        self._dialog = dialog

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Expose:
            watched.removeEventFilter(self)
            _move_onto_screen(self._dialog)
            self.deleteLater()
        return super().eventFilter(watched, event)


def _move_onto_screen(dialog: QDialog) -> None:
    room, frame = dialog.screen().availableGeometry(), dialog.frameGeometry()
    frame.moveRight(min(frame.right(), room.right()))
    frame.moveBottom(min(frame.bottom(), room.bottom()))
    corner = QPoint(max(frame.x(), room.x()), max(frame.y(), room.y()))
    if corner != dialog.pos():
        dialog.move(corner)


def _room(dialog: QDialog) -> QSize:
    parent = dialog.parentWidget()
    room = dialog.screen().availableSize()
    if parent is None:
        return room
    return (room - _frame(dialog)).expandedTo(parent.window().size())


def _frame(dialog: QDialog) -> QSize:
    """Frame height of the parent window: the dialog's frame is as high, and shifts it up by about as much."""
    parent = dialog.parentWidget()
    return parent.window().frameSize() - parent.window().size() if parent is not None else QSize(0, 0)


def _needed(layout: QLayout | None, room: QSize) -> QSize:
    """The least size in which no text of the layout is cut, up to the available width."""
    if layout is None:
        return QSize()
    least = layout.minimumSize()
    if layout.hasHeightForWidth():
        return QSize(least.width(), max(least.height(), layout.minimumHeightForWidth(max(least.width(), room.width()))))
    return least


def _stack(dialog: QDialog, buttons: QDialogButtonBox | None) -> None:
    """Stack the buttons at the right if a row is wider than the screen."""
    layout = dialog.layout()
    if buttons is not None and len(buttons.buttons()) > 2 and isinstance(layout, QBoxLayout):
        buttons.setOrientation(Qt.Orientation.Vertical)
        layout.setDirection(QBoxLayout.Direction.LeftToRight)


def _scroll(dialog: QDialog, buttons: QDialogButtonBox | None) -> None:
    """Move everything except the buttons into a scroll area; the focused widget stays focused and visible."""
    layout, focused = dialog.layout(), dialog.focusWidget()
    if buttons is None or not isinstance(layout, QBoxLayout) or dialog.findChild(QScrollArea, SCROLLED) is not None:
        return
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    shown = [one for one in dialog.findChildren(QWidget, options=direct) if not one.isHidden()]
    layout.removeWidget(buttons)
    inside, area = QWidget(), QScrollArea(dialog)
    inside.setLayout(layout)
    area.setObjectName(SCROLLED)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidgetResizable(True)
    area.setWidget(inside)
    whole = QBoxLayout(layout.direction(), dialog)
    whole.setContentsMargins(0, 0, 20, 16)
    whole.addWidget(area, 1)
    whole.addWidget(buttons)
    if layout.direction() is QBoxLayout.Direction.TopToBottom:
        buttons.setContentsMargins(20, 0, 0, 0)  # the area starts at the edge of the dialog, next to its scroll bar
    for one in (area, *shown):
        one.show()  # a layout would show moved widgets only later, and hidden widgets get no focus
    if focused is not None:
        focused.setFocus()


# A row of widgets that wraps if it is too wide.

Placed = tuple[QLayoutItem, QSize]


class FlowRow(QLayout):
    """Widgets from left to right in wrapped lines. Its minimum width is that of the widest widget, so that a panel does
    not push other columns aside. Expanding widgets take the rest of their line."""

    def __init__(self, *widgets: QWidget) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}  # by width: outer layouts query it repeatedly
        self._sizes: list[tuple[QLayoutItem, QSize, QSize]] | None = None  # of the least size; None: not computed yet
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(8)
        for one in widgets:
            self.addWidget(one)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        return True

    def invalidate(self) -> None:
        """Drop cached sizes; Qt calls it when items are resized, added or removed."""
        self._heights, self._sizes = {}, None
        super().invalidate()

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        width = self._width([(one, size) for one, size, _ in self._shown()])
        return QSize(width + margins.left() + margins.right(), self.minimumSize().height())

    def minimumSize(self) -> QSize:
        margins, sizes = self.contentsMargins(), [least for _, _, least in self._shown()]
        width, height = max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0)
        return QSize(width + margins.left() + margins.right(), height + margins.top() + margins.bottom())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Arrange the widgets; returns the total height of the lines."""
        room = rect.marginsRemoved(self.contentsMargins())
        y = room.top()
        for line in self._broken(room.width()):
            x, high = room.left(), max(size.height() for _, size in line)
            spare = room.width() - self._width(line)
            for item, size in line:
                if item.expandingDirections() & Qt.Orientation.Horizontal:
                    size, spare = size + QSize(spare, 0), 0
                if move:
                    item.setGeometry(QRect(QPoint(x, y + (high - size.height()) // 2), size))
                x += size.width() + self.spacing()
            y += high + self.spacing() // 2
        return y - self.spacing() // 2 + self.contentsMargins().bottom() - rect.top()

    def _shown(self) -> list[tuple[QLayoutItem, QSize, QSize]]:
        """The visible items with their preferred and minimum sizes."""
        if self._sizes is None:
            shown = [one for one in self._items if not one.isEmpty()]
            self._sizes = [(one, one.sizeHint().expandedTo(one.minimumSize()), one.minimumSize()) for one in shown]
        return self._sizes

    def _broken(self, width: int) -> Iterator[list[Placed]]:
        line: list[Placed] = []
        for one, size, least in self._shown():
            if line and self._width([*line, (one, size)]) > width:
                yield line
                line = []
            line.append((one, size.boundedTo(QSize(max(width, least.width()), size.height()))))
        if line:
            yield line

    def _width(self, line: Sequence[Placed]) -> int:
        return sum(size.width() + self.spacing() for _, size in line) - self.spacing()


# Pages, one of which is shown.


class Pages(QWidget):
    """Shows one of several pages, with its own height; a `QStackedWidget` would be as high as the highest page."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._pages: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def add(self, page: QWidget) -> None:
        page.hide()
        self._pages.append(page)
        self._column.addWidget(page)

    def count(self) -> int:
        return len(self._pages)

    def widget(self, number: int) -> QWidget:
        return self._pages[number]

    def current(self) -> int:
        return next((at for at, page in enumerate(self._pages) if not page.isHidden()), 0)

    def show_page(self, number: int) -> None:
        for at, page in enumerate(self._pages):
            page.setVisible(at == number)
