"""Qt widgets and item models: they compose and display, without domain logic.

* **Results of background work never take the focus.** They wait as notices in the bottom line (`kit/notices.py`) until
  they are opened with *Show* or F9; a mark on the Tools menu counts them. Only an open dialog shows its own result
  directly.
* **PySide6 stays below 6.12.** That version loses a reference to `None` with every call that returns nothing, and ends
  the process after some thousand calls; `tests/curator/ui/kit/test_widgets.py` guards it.
"""

import gc
from contextlib import suppress
from importlib import import_module
from typing import Any


def load_quickly() -> None:
    """Speed up the window's start; call it before importing the window's modules. It suspends garbage collection during
    imports and PySide6's search of sources: PySide6 looks for its own name in the source of every imported module, for
    an unused feature, which took 0.1 s and 30 MB."""
    gc.disable()
    with suppress(ImportError):  # another version searches elsewhere or not at all
        import_module("PySide6.QtCore")
        features: Any = import_module("shibokensupport.feature")
        features._mod_uses_pyside = lambda _module: True
