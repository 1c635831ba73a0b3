"""Menus and shortcuts, generated from the commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QToolButton, QWidget

from curator.commands.command import Command, Keymap, Menu, WindowState, why_disabled
from curator.domain.wording import tr
from curator.ui.kit.foreign_text import tip
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.recent import RecentMenu

# Unique mnemonic letters for the titles of a menu, if possible.


def with_mnemonics(titles: Sequence[str]) -> list[str]:
    """Mark the mnemonics of the titles of a menu: as many titles as possible get one (Kuhn's augmenting paths),
    preferably the first letter of a word, with priority for earlier titles. A title without a free letter stays
    unchanged."""
    owners: dict[str, int] = {}
    places: dict[int, int] = {}

    def give(title: int, tried: set[str]) -> bool:
        for at in _places(titles[title]):
            letter = titles[title][at].casefold()
            if letter in tried:
                continue
            tried.add(letter)
            if letter not in owners or give(owners[letter], tried):
                owners[letter], places[title] = title, at
                return True
        return False

    for number, title in enumerate(titles):
        taken = {letter for letter in title.casefold() if letter in owners}
        if not give(number, taken):  # none is free: reassign an earlier title
            give(number, set())
    return [_marked(title, places.get(number)) for number, title in enumerate(titles)]


def _places(title: str) -> list[int]:
    """Positions of letters, first letters of words first."""
    letters = [at for at, letter in enumerate(title) if letter.isalpha()]
    return sorted(letters, key=lambda at: at > 0 and title[at - 1].isalpha())


def _marked(title: str, at: int | None) -> str:
    return title if at is None else f"{title[:at]}&{title[at:]}"


RECENT_AFTER = "project.open"
"""The command after which recent projects are listed."""

RESULT, CONFLICTS, COUNT = "tools.result", "people.conflicts", "curator.count"
"""The commands with a number after their titles, and the property with this suffix."""

OVERFLOW = "qt_menubar_ext_button"
"""Qt's name of the overflow button of a narrow menu bar."""


class CommandMenus(QObject):
    """One `QAction` for each command; `show_state` enables the usable ones."""

    def __init__(
        self, bar: QMenuBar, *, run: Callable[[Command[Any]], None], settle: Callable[[], None] = lambda: None
    ) -> None:
        """`settle` runs a pending `show_state`: before a menu opens, and before an action is looked up."""
        super().__init__(bar)
        self._settle = settle
        self._state: WindowState | None = None
        self._actions: dict[str, QAction] = {}
        self.keymap = Keymap()
        self._overflow = bar.findChild(QToolButton, OVERFLOW)
        window = bar.window()
        titles: set[str] = set()
        for menu in Menu:
            commands = [one for one in COMMANDS if one.menu is menu]
            title = with_mnemonic(tr(menu.value), titles)
            filled = bar.addMenu(title)
            self._fill(filled, commands, window)
            if any(one.id == RESULT for one in commands):
                self._results, self._results_title = filled, title
        for command in COMMANDS:
            self._actions[command.id].triggered.connect(
                lambda _=False, one=command: run(one)  # the default argument binds this command
            )

    def _fill(self, menu: QMenu, commands: list[Command[Any]], window: QWidget) -> None:
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._settle)
        menu.aboutToShow.connect(partial(self._explain, commands))
        last = commands[0].group
        marked = iter(with_mnemonics(_titles(commands)))
        for command in commands:
            action = _action(command, window)
            self._actions[command.id] = action
            window.addAction(action)
            if command.hidden:
                continue
            if command.group != last:
                menu.addSeparator()
                last = command.group
            action.setText(next(marked))
            menu.addAction(action)
            if command.id == RECENT_AFTER:
                self.recent = RecentMenu(next(marked), menu)
                menu.addMenu(self.recent)

    def fit_overflow(self) -> None:
        """Give the overflow button a sign in the colour and size of the menus; Qt's own is small and nearly black."""
        if (button := self._overflow) is not None:
            button.setIcon(QIcon())
            button.setText("»")
            button.setAccessibleName(tr("More menus"))
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
            button.setMinimumWidth(button.fontMetrics().horizontalAdvance("»") + 8)

    def action(self, command_id: str) -> QAction:
        self._settle()
        return self._actions[command_id]

    def show_state(self, state: WindowState) -> None:
        if state == self._state:
            return
        self._state = state
        for command in COMMANDS:
            action, enabled = self._actions[command.id], command.enabled(state)
            if action.isEnabled() != enabled:
                action.setEnabled(enabled)
        self._mark_unread(state.unread)
        self._count(CONFLICTS, state.conflicts)

    def _explain(self, commands: Sequence[Command[Any]]) -> None:
        """Before a menu opens: say in the tooltip of each disabled item why it is."""
        for command in commands:
            why = why_disabled(command, self._state or WindowState())
            self._actions[command.id].setToolTip(tip(f"{tr(command.help)}\n{why}".rstrip()))

    def why_not(self, key: QKeySequence) -> str:
        """For a key of a disabled command, what is missing, as a sentence; '' for any other key."""
        for command in COMMANDS:
            if key in self._actions[command.id].shortcuts():
                why = why_disabled(command, self._state or WindowState())
                return f"{tr(command.title).removesuffix('…')}: {why}" if why else ""
        return ""

    def _mark_unread(self, unread: int) -> None:
        """Show a dot on the menu and the number on its command, until the results are opened."""
        mark = f"{self._results_title} •" if unread else self._results_title
        if self._results.title() != mark:
            self._results.setTitle(mark)
        self._count(RESULT, unread)

    def _count(self, command_id: str, number: int) -> None:
        """Show the number after the title of the command, unless it is 0."""
        action = self._actions[command_id]
        plain = action.text().removesuffix(action.property(COUNT) or "")
        count = f" ({number})" if number else ""
        action.setProperty(COUNT, count)
        if action.text() != plain + count:
            action.setText(plain + count)

    def set_keymap(self, keymap: Keymap) -> None:
        """Give every command its keys."""
        self.keymap = keymap
        for command in COMMANDS:
            action, keys = self._actions[command.id], [QKeySequence(one) for one in keymap.keys(command)]
            if action.shortcuts() != keys:
                action.setShortcuts(keys)

    def check_theme(self, name: str) -> None:
        """Check the chosen colour scheme."""
        for one in ("system", "light", "dark"):
            self._actions[f"view.{one}"].setChecked(one == name)


def _titles(commands: list[Command[Any]]) -> list[str]:
    """The titles of the items of a menu, in order."""
    titles: list[str] = []
    for command in commands:
        if not command.hidden:
            titles += [tr(command.title), *([tr("Open recent")] if command.id == RECENT_AFTER else [])]
    return titles


def with_mnemonic(title: str, taken: set[str]) -> str:
    """Mark a mnemonic in the title: the first free initial of a word, else any free letter, which is added to `taken`.
    Unchanged if none is free."""
    starts = [at for at, letter in enumerate(title) if letter.isalpha() and (at == 0 or not title[at - 1].isalpha())]
    others = [at for at, letter in enumerate(title) if letter.isalpha()]
    at = next((at for at in (*starts, *others) if title[at].casefold() not in taken), None)
    if at is None:
        return title
    taken.add(title[at].casefold())
    return f"{title[:at]}&{title[at:]}"


def _action(command: Command[Any], window: QWidget) -> QAction:
    action = QAction(tr(command.title), window)
    action.setObjectName(command.id)
    action.setAutoRepeat(command.repeats)  # before the keys, which it would register again: it is most of the time
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setShortcuts([QKeySequence(one) for one in command.shortcuts])
    action.setStatusTip(tr(command.help))
    action.setToolTip(tip(tr(command.help)))
    action.setCheckable(command.id in ("view.system", "view.light", "view.dark"))
    if command.id == "project.quit":
        action.setMenuRole(QAction.MenuRole.QuitRole)
    return action
