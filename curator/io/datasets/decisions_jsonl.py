"""Reading and writing documents as the program's own JSON lines, with all project data about them.

One document a line, described by `resources/schemas/documents.schema.json`: {"format": "curator-documents", "id",
"file", "occurrence", "title", "split", "state", "flagged", "text", "passages": [{"kind", "start", "end", "label"}],
"comments", "mentions": [{"spans": [[start, end], …] in code points, "text", "type", "origin", "stated": the source's
identifiers, "outcome": null while undecided, "entities", "reason", "curator", "at", "note", "flagged", "comments"}]}.
Comments are [{"author", "at", "text"}]. A mention with a second opinion also has "opinion": {"entity": null for NIL,
"model", "prompt": a SHA-256, "at", "reason"}, which is written but not read. A mention with attributes has
"attributes": {name: value}. Unknown keys of a line are written back unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from curator.domain.audit import Comment
from curator.domain.documents import SourceFile
from curator.domain.suggestions import Opinion
from curator.domain.wording import UserError, tr
from curator.io.datasets.decisions_read import DECIDED, FORMAT, KEYS, DecisionsReader, is_document
from curator.io.files.export import WrittenSource, write_streams
from curator.io.files.source import Source
from curator.io.wiki.zeshel_lines import first_object
from curator.services.ports.files import Carries, ExportDocument, ExportMention, Problem

_OF_DECISION = frozenset({"origin", "opinion", "attributes", *DECIDED})


class DecisionsFormat:
    """Reads and writes the lines; with gold, decisions are read with their curators and times."""

    name = "decisions"
    title = "Curator JSON lines"
    can_read = True
    can_write = True
    endings = (".decisions.jsonl", ".jsonl", ".json")
    carries = Carries(
        mentions=True,
        discontinuous=True,
        several_ids=True,
        nil=True,
        attributes=True,
        every_mention=True,
        own_fields=True,
    )
    carries_people = True

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return is_document(first_object(head))

    def open(self, path: Path) -> DecisionsReader:
        """Raises UserError for a missing, empty, truncated or foreign file."""
        if not self.sniff(path, Source(path).head()):
            raise UserError(
                tr(
                    "{path} is not {title}: its lines lack the keys of a document; choose another file",
                    path=path,
                    title=self.title,
                )
            )
        reader = DecisionsReader(path)
        reader.prepare()
        return reader

    def holds_more(self, raw: str) -> bool:
        """Whether lines have unknown keys."""
        value = json.loads(raw)
        ours = {*KEYS, *DECIDED, "file", "occurrence"}
        return bool(value.keys() - ours or any(one.keys() - _OF_DECISION for one in value.get("mentions", ())))

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        listed = json.loads(raw).get("mentions", ()) if raw else ()
        found = ((number, held_attributes(one.get("attributes"))) for number, one in enumerate(listed))
        return {number: held for number, held in found if held}

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `export.write_streams`."""
        self.problems = []

        def pieces(sources: Sequence[WrittenSource]) -> Iterator[bytes]:
            for file, documents in sources:
                for item in documents:
                    line = json.dumps(document_line(item, file), ensure_ascii=False) + "\n"
                    yield line.encode("utf-8", "surrogatepass")

        return write_streams(files, out, pieces, format_name=self.name, suffix=".decisions.jsonl", endings=self.endings)


def document_line(item: ExportDocument, file: SourceFile) -> dict[str, Any]:
    document = item.document
    came = json.loads(item.raw) if file.format == DecisionsFormat.name and item.raw else {}
    records = came.pop("mentions", [])
    return {
        "format": FORMAT,
        "id": document.external_id,
        "file": file.name,
        "occurrence": document.occurrence,
        "title": document.title,
        "split": document.split.value,
        "state": document.state.value,
        "flagged": item.flagged,
        "text": document.text,
        "passages": [asdict(one) for one in document.passages],
        "comments": _comments(item.comments, None),
        "mentions": [_mention(one, item.comments, records) for one in item.mentions],
        **came,
    }


def _mention(gold: ExportMention, comments: Sequence[Comment], records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    mention, decision = gold.mention, gold.decision
    came = dict(records[mention.record]) if 0 <= mention.record < len(records) else {}
    if decision is not None or not gold.unchanged:  # for a file read without its gold, its statements are written back
        came = {key: value for key, value in came.items() if key not in DECIDED}
    if attributes := held_attributes(came.pop("attributes", None)) | dict(gold.attributes):
        came["attributes"] = {name: value for name, value in attributes.items() if value is not None}
    if gold.opinion is not None:
        came["opinion"] = _opinion(gold.opinion)
    verdict = decision.verdict if decision else None
    return {
        "spans": [[span.start, span.end] for span in mention.spans],
        "text": mention.text,
        "type": mention.type,
        "origin": mention.origin.value,
        "stated": mention.raw_ids,
        "outcome": verdict.outcome.value if verdict else None,
        "entities": list(verdict.entity_ids) if verdict else [],
        "reason": verdict.reason.value if verdict and verdict.reason else None,
        "curator": decision.curator if decision else None,
        "at": decision.at.isoformat() if decision else None,
        "note": decision.note if decision else "",
        "flagged": mention.flagged,
        "comments": _comments(comments, mention.id),
        **came,
    }


def held_attributes(value: object) -> dict[str, str]:
    """Names and values of a mention's `attributes`; anything else is left out."""
    given = value if isinstance(value, dict) else {}
    return {name: held for name, held in given.items() if isinstance(held, str) and held.strip()}


def _opinion(opinion: Opinion) -> dict[str, str | None]:
    return {
        "entity": opinion.entity_id,
        "model": opinion.model,
        "prompt": opinion.prompt,
        "at": opinion.at.isoformat(),
        "reason": opinion.reason,
    }


def _comments(comments: Sequence[Comment], mention_id: int | None) -> list[dict[str, str]]:
    return [
        {"author": one.author, "at": one.at.isoformat(), "text": one.text}
        for one in comments
        if one.mention_id == mention_id and not one.deleted
    ]
