"""The program around the working place: windows, menus, commands by name, settings, shortcuts, help and the demo.

* **The first paint loads neither storage nor the panes.** The window imports what shows a project, and
  `curator.bootstrap` with SQLAlchemy, after it was painted: 0.3 s instead of 1.5 s of processor time before it.
* **One process, several windows** (`windows.py`). Each has its own session, and all share the settings. A project that
  is open in one of them comes to the front, so that the lock is only met between processes.
* **The window's process switches threads every 0.5 ms** (`app.py`), so that a key does not wait 5 ms for Python's lock
  after each look into the database while the linker's answers are stored.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.shell.app import can_show, run
    from curator.ui.shell.demo_session import run_demo

__all__ = [
    "can_show",
    "run",
    "run_demo",
]

__getattr__ = opened_late(
    __name__,
    app="can_show run",
    demo_session="run_demo",
)
