"""All keys at a glance (?), generated from the commands."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QScrollArea, QWidget

from curator.commands.command import Command, Keymap, Menu
from curator.domain.wording import tr
from curator.ui.kit.compose import column
from curator.ui.kit.key_names import key_name
from curator.ui.kit.sight import watch
from curator.ui.kit.theme import theme_of
from curator.ui.shell.catalogue import COMMANDS

LEAST_LETTERS = 34
"""Least letters of a column; if three columns do not fit, they are stacked."""
COLUMNS: tuple[tuple[Menu, ...], ...] = (
    (Menu.MENTION, Menu.ANNOTATE),
    (Menu.EDIT, Menu.QUEUE, Menu.PROJECT),
    (Menu.VIEW, Menu.PEOPLE, Menu.MODEL, Menu.TOOLS, Menu.HELP),
)
USUAL = Keymap()
NARROW = 1100
ROOM_ASIDE = 90
"""Pixels for edges, margins and the scroll bar."""
EDGE = 12
"""Pixels of the dimmed window visible around the sheet."""
MORE = {
    Menu.MENTION: (
        ("← →", "Move a caret in the text; Ctrl moves it by word, Shift selects"),
        ("Esc", "Back to the text"),
    )
}


class KeysOverlay(QWidget):
    """Covers and dims the window. Esc, ? and a click close it and restore the focus."""

    def __init__(self, over: QWidget, *, keymap: Keymap = USUAL) -> None:
        super().__init__(over)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Keys"))
        self._before = over.window().focusWidget()
        watch(self)
        self.sheet = QFrame(self)
        self.sheet.setFrameShape(QFrame.Shape.StyledPanel)
        self.sheet.setAutoFillBackground(True)
        self._keymap = keymap
        self.labels = [QLabel(self.sheet) for _ in COLUMNS]
        self._write()
        columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        narrow = over.width() < max(NARROW, sum(one.sizeHint().width() + 36 for one in self.labels) + ROOM_ASIDE)
        columns.setSpacing(14 if narrow else 36)
        each = (over.width() - ROOM_ASIDE) // len(COLUMNS) - columns.spacing()
        if narrow and each < LEAST_LETTERS * self.fontMetrics().averageCharWidth():
            columns.setDirection(QBoxLayout.Direction.TopToBottom)
            each = over.width() - ROOM_ASIDE
        for label in self.labels:
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
            if narrow:  # the descriptions take more lines then
                label.setWordWrap(True)
                label.setFixedWidth(each)
            columns.addWidget(label)
        inside = QWidget()
        inside.setLayout(columns)
        columns.setContentsMargins(*((14, 12, 14, 12) if narrow else (26, 20, 26, 20)))
        self.area = QScrollArea(self.sheet)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(inside)
        self._wanted = inside.sizeHint()
        column(self.area, of=self.sheet, margins=2)
        over.installEventFilter(self)
        self._fit()
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def _write(self) -> None:
        for label, menus in zip(self.labels, COLUMNS, strict=True):
            label.setText(column_html(menus, self._keymap, muted=theme_of(self.palette()).muted.name()))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "labels"):
            self._write()

    def _fit(self) -> None:
        over = self.parentWidget()
        if over is None:
            return
        self.setGeometry(over.rect())
        wide, high = self._wanted.width() + 8, self._wanted.height() + 8
        bar = self.area.verticalScrollBar().sizeHint().width()
        width = min(wide + (bar if high > self.height() - 2 * EDGE else 0), self.width() - 2 * EDGE)
        height = min(high + (bar if wide > self.width() - 2 * EDGE else 0), self.height() - 2 * EDGE)
        self.sheet.setGeometry((self.width() - width) // 2, (self.height() - height) // 2, width, height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Keep all keys from the window while the overlay is open."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.area.verticalScrollBar()
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            bar.setValue(bar.value() + (40 if event.key() == Qt.Key.Key_Down else -40))
        elif event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Question, Qt.Key.Key_Return):
            self.leave()
        else:
            event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.sheet.geometry().contains(event.position().toPoint()):
            self.leave()

    def leave(self) -> None:
        if self._before is not None:
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.close()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(0, 0, 0, 110))
        painter.end()


def key_rows(menu: Menu, keymap: Keymap = USUAL) -> Iterator[tuple[str, str]]:
    """(keys, action) of a menu; the nine digits are one row."""
    for command in COMMANDS:
        if command.menu is menu and keymap.keys(command) and not _is_later_digit(command):
            yield keys_words(command, keymap), _digit_title(command)
    yield from ((key, tr(words)) for key, words in MORE.get(menu, ()))


def keys_words(command: Command[Any], keymap: Keymap = USUAL) -> str:
    """The keys as this desktop writes them."""
    shown = [key_name(one) for one in keymap.keys(command) if one != "Enter"]
    return f"{shown[0]}–9" if command.id in RANGES else "  ".join(shown)


RANGES = {
    "mention.choose1": "Choose a candidate",
    "mention.also1": "Add a candidate to the link, or remove it",
}
"""The first of nine commands that differ by a digit, representing all of them."""
DIGITS = RANGES | {"mention.nil_usual": "NIL, not in the knowledge base"}


def _is_later_digit(command: Command[Any]) -> bool:
    return command.hidden and command.id not in DIGITS


def _digit_title(command: Command[Any]) -> str:
    return tr(DIGITS[command.id]) if command.id in DIGITS else tr(command.title).removesuffix("…")


def column_html(menus: tuple[Menu, ...], keymap: Keymap = USUAL, *, muted: str) -> str:
    parts = []
    for menu in menus:
        parts.append(
            f"<p style='color:{muted}; margin:10px 0 4px 0'><b>{escape(tr(menu.value))}</b></p><table cellspacing='0'>"
        )
        parts += [
            f"<tr><td style='padding:2px 18px 2px 0; white-space:nowrap'><b>{escape(keys)}</b></td>"
            f"<td style='padding:2px 0'>{escape(words)}</td></tr>"
            for keys, words in key_rows(menu, keymap)
        ]
        parts.append("</table>")
    return "".join(parts)
