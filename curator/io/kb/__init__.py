"""Knowledge bases in files: one module for each source."""

from __future__ import annotations

from curator.io.kb.base import KbSource
from curator.io.kb.jsonl import JSONL
from curator.io.kb.obo import OBO
from curator.io.kb.zeshel import ZESHEL

__all__ = ["KbSource", "default_sources"]


def default_sources() -> dict[str, KbSource]:
    """Sources by name, in the order in which they are asked."""
    return {source.name: source for source in (ZESHEL, JSONL, OBO)}
