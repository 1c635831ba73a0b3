"""The knowledge base's tables and the search over names.

* **A search begins with what the document is linked to**: within a tier such an entity counts as 30 earlier links.
* **The search reads some hundred rows, for any query** (`kb_search.py`). Rows of the full-text index are numbered
  by quality (length of the name, synonyms a little worse), and FTS5 answers in the order of numbers: no sort, no join,
  and reading stops early. Types are words of a second column, so that a restriction is part of the query. With a
  million names a key costs 8 ms of processor time at the median and 30 ms at the 95th percentile
  (`tests/benchmarks/kb_search.py`); sorting what matched took seconds for short beginnings. The distinct words have a
  table of their own, for near spellings (rapidfuzz) and for characters in the middle of words. The window asks from a
  thread, and the latest query wins (`curator/ui/kit/worker.py`).
* **A knowledge base of several sources is one version**, put together again whenever a source comes or goes: the
  others are copied from the active version, in which a source is a range of rows (meta `kb.sources.N`). The earlier
  source wins where two have an id. Nothing but storage knows of sources, so bundles, search and linking stay as they
  were.
* **The hierarchy is indexed when a version is loaded** (`kb_hierarchy.py`): children in the order of their names, so
  that a page of 200,000 is read without a sort. A version of before gets its index when it is first asked for, by
  `build_hierarchy`; a schema of its own would make a backup of every project for what can be made again.
* **Names are loaded first and sorted once**: the two indexes over names are made when all names are there, in one
  statement each, which keeps a decision waiting for seconds in a knowledge base of millions.
"""

from curator.storage.kb.kb import SqlKnowledgeBase
from curator.storage.kb.kb_hierarchy import build_hierarchy
from curator.storage.kb.kb_index import build_index, upgrade_versions
from curator.storage.kb.kb_matching import add_obsolete, all_obsolete, obsolete_entity
from curator.storage.kb.kb_tables import SHELF, KbTables, canonical_json, parse_entity, tables_of

__all__ = [
    "SHELF",
    "KbTables",
    "SqlKnowledgeBase",
    "add_obsolete",
    "all_obsolete",
    "build_hierarchy",
    "build_index",
    "canonical_json",
    "obsolete_entity",
    "parse_entity",
    "tables_of",
    "upgrade_versions",
]
