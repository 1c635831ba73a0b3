"""Qt widgets and item models: they compose and show, they decide nothing.

* **Results of background work never take the focus.** They wait as notices in the bottom line (`kit/notices.py`) until
  they are opened with *Show* or F9; a mark on the Tools menu counts them. Only a dialog that the user opened and still
  looks at shows its own result.
* **PySide6 stays below 6.12.** That version loses a reference to `None` with every call that returns nothing, and ends
  the process after some thousand calls; `tests/curator/ui/kit/test_widgets.py` guards it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def opened_late(room: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a room's face (PEP 562) whose modules are loaded when one of these names is first asked for.

    Start-up loads the commands of every room, and what carries them out only where it is used. `names` gives the module
    of each name. Asked for another name, it raises AttributeError.
    """

    def name_of(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{names[name]}"), name)

    return name_of
