"""Qt widgets and item models: they compose and show, they decide nothing.

* **Results of background work never take the focus.** They wait as notices in the bottom line (`kit/notices.py`) until
  they are opened with *Show* or F9; a mark on the Tools menu counts them. Only a dialog that the user opened and still
  looks at shows its own result.
* **PySide6 stays below 6.12.** That version loses a reference to `None` with every call that returns nothing, and ends
  the process after some thousand calls; `tests/curator/ui/kit/test_widgets.py` guards it.
"""
