"""The knowledge base's tables and the search over names.

* **A search prefers the document's linked entities**: within a tier such an entity counts like 30 earlier links.
* **The search reads some hundred rows, for any query** (`kb_search.py`). Rows of the full-text index are numbered by
  quality (length of the name, synonyms a little worse), and FTS5 returns them in this order: no sort, no join, and
  reading stops early. Types are words of a second column, so that a restriction is part of the query. With a million
  names a key costs 8 ms of processor time at the median and 30 ms at the 95th percentile
  (`tests/benchmarks/kb_search.py`); sorting the matches took seconds for short prefixes. The distinct words are in a
  separate table, for near spellings (rapidfuzz) and for characters in the middle of words. The window searches in a
  thread, and the latest query wins (`curator/ui/kit/worker.py`).
* **A knowledge base of several sources is one version**, built again whenever a source is added or removed: the others
  are copied from the active version, in which a source is a range of rows (meta `kb.sources.N`). The earlier source
  wins if two have the same id. Only storage knows about sources, so bundles, search and linking do not change.
* **What an identifier means is decided in one place** (`resolve_ids`), by keys that are made when entities are loaded:
  the normal form of `curies.look_up_key`, and the part after the prefix. If the vocabulary of ids without a prefix is
  known (`KnowledgeSource.own`), they have keys with its prefix too; otherwise a prefix never matches them.
* **The hierarchy is indexed when a version is loaded** (`kb_hierarchy.py`): children in the order of their names, so
  that a page of 200,000 is read without a sort.
* **Names are loaded first and sorted once**: the two indexes over names are built when all names are loaded, in one
  statement each, which delays a decision for seconds in a knowledge base of millions.
"""
