"""The workbench: text, candidates and queue side by side, and all actions on a mention except deciding. `Workbench`
joins the rooms that it shows.

* **The layout saves named widgets** (`window_layout.py`): splitters and tables with an object name, and widgets marked
  with `keep_shown`. Only sizes that the curator changed are saved; the others follow the window.
"""
