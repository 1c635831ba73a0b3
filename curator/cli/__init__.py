"""The command line: the same services as the window. Nothing heavy is imported before a command needs it.

* **Ctrl+C takes effect between two steps** (`console.py`). Raised anywhere, it sometimes left a transaction open, and
  the cleanup then waited 10 s in vain.
* **Every answer is on disk before it is printed.** The window does not wait for the disk; the command line does.
"""
