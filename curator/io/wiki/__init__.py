"""Wikis and the corpora made from them: MediaWiki dumps, Zeshel, BLINK."""

from curator.io.wiki.blink import BlinkFormat
from curator.io.wiki.mediawiki import Dump, MediaWikiFormat, Page, Wiki, is_dump
from curator.io.wiki.wikitext import lead_of
from curator.io.wiki.zeshel import ZeshelFormat, world_name
from curator.io.wiki.zeshel_lines import DOCUMENT_KEYS, LineError, first_object, has_keys, parse_document, parse_object

__all__ = [
    "DOCUMENT_KEYS",
    "BlinkFormat",
    "Dump",
    "LineError",
    "MediaWikiFormat",
    "Page",
    "Wiki",
    "ZeshelFormat",
    "first_object",
    "has_keys",
    "is_dump",
    "lead_of",
    "parse_document",
    "parse_object",
    "world_name",
]
