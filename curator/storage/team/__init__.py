"""Shared projects: a PostgreSQL database in place of a folder. Imported only when one is opened.

* **One schema**: the tables are made of the same mappings as those of a folder, and the repositories of
  `curator.storage.curation` ask both; what the dialects write differently is in `curator/storage/db/dialects.py`.
* **What is known by hash is copied**: a knowledge base and linkers lie on each computer that works on the project, so
  that search and linking are as quick as in a folder and need nothing of the server.
* **Whoever writes holds the lock**, as in a folder: the one connection that writes has an advisory lock, which the
  server frees when the connection ends, however it ends.
* **A step is on the server's disk when it is called saved**: PostgreSQL answers a commit when its log is synced.
"""

from curator.storage.team.project import create_shared_project, open_shared_project
from curator.storage.team.store import SharedStore

__all__ = ["SharedStore", "create_shared_project", "open_shared_project"]
