"""A document of another format as BioC, in the shape of its JSON. Its text comes back as it is.

Passages stand at their places. A single line feed between two is in neither; white space of any other kind goes to the
passage before it, and other text outside of passages makes one of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from curator.domain.documents import Document, Passage, SourceFile
from curator.io.bioc.bioc_ids import InfonStyle, changed, signed
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.export import Action, action_for, check_spans, is_gold
from curator.services.ports import ExportDocument, ExportMention, Problem

Json = dict[str, Any]


def new_document(item: ExportDocument, file: SourceFile, style: InfonStyle, problems: list[Problem]) -> Json:
    """The whole document with its gold mentions, and with undecided ones as their source has them."""
    check_spans(item)
    document = item.document
    passages = [_passage(document, one) for one in tiles(document.text, document.passages)]
    name = document.external_id
    chosen = [gold for gold in item.mentions if action_for(gold, name, problems) is not Action.DROP]
    for number, gold in enumerate(sorted(chosen, key=lambda one: one.mention.spans)):
        start = gold.mention.spans[0].start
        owner = next(one for one in reversed(passages) if one["offset"] <= start)
        owner["annotations"].append(_annotation(gold, stated_ids(gold, item, file), str(number), style))
    titled = any(one["infons"].get("type") == "title" for one in passages)
    infons = {"title": document.title} if document.title and not titled else {}
    return {"id": name, "infons": infons, "passages": passages, "annotations": [], "relations": []}


def tiles(text: str, passages: tuple[Passage, ...]) -> list[Passage]:
    """Passages that cover the text but for one line feed between two; where none is between, white space meets."""
    found: list[Passage] = []
    for one in sorted(passages, key=lambda one: (one.start, -one.end)):
        at = found[-1].end if found else 0
        if one.end <= one.start or one.start < at:
            continue  # empty, or within another one
        _fill(found, text, one.start)
        _append(found, text, one)
    _fill(found, text, len(text))
    return found


def _fill(found: list[Passage], text: str, end: int) -> None:
    """Cover what stands before `end` unless it is one line feed after a passage."""
    start = found[-1].end if found else 0
    gap = text[start:end]
    if not gap or (gap == "\n" and found and end < len(text)):
        return
    if gap == "\n" and end < len(text):
        found.append(Passage("title", 0, 0))
    elif found and gap.isspace():
        found[-1] = replace(found[-1], end=end)
    else:
        from_feed = bool(found) and gap.startswith("\n")
        to_feed = gap.endswith("\n") and end < len(text) and len(gap) > 1 + from_feed
        _append(found, text, Passage("text", start + from_feed, end - to_feed))


def _append(found: list[Passage], text: str, one: Passage) -> None:
    """As a passage of its own, or as more of the one before where nothing would part the two."""
    if found and one.start == found[-1].end and not _white(text, one.start):
        found[-1] = replace(found[-1], end=one.end)
    else:
        found.append(one)


def _white(text: str, at: int) -> bool:
    return text[at - 1 : at].isspace() or text[at : at + 1].isspace()


def _passage(document: Document, one: Passage) -> Json:
    infons = {"type": one.kind} | ({"label": one.label} if one.label else {})
    text = document.text[one.start : one.end]
    return {"offset": one.start, "infons": infons, "text": text, "sentences": [], "annotations": [], "relations": []}


def _annotation(gold: ExportMention, ids: tuple[str, ...] | None, number: str, style: InfonStyle) -> Json:
    mention = gold.mention
    infons = [("type", mention.type)]
    if ids is not None:
        infons = changed(infons, ids, style)
    if is_gold(gold):
        infons = signed(infons, gold.decision)
    places = [{"offset": span.start, "length": span.end - span.start} for span in mention.spans]
    return {"id": number, "infons": dict(infons), "text": mention.text, "locations": places}
