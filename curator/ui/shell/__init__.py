"""The program around the workbench: windows, menus, command palette, settings, shortcuts, help and the demo.

* **The first paint loads neither storage nor the panes.** The window imports the project views, and `curator.bootstrap`
  with SQLAlchemy, after the first paint. This cuts the CPU time before it from 1.5 s to 0.3 s.
* **One process, several windows** (`windows.py`). Each has its own session, and all share the settings. Opening a
  project again brings its window to the front, so the lock only matters between processes.
* **The window's process switches threads every 0.5 ms** (`app.py`), so that a key does not wait 5 ms for Python's lock
  after each database read while suggestions are stored.
"""
