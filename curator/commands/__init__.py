"""Every action of the window as data: menus, shortcuts, the key overlay and the manual derive from it.

The features in `curator.ui` declare their commands and register who carries them out.
"""

from curator.commands.command import Command, Commands, Menu, WindowState, in_menu_order

__all__ = ["Command", "Commands", "Menu", "WindowState", "in_menu_order"]
