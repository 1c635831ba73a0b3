"""Searching all documents: words and patterns, hits in their contexts, and mentions made from ticked hits.

* **Hits are listed while the search runs** (`corpus_window.py`). A search runs in a thread and checks after each part
  whether another one was requested. After a change the search is repeated and shown when complete, so that the list
  does not move.
"""
