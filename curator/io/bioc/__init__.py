"""BioC in XML and JSON, read, written, and written into the file that was read.

* **BioC is read by these modules**, not by the package `bioc`: that holds whole files in memory, lets its XML parser
  resolve entities, joins infons of one key and drops every field outside of the DTD. Both forms become one small model
  (`bioc.py`) for reading and are edited in their own trees (`bioc_xml_tree.py`, `bioc_json_tree.py`). The stored text
  is the passages with one line feed between them, so that it equals PubTator's. An annotation's place is mapped by its
  passage's offset as stated or, where more annotations fit, by the passage's place in the text (BC5CDR: 5 or 10 too
  far).
"""

from curator.io.bioc.bioc_json import BioCJsonFormat
from curator.io.bioc.bioc_xml import BioCXmlFormat
from curator.io.bioc.source_ids import Spelling, source_style, stated_ids

__all__ = [
    "BioCJsonFormat",
    "BioCXmlFormat",
    "Spelling",
    "source_style",
    "stated_ids",
]
