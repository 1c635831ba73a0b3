"""Formats of literature databases: PubTator, PubMed XML, MEDLINE, plain text.

* **PubTator's text** is stored as title, line feed, abstract: the separator counts as one character, regardless of
  which it is.
"""

from curator.io.literature.medline import MedlineFormat
from curator.io.literature.plain_text import PlainTextFormat
from curator.io.literature.pubmed_xml import PubMedXmlFormat
from curator.io.literature.pubtator import PubTatorFormat

__all__ = [
    "MedlineFormat",
    "PlainTextFormat",
    "PubMedXmlFormat",
    "PubTatorFormat",
]
