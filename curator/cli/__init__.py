"""The command line, built on the same services as the window. A command imports heavy modules only when it needs them.

* **Ctrl+C takes effect between two steps** (`console.py`). When it could be raised anywhere, it sometimes left a
  transaction open, and the cleanup waited 10 s for it.
* **Every result is on disk before it is printed.** The window does not wait for the disk; the command line does.
"""
