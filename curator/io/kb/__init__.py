"""Knowledge bases in files: one module for each format.

* **OBO is read by our own reader**: pronto 2.7 stops at a syntax error in the Disease Ontology of 2016, whose
  cross-references hold spaces.
* **OWL and SKOS are one graph, read with pyoxigraph**, which streams triples: rdflib took 35 times the file's size in
  memory, and 11 s where this takes 2 s; pronto stops at unknown content. JSON-LD is not read, because its contexts
  would be downloaded.
* UMLS files are sorted by concept and read in parallel, so that only one concept is in memory at a time.
"""

from curator.io.kb.base import KbSource, clean_names, first_of_each, needs_some
from curator.io.kb.ctd import CTD
from curator.io.kb.jsonl import JSONL
from curator.io.kb.mediawiki import MEDIAWIKI
from curator.io.kb.medic import MEDIC
from curator.io.kb.mesh_ascii import MESH_ASCII
from curator.io.kb.mesh_xml import MESH_XML
from curator.io.kb.obo import OBO
from curator.io.kb.obographs import OBOGRAPHS
from curator.io.kb.rdf import OWL, RDF
from curator.io.kb.umls import UMLS
from curator.io.kb.zeshel import ZESHEL

__all__ = [
    "CTD",
    "JSONL",
    "MEDIAWIKI",
    "MEDIC",
    "MESH_ASCII",
    "MESH_XML",
    "OBO",
    "OBOGRAPHS",
    "OWL",
    "RDF",
    "UMLS",
    "ZESHEL",
    "KbSource",
    "clean_names",
    "first_of_each",
    "needs_some",
]
