"""*Edit > Settings*: one row for each option of the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QWidget,
)

from curator.domain.entity_pages import pages_text
from curator.domain.wording import UserError, tr
from curator.settings.schema import Option, OptionKind, Settings, options, with_value
from curator.ui.kit.compose import choice, column
from curator.ui.kit.foreign_text import PlainEdit
from curator.ui.kit.form import FormDialog, PathEdit, sentence
from curator.ui.kit.row_list import scaled

CHOICES: Mapping[str, str] = {
    "system": "as the desktop",
    "en": "English",
    "de": "Deutsch",
    "light": "light",
    "dark": "dark",
    "auto": "automatic",
    "words": "whole words",
    "characters": "characters",
    "merged": "characters and words",
    "list": "a list",
    "one": "one at a time",
    "ranked": "best first",
    "shuffled": "in random order",
    "ask": "ask first",
    "open": "open the browser",
    "copy": "copy the address",
    "off": "off",
    "request": "only when I ask",
    "framed": "for doubtful mentions, when I reach them",
    "local": "this computer only",
    "any": "any computer",
}
"""Words for values; other values are shown as in the file."""


PAGE_LINES = 6


class SettingsDialog(FormDialog):
    """`settings` are the values in the dialog; raises UserError if a value is out of range. `name_held` gives the
    reason why the curator's name cannot change now, '' if it can."""

    def __init__(self, settings: Settings, *, name_held: str = "", parent: QWidget | None = None) -> None:
        super().__init__(tr("Settings"), ok=tr("Save"), parent=parent)
        self._before = settings
        self.fields: dict[str, QWidget] = {}
        for option in shown_options():
            field = _field(option, getattr(settings, option.name))
            field.setAccessibleName(tr(option.title))
            held = name_held if option.name == "curator_name" else ""
            field.setEnabled(not held)
            field.setAccessibleDescription(held or tr(option.help))
            self.fields[option.name] = field
            self.form.addRow(tr(option.title), _with_help(option, field, held=held))
        self._scroll()
        self.resize(720, 680)

    def _scroll(self) -> None:
        """Put the options into a scroll area, as they do not fit on a small screen."""
        inside = QWidget()
        self.body.removeItem(self.form)
        self.form.setParent(None)
        inside.setLayout(self.form)
        self.form.setContentsMargins(0, 0, 10, 0)
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)  # the area does not scroll sideways
        self.area = QScrollArea(self)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inside)
        self.body.addWidget(self.area, 1)
        for field in self.fields.values():
            field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Scroll to a field that gets the focus."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            self.area.ensureWidgetVisible(watched)
            self.area.horizontalScrollBar().setValue(0)
        return super().eventFilter(watched, event)

    @property
    def settings(self) -> Settings:
        result = self._before
        for option in shown_options():
            result = with_value(result, option.name, _value(self.fields[option.name]))
        return result

    def check(self) -> str:
        try:
            _ = self.settings
        except UserError as error:
            return str(error)
        return ""


def shown_options() -> tuple[Option, ...]:
    """The options in the dialog; keys have their own dialog."""
    return tuple(one for one in options() if one.kind is not OptionKind.KEYS)


def _field(option: Option, value: Any) -> QWidget:
    if option.kind is OptionKind.INTEGER:
        number = QSpinBox()
        number.setRange(option.minimum, option.maximum)
        number.setValue(value)
        return number
    if option.kind is OptionKind.CHOICE:
        box = choice("", [(tr(CHOICES[one]) if one in CHOICES else str(one), str(one)) for one in option.choices])
        box.setCurrentIndex(box.findData(str(value)))
        return box
    if option.kind is OptionKind.FOLDER:
        path = PathEdit(tr(option.title), mode=QFileDialog.FileMode.Directory)
        path.set_path(value)
        return path
    if option.kind is OptionKind.PAGES:
        lines = PlainEdit(pages_text(value))
        lines.setLineWrapMode(PlainEdit.LineWrapMode.NoWrap)
        lines.setTabChangesFocus(True)
        lines.setMinimumHeight(lines.fontMetrics().lineSpacing() * PAGE_LINES)
        return lines
    line = QLineEdit(str(value))
    if option.kind is OptionKind.SECRET:
        line.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
    return line


def _value(field: QWidget) -> Any:
    if isinstance(field, QSpinBox):
        return field.value()
    if isinstance(field, QComboBox):
        return field.currentData()
    if isinstance(field, PathEdit):
        return field.line.text().strip()
    if isinstance(field, QPlainTextEdit):
        return field.toPlainText()
    assert isinstance(field, QLineEdit)
    return field.text().strip()


def _with_help(option: Option, field: QWidget, *, held: str = "") -> QWidget:
    """The field with its help text below; `held` is shown instead if the field cannot be changed."""
    felt = tr("Takes effect {when}.", when=tr(option.felt)) if option.felt else ""
    words = sentence(held or "\n".join(part for part in (tr(option.help), felt) if part), muted=not held)
    words.setFont(scaled(words.font(), 0.9))
    whole = QWidget()
    column(field, words, of=whole, margins=(0, 0, 0, 6), spacing=2)
    return whole
