"""Backups of a project's database, its check, its restoration, and the salvage of decisions from what is left of it.

* **Nothing here needs an open project**: what is damaged cannot be opened. Only `restore` changes anything, and it
  keeps what was there under another name.
* **A backup is the database alone**, in a folder of the user's state and not beside the project, so that it does not
  share its fate. `project.curator` is made of it again; linkers (`bundles/`) are large, and are built again.
* **A backup is not compressed**, so that its state can be listed, compared and checked in place, and put back by
  copying it. Gzip at level 1 would make 46 MB of a project of BC5CDR with 120 MB, in 1.2 s of processor time; the
  setting *Space for backups* bounds them anyway.
* **A salvage is a round file**, which carries curator, time and reason, and says by hashes which text was meant.
"""

from curator.storage.safety.backups import Backups, backups_of
from curator.storage.safety.checking import check_steps
from curator.storage.safety.restoring import continue_without, restore
from curator.storage.safety.salvage import salvage

__all__ = ["Backups", "backups_of", "check_steps", "continue_without", "restore", "salvage"]
