"""All formats, in the order in which they are tried: the strictest first."""

from __future__ import annotations

from curator.io.bioc.bioc_formats import BioCJsonFormat, BioCXmlFormat
from curator.io.datasets.decisions import DecisionsFormat
from curator.io.datasets.docbin import DocBinFormat
from curator.io.datasets.huggingface import HuggingFaceFormat
from curator.io.datasets.label_studio import LabelStudioFormat
from curator.io.files.format import Format
from curator.io.kb.base import KbReader
from curator.io.kb.ctd import CtdReader, MedicReader
from curator.io.kb.jsonl import JsonlReader
from curator.io.kb.mediawiki import MediaWikiKbReader
from curator.io.kb.mesh import MeshAsciiReader, MeshXmlReader
from curator.io.kb.obo import OboReader
from curator.io.kb.obographs import OboGraphsReader
from curator.io.kb.rdf import OwlReader, SkosReader
from curator.io.kb.umls import UmlsReader
from curator.io.kb.zeshel import ZeshelKbReader
from curator.io.literature.plain_text import PlainTextFormat
from curator.io.literature.pubmed import MedlineFormat, PubMedXmlFormat
from curator.io.literature.pubtator import PubTatorFormat
from curator.io.standoff.brat import BratFormat
from curator.io.standoff.cas_json import CasJsonFormat
from curator.io.standoff.pubannotation import PubAnnotationFormat
from curator.io.standoff.webanno_tsv import WebAnnoFormat
from curator.io.standoff.webannotation import WebAnnotationFormat
from curator.io.standoff.xmi import XmiFormat
from curator.io.tables.document_table import TableFormat
from curator.io.tables.kb_table import KbTableReader
from curator.io.wiki.blink import BlinkFormat
from curator.io.wiki.mediawiki import MediaWikiFormat
from curator.io.wiki.zeshel import ZeshelFormat

FORMATS: tuple[type[Format], ...] = (
    PubMedXmlFormat,
    BioCXmlFormat,
    MediaWikiFormat,
    BioCJsonFormat,
    ZeshelFormat,
    BlinkFormat,
    BratFormat,
    PubAnnotationFormat,
    WebAnnotationFormat,
    WebAnnoFormat,
    XmiFormat,
    CasJsonFormat,
    MedlineFormat,
    PubTatorFormat,  # whose header may occur in any text
    DecisionsFormat,
    TableFormat,
    DocBinFormat,
    LabelStudioFormat,
    HuggingFaceFormat,
    PlainTextFormat,
)
KNOWLEDGE_BASES: tuple[type[KbReader], ...] = (
    UmlsReader,
    ZeshelKbReader,
    JsonlReader,
    OboReader,
    OboGraphsReader,
    MediaWikiKbReader,
    MeshXmlReader,
    MeshAsciiReader,
    OwlReader,
    SkosReader,
    CtdReader,
    MedicReader,
    KbTableReader,
)
