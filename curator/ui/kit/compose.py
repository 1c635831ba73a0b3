"""Widgets put together: columns, rows, splitters, buttons, choices and labelled fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QHBoxLayout,
    QLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from curator.ui.kit.foreign_text import PlainLabel, tip

Part: TypeAlias = QWidget | QLayout | tuple[QWidget | QLayout, int] | int
"""A widget or layout, with its share of the space that is left; a number is an empty share."""
L = TypeVar("L", bound=QBoxLayout)
Margins: TypeAlias = int | tuple[int, int, int, int] | None
"""On all sides, or left, above, right, below; None: those of the style."""


def column(*parts: Part, of: QWidget | None = None, margins: Margins = 0, spacing: int | None = None) -> QVBoxLayout:
    """Parts below each other; `of`: the widget whose layout this becomes."""
    return _filled(QVBoxLayout(), parts, of, margins, spacing)


def row(*parts: Part, of: QWidget | None = None, margins: Margins = 0, spacing: int | None = None) -> QHBoxLayout:
    """Parts beside each other; `of`: the widget whose layout this becomes."""
    return _filled(QHBoxLayout(), parts, of, margins, spacing)


def pane(*parts: Part, parent: QWidget, margins: Margins = 0, spacing: int | None = None) -> QWidget:
    """A widget with parts below each other."""
    found = QWidget(parent)
    column(*parts, of=found, margins=margins, spacing=spacing)
    return found


def splitter(
    *parts: QWidget, parent: QWidget, sizes: Sequence[int], stretch: Sequence[int] = (), across: bool = False
) -> QSplitter:
    """Parts that share the height, or with `across` the width; none can be closed."""
    found = QSplitter(Qt.Orientation.Horizontal if across else Qt.Orientation.Vertical, parent)
    for part in parts:
        found.addWidget(part)
    found.setChildrenCollapsible(False)
    for at, share in enumerate(stretch):
        found.setStretchFactor(at, share)
    found.setSizes(list(sizes))
    return found


def button(
    words: str, then: Callable[[], object] | None = None, *, parent: QWidget | None = None, name: str = ""
) -> QPushButton:
    """A button that Enter presses only if it has the focus; `name` is for screen readers."""
    found = QPushButton(words, parent)
    found.setAutoDefault(False)
    if name:
        found.setAccessibleName(name)
    if then is not None:
        found.clicked.connect(lambda: then())
    return found


def tool(
    words: str, name: str, then: Callable[[], object] | None = None, *, hint: str = "", parent: QWidget | None = None
) -> QToolButton:
    """A small button; `name` is for screen readers, `hint` for the mouse."""
    found = QToolButton(parent)
    found.setText(words)
    found.setAccessibleName(name)
    found.setToolTip(tip(hint or name))
    if then is not None:
        found.clicked.connect(lambda: then())
    return found


def field(
    name: str, *, hint: str = "", text: str = "", clear: bool = False, parent: QWidget | None = None
) -> QLineEdit:
    """A line to type in; `hint` is shown while it is empty, `clear`: with a button that empties it."""
    found = QLineEdit(text, parent)
    found.setAccessibleName(name)
    found.setPlaceholderText(hint)
    found.setClearButtonEnabled(clear)
    return found


def choice(
    name: str,
    rows: Iterable[tuple[str, object]] = (),
    *,
    parent: QWidget | None = None,
    least: int = 0,
    fits: bool = False,
) -> QComboBox:
    """A box to choose from, with words and data. `fits`: as wide as its words; `least`: at least so many letters."""
    box = QComboBox(parent)
    if name:
        box.setAccessibleName(name)
    if fits:
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    if least:
        box.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        box.setMinimumContentsLength(least)
    for words, data in rows:
        box.addItem(words, data)
    return box


def offer(box: QComboBox, rows: Sequence[tuple[str, object]], *, chosen: object = None) -> None:
    """Replace what can be chosen, without a signal; `chosen`, or else what was chosen before, is kept if possible."""
    wanted = box.currentData() if chosen is None else chosen
    with QSignalBlocker(box):
        box.clear()
        for words, data in rows:
            box.addItem(words, data)
        box.setCurrentIndex(next((at for at, (_, data) in enumerate(rows) if data == wanted), 0))
    box.updateGeometry()


def labelled(words: str, field: QWidget, *, margins: Margins = (0, 0, 12, 0)) -> QWidget:
    """A field with a label before it, which names it for screen readers too."""
    both = QWidget(field.parentWidget())
    label = PlainLabel(words, both)
    label.setBuddy(field)
    if not field.accessibleName():
        field.setAccessibleName(words.replace("&", "").rstrip(":"))
    row(label, field, of=both, margins=margins)
    return both


def _filled(layout: L, parts: Sequence[Part], of: QWidget | None, margins: Margins, spacing: int | None) -> L:
    if of is not None:
        of.setLayout(layout)
    if margins is not None:
        sides = (margins, margins, margins, margins) if isinstance(margins, int) else margins
        layout.setContentsMargins(*sides)
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
            continue
        one, share = part if isinstance(part, tuple) else (part, 0)
        if isinstance(one, QLayout):
            layout.addLayout(one, share)
        else:
            layout.addWidget(one, share)
    return layout
