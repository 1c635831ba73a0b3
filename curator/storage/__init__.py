"""A project's folder and its SQLite database: the only package that uses SQLAlchemy, sqlite-utils and psycopg.

`team` has shared projects, and is imported only for one.

`create_project` and `open_project` return a `SqlStore`, the implementation of `curator.services.ports.Store`.

* **Queries after each key are statements built once** (bind parameters, `among` in `db/rows.py`): SQLAlchemy needs
  several times as long to build a statement as SQLite needs to answer.
"""
