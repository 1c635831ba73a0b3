"""The registry of all formats."""

from __future__ import annotations

from collections.abc import Sequence

from curator.io.bioc import BioCJsonFormat, BioCXmlFormat
from curator.io.datasets import DecisionsFormat, DocBinFormat, HuggingFaceFormat, LabelStudioFormat
from curator.io.kb import (
    CTD,
    JSONL,
    MEDIAWIKI,
    MEDIC,
    MESH_ASCII,
    MESH_XML,
    OBO,
    OBOGRAPHS,
    OWL,
    RDF,
    UMLS,
    ZESHEL,
    KbSource,
)
from curator.io.literature import MedlineFormat, PlainTextFormat, PubMedXmlFormat, PubTatorFormat
from curator.io.registry import Registry
from curator.io.standoff import (
    BratFormat,
    CasJsonFormat,
    PubAnnotationFormat,
    WebAnnoFormat,
    WebAnnotationFormat,
    XmiFormat,
)
from curator.io.tables import TABLE, ColumnMemory, TableFormat
from curator.io.wiki import BlinkFormat, MediaWikiFormat, ZeshelFormat
from curator.services.ports import DocumentFormat

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
