"""What the dialogs share: a form with a sentence above, a place for what is wrong, and two buttons."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from curator.domain.wording import tr
from curator.ui.labels import NoteLabel

USUAL_LINE = 18
"""Pixels of a line of the usual font, for which the dialogs' sizes were chosen."""


SCROLLED = "curator.scrolled"


class FormDialog(QDialog):
    """`body` takes widgets, `form` takes rows. `accept` calls `check`, which says what is wrong ('' nothing)."""

    def __init__(self, title: str, *, intro: str = "", ok: str = "OK", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.body = QVBoxLayout()
        self.body.setSpacing(12)
        self.form = QFormLayout()
        self.form.setSpacing(10)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.problem = NoteLabel(self)
        self.problem.setAccessibleName(tr("Problem"))
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, parent=self
        )
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText(ok)
        _without_icons(self.buttons)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(20, 18, 20, 16)
        whole.setSpacing(14)
        if intro:
            whole.addWidget(sentence(intro))
        whole.addLayout(self.body, 1)
        self.body.addLayout(self.form)
        whole.addWidget(self.problem)
        whole.addWidget(self.buttons)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    def showEvent(self, event: QShowEvent) -> None:
        fit_to_words(self)
        super().showEvent(event)

    def check(self) -> str:
        """What keeps the dialog from being accepted, as a sentence; '' when nothing does."""
        return ""

    def accept(self) -> None:
        problem = self.check()
        self.problem.set_note(problem)
        if not problem:
            super().accept()


class ShowDialog(QDialog):
    """Shows something that is only read; Esc and Close leave."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.body = QVBoxLayout()
        self.body.setSpacing(12)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, parent=self)
        self.buttons.rejected.connect(self.reject)
        self.buttons.accepted.connect(self.accept)
        _without_icons(self.buttons)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(20, 18, 20, 16)
        whole.setSpacing(14)
        whole.addLayout(self.body, 1)
        whole.addWidget(self.buttons)

    def showEvent(self, event: QShowEvent) -> None:
        fit_to_words(self)
        super().showEvent(event)

    def add_button(self, words: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setAutoDefault(False)
        self.buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        return button


class PathEdit(QWidget):
    """A path that can be typed or browsed for. `mode`: an existing file, a folder, or a file to be written.

    With `or_folder` a second button browses for a folder, since a file dialog gives either the one or the other.
    """

    changed = Signal()

    def __init__(
        self,
        name: str,
        *,
        mode: QFileDialog.FileMode,
        filters: str = "",
        or_folder: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._name, self._filters = name, filters
        self.line = QLineEdit(self)
        self.line.setAccessibleName(name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        self.button = self._button(
            tr("File…") if or_folder else tr("Browse…"), tr("Browse for {name}", name=name), mode
        )
        if or_folder:
            self.folder_button = self._button(
                tr("Folder…"), tr("Browse for {name}: a folder", name=name), QFileDialog.FileMode.Directory
            )
        self.setFocusProxy(self.line)
        self.line.textChanged.connect(lambda: self.changed.emit())

    def _button(self, words: str, name: str, mode: QFileDialog.FileMode) -> QPushButton:
        button = QPushButton(words, self)
        button.setAccessibleName(name)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: self._browse(mode))
        layout = self.layout()
        assert layout is not None
        layout.addWidget(button)
        return button

    @property
    def path(self) -> Path | None:
        text = self.line.text().strip()
        return Path(text).expanduser() if text else None

    def set_path(self, path: Path | str) -> None:
        self.line.setText(str(path))

    def _browse(self, mode: QFileDialog.FileMode) -> None:
        filters = "" if mode is QFileDialog.FileMode.Directory else self._filters
        dialog = file_dialog(self, self._name, mode=mode, filters=filters)
        start = self.path
        if start is not None:
            dialog.setDirectory(str(start if start.is_dir() else start.parent))
        dialog.fileSelected.connect(self.set_path)
        dialog.open()


def fit_to_words(dialog: FormDialog | ShowDialog) -> None:
    """Enlarge a dialog by as much as the interface's font is larger than the usual one, and until its sentences have
    their lines; not beyond the screen, or the window where that is larger. What has no room then can be scrolled."""
    larger = max(dialog.fontMetrics().height() / USUAL_LINE, 1.0)
    room = _room(dialog)
    if _needed(dialog.layout(), room).width() > room.width():
        _stack(dialog)
    needed = _needed(dialog.layout(), room)
    if needed.boundedTo(room) != needed:
        _scroll(dialog)
    if (arranged := dialog.layout()) is not None:
        arranged.activate()  # the least size of before holds no longer
    width = min(max(int(dialog.width() * larger), dialog.sizeHint().width()), room.width())
    height = max(int(dialog.height() * larger), dialog.sizeHint().height())
    layout = dialog.layout()
    if layout is not None and layout.hasHeightForWidth():
        height = max(height, layout.heightForWidth(width))
    dialog.resize(width, min(height, room.height()))


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


def _stack(dialog: FormDialog | ShowDialog) -> None:
    """The buttons one above the other at the right, where a row of them is wider than the screen."""
    layout = dialog.layout()
    if isinstance(dialog, ShowDialog) and isinstance(layout, QBoxLayout):
        dialog.buttons.setOrientation(Qt.Orientation.Vertical)
        layout.setDirection(QBoxLayout.Direction.LeftToRight)


def _scroll(dialog: FormDialog | ShowDialog) -> None:
    """Everything but the buttons into an area that scrolls; what has the keyboard is brought into sight by it."""
    layout = dialog.layout()
    if not isinstance(layout, QBoxLayout) or dialog.findChild(QScrollArea, SCROLLED) is not None:
        return
    layout.removeWidget(dialog.buttons)
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
    whole.addWidget(dialog.buttons)


def file_dialog(parent: QWidget, title: str, *, mode: QFileDialog.FileMode, filters: str = "") -> QFileDialog:
    """A file dialog to be opened with `open`; it deletes itself."""
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(mode)
    if mode is QFileDialog.FileMode.Directory:
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    if mode is QFileDialog.FileMode.AnyFile:
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, False)
    if filters:
        dialog.setNameFilter(filters)
    return dialog


def _without_icons(buttons: QDialogButtonBox) -> None:
    """Words alone: whether there are icons differs from desktop to desktop."""
    for button in buttons.buttons():
        button.setIcon(QIcon())


def sentence(words: str, *, selectable: bool = False, muted: bool = False) -> QLabel:
    """Plain text that wraps; `muted` is for what is secondary."""
    label = QLabel(words)
    if muted:
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)  # a role follows a change of theme
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    if selectable:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
