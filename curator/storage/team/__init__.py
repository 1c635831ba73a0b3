"""Shared projects: a PostgreSQL database in place of a folder. Imported only when one is opened.

* **One schema**: the tables are made of the same mappings as those of a folder, and the repositories of
  `curator.storage.curation` ask both; what the dialects write differently is in `curator/storage/db/dialects.py`.
* **What is known by hash is copied**: a knowledge base and linkers lie on each computer that works on the project, so
  that search and linking are as quick as in a folder and need nothing of the server.
* **Writers take turns, over all clients**: each transaction that writes begins with one advisory lock, as SQLite's
  begin with the lock of the file. So ids have no gaps, the hashes chain, and no repository needs to know that others
  write. A decision holds the turn for some milliseconds, and whoever sleeps in a turn loses it after a minute.
* **Who is there is a second lock**, shared by all who write: what needs the project alone (upgrades, what interrupted
  imports left, a move) takes it for itself or is put off.
* **Each curator undoes their own steps**: the stacks of `Operations` follow from the rows of one actor, where a folder
  has those of all. A step on whose mentions others built since is refused.
* **A step is on the server's disk when it is called saved**: PostgreSQL answers a commit when its log is synced.
* **The command line opens shared projects, the window does not yet.** Its views read while they paint, and what a lost
  connection means for each of them is not decided.
* **No Alembic.** The steps of folders (`curator/storage/migrations.py`) are frozen, run Python over packed rows and are
  compared with the schema that a project of a stranger may have, statement by statement; Alembic's copies of tables
  would make other statements. Those of shared projects (`upgrading.py`) are some lists of statements, in a transaction
  as PostgreSQL has them for tables too. They begin at version 11, where the tables are those of the folders'
  version 11, and count for themselves: a shared project has tables that a folder needs none of.
* **A move copies rows, not services' calls**: ids, times and hashes stay, so that the chain of hashes holds.
* **U+0000 is refused**: PostgreSQL's texts cannot hold it, and another character in its place would be one that
  documents may hold too.
* **Names of any length are indexed** by their hash where SQLite has an ordered index: an ordered one of PostgreSQL
  holds 2,704 bytes at most.
"""

from curator.storage.team.moving import move
from curator.storage.team.project import create_shared_project, open_shared_project
from curator.storage.team.store import ServerBackups, SharedStore
from curator.storage.team.vault import LinkerVault

__all__ = [
    "LinkerVault",
    "ServerBackups",
    "SharedStore",
    "create_shared_project",
    "move",
    "open_shared_project",
]
