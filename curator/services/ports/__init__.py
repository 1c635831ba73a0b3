"""Ports of the services: the interfaces that storage, files and child processes implement.

Implementations import this package and `curator.domain` only; `curator.bootstrap` joins them.

* **A unit of work has nine repositories**, one for each room of the services. A protocol states what its methods raise,
  and no error of SQLAlchemy leaves storage. Fewer would only require renaming methods with equal names.
"""
