"""The registry of all formats."""

from __future__ import annotations

from collections.abc import Sequence

from curator.io.bioc.bioc_formats import BioCJsonFormat, BioCXmlFormat
from curator.io.datasets.decisions import DecisionsFormat
from curator.io.datasets.docbin import DocBinFormat
from curator.io.datasets.huggingface import HuggingFaceFormat
from curator.io.datasets.label_studio import LabelStudioFormat
from curator.io.kb.base import KbSource
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
from curator.io.literature.medline import MedlineFormat
from curator.io.literature.plain_text import PlainTextFormat
from curator.io.literature.pubmed_xml import PubMedXmlFormat
from curator.io.literature.pubtator import PubTatorFormat
from curator.io.registry import Registry
from curator.io.standoff.brat import BratFormat
from curator.io.standoff.cas_json import CasJsonFormat
from curator.io.standoff.pubannotation import PubAnnotationFormat
from curator.io.standoff.webanno_tsv import WebAnnoFormat
from curator.io.standoff.webannotation import WebAnnotationFormat
from curator.io.standoff.xmi import XmiFormat
from curator.io.tables.columns import ColumnMemory
from curator.io.tables.document_table import TableFormat
from curator.io.tables.kb_table import TABLE
from curator.io.wiki.blink import BlinkFormat
from curator.io.wiki.mediawiki import MediaWikiFormat
from curator.io.wiki.zeshel import ZeshelFormat
from curator.services.ports.files import DocumentFormat

# The formats that separate texts and annotations, in the order in which they are tried.


def standoff_formats() -> Sequence[DocumentFormat]:
    return (BratFormat(), PubAnnotationFormat(), WebAnnotationFormat(), WebAnnoFormat(), XmiFormat(), CasJsonFormat())


def every_format(columns: ColumnMemory | None = None) -> Registry:
    """All formats, the strictest first: a PubTator header may occur in any text. `columns` remembers the columns chosen
    for tables."""
    return Registry(
        (
            PubMedXmlFormat(),
            BioCXmlFormat(),
            MediaWikiFormat(),
            BioCJsonFormat(),
            ZeshelFormat(),
            BlinkFormat(),
            *standoff_formats(),
            MedlineFormat(),
            PubTatorFormat(),
            DecisionsFormat(),
            TableFormat(),
            DocBinFormat(),
            LabelStudioFormat(),
            HuggingFaceFormat(),
            PlainTextFormat(),
        ),
        default_sources(),
        columns,
    )


def default_sources() -> dict[str, KbSource]:
    """Sources by name, in the order in which they are tried: the strictest first, tables last."""
    every = (UMLS, ZESHEL, JSONL, OBO, OBOGRAPHS, MEDIAWIKI, MESH_XML, MESH_ASCII, OWL, RDF, CTD, MEDIC, TABLE)
    return {source.name: source for source in every}
