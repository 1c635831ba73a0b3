"""Write W3C Web Annotations: one collection for each source file, with the annotated texts.

* Unchanged annotations are kept; a decision replaces the bodies with identifiers, and adds who decided and when
  (`creator`, `created`). NIL is a textual body.
* New annotations quote the text (`TextQuoteSelector`) and count code points (`TextPositionSelector`). A discontinuous
  mention has one target for each fragment.
* An attribute of a mention is a textual body with the purpose of classifying and the attribute's name in a separate
  term.
* Deleted and rejected mentions' annotations are left out; so are replies to them, which is noted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from curator.domain.documents import SourceFile
from curator.domain.wording import tr
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.attributes import AttributeNames
from curator.io.files.export import Action, FreeNames, WrittenSource, action_for, is_gold, write_streams
from curator.io.files.identifiers import NIL, written_address
from curator.io.files.source import plain_text
from curator.io.standoff.standoff import extra_of
from curator.io.standoff.webannotation_tree import (
    ATTRIBUTE,
    CONTEXT,
    bodies,
    held_attributes,
    key_of,
    new_bodies,
    put_attributes,
    role,
    targets,
    type_and_ids,
)
from curator.services.ports.files import ExportDocument, ExportMention, Problem

ENDINGS = (".jsonld", ".json")
AROUND = 32  # characters of context on either side of a quotation
ATTRIBUTES = AttributeNames("Web Annotation")
OWN_TERMS = {
    "documents": {"@id": "urn:curator:documents", "@container": "@set"},
    "title": "http://purl.org/dc/terms/title",
    ATTRIBUTE: "urn:curator:attribute",
}


def write_files(
    files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path, problems: list[Problem]
) -> list[Path]:
    """See `export.write_streams`."""

    def pieces(sources: Sequence[WrittenSource]) -> Iterator[bytes]:
        text = json.dumps(_collection(sources, problems), ensure_ascii=False, indent=1) + "\n"
        yield plain_text(text).encode("utf-8")

    return write_streams(files, out, pieces, format_name="webannotation", suffix=".jsonld", endings=ENDINGS)


def _collection(sources: Sequence[WrittenSource], problems: list[Problem]) -> dict[str, Any]:
    """One collection; its other fields are those of the first source."""
    envelope = extra_of(sources[0][0], "webannotation").get("envelope", {})
    envelope = {key: value for key, value in envelope.items() if key not in ("@context", "type")}
    texts: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    taken = FreeNames()
    for file, documents in sources:
        extra = extra_of(file, "webannotation")
        items += extra.get("others", ())
        for item in documents:
            address = _address(item, extra.get("addresses", {}), taken)
            document = item.document
            text = {"id": address, "type": "Text", "format": "text/plain", "value": document.text}
            texts.append(text | {"title": document.title} if document.title else text)
            items += _Annotations(item, file, address, problems).all()
    page = {"type": "AnnotationPage", "startIndex": 0, "items": items}
    return {
        "@context": [CONTEXT, OWN_TERMS],
        "type": "AnnotationCollection",
        **envelope,
        "total": len(items),
        "documents": texts,
        "first": page,
    }


def _address(item: ExportDocument, known: dict[str, str], taken: FreeNames) -> str:
    """The address of a text, unique even for repeated ids."""
    key = item.document.external_id
    address = known.get(key) or "urn:curator:document:" + quote(key, safe="")
    return taken.take(address, lambda number: f"{address}%20({number})")


class _Annotations:
    """The annotations of one document while they are edited."""

    def __init__(self, item: ExportDocument, file: SourceFile, address: str, problems: list[Problem]) -> None:
        self._item = item
        self._file = file
        self._address = address
        self._problems = problems
        own = file.format == "webannotation" and bool(item.raw)
        self._found: list[dict[str, Any] | None] = json.loads(item.raw) if own else []

    def all(self) -> Iterator[dict[str, Any]]:
        new = []
        gone = {self._drop(record) for record in self._item.removed_records}
        for gold in sorted(self._item.mentions, key=lambda one: one.mention.spans):
            action, record = action_for(gold, self._item.document.external_id, self._problems), gold.mention.record
            known = self._found[record] if self._found and record >= 0 else None
            if action is Action.DROP:
                gone |= {self._drop(record)} if known else set()
                continue
            if known is None:
                known = self._new(gold)
                new.append(known)
            elif action is not Action.KEEP:
                self._edit(known, gold, action)
            if changes := ATTRIBUTES.changes(gold, held_attributes(known), self._problems):
                put_attributes(known, changes)
        for one in self._found:
            if one is not None and not self._replies(one, gone - {""}):
                yield one
        yield from new

    def _drop(self, record: int) -> str:
        key = key_of(self._found[record])
        self._found[record] = None
        return key

    def _replies(self, annotation: dict[str, Any], gone: set[str]) -> bool:
        found = {address for address, _ in targets(annotation)} & gone
        if found:
            self._problems.append(
                Problem(
                    0,
                    "note",
                    tr(
                        "{key_of} was removed together with {found}, which it refers to",
                        key_of=key_of(annotation),
                        found=min(found),
                    ),
                )
            )
        return bool(found)

    def _new(self, gold: ExportMention) -> dict[str, Any]:
        ids = stated_ids(gold, self._item, self._file)
        written = [] if ids is None else [written_address(one) for one in ids] or [NIL]
        value: dict[str, Any] = {
            "type": "Annotation",
            "motivation": "identifying" if written else "tagging",
            "body": new_bodies(gold.mention.type, written),
            "target": self._target(gold),
        }
        return value | _provenance(gold)

    def _edit(self, annotation: dict[str, Any], gold: ExportMention, action: Action) -> None:
        kind, stated = type_and_ids(annotation)
        if gold.reshaped:
            annotation["target"] = self._target(gold)
            kind = gold.mention.type
        if action is Action.WRITE:
            stated = [written_address(one) for one in stated_ids(gold, self._item, self._file) or ()] or [NIL]
            annotation |= _provenance(gold)
        elif kind == type_and_ids(annotation)[0]:
            return
        others = [one for one in bodies(annotation) if role(one, annotation) in ("", ATTRIBUTE)]
        annotation.pop("bodyValue", None)
        annotation["body"] = [*new_bodies(kind, stated), *others]

    def _target(self, gold: ExportMention) -> object:
        text = self._item.document.text
        found = [
            {
                "source": self._address,
                "selector": [
                    {"type": "TextPositionSelector", "start": span.start, "end": span.end},
                    {
                        "type": "TextQuoteSelector",
                        "exact": text[span.start : span.end],
                        "prefix": text[max(span.start - AROUND, 0) : span.start],
                        "suffix": text[span.end : span.end + AROUND],
                    },
                ],
            }
            for span in gold.mention.spans
        ]
        return found[0] if len(found) == 1 else found


def _provenance(gold: ExportMention) -> dict[str, Any]:
    """Who decided and when."""
    if gold.decision is None or not is_gold(gold):
        return {}
    return {"creator": {"type": "Person", "name": gold.decision.curator}, "created": gold.decision.at.isoformat()}
