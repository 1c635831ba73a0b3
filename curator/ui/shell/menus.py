"""Menus and shortcuts, made from the commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QToolButton, QWidget

from curator.commands import Command, Keymap, Menu, WindowState
from curator.domain.wording import tr
from curator.ui.kit import tip
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.recent import RecentMenu

# A letter of its own for every title of a menu, as long as the alphabet lasts.


def with_mnemonics(titles: Sequence[str]) -> list[str]:
    """The titles with the letters marked that choose them in their open menu: the first of a word rather than another,
    and those of earlier titles rather than of later ones, but above all a letter for each (Kuhn's augmenting paths).
    A title is as it is where no letter is left for it.
    """
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
        if not give(number, taken):  # none is free: an earlier title gives way
            give(number, set())
    return [_marked(title, places.get(number)) for number, title in enumerate(titles)]


def _places(title: str) -> list[int]:
    """Of letters: those that begin a word first."""
    letters = [at for at, letter in enumerate(title) if letter.isalpha()]
    return sorted(letters, key=lambda at: at > 0 and title[at - 1].isalpha())


def _marked(title: str, at: int | None) -> str:
    return title if at is None else f"{title[:at]}&{title[at:]}"


RECENT_AFTER = "project.open"
"""The command behind which the projects opened before are listed."""

RESULT, COUNT = "tools.result", "curator.unread"
"""The command that opens results, and the property with what its title ends in."""

OVERFLOW = "qt_menubar_ext_button"
"""Qt's name of the button that opens the menus a narrow bar has no room for."""


class CommandMenus(QObject):
    """One `QAction` for each command; `show_state` enables those that can be used."""

    def __init__(
        self, bar: QMenuBar, *, run: Callable[[Command[Any]], None], settle: Callable[[], None] = lambda: None
    ) -> None:
        """`settle` brings about a `show_state` that is due: before a menu opens, and before anybody asks for an
        action."""
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
                lambda _=False, one=command: run(one)  # the default binds this command
            )

    def _fill(self, menu: QMenu, commands: list[Command[Any]], window: QWidget) -> None:
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self._settle)
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
        """A sign in the colour and size of the menus; Qt's own is small and nearly black in every theme."""
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

    def _mark_unread(self, unread: int) -> None:
        """A dot on the menu, and the number on its command, until the results were opened."""
        mark = f"{self._results_title} •" if unread else self._results_title
        if self._results.title() != mark:
            self._results.setTitle(mark)
        action = self._actions[RESULT]
        plain = action.text().removesuffix(action.property(COUNT) or "")
        count = f" ({unread})" if unread else ""
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
        """Mark which colours are chosen."""
        for one in ("system", "light", "dark"):
            self._actions[f"view.{one}"].setChecked(one == name)


def _titles(commands: list[Command[Any]]) -> list[str]:
    """The items of a menu, in their order."""
    titles: list[str] = []
    for command in commands:
        if not command.hidden:
            titles += [tr(command.title), *([tr("Open recent")] if command.id == RECENT_AFTER else [])]
    return titles


def with_mnemonic(title: str, taken: set[str]) -> str:
    """The title with the letter marked that chooses it in its open menu: the first of a word where one is free, else
    any; `taken` grows by it. As it is where no letter is left."""
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
    action.setShortcuts([QKeySequence(one) for one in command.shortcuts])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setAutoRepeat(command.repeats)
    action.setStatusTip(tr(command.help))
    action.setToolTip(tip(tr(command.help)))
    action.setCheckable(command.id in ("view.system", "view.light", "view.dark"))
    if command.id == "project.quit":
        action.setMenuRole(QAction.MenuRole.QuitRole)
    return action
