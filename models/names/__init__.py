"""Search by name: lexical lists, names as vectors, and dictionary detection of mentions in a text.

* **The lexical list is a setting of the index** (characters, merged, BM25). BM25 cannot add new names, so added
  entities are found by characters.
* **With 750,000 names or more, the lexical index is built on disk** (`lexical_building.py`, with identical arrays): 7.4
  million names would take 38 GB in memory.
* **With 750,000 names or more, detection stores a hash and a row for each name** (`name_keys.py`) instead of an
  automaton: 43 instead of 173 MB for 87,000 names, but 3.4 times the time per text.
"""
