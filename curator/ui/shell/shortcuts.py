"""*Edit > Shortcuts*: assign keys to commands, see conflicts, and restore the defaults."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit, QWidget

from curator.commands.command import Command, Keymap, match
from curator.domain.wording import tr
from curator.ui.kit.compose import button, field, row
from curator.ui.kit.form import FormDialog
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.palette import shown_keys

INTRO = "Choose a command, press its new keys in the field below, then press Assign."
TAKEN = "{keys} is assigned to “{command}”. Assigning it to “{wanted}” removes it from there."
CONFLICT = "{keys} is assigned to several commands and does nothing: {commands}."
PORTABLE = QKeySequence.SequenceFormat.PortableText


class ShortcutsDialog(FormDialog):
    """`keymap` holds the keys in the dialog. Enter presses only a focused button: while keys are being assigned, it
    must not save and close."""

    enter_accepts = False

    def __init__(self, keymap: Keymap, *, parent: QWidget | None = None) -> None:
        super().__init__(tr("Shortcuts"), intro=tr(INTRO), ok=tr("Save"), parent=parent)
        self.keymap = keymap
        find = tr("Find a command")
        self.filter = field(find, hint=find, clear=True, parent=self)
        columns: list[RecordColumn[Command[Any]]] = [
            RecordColumn(tr("Command"), lambda one: tr(one.title), tip=lambda one: tr(one.help)),
            RecordColumn(tr("Menu"), lambda one: tr(one.menu.value), tip=lambda one: tr(one.help)),
            RecordColumn(tr("Keys"), self._words, tip=lambda one: tr(one.help)),
        ]
        self.table: RecordTable[Command[Any]] = RecordTable(
            tr("Commands and their keys"), columns, sortable=False, parent=self
        )
        self.keys = QKeySequenceEdit(self)
        self.keys.setMaximumSequenceLength(1)
        self.keys.setClearButtonEnabled(True)
        self.keys.setAccessibleName(tr("New keys"))
        for line in self.keys.findChildren(QLineEdit):
            line.setAccessibleName(tr("New keys"))
        usual = lambda: self._set(self.chosen.shortcuts if self.chosen is not None else ())  # noqa: E731
        self.give = button(tr("&Assign"), self._give, parent=self)
        self.take = button(tr("&No keys"), lambda: self._set(()), parent=self)
        self.usual = button(tr("&Default keys"), usual, parent=self)
        self.all_usual = button(tr("&Reset all"), self._reset, parent=self)
        self.body.insertWidget(0, self.filter)
        self.body.insertWidget(1, self.table, 1)
        self.body.insertLayout(2, row((self.keys, 1), self.give, self.take, self.usual, self.all_usual))
        self.resize(760, 560)
        self.filter.textChanged.connect(self._fill)
        self.table.moved.connect(self._show_chosen)
        self.keys.keySequenceChanged.connect(self._tell)
        self._fill()
        self.filter.setFocus()

    # --- what is shown ---

    def _fill(self) -> None:
        kept = self.chosen
        query = self.filter.text()
        hits = ((match(query, f"{tr(one.title)} {self._words(one)}"), one) for one in COMMANDS)
        found = [(hit.score, one) for hit, one in hits if hit is not None]
        shown = [one for _, one in sorted(found, key=lambda pair: -pair[0])]
        self.table.show_rows(shown)
        if kept in shown:
            self.table.go_to(shown.index(kept))
        self._show_chosen()

    def _words(self, command: Command[Any]) -> str:
        changed = " ●" if command.id in self.keymap.changed else ""
        return (shown_keys(self.keymap.keys(command)) or "–") + changed

    @property
    def chosen(self) -> Command[Any] | None:
        return self.table.current

    def _show_chosen(self) -> None:
        command = self.chosen
        self.keys.clear()
        for one in (self.give, self.take):
            one.setEnabled(command is not None)
        self.usual.setEnabled(command is not None and command.id in self.keymap.changed)
        self.all_usual.setEnabled(bool(self.keymap.changed))
        self._tell()

    def _pressed(self) -> str:
        return self.keys.keySequence().toString(PORTABLE)

    def _tell(self) -> None:
        """Show the command with the pressed keys, else the conflicting keys."""
        command, key = self.chosen, self._pressed()
        self.give.setEnabled(bool(key) and command is not None)
        others = self.keymap.users(key, COMMANDS, besides=command.id) if key and command is not None else []
        if others and command is not None:
            words = tr(TAKEN, keys=shown_keys([key]), command=tr(others[0].title), wanted=tr(command.title))
        else:
            words = "\n".join(
                tr(CONFLICT, keys=shown_keys([one]), commands=", ".join(tr(user.title) for user in users))
                for one, users in self.keymap.conflicts(COMMANDS).items()
            )
        self.problem.set_note(words)

    # --- what is changed ---

    def _give(self) -> None:
        if self.chosen is not None and self._pressed():
            self.keymap = self.keymap.taking(self.chosen, self._pressed(), COMMANDS)
            self._fill()
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set(self, keys: tuple[str, ...]) -> None:
        if self.chosen is not None:
            self.keymap = self.keymap.with_keys(self.chosen, keys)
            self._fill()

    def _reset(self) -> None:
        self.keymap = Keymap()
        self._fill()

    def accept(self) -> None:
        """Accept with conflicts, as they are only shown, not forbidden."""
        self.done(self.DialogCode.Accepted)
