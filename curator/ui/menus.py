"""Menus and shortcuts, made from the commands."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from curator.commands import COMMANDS, Command, Menu, WindowActions, WindowState


class CommandMenus(QObject):
    """One `QAction` for each command; `show_state` enables those that can be used."""

    def __init__(self, bar: QMenuBar, actions: WindowActions, *, run: Callable[[Command, WindowActions], None]) -> None:
        super().__init__(bar)
        self._actions: dict[str, QAction] = {}
        window = bar.window()
        for menu in Menu:
            commands = [one for one in COMMANDS if one.menu is menu]
            self._fill(bar.addMenu(f"&{menu.value}"), commands, window)
        for command in COMMANDS:
            self._actions[command.id].triggered.connect(
                lambda _=False, one=command: run(one, actions)  # the default binds this command
            )

    def _fill(self, menu: QMenu, commands: list[Command], window: QWidget) -> None:
        menu.setToolTipsVisible(True)
        last = commands[0].group
        for command in commands:
            action = _action(command, window)
            self._actions[command.id] = action
            window.addAction(action)
            if command.hidden:
                continue
            if command.group != last:
                menu.addSeparator()
                last = command.group
            menu.addAction(action)

    def action(self, command_id: str) -> QAction:
        return self._actions[command_id]

    def show_state(self, state: WindowState) -> None:
        for command in COMMANDS:
            action, enabled = self._actions[command.id], command.enabled(state)
            if action.isEnabled() != enabled:
                action.setEnabled(enabled)

    def check_theme(self, name: str) -> None:
        """Mark which colours are chosen."""
        for one in ("system", "light", "dark"):
            self._actions[f"view.{one}"].setChecked(one == name)


def _action(command: Command, window: QWidget) -> QAction:
    action = QAction(command.title, window)
    action.setObjectName(command.id)
    action.setShortcuts([QKeySequence(one) for one in command.shortcuts])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setStatusTip(command.help)
    action.setToolTip(command.help)
    action.setCheckable(command.id in ("view.system", "view.light", "view.dark"))
    if command.id == "project.quit":
        action.setMenuRole(QAction.MenuRole.QuitRole)
    return action
