"""A project's folder and its SQLite database: the only package that knows SQLAlchemy and sqlite-utils.

`create_project` and `open_project` return a `SqlStore`, the implementation of `curator.services.ports.Store`.

* **What the window asks after each key is a statement made once** (bind parameters, `among` in `db/rows.py`):
  SQLAlchemy needs several times as long as SQLite's answer to put a new one together.
"""

from curator.storage.db import ProjectLock
from curator.storage.project import create_project, open_project, project_folder
from curator.storage.store import SqlStore

__all__ = ["ProjectLock", "SqlStore", "create_project", "open_project", "project_folder"]
