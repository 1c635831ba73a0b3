"""Reading and writing BioC in XML and JSON, also back into the original file.

* **BioC is read by these modules**, not by the package `bioc`: that package holds whole files in memory, resolves XML
  entities, joins infons with the same key and drops every field outside of the DTD. Both forms become one small model
  (`bioc.py`) for reading and are edited in their own trees (`bioc_xml_tree.py`, `bioc_json_tree.py`). The stored text
  is the passages with one line feed between them, so that it equals PubTator's. An annotation's position is mapped by
  its passage's stated offset or, if more annotations match, by the passage's position in the text (in BC5CDR offsets
  are 5 or 10 too large).
"""
