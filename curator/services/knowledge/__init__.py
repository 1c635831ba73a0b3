"""The project's knowledge base: search, records, the hierarchy, entities created by curators, all uses of an entity,
and remapping decisions to a new version.

* **A provisional entity is an entity everywhere but in training.** The repository of the knowledge base includes them
  in look-up, search and `resolve`; `info`, `iterate`, the content hash and bundles cover only the imported version. In
  snapshots a link to one is NIL, and it is not a shown candidate: no bundle was built with it, so none could find it.
  The linker process gets them through `change_entities` for every bundle (`curator/services/linking/remembering.py`).
  Ids are never used again; undo marks the row deleted.
* **An import of a knowledge base keeps old data that decisions refer to**: the old records of linked entities that the
  new version lacks (`retired_entities`), and the NIL strings that were names before (meta `kb.update`), so that only
  newly resolvable ones are listed. Only ticked decisions are moved, in one operation, with a note added to each
  decision's note.
"""
