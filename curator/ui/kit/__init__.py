"""The parts that all views share: colours and icons, forms and messages, lists and tables, background threads, and the
record of what was visible when a key was pressed. Independent of projects and documents.

* **Enter never presses a button by accident** (`form.py`, `BaseDialog`). A window opens on its list or first field; a
  form's OK becomes the default button after the first typing, focus change or click.
  `tests/curator/ui/window/every_window.py` lists every window class, and a class without an entry fails.
* **One table, one way to put widgets together**: `RecordTable` sorts, or has boxes, or reads page by page
  (`record_tables.py`); columns, rows, buttons and choices are made in `compose.py`.
* **Hints look up the keys of a command** (`key_names.py`), so that they follow the user's own keys. If a command has
  none, the hint is left out and a sentence names the menu.
* **Work outside the window's thread goes through `Worker`**, and its result is delivered through `call_in_window`
  (`worker.py`, `window_calls.py`). Only the latest request counts: results of earlier ones are dropped. `FileScan`
  checks paths one file at a time and can be stopped.
"""
