"""The program around the working place: windows, menus, commands by name, settings, shortcuts, help and the demo."""

from typing import TYPE_CHECKING

from curator.ui import opened_late

if TYPE_CHECKING:
    from curator.ui.shell.app import can_show, run
    from curator.ui.shell.demo_session import run_demo

__all__ = [
    "can_show",
    "run",
    "run_demo",
]

__getattr__ = opened_late(__name__, {"can_show": "app", "run": "app", "run_demo": "demo_session"})
