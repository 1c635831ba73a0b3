"""The form for creating or editing an entity: name, types, synonyms, definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest

from PySide6.QtCore import QEvent, QItemSelectionModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QScrollArea,
    QWidget,
)

from curator.domain.entities import Entity, EntityDraft
from curator.domain.wording import tr
from curator.ui.kit.compose import button, column, row
from curator.ui.kit.foreign_text import PlainEdit, PlainLabel, tip
from curator.ui.kit.key_names import is_plain
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.sight import Glance, Sight

LOOK_MS = 200
ROWS = 4
MOST_NAMED = 3
ENTERS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
IDENTIFIER = "Identifier in a registry"
SameNamed = Callable[[str], Sequence[Entity]]
"""Returns existing entities with a name."""
EXISTS = "This name already exists: {named}."
AGAIN = "This name already exists: {named}. Press Enter again to create another entity with this name."


class EntityForm(QWidget):
    """`ask` fills it, the types of the draft first, and takes the keyboard focus. Enter in the name or identifier, or
    Ctrl+Enter anywhere, submits; Esc closes.

    While the name is typed, existing entities with it are shown, with buttons to link to them instead. To make another
    entity with the name takes a second press, after these were seen. No key typed here is a shortcut of the window.
    """

    submitted = Signal(object)  # EntityDraft
    link_wanted = Signal(str)  # the id of an existing entity with this name
    left = Signal()

    def __init__(self, same_named: SameNamed, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._same_named = same_named
        self._but, self._linkable = "", False
        self._found: list[Entity] = []
        self._glance = Glance(Sight.of_process())
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._timer = QTimer(self, singleShot=True, interval=LOOK_MS)
        self._timer.timeout.connect(self.look_for_same)
        self._make_widgets()
        self._compose()
        self._glance.log(self.note, lambda: [self.note.text()])

    def _make_widgets(self) -> None:
        self.heading = PlainLabel(parent=self)
        self.heading.setWordWrap(True)
        self.links = [button("", partial(self._link, at), parent=self) for at in range(MOST_NAMED)]
        self.name = QLineEdit(self)
        self.name.setAccessibleName(tr("Name"))
        self.identifier = QLineEdit(self)
        self.identifier.setAccessibleName(tr(IDENTIFIER))
        self.identifier.setPlaceholderText(tr("such as OMIM:104300; leave empty for one of the project's own"))
        self.types = QListWidget(self)
        self.types.setAccessibleName(tr("Types"))
        self.types.setProperty("field", True)  # with an outline, see the theme
        self.synonyms = self._text(tr("Synonyms, one on each line"))
        self.definition = self._text(tr("Definition"))
        self.note = NoteLabel(self)
        self.ok = button("", self._submit, parent=self)
        self.cancel = button(tr("Cancel"), self.left.emit, parent=self)
        self.name.textChanged.connect(lambda: self._timer.start())

    def _link(self, at: int) -> None:
        self.link_wanted.emit(self._found[at].id)

    def _text(self, name: str) -> QPlainTextEdit:
        edit = PlainEdit(self)
        edit.setAccessibleName(name)
        edit.setTabChangesFocus(True)
        edit.setProperty("field", True)
        return edit

    def _compose(self) -> None:
        fields = QWidget(self)
        form = QFormLayout(fields)
        form.setContentsMargins(0, 0, 0, 0)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setSpacing(6)
        form.addRow(tr("Name"), self.name)
        form.addRow(tr(IDENTIFIER), self.identifier)
        form.addRow(tr("Types"), self.types)
        form.addRow(tr("Synonyms, one on each line"), self.synonyms)
        form.addRow(tr("Definition"), self.definition)
        area = QScrollArea(self)  # in a low window, or with large text
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(fields)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for ground in (area, area.viewport(), fields):
            ground.setBackgroundRole(QPalette.ColorRole.Base)
        buttons = row(1, self.cancel, self.ok)
        column(self.heading, self.note, *self.links, (area, 1), buttons, of=self, margins=12, spacing=8)

    def ask(
        self,
        heading: str,
        draft: EntityDraft,
        *,
        types: Sequence[str],
        ok: str,
        but: str = "",
        linkable: bool = False,
    ) -> None:
        """Show the form; `types` can be ticked; `ok` is the button's text; `but`: the entity being edited; `linkable`:
        there is something to link to an existing entity instead."""
        self._but, self._linkable = but, linkable
        self.heading.setText(heading)
        self.ok.setText(ok)
        self.name.setText(draft.name)
        self.identifier.setText(but or draft.id)
        self.identifier.setEnabled(not but)  # decisions and exports use it
        self.synonyms.setPlainText("\n".join(draft.synonyms))
        self.definition.setPlainText(draft.definition)
        self._show_types(dict.fromkeys([*draft.types, *types]), draft.types)
        self._fit()
        self.say("")
        self.look_for_same()
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)
        self.name.selectAll()

    def _show_types(self, types: dict[str, None], ticked: Sequence[str]) -> None:
        self.types.clear()
        for one in types:
            item = QListWidgetItem(one, self.types)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if one in ticked else Qt.CheckState.Unchecked)
        self.types.setCurrentRow(0, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.types.setEnabled(bool(types))

    def _fit(self) -> None:
        """Fit the heights to a number of rows in the current font."""
        line = self.fontMetrics().lineSpacing()
        self.types.setFixedHeight((line + 6) * min(max(self.types.count(), 1), ROWS) + 8)
        for text in (self.synonyms, self.definition):
            text.setFixedHeight(line * ROWS + 12)

    @property
    def draft(self) -> EntityDraft:
        """The draft in the form."""
        items = [self.types.item(at) for at in range(self.types.count())]
        ticked = tuple(one.text() for one in items if one.checkState() is Qt.CheckState.Checked)
        synonyms = tuple(self.synonyms.toPlainText().splitlines())
        id_ = self.identifier.text() if self.identifier.isEnabled() else ""
        return EntityDraft(self.name.text(), ticked, self.definition.toPlainText(), synonyms, id_)

    def say(self, words: str) -> None:
        """Show an error or a note; '' hides it."""
        self.note.set_note(words)

    def look_for_same(self) -> None:
        """Show existing entities with this name."""
        self._timer.stop()
        self._found = [one for one in self._same_named(self.name.text()) if one.id != self._but]
        for link, one in zip_longest(self.links, self._found[:MOST_NAMED]):
            link.setVisible(one is not None and self._linkable)
            if one is not None:
                words = tr("Link to {name} ({id})", name=one.name, id=one.id)
                link.setText(self._elided(words))
                link.setAccessibleName(words)
                link.setToolTip(tip(words))
        self.say(tr(EXISTS, named=self._named) if self._found else "")

    @property
    def _named(self) -> str:
        named = [f"{one.name} ({one.id}{''.join(f', {kind}' for kind in one.types)})" for one in self._found]
        return ", ".join([*named[:MOST_NAMED], *(["…"] if len(named) > MOST_NAMED else [])])

    def _elided(self, words: str) -> str:
        """Cut in the middle, so that a long name does not widen the form."""
        room = max(self.width() - 60, 200)
        return self.fontMetrics().elidedText(words, Qt.TextElideMode.ElideMiddle, room).replace("&", "&&")

    def _submit(self) -> None:
        if self._timer.isActive():  # the name was typed just now
            self.look_for_same()
        if self._found:
            again = tr(AGAIN, named=self._named)
            if self.note.text() != again or not self._glance.saw(again):
                self.say(again)
                return
        self.submitted.emit(self.draft)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() not in ENTERS:  # which are no window's default button here
            super().keyPressEvent(event)
        elif self._submits(event) and not event.isAutoRepeat():
            self._submit()

    def _submits(self, event: QKeyEvent) -> bool:
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        return control or self.name.hasFocus() or self.identifier.hasFocus()

    def event(self, event: QEvent) -> bool:
        """Keep typed keys, Esc and Ctrl+Enter from being shortcuts of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            if is_plain(event) or (control and event.key() in ENTERS):
                event.accept()
                return True
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and hasattr(self, "types"):
            self._fit()
