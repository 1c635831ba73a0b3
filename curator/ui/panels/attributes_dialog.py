"""*Annotate > Attributes of the project*: the attributes of mentions, with their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QSizePolicy, QWidget

from curator.domain.attributes import MOST_VALUES, PRESETS, Attribute, AttributeValue, Scheme
from curator.domain.wording import UserError, localised, ntr, tr
from curator.services.importing.file_attributes import FileAttribute
from curator.ui.kit.compose import button, choice, column, field, row
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.form import EmptyPage, FormDialog, sentence
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.record_tables import RecordColumn, RecordTable

INTRO = (
    "An attribute says more about a mention than its link, for example that it is negated. It has up to nine values; "
    "each mention has at most one of them."
)
NONE, MAKE = "No attributes yet", "“New…” adds one; common ones are offered there."
EDIT_INTRO = "Empty a value to delete it. Mentions that have it keep it, hidden, until it is restored."
NO_PRESET = "own values"
COLUMNS = 3
"""Columns of value fields."""


UNSAVED = "Press Save, or Cancel, and open the list again: it was changed, and reading from files changes it too."


class AttributesDialog(FormDialog):
    """Edits a draft; `scheme` is the result. `notes` gives warnings before it is saved.

    `files` shows the attributes of imported files; `read_wanted` carries the names of those to read, and `reload` shows
    the result.
    """

    read_wanted = Signal(tuple)

    def __init__(
        self,
        scheme: Scheme,
        *,
        uses: Mapping[int, int],
        notes: Callable[[Scheme], Sequence[str]],
        types: Sequence[str],
        writable: bool,
        parent: QWidget | None = None,
    ) -> None:
        """`uses` is the number of mentions by value id; `types` are the available mention types."""
        super().__init__(tr("Attributes of the project"), intro=tr(INTRO), ok=tr("Save"), parent=parent)
        self.scheme = self._saved = scheme
        self._uses, self._notes, self._types, self._writable = uses, notes, types, writable
        self.table: RecordTable[Attribute] = RecordTable(
            tr("Attributes"),
            [
                RecordColumn(tr("Attribute"), _name),
                RecordColumn(tr("Values"), lambda one: " · ".join(value.name for value in one.shown)),
                RecordColumn(tr("Types"), lambda one: ", ".join(one.types) or tr("all types")),
                RecordColumn(
                    tr("Mentions"), lambda one: localised(self._used(one), ","), by=lambda one: self._used(one)
                ),
            ],
            wide=1,
            parent=self,
        )
        self.empty = EmptyPage(tr(NONE), tr(MAKE), self)
        self.note = sentence("")
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.empty, 1)
        self.new = button(tr("&New…"), self._add, parent=self)
        self.edit = button(tr("&Edit…"), self._edit, parent=self)
        self.drop = button(tr("&Delete"), self._delete, parent=self)
        self.body.addLayout(row(self.new, self.edit, self.drop, 1))
        self.body.addWidget(self.note)
        self.files = FoundInFiles(writable=writable, parent=self)
        self.files.read_wanted.connect(self._read)
        self.body.addWidget(self.files, 1)
        self.table.selectionModel().currentChanged.connect(lambda: self._enable())
        self.table.chosen.connect(lambda: self._edit())
        self.resize(760, 560)
        self._show()
        (self.table if scheme.attributes else self.new).setFocus()

    def reload(self, scheme: Scheme, uses: Mapping[int, int]) -> None:
        """Replace an unchanged draft by the current list."""
        self.scheme = self._saved = scheme
        self._uses = uses
        self._show()

    def _read(self, names: tuple[str, ...]) -> None:
        if self.scheme != self._saved:
            self.problem.set_note(tr(UNSAVED))
            return
        self.problem.set_note("")
        self.files.set_busy(tr("Reading the attributes from the files…"))
        self.read_wanted.emit(names)

    def _used(self, one: Attribute) -> int:
        return sum(self._uses.get(value.id, 0) for value in one.values)

    def _show(self) -> None:
        self.table.show_rows(self.scheme.attributes)
        self.empty.stand_in(self.table, empty=not self.scheme.attributes)
        self.note.setText("\n".join(self._notes(self.scheme)))
        self.note.setVisible(bool(self.note.text()))
        self._enable()

    def _enable(self) -> None:
        one = self.table.current
        self.new.setEnabled(self._writable)
        self.ok.setEnabled(self._writable)
        self.edit.setEnabled(self._writable and one is not None and not one.hidden)
        self.drop.setEnabled(self._writable and one is not None)
        self.drop.setText(tr("&Restore") if one is not None and one.hidden else tr("&Delete"))

    def _change(self, change: Callable[[], Scheme]) -> None:
        try:
            self.scheme = change()
        except UserError as error:
            self.problem.set_note(str(error))
            return
        self.problem.set_note("")
        self._show()

    def _add(self) -> AttributeDialog:
        return self._ask(None)

    def _edit(self) -> AttributeDialog | None:
        one = self.table.current
        return None if one is None or one.hidden or not self._writable else self._ask(one)

    def _ask(self, one: Attribute | None) -> AttributeDialog:
        dialog = AttributeDialog(self.scheme, one, types=self._types, parent=self)
        dialog.accepted.connect(lambda: self._change(dialog.changed))
        dialog.open()
        return dialog

    def _delete(self) -> None:
        one = self.table.current
        if one is not None:
            self._change(lambda: self.scheme.hidden(one.id, not one.hidden))


class AttributeDialog(FormDialog):
    """One attribute: a name, a field for each value, and the mention types that have it."""

    def __init__(
        self, scheme: Scheme, one: Attribute | None, *, types: Sequence[str], parent: QWidget | None = None
    ) -> None:
        """`one` is the attribute to edit; None: a new one."""
        title, intro = (tr("New attribute"), "") if one is None else (tr("Edit attribute"), tr(EDIT_INTRO))
        super().__init__(title, intro=intro, ok=tr("OK"), parent=parent)
        self._scheme, self._one = scheme, one
        presets = [(f"{one.name}: {', '.join(one.values)}", one) for one in PRESETS]
        self.preset = choice(tr("Preset"), [(tr(NO_PRESET), None), *presets], parent=self)
        self.name = field(tr("Name of the attribute"), text=one.name if one is not None else "", parent=self)
        kept = one.shown if one is not None else ()
        self._kept: list[AttributeValue | None] = [*kept, *([None] * (MOST_VALUES - len(kept)))]
        self.values = [
            field(
                tr("Value {number}", number=at), hint=str(at), text=value.name if value is not None else "", parent=self
            )
            for at, value in enumerate(self._kept, start=1)
        ]
        hint = tr("all types, or for example: {types}", types=", ".join(types[:2]) or "Disease")
        given = ", ".join(one.types) if one is not None else ""
        self.types = field(tr("Mention types"), hint=hint, text=given, parent=self)
        self.restore = QCheckBox(tr("&Restore deleted values"), self)
        if one is None:
            self.form.addRow(tr("&Preset"), self.preset)
        self.form.addRow(tr("&Name"), self.name)
        grid = QGridLayout()
        for at, line in enumerate(self.values):
            grid.addWidget(line, at // COLUMNS, at % COLUMNS)
        label = PlainLabel(tr("&Values"), self)
        label.setBuddy(self.values[0])
        self.form.addRow(label, grid)
        self.form.addRow(tr("&Types"), self.types)
        if one is not None and any(value.hidden for value in one.values):
            self.form.addRow("", self.restore)
        else:
            self.restore.hide()
        self.preset.setVisible(one is None)
        self.preset.activated.connect(self._take_preset)
        self.setMinimumWidth(460)
        self.name.setFocus()

    def _take_preset(self, at: int) -> None:
        if at > 0:
            preset = PRESETS[at - 1]
            self.name.setText(preset.name)
            for line, words in zip(self.values, (*preset.values, *[""] * MOST_VALUES), strict=False):
                line.setText(words)

    def check(self) -> str:
        try:
            self.changed()
        except UserError as error:
            return str(error)
        return ""

    def changed(self) -> Scheme:
        """The scheme with the entered attribute. Raises UserError if invalid."""
        names = [line.text().strip() for line in self.values]
        types = [part.strip() for part in self.types.text().split(",") if part.strip()]
        if self._one is None:
            return self._scheme.with_attribute(self.name.text(), [one for one in names if one], types)
        return self._edited(self._one, names, types)

    def _edited(self, one: Attribute, names: Sequence[str], types: Sequence[str]) -> Scheme:
        scheme = self._scheme.renamed(one.id, self.name.text()).limited(one.id, types)
        pairs = list(zip(self._kept, names, strict=True))
        if not any(names):
            raise UserError(tr("The attribute “{name}” needs at least one value.", name=one.name))
        for value, name in pairs:
            if value is not None and not name:
                scheme = scheme.value_hidden(value.id, True)
        new = {value.id: name for value, name in pairs if value is not None and name}
        scheme = scheme.values_renamed(one.id, new)
        for value, name in pairs:
            if value is None and name:
                scheme = scheme.with_value(one.id, name)
        if self.restore.isChecked():
            for value in one.values:
                scheme = scheme.value_hidden(value.id, False) if value.hidden else scheme
        return scheme


def _name(one: Attribute) -> str:
    return tr("{name} (deleted)", name=one.name) if one.hidden else one.name


# Attributes of imported files, below the list of the project's; ticked ones are read into it.

FOUND = "Found in files"
FOUND_INTRO = (
    "Imported files have these attributes. Reading the ticked ones makes them attributes of the project, in one step "
    "that you can undo. What you set or cleared before stays as it is."
)
SHOWN = 6
"""The most values listed in a row."""
NEW, READ = "new", "read"
SEARCHING = "Searching the files for attributes…"
NOTHING_FOUND = "The imported files have no attributes."


class FoundInFiles(QWidget):
    """API: `show_rows`, `set_busy`. `read_wanted` carries the names of the ticked attributes."""

    read_wanted = Signal(tuple)

    def __init__(self, *, writable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._writable = writable
        self._busy = True
        self.title = ElidedLabel(bold=True, parent=self)
        self.title.set_words(tr(FOUND))
        self.intro = sentence(tr(FOUND_INTRO))
        self.table: RecordTable[FileAttribute] = RecordTable(
            tr(FOUND),
            [
                RecordColumn(tr("Attribute"), lambda one: one.name),
                RecordColumn(tr("Values"), _values),
                RecordColumn(
                    tr("Mentions"), lambda one: localised(one.mentions, ","), by=lambda one: one.mentions, figure=True
                ),
                RecordColumn(tr("State"), state_words),
            ],
            wide=1,
            tickable=lambda one: writable and can_be_read(one),
            parent=self,
        )
        self.note = sentence(tr(SEARCHING))
        self.button = button(tr("&Read from the files"), self._read, parent=self)
        column(self.title, self.intro, self.table, row(self.button, 1), self.note, of=self, margins=(0, 8, 0, 0))
        self.table.chosen.connect(self._read)
        self.table.lines.ticked_changed.connect(self._enable)
        self.table.moved.connect(self._enable)
        self._show(found=False)

    def show_rows(self, rows: Sequence[FileAttribute]) -> None:
        """Show the attributes found; those the project does not have yet are ticked."""
        self._busy = False
        self.table.show_rows(rows)
        self.table.lines.set_ticked([at for at, one in enumerate(rows) if can_be_read(one)], True)
        self._show(found=bool(rows))

    def set_busy(self, words: str = "") -> None:
        """Disable the button while files are read, until the next rows; without words, enable it at once."""
        self._busy = bool(words)
        self.note.setText(words)
        self.note.setVisible(bool(words))
        self._enable()

    def _show(self, *, found: bool) -> None:
        for widget in (self.title, self.intro, self.table, self.button):
            widget.setVisible(found)
        height = QSizePolicy.Policy.Preferred if found else QSizePolicy.Policy.Maximum  # no table for a sentence
        self.setSizePolicy(QSizePolicy.Policy.Preferred, height)
        self.note.setText(tr(SEARCHING) if self._busy else tr(NOTHING_FOUND) if not found else "")
        self._enable()

    def _enable(self) -> None:
        one = self.table.current
        ticked = len(self.table.ticked)
        self.button.setEnabled(self._writable and not self._busy and ticked > 0)
        words = ntr("Read {n} attribute from the files", "Read {n:,} attributes from the files", ticked)
        self.button.setAccessibleName(words)
        if not self._busy and one is not None:
            self.note.setText(one.refusal)
        self.note.setVisible(bool(self.note.text()))

    def _read(self) -> None:
        if self.button.isEnabled():
            self.read_wanted.emit(tuple(one.name for one in self.table.ticked))


def can_be_read(one: FileAttribute) -> bool:
    return not one.refusal and one.unset > 0


def state_words(one: FileAttribute) -> str:
    """The state of an attribute in the project: “new”, “2 values are new”, “read” or that it cannot be read."""
    if one.refusal:
        return tr("cannot be read")
    if not one.known:
        return tr(NEW)
    if one.lacking:
        return ntr("{n} value is new", "{n:,} values are new", len(one.lacking))
    if one.unset:
        return ntr("{n} mention is left", "{n:,} mentions are left", one.unset)
    return tr(READ)


def _values(one: FileAttribute) -> str:
    shown = sorted(one.values, key=lambda name: (-one.values[name], name))
    words = " · ".join(f"{name} ({localised(one.values[name], ',')})" for name in shown[:SHOWN])
    more = len(shown) - SHOWN
    return ntr("{words} and {n} more", "{words} and {n:,} more", more, words=words) if more > 0 else words
