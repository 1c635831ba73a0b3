"""Ports of the services: the interfaces that storage, files and child processes implement, and what they exchange.

Implementations import this package and `curator.domain` only; `curator.bootstrap` joins them.

* **A unit of work has nine repositories**, one for each room of the services. They are classes of `curator/storage`,
  which state what their methods raise. No error of SQLAlchemy leaves storage.
"""
