"""Documents and knowledge bases in files: one module for each format, and a registry that joins them.

* **PubMed is queried with urllib** (`eutils.py`), with everything in the body of POST requests, so that no log or error
  contains the key. The module is next to the registry because `curator.bootstrap` needs it without lxml.
* **The formats are imported with the first file**, not with the project (`registry.py`).
"""
