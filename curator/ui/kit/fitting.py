"""The size of dialogs in the font of the interface: none is larger than the screen, and no word is cut."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QDialog, QDialogButtonBox, QFrame, QLayout, QScrollArea, QWidget

USUAL_LINE = 18
"""Pixels of a line of the usual font, for which the dialogs' sizes were chosen."""
SCROLLED = "curator.scrolled"


def fit_to_words(dialog: QDialog, buttons: QDialogButtonBox | None) -> None:
    """Enlarge a dialog by as much as the interface's font is larger than the usual one, and until its sentences have
    their lines; not beyond the screen, or the window where that is larger. What has no room then can be scrolled; the
    `buttons` stay in sight."""
    larger = max(dialog.fontMetrics().height() / USUAL_LINE, 1.0)
    room = _room(dialog)
    if _needed(dialog.layout(), room).width() > room.width():
        _stack(dialog, buttons)
    needed = _needed(dialog.layout(), room)
    if needed.boundedTo(room) != needed:
        _scroll(dialog, buttons)
    if (arranged := dialog.layout()) is not None:
        arranged.activate()  # the least size of before holds no longer
    width = min(max(int(dialog.width() * larger), dialog.sizeHint().width()), room.width())
    height = max(int(dialog.height() * larger), dialog.sizeHint().height())
    layout = dialog.layout()
    if layout is not None and layout.hasHeightForWidth():
        height = max(height, layout.heightForWidth(width))
    dialog.resize(width, min(height, room.height()))


def make_room_for_words(dialog: QDialog, buttons: QDialogButtonBox | None) -> None:
    """Let a dialog that is open grow for words that came after it was shown, or scroll where the screen is too low."""
    layout, room = dialog.layout(), _room(dialog)
    if layout is None or not layout.hasHeightForWidth():
        return
    height = layout.minimumHeightForWidth(dialog.width())
    if height > room.height():
        focused = dialog.focusWidget()
        _scroll(dialog, buttons)
        if focused is not None:
            focused.setFocus()
    dialog.resize(dialog.width(), max(dialog.height(), min(height, room.height())))


def _room(dialog: QDialog) -> QSize:
    parent = dialog.parentWidget()
    room = dialog.screen().availableSize()
    return room if parent is None else room.expandedTo(parent.window().size())


def _needed(layout: QLayout | None, room: QSize) -> QSize:
    """The least in which no word of the layout is cut, where it may be as wide as the room."""
    if layout is None:
        return QSize()
    least = layout.minimumSize()
    if layout.hasHeightForWidth():
        return QSize(least.width(), max(least.height(), layout.minimumHeightForWidth(max(least.width(), room.width()))))
    return least


def _stack(dialog: QDialog, buttons: QDialogButtonBox | None) -> None:
    """The buttons one above the other at the right, where a row of them is wider than the screen."""
    layout = dialog.layout()
    if buttons is not None and len(buttons.buttons()) > 2 and isinstance(layout, QBoxLayout):
        buttons.setOrientation(Qt.Orientation.Vertical)
        layout.setDirection(QBoxLayout.Direction.LeftToRight)


def _scroll(dialog: QDialog, buttons: QDialogButtonBox | None) -> None:
    """Everything but the buttons into an area that scrolls; what has the keyboard is brought into sight by it."""
    layout = dialog.layout()
    if buttons is None or not isinstance(layout, QBoxLayout) or dialog.findChild(QScrollArea, SCROLLED) is not None:
        return
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
