"""Every action of the window as data: menus, shortcuts, the key overlay and the manual derive from it.

The features in `curator.ui` declare their commands and register the objects that run them.

* **The reason why a command is disabled is found by trials**: properties of the window's state are changed until the
  command is enabled (`reasons.py`).
"""
