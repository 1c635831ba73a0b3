"""Qt widgets and item models: they compose and show, they decide nothing.

* **Results of background work never take the focus.** They wait as notices in the bottom line (`kit/notices.py`) until
  they are opened with *Show* or F9; a mark on the Tools menu counts them. Only a dialog that the user opened and still
  looks at shows its own result.
* **PySide6 stays below 6.12.** That version loses a reference to `None` with every call that returns nothing, and ends
  the process after some thousand calls; `tests/curator/ui/kit/test_widgets.py` guards it.
"""

import gc
from contextlib import suppress
from importlib import import_module
from typing import Any


def load_quickly() -> None:
    """For the window's process, before it loads what shows the window: nothing that is loaded is garbage, and PySide6
    searches no sources. It looks for its own name in the source of every imported module, for a feature that nothing
    here uses: that took 0.1 s of a start and 30 MB, as Python keeps what it read."""
    gc.disable()
    with suppress(ImportError):  # another version searches elsewhere, or not at all
        import_module("PySide6.QtCore")
        features: Any = import_module("shibokensupport.feature")
        features._mod_uses_pyside = lambda _module: True
