"""*Edit > Shortcuts*: assign keys to commands, see conflicts, and restore the defaults."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLineEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from curator.commands.command import Command
from curator.commands.finding import match
from curator.commands.keymap import Keymap
from curator.domain.wording import tr
from curator.ui.kit.foreign_text import tip
from curator.ui.kit.form import FormDialog
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
        self._shown: list[Command[Any]] = []
        self.filter = QLineEdit(self)
        self.filter.setAccessibleName(tr("Find a command"))
        self.filter.setPlaceholderText(tr("Find a command"))
        self.filter.setClearButtonEnabled(True)
        self.table = self._make_table()
        self.keys = QKeySequenceEdit(self)
        self.keys.setMaximumSequenceLength(1)
        self.keys.setClearButtonEnabled(True)
        self.keys.setAccessibleName(tr("New keys"))
        for line in self.keys.findChildren(QLineEdit):
            line.setAccessibleName(tr("New keys"))
        self.give = self._button(tr("&Assign"))
        self.take = self._button(tr("&No keys"))
        self.usual = self._button(tr("&Default keys"))
        self.all_usual = self._button(tr("&Reset all"))
        self._compose()
        self._connect()
        self._fill()
        self.filter.setFocus()

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, 3, self)
        table.setAccessibleName(tr("Commands and their keys"))
        table.setHorizontalHeaderLabels([tr("Command"), tr("Menu"), tr("Keys")])
        table.verticalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        return table

    def _button(self, words: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setAutoDefault(False)
        return button

    def _compose(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.keys, 1)
        for button in (self.give, self.take, self.usual, self.all_usual):
            row.addWidget(button)
        self.body.insertWidget(0, self.filter)
        self.body.insertWidget(1, self.table, 1)
        self.body.insertLayout(2, row)
        self.resize(760, 560)

    def _connect(self) -> None:
        self.filter.textChanged.connect(self._fill)
        self.table.itemSelectionChanged.connect(self._show_chosen)
        self.keys.keySequenceChanged.connect(self._tell)
        self.give.clicked.connect(self._give)
        self.take.clicked.connect(lambda: self._set(()))
        self.usual.clicked.connect(lambda: self._set(self.chosen.shortcuts if self.chosen is not None else ()))
        self.all_usual.clicked.connect(self._reset)

    # --- what is shown ---

    def _fill(self) -> None:
        kept = self.chosen
        query = self.filter.text()
        hits = ((match(query, f"{tr(one.title)} {self._words(one)}"), one) for one in COMMANDS)
        found = [(hit.score, one) for hit, one in hits if hit is not None]
        self._shown = [one for _, one in sorted(found, key=lambda pair: -pair[0])]
        self.table.setRowCount(len(self._shown))
        for row, command in enumerate(self._shown):
            for column, words in enumerate((tr(command.title), tr(command.menu.value), self._words(command))):
                item = QTableWidgetItem(words)
                item.setToolTip(tip(tr(command.help)))
                self.table.setItem(row, column, item)
        at = self._shown.index(kept) if kept in self._shown else 0
        if self._shown:
            self.table.selectRow(at)
        self._show_chosen()

    def _words(self, command: Command[Any]) -> str:
        changed = " ●" if command.id in self.keymap.changed else ""
        return (shown_keys(self.keymap.keys(command)) or "–") + changed

    @property
    def chosen(self) -> Command[Any] | None:
        row = self.table.currentRow()
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def _show_chosen(self) -> None:
        command = self.chosen
        self.keys.clear()
        for button in (self.give, self.take):
            button.setEnabled(command is not None)
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
