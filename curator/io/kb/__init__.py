"""Knowledge bases in files: one module for each source."""

from curator.io.kb.base import KbSource, clean_names, first_of_each, needs_some
from curator.io.kb.ctd import CTD
from curator.io.kb.jsonl import JSONL
from curator.io.kb.mediawiki import MEDIAWIKI
from curator.io.kb.medic import MEDIC
from curator.io.kb.mesh_ascii import MESH_ASCII
from curator.io.kb.mesh_xml import MESH_XML
from curator.io.kb.obo import OBO
from curator.io.kb.obographs import OBOGRAPHS
from curator.io.kb.owl import OWL
from curator.io.kb.rdf import RDF
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
