"""Knowledge bases in files: one module for each source."""

from __future__ import annotations

from curator.io.kb.base import KbSource
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
from curator.io.kb.table import TABLE
from curator.io.kb.umls import UMLS
from curator.io.kb.zeshel import ZESHEL

__all__ = ["KbSource", "default_sources"]


def default_sources() -> dict[str, KbSource]:
    """Sources by name, in the order in which they are asked: the strictest first, a table last."""
    every = (UMLS, ZESHEL, JSONL, OBO, OBOGRAPHS, MEDIAWIKI, MESH_XML, MESH_ASCII, OWL, RDF, CTD, MEDIC, TABLE)
    return {source.name: source for source in every}
