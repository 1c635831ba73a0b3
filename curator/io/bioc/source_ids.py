"""The identifiers written for a mention: the decision's entities, or those in its source, in one spelling per file.

Sources name identifiers with a prefix (`MESH:D003000`), without one (`D003000`), or under an infon named like the
prefix; knowledge bases have the prefix. An undecided mention is written like a decided one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from curator.domain.documents import SourceFile
from curator.io.bioc.bioc import InfonStyle, stated
from curator.io.bioc.bioc_json_tree import JsonTree, own_text
from curator.io.bioc.bioc_xml_tree import XmlTree
from curator.io.files.export import entity_ids, is_gold
from curator.io.files.idstyle import NIL, IdStyle, detect_style, read_id, vocabulary_of, written_id
from curator.services.ports.files import ExportDocument, ExportMention


def stated_ids(gold: ExportMention, item: ExportDocument, file: SourceFile) -> tuple[str, ...] | None:
    """The decision's entities, empty for NIL; None if nothing is stated.

    For an undecided mention these are its source's identifiers, with missing prefixes added; so they are for gold of
    the file of which the knowledge base lacks an identifier.
    """
    if not is_gold(gold):
        return _of_source(gold, item, file) or (() if gold.mention.raw_ids.strip() else None)
    decided = entity_ids(gold)
    imported = gold.unchanged and gold.decision is not None and gold.decision.is_imported
    if not imported or read_id(gold.mention.raw_ids) in decided:
        return decided
    return max(decided, _of_source(gold, item, file), key=len)


def _of_source(gold: ExportMention, item: ExportDocument, file: SourceFile) -> tuple[str, ...]:
    raw, record = gold.mention.raw_ids, gold.mention.record
    found = _bioc_ids(file.format, file.extra, item.raw) if file.format in ("bioc-xml", "bioc-json") else ()
    ids = found[record] if 0 <= record < len(found) else source_style(file).split(raw, gold.mention.type)
    ids = tuple(one for one in ids if read_id(one))
    return ids if _DECIDED.are_bare(item) else tuple(map(_prefixed, ids))


def source_style(file: SourceFile) -> IdStyle:
    """The identifier style of an imported file, if its format has styles."""
    if file.format == "pubtator":
        return IdStyle.load(file.extra)
    return InfonStyle.load(file.extra).ids if file.format in ("bioc-xml", "bioc-json") else IdStyle()


class Spelling:
    """How a document's identifiers are written: in their original style if it came in this format.

    `nil` is the word for no entity, by default `usual`.
    """

    def __init__(self, item: ExportDocument, file: SourceFile, format_name: str, *, usual: str = NIL) -> None:
        mentions = [gold.mention for gold in item.mentions if gold.mention.record >= 0]
        came = [one for one in mentions if one.raw_ids.strip()] if file.format == format_name else []
        self._style = detect_style(["", "", "", "", one.type, one.raw_ids] for one in came)
        words = Counter(one.raw_ids for one in came if not read_id(one.raw_ids))
        self.nil = words.most_common(1)[0][0] if words else usual

    def ids(self, ids: Sequence[str], *, prefixed: bool = False) -> list[str]:
        """Identifiers in the form of `written_id`; the word for NIL if there is none."""
        return [self._written(one, prefixed=prefixed) for one in ids] or [self.nil]

    def _written(self, entity_id: str, *, prefixed: bool) -> str:
        found, plain = self._style.spell(entity_id), written_id(entity_id, prefixed=prefixed)
        if plain != entity_id or (prefixed and ":" not in found):
            return plain
        return found if read_id(found) in (entity_id, entity_id.partition(":")[2]) else plain


class _Decided:
    """The spelling of the decided identifiers of the last document: asked for each of its mentions."""

    def __init__(self) -> None:
        self._last: tuple[ExportDocument, bool] | None = None

    def are_bare(self, item: ExportDocument) -> bool:
        """Whether one of them has no prefix."""
        last = self._last
        if last is None or last[0] is not item:
            ids = (one for gold in item.mentions if is_gold(gold) for one in entity_ids(gold))
            last = self._last = item, any(":" not in one for one in ids)
        return last[1]


_DECIDED = _Decided()


def _prefixed(found: str) -> str:
    """A bare identifier that can only be MeSH's or UMLS's, with its prefix."""
    vocabulary = "" if ":" in found else vocabulary_of(found)
    return f"{vocabulary}:{found}" if vocabulary in ("MESH", "UMLS") else found


@lru_cache(maxsize=2)
def _bioc_ids(format_name: str, extra: str, raw: str) -> tuple[tuple[str, ...], ...]:
    """The identifiers of each annotation of a BioC document, by record: an infon's name may be the prefix."""
    if not raw:
        return ()
    document = XmlTree(raw).document() if format_name == "bioc-xml" else JsonTree(own_text(raw)).document()
    style = InfonStyle.load(extra)
    return tuple(stated(one.infons, style)[0] for one in document.annotations)
