"""Write BLINK's JSON lines.

* A mention of which nothing changed goes back as its line was, with the keys that are not ours.
* A decision is `label_id`, the first entity, and `entity_ids`, all of them; `NIL` for none. What stood in `label` and
  `label_title` belonged to another entity and is emptied.
* A line holds one mention in one stretch: discontinuous ones are left out, and documents without mentions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from curator.domain.documents import SourceFile
from curator.domain.wording import ntr, tr
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.export import Action, action_for, check_spans, left_out
from curator.io.files.identifiers import NIL, read_id, written_id
from curator.io.files.places import mention_place
from curator.services.ports import ExportDocument, ExportMention, LeftOut, Problem

CONTEXTS = ("context_left", "mention", "context_right")
_ABOUT = ("label", "label_title", "label_document_id", "Wikipedia_ID", "Wikipedia_URL", "Wikipedia_title")


def written_lines(documents: Iterable[ExportDocument], file: SourceFile, problems: list[Problem]) -> Iterator[str]:
    """The lines of all documents, with their ends."""
    bare = described = 0
    for item in documents:
        check_spans(item)
        records = json.loads(item.raw) if file.format == "blink" and item.raw else []
        count = 0
        for gold in item.mentions:
            value = _line(gold, item, file, records, problems)
            if value is not None:
                count += 1
                yield json.dumps(value, ensure_ascii=False) + "\n"
                described += value.get("label") == ""
        bare += not count
    if bare:
        text = ntr(
            "BLINK's lines are mentions: {n} document without any was left out",
            "BLINK's lines are mentions: {n:,} documents without any were left out",
            bare,
        )
        problems.append(LeftOut(0, "note", text, documents=bare))
    if described:
        text = ntr(
            "{n} line has no `label` and `label_title`: join it with the knowledge base by `label_id`",
            "{n:,} lines have no `label` and `label_title`: join them with the knowledge base by `label_id`",
            described,
        )
        problems.append(Problem(0, "note", text))


def _line(
    gold: ExportMention, item: ExportDocument, file: SourceFile, records: list[Any], problems: list[Problem]
) -> dict[str, Any] | None:
    action = action_for(gold, item.document.external_id, problems)
    mention = gold.mention
    if action is Action.DROP:
        return None
    if len(mention.spans) != 1:
        where = mention_place(item.document.external_id, mention.text)
        problems.append(left_out(gold, tr("{where} is discontinuous, which BLINK cannot carry: left out", where=where)))
        return None
    came = records[mention.record] if 0 <= mention.record < len(records) else None
    if came is not None and action is Action.KEEP:
        (left, start, end, right), value = came
        text = item.document.text
        return {**value, "context_left": text[:left], "mention": text[start:end], "context_right": text[right:]}
    return _new_line(gold, item, file, dict(came[1]) if came is not None else {}, keep=action is Action.MOVE)


def _new_line(
    gold: ExportMention, item: ExportDocument, file: SourceFile, value: dict[str, Any], *, keep: bool
) -> dict[str, Any]:
    mention, text = gold.mention, item.document.text
    span = mention.spans[0]
    value |= {
        "context_doc_id": item.document.external_id,
        "context_left": text[: span.start],
        "mention": mention.text,
        "context_right": text[span.end :],
        "start": span.start,
        "type": mention.type,
    }
    if keep:
        return value
    ids = stated_ids(gold, item, file)
    for key in _ABOUT:
        if key in value or key in ("label", "label_title"):
            value[key] = ""
    value["label_id"] = next(iter(ids or ()), NIL if ids is not None else "unknown")
    value["entity_ids"] = [_unmistakable(one) for one in ids] if ids else []
    return value


def _unmistakable(entity_id: str) -> str:
    """As it is where it is read as it is."""
    return entity_id if read_id(entity_id) == entity_id else written_id(entity_id)
