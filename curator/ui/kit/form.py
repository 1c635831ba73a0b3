"""The base of dialogs: the initial focus, what Enter does, and a form with a sentence at the top and two buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFont, QIcon, QKeyEvent, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QTabBar,
    QTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from curator.domain.wording import tr
from curator.ui.kit.compose import button, column, row
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.sight import MODIFIERS
from curator.ui.kit.sizing import fit_to_words, make_room_for_words

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
FIELDS = (QAbstractItemView, QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit, QTextEdit)
PRESSED = (QPushButton, QToolButton)
"""Widgets that Enter presses; it does not toggle check boxes."""
EDGES = (20, 18, 20, 16)
"""Pixels around the contents of a dialog."""


class _WheelGuard(QObject):
    """Ignores the mouse wheel over a field without the keyboard focus, so that it scrolls what is around the field."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def guard_from_wheel(root: QWidget) -> None:
    """Let the mouse wheel change the fields in a widget only if they have the keyboard focus, and not give it them."""
    guard = root.findChild(_WheelGuard, options=Qt.FindChildOption.FindDirectChildrenOnly) or _WheelGuard(root)
    for field in (*root.findChildren(QComboBox), *root.findChildren(QAbstractSpinBox)):
        if field.focusPolicy() is Qt.FocusPolicy.WheelFocus:
            field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            field.installEventFilter(guard)


class BaseDialog(QDialog):
    """A window or dialog in which Enter triggers only what the curator has seen, and the mouse wheel changes only a
    field with the keyboard focus.

    The initial focus is the widget set with `setFocus`, else the list or first field. Enter presses the focused button,
    else the one set with `enter_presses`; Qt makes none the default by itself. A held Enter key presses nothing, as it
    may have opened the window.
    """

    lists_first = True
    """Whether the initial focus prefers a list over a field before it."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._default: QPushButton | None = None
        self._was_shown = False
        self.body = QVBoxLayout()
        self.body.setSpacing(12)

    def enter_presses(self, button: QPushButton | None) -> None:
        """Make this button the only default one; None: Enter presses only a focused button."""
        self._default = button
        for one in self.findChildren(QPushButton):
            one.setAutoDefault(False)
            one.setDefault(one is button)
            one.setPalette(_quiet(one.palette()) if one is button else QPalette())
            one.setFont(_bold() if one is button else QFont())

    def showEvent(self, event: QShowEvent) -> None:
        fit_to_words(self, self.findChild(QDialogButtonBox))
        guard_from_wheel(self)
        super().showEvent(event)
        self.enter_presses(self._default)  # the button box has just made its first button the default
        if not self._was_shown:
            self._was_shown = True
            self._give_keyboard()

    def _give_keyboard(self) -> None:
        """Focus the first suitable widget, unless the window has set the focus itself."""
        focused = self.focusWidget()
        if focused is not None and focused.isVisible() and focused.isEnabled():
            return
        first = min(self._stops(), key=self._rank, default=None)
        if first is not None:
            first.setFocus(Qt.FocusReason.ActiveWindowFocusReason)

    def _stops(self) -> Iterator[QWidget]:
        """The widgets in the Tab order."""
        one = self.nextInFocusChain()
        while one is not None and one is not self:
            stops = one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.focusProxy() is None
            if stops and one.window() is self and one.isVisibleTo(self) and one.isEnabledTo(self):
                yield one
            one = one.nextInFocusChain()

    def _rank(self, widget: QWidget) -> int:
        """Rank for the initial focus: lists, fields, other views, check boxes; among buttons the one that closes."""
        if isinstance(widget, PRESSED):
            box = self.findChild(QDialogButtonBox)
            leaves = box is not None and box.buttonRole(widget) is QDialogButtonBox.ButtonRole.RejectRole
            return 5 if leaves else 6
        if isinstance(widget, QAbstractItemView) and self.lists_first:
            return 0
        if isinstance(widget, FIELDS):
            return 1
        if isinstance(widget, QTabBar):
            return 4
        return 3 if isinstance(widget, QAbstractButton | QAbstractScrollArea) else 2

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in ENTER:
            super().keyPressEvent(event)
            return
        event.accept()
        focused = self.focusWidget()
        button = focused if isinstance(focused, PRESSED) else self._default
        if button is not None and button.isVisible() and not event.isAutoRepeat():
            button.click()


class FormDialog(BaseDialog):
    """`body` takes widgets, `form` takes rows. `accept` calls `check`, which returns an error ('' for none).

    Enter accepts after the first typing, focus change or click in the dialog, unless `enter_accepts` is False.
    """

    lists_first = False
    enter_accepts = True

    def __init__(self, title: str, *, intro: str = "", ok: str = "OK", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setWindowModality(Qt.WindowModality.WindowModal)
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
        head = [sentence(intro)] if intro else []
        column(*head, (self.body, 1), self.problem, self.buttons, of=self, margins=EDGES, spacing=14)
        self.body.addLayout(self.form)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    def showEvent(self, event: QShowEvent) -> None:
        if not self._was_shown and self._default is None and self.enter_accepts:
            _FirstTouch(self, self._touched)
        super().showEvent(event)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest and self._was_shown:
            make_room_for_words(self, self.buttons)
            if any(one.isDefault() is not (one is self._default) for one in self.findChildren(QPushButton)):
                self.enter_presses(self._default)  # buttons that were moved: the box made its first one the default
        return done

    def _touched(self) -> None:
        if self._default is None:
            self.enter_presses(self.ok)

    def check(self) -> str:
        """The reason why the dialog cannot be accepted, as a sentence; '' if it can."""
        return ""

    def accept(self) -> None:
        problem = self.check()
        self.problem.set_note(problem)
        if not problem:
            super().accept()


class _FirstTouch(QObject):
    """Calls `then` once, at the first typing, focus change or click in a dialog."""

    def __init__(self, dialog: QDialog, then: Callable[[], None]) -> None:
        super().__init__(dialog)
        self._dialog, self._then = dialog, then
        app = QApplication.instance()
        assert app is not None
        app.installEventFilter(self)  # Qt removes the filter with the dialog
        dialog.finished.connect(self._end)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if _touches(event) and isinstance(watched, QWidget) and watched.window() is self._dialog:
            self._end()
            self._then()
        return False

    def _end(self) -> None:
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)


def _touches(event: QEvent) -> bool:
    if event.type() == QEvent.Type.KeyPress:
        assert isinstance(event, QKeyEvent)
        return event.key() not in (*ENTER, *MODIFIERS)
    return event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.InputMethod, QEvent.Type.Drop)


class ShowDialog(BaseDialog):
    """Shows something to read, or lines with actions; Esc and Close leave."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, parent=self)
        self.buttons.rejected.connect(self.reject)
        self.buttons.accepted.connect(self.accept)
        _without_icons(self.buttons)
        column((self.body, 1), self.buttons, of=self, margins=EDGES, spacing=14)

    def add_button(self, words: str, then: Callable[[], object] | None = None) -> QPushButton:
        added = button(words, then, parent=self)
        self.buttons.addButton(added, QDialogButtonBox.ButtonRole.ActionRole)
        return added


W = TypeVar("W", bound=QDialog)


class OneWindow(Generic[W]):
    """A window that is made when it is first shown, and again after it was closed; `window` is None while it is
    closed."""

    def __init__(self, make: Callable[[], W]) -> None:
        self._make = make
        self.window: W | None = None

    def show(self) -> W:
        """Bring it forward."""
        if self.window is None:
            self.window = self._make()
            self.window.finished.connect(self._gone)
        bring_up(self.window)
        return self.window

    def _gone(self) -> None:
        self.window = None

    def close(self) -> None:
        if self.window is not None:
            self.window.close()


def bring_up(window: QWidget) -> None:
    window.show()
    window.raise_()
    window.activateWindow()


class EmptyPage(QFrame):
    """Replaces an empty list: what is missing, and a button below to create the first entry."""

    def __init__(self, headline: str, words: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.headline, self.words = sentence(""), sentence("")
        font = self.headline.font()
        font.setBold(True)
        self.headline.setFont(font)
        for label in (self.headline, self.words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setForegroundRole(QPalette.ColorRole.Text)
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        column(2, self.headline, self.words, 3, of=self, margins=(24, 16, 24, 16), spacing=6)
        self.say(headline, words)

    def say(self, headline: str, words: str = "") -> None:
        self.headline.setText(headline)
        self.words.setText(words)
        self.words.setVisible(bool(words))

    def stand_in(self, table: QWidget, *, empty: bool, then: QWidget | None = None) -> None:
        """Show this page or the table; `then` gets the focus that the table had."""
        focused = self.window().focusWidget()  # checked first: Qt may give the focus to any button
        leaves = empty and focused is not None and (table is focused or table.isAncestorOf(focused))
        self.setVisible(empty)
        table.setVisible(not empty)
        if leaves and then is not None:
            then.setFocus(Qt.FocusReason.OtherFocusReason)


class PathEdit(QWidget):
    """A path that can be typed or browsed for. `mode`: an existing file, a folder, or a file to be written.

    With `or_folder` a second button browses for a folder, since a file dialog offers only one of both.
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
        parts = row((self.line, 1), of=self)
        words = tr("File…") if or_folder else tr("Browse…")
        self.button = button(words, lambda: self._browse(mode), name=tr("Browse for {name}", name=name), parent=self)
        parts.addWidget(self.button)
        if or_folder:
            self.folder_button = button(
                tr("Folder…"),
                lambda: self._browse(QFileDialog.FileMode.Directory),
                name=tr("Browse for {name}: a folder", name=name),
                parent=self,
            )
            parts.addWidget(self.folder_button)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # without it the letter of its label does nothing
        self.setFocusProxy(self.line)
        self.line.textChanged.connect(lambda: self.changed.emit())

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


def ask_file(
    parent: QWidget,
    title: str,
    then: Callable[[Path], object],
    *,
    mode: QFileDialog.FileMode = QFileDialog.FileMode.AnyFile,
    filters: str = "",
    name: str = "",
) -> QFileDialog:
    """Open a file dialog; `then` gets the chosen path. `name`: the name that is proposed, whose suffix is added to
    others."""
    dialog = file_dialog(parent, title, mode=mode, filters=filters)
    if name:
        dialog.setDefaultSuffix(name.rpartition(".")[2])
        dialog.selectFile(name)
    dialog.fileSelected.connect(lambda chosen: then(Path(chosen)))
    dialog.open()
    return dialog


def _quiet(palette: QPalette) -> QPalette:
    """For a default button: remove the frame that the style draws in the focus colour although the button has no
    focus."""
    found = QPalette(palette)
    found.setColor(QPalette.ColorRole.Highlight, palette.color(QPalette.ColorRole.Window).darker(112))
    return found


def _bold() -> QFont:
    """The font of the interface, in its current size: bold text marks the default button."""
    found = QFont()
    found.setBold(True)
    return found


def _without_icons(buttons: QDialogButtonBox) -> None:
    """Remove button icons, since they differ between desktops."""
    for one in buttons.buttons():
        one.setIcon(QIcon())


def sentence(words: str, *, selectable: bool = False, muted: bool = False) -> QLabel:
    """Plain text that wraps; `muted` is for secondary text."""
    label = PlainLabel(words)
    if muted:
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)  # palette roles follow a change of theme
    label.setWordWrap(True)
    if selectable:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
