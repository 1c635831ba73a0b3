"""Backups, check and restoration of a project's database, and salvage of decisions from damaged ones.

* **Nothing here needs an open project**, since damaged ones cannot be opened. Only `restore` changes anything, and it
  keeps the old database under another name.
* **A backup contains only the database**, in a folder of the user's state and not next to the project, so that both are
  not lost together. `project.curator` is recreated from it; linkers (`bundles/`) are large, and are rebuilt.
* **A backup is not compressed**, so that its state can be listed, compared and checked in place, and restored by
  copying it. Gzip at level 1 would compress a BC5CDR project from 120 to 46 MB in 1.2 s of CPU time; the setting *Space
  for backups* limits the size anyway.
* **A salvage is a round file**, with curator, time and reason, and hashes that identify the texts.
"""

from curator.storage.safety.backups import Backups, backups_of, way_out
from curator.storage.safety.checking import check_steps
from curator.storage.safety.restoring import continue_without, restore
from curator.storage.safety.salvage import salvage

__all__ = ["Backups", "backups_of", "check_steps", "continue_without", "restore", "salvage", "way_out"]
