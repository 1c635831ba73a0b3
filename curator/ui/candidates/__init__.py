"""The ranked candidates of one mention, the record of each, evidence for one against another, the search in the
knowledge base, and its hierarchy.

* **Records are laid out after the candidates are painted** (`late_browser.py`): rich text takes 3 ms, a candidate 1 ms.
* **The tree reads a node when it is opened, 100 entities at a time** (`tree_model.py`), in a thread, in order. A last
  row reads more: Qt lays out every row of an opened node, and a node may have 200,000. An entity outside of the pages
  read is inserted before that row. An entity that is its own ancestor is not opened again.
"""
