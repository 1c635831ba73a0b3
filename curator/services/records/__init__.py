"""Output: statistics, plots, the audit trail, releases, exports and diagnostics.

* **A release is stored, not compressed**, in a fixed order with one fixed time: zlib's output differs between versions.
* **Statistics are one grouped query each**, and `plots.py` makes plots from them as data
  (`curator/domain/statistics.py`). Diagnostics contain versions, paths and log lines, but no text of documents.
  `kb_export.py` writes the knowledge base with names learned from decisions.
"""
