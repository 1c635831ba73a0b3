"""The database file itself: its engine, locks and turns, its tables, and the packing of rows.

* **A decision does not wait for the disk**, as it would with `synchronous=FULL`. It is in SQLite's log before the
  window responds to the key, so a crash or kill of the program cannot lose it (tests kill it 200 times). A thread of
  the store syncs the log right afterwards (`syncing.py`), and `close` waits for it: a sync took 0.3 to 4 s while a
  training wrote a checkpoint. The window shows “saving…” until the sync has returned, then “saved”. While the disk
  fails it shows “NOT SAVED”, and no decision is accepted. Every answer of the command line is synced first.
* **The log is folded into the database only in the writer's turn** (`turns.py`). SQLite before 3.51.3 can corrupt a
  database whose log is checkpointed by one connection while another commits. A fold takes a turn like a writer, but
  never queues for it; it waits for a quarter of a second without a commit, and truncates the log. A log of 64 MB is
  folded by the writer itself. `curator --version`, the program's log and the diagnostics show the version of SQLite.
  It is Python's own. A package with a newer one (pysqlite3) is not used: it is no longer developed, some systems have
  none, and a module that still used Python's would make two SQLites drop each other's locks (see below).
* **The database of an open project is opened through SQLite only**: closing another handle would drop SQLite's locks
  (`sqlite_files.py`).
* **Missing and changed rows are detected**: `hash_chain.py` hashes each operation and decision with the previous one,
  and `mark.py` keeps the end of the chain outside of the database.
* **SQLite and PostgreSQL get the same statements**: expressions that differ have one name in `dialects.py`.
* **Covering indexes exist** for the window's queries after every key. `visible()` excludes incomplete
  files rather than including complete ones, so that SQLite walks documents in order.
"""
