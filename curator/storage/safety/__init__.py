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
