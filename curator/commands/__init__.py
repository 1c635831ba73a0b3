"""Every action of the window as data: menus, shortcuts, the key overlay and the manual derive from it."""

from curator.commands.catalogue import COMMANDS
from curator.commands.command import Command, Menu, WindowActions, WindowState

__all__ = ["COMMANDS", "Command", "Menu", "WindowActions", "WindowState"]
