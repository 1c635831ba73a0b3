"""Annotations separate from the text: brat, PubAnnotation, Web Annotation, WebAnno TSV, UIMA's XMI and CAS JSON.

* **XMI is edited in place with lxml**, not with `dkpro-cassis`, which needs every type declared and rewrites the whole
  file. The tests open written files with cassis.
"""

from curator.io.standoff.brat import BratFormat
from curator.io.standoff.cas_json import CasJsonFormat
from curator.io.standoff.pubannotation import PubAnnotationFormat
from curator.io.standoff.standoff import FilesReader, first_line, plain_passages, write_documents
from curator.io.standoff.webanno_tsv import WebAnnoFormat
from curator.io.standoff.webannotation import WebAnnotationFormat
from curator.io.standoff.xmi import XmiFormat

__all__ = [
    "BratFormat",
    "CasJsonFormat",
    "FilesReader",
    "PubAnnotationFormat",
    "WebAnnoFormat",
    "WebAnnotationFormat",
    "XmiFormat",
    "first_line",
    "plain_passages",
    "write_documents",
]
