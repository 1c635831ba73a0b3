"""BioC in XML and JSON, read, written, and written into the file that was read."""

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
