"""The registry of every format there is."""

from __future__ import annotations

from curator.io.bioc_json import BioCJsonFormat
from curator.io.bioc_xml import BioCXmlFormat
from curator.io.blink import BlinkFormat
from curator.io.column_memory import ColumnMemory
from curator.io.decisions_jsonl import DecisionsFormat
from curator.io.docbin import DocBinFormat
from curator.io.document_table import TableFormat
from curator.io.huggingface import HuggingFaceFormat
from curator.io.kb import default_sources
from curator.io.mediawiki import MediaWikiFormat
from curator.io.medline import MedlineFormat
from curator.io.plain_text import PlainTextFormat
from curator.io.pubmed_xml import PubMedXmlFormat
from curator.io.pubtator import PubTatorFormat
from curator.io.registry import Registry
from curator.io.standoff_formats import standoff_formats
from curator.io.zeshel import ZeshelFormat


def every_format(columns: ColumnMemory | None = None) -> Registry:
    """The strictest is asked first: a PubTator header may stand in any text. `columns` remembers
    what was chosen for tables."""
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
            HuggingFaceFormat(),
            PlainTextFormat(),
        ),
        default_sources(),
        columns,
    )
