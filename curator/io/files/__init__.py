"""Shared by all formats: streams, archives, atomic writing, anchoring of offsets, ids in a file's style.

* **A folder or a zip archive is one source** (`source.py`, listed safely, never unpacked). A format that supports
  them has `sniff_files`, reads by name, and keeps data that belong to no document in the file's `extra`. Each
  document's `raw` is its own annotation file; a mention's `record` counts within it.
* **A file in an archive is a path** (`corpus.zip/a/1.txt`): `Source` and `open_files` open it, so
  that every reader supports it, and nothing is unpacked.
"""
