"""The formats that keep texts and annotations apart, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Sequence

from curator.io.standoff.brat import BratFormat
from curator.io.standoff.pubannotation import PubAnnotationFormat
from curator.io.standoff.webanno_tsv import WebAnnoFormat
from curator.io.standoff.webannotation import WebAnnotationFormat
from curator.io.standoff.xmi import XmiFormat
from curator.services.ports import DocumentFormat


def standoff_formats() -> Sequence[DocumentFormat]:
    return (BratFormat(), PubAnnotationFormat(), WebAnnotationFormat(), WebAnnoFormat(), XmiFormat())
