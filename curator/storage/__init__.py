"""A project's folder and its SQLite database: the only package that uses SQLAlchemy, sqlite-utils and psycopg.

`team` has shared projects, and is imported only for one.

`create_project` and `open_project` return a `SqlStore`, the implementation of `curator.services.ports.Store`.

* **Queries after each key are statements built once** (bind parameters, `among` in `db/rows.py`): SQLAlchemy needs
  several times as long to build a statement as SQLite needs to answer.
"""

from curator.storage.db import ProjectLock
from curator.storage.foreign import check_links, check_schema
from curator.storage.migrations import CHAINED, check_version, create_database, current_version
from curator.storage.project import (
    BUNDLES_NAME,
    DATABASE_NAME,
    RESTORED_NAME,
    SUFFIX,
    completed,
    create_project,
    finish_restoration,
    named_folder,
    open_project,
    project_folder,
    renew_marker,
)
from curator.storage.store import SqlStore, SqlUnitOfWork
from curator.storage.wrong_values import WrongValue, find_wrong_values

__all__ = [
    "BUNDLES_NAME",
    "CHAINED",
    "DATABASE_NAME",
    "RESTORED_NAME",
    "SUFFIX",
    "ProjectLock",
    "SqlStore",
    "SqlUnitOfWork",
    "WrongValue",
    "check_links",
    "check_schema",
    "check_version",
    "completed",
    "create_database",
    "create_project",
    "current_version",
    "find_wrong_values",
    "finish_restoration",
    "named_folder",
    "open_project",
    "project_folder",
    "renew_marker",
]
