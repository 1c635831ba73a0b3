"""The immutable input of a job: documents, mentions and decisions as the application wrote them.

A snapshot is a folder of two files. `snapshot.json`: {"kb_hash": str, "files": {name: sha256}}. `documents.jsonl`, one
document a line: {"key", "split": "train"|"validation"|"test", "text", "mentions": [{"key", "spans": [[start, end], …]
in code points, "types": [allowed types of the knowledge base], "gold": null | {"ids": […], "nil": bool}, "shown": [ids
of the candidates that the curator saw, best first]}]}. A document may have a "name" for display; a mention may have the
identifiers "stated" in its file and a language model's "opinion".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from models.core.file_io import read_json, sha256_file
from models.errors import ModelError, say
from models.types import DocumentInput, MentionInput

DOCUMENTS = "documents.jsonl"
INDEX = "snapshot.json"
REMEDY = "Start the job again to write a new snapshot."


class Split(StrEnum):
    """A stored property of a document. Only TRAIN gives labels; VALIDATION tunes thresholds, fusion and the gate."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Gold:
    """A current decision: a link to `ids` (several for a composite mention), or NIL."""

    ids: tuple[str, ...] = ()
    nil: bool = False


@dataclass(frozen=True, slots=True)
class SnapshotMention:
    """`gold` is None without a decision, or if it is neither a link nor NIL. `stated` are the identifiers in the
    imported file, before alternate identifiers were mapped. `opinion` is a language model's answer: an entity's id, ''
    for none of the candidates, None without an answer."""

    key: str
    spans: tuple[tuple[int, int], ...]
    types: tuple[str, ...] = ()
    gold: Gold | None = None
    shown: tuple[str, ...] = ()
    stated: str = ""
    opinion: str | None = None


@dataclass(frozen=True, slots=True)
class SnapshotDocument:
    """`name` is the document's identifier for display."""

    key: str
    split: Split
    text: str
    mentions: tuple[SnapshotMention, ...] = ()
    name: str = ""

    def to_input(self, *, decided_only: bool = True) -> DocumentInput:
        """The document as input for the linker; by default with its decided mentions only."""
        mentions = tuple(
            MentionInput(key=mention.key, spans=mention.spans, types=mention.types, opinion=mention.opinion)
            for mention in self.mentions
            if mention.gold is not None or not decided_only
        )
        return DocumentInput(key=self.key, text=self.text, mentions=mentions)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Documents in file order; `data_hash` is the SHA-256 of the documents file."""

    documents: tuple[SnapshotDocument, ...]
    kb_hash: str
    data_hash: str

    def of_split(self, split: Split) -> tuple[SnapshotDocument, ...]:
        return tuple(document for document in self.documents if document.split is split)


def read_snapshot(folder: Path | str, *, allow_test: bool = False) -> Snapshot:
    """Read and check a snapshot.

    Raises ModelError (file, line, what to do) if it is missing, altered or malformed, or if it holds `test` documents
    although `allow_test` is off: decisions of test documents must never reach a training job.
    """
    path = Path(folder)
    index = read_json(path / INDEX, what=say("The snapshot's index"), remedy=say(REMEDY))
    if not isinstance(index, dict) or not isinstance(index.get("files"), dict):
        raise ModelError(
            say("The snapshot's index is malformed: {path}. {remedy}", path=path / INDEX, remedy=say(REMEDY))
        )
    data_hash = _checked_hash(path / DOCUMENTS, index["files"].get(DOCUMENTS))
    documents = tuple(_documents(path / DOCUMENTS, allow_test=allow_test))
    _check_unique(documents, path / DOCUMENTS)
    return Snapshot(documents=documents, kb_hash=str(index.get("kb_hash", "")), data_hash=data_hash)


def _checked_hash(path: Path, expected: object) -> str:
    if not path.is_file():
        raise ModelError(say("The snapshot's documents are missing: {path}. {remedy}", path=path, remedy=say(REMEDY)))
    found = sha256_file(path)
    if found != expected:
        raise ModelError(
            say("The snapshot was modified after it was written: {path}. {remedy}", path=path, remedy=say(REMEDY))
        )
    return found


def _documents(path: Path, *, allow_test: bool) -> Iterator[SnapshotDocument]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            where = say("{path}, line {line}", path=path, line=number)
            try:
                document = _document(json.loads(line))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise ModelError(
                    say(
                        "{where}: not a valid document of a snapshot ({reason}). {remedy}",
                        where=where,
                        reason=_reason(error),
                        remedy=say(REMEDY),
                    )
                ) from error
            if document.split is Split.TEST and not allow_test:
                raise ModelError(
                    say(
                        "{where}: document {key} belongs to the split test, which is never used for "
                        "training. Assign the document to another split, or leave it out of the "
                        "snapshot.",
                        where=where,
                        key=document.key,
                    )
                )
            yield document


def _reason(error: Exception) -> str:
    return say("{key!r} is missing", key=error.args[0]) if isinstance(error, KeyError) else str(error)


def _document(raw: Mapping[str, Any]) -> SnapshotDocument:
    text = _string(raw, "text")
    return SnapshotDocument(
        key=_string(raw, "key"),
        split=Split(raw["split"]),
        text=text,
        mentions=tuple(_mention(mention, len(text)) for mention in raw["mentions"]),
        name=str(raw.get("name", "")),
    )


def _mention(raw: Mapping[str, Any], length: int) -> SnapshotMention:
    spans = tuple((_offset(start), _offset(end)) for start, end in raw["spans"])
    if not spans or not all(0 <= start < end <= length for start, end in spans):
        raise ValueError(f"spans {list(spans)} do not fit a text of {length} characters")
    return SnapshotMention(
        key=_string(raw, "key"),
        spans=spans,
        types=_strings(raw.get("types", ())),
        gold=_gold(raw["gold"]),
        shown=_strings(raw.get("shown", ())),
        stated=str(raw.get("stated", "")),
        opinion=_string(raw, "opinion") if raw.get("opinion") is not None else None,
    )


def _gold(raw: Mapping[str, Any] | None) -> Gold | None:
    if raw is None:
        return None
    gold = Gold(ids=_strings(raw.get("ids", ())), nil=bool(raw.get("nil", False)))
    if gold.nil == bool(gold.ids):
        raise ValueError(f"gold must name entities or be NIL, not {dict(raw)}")
    return gold


def _string(raw: Mapping[str, Any], name: str) -> str:
    if not isinstance(raw[name], str):
        raise TypeError(f"{name!r} must be a string")
    return str(raw[name])


def _strings(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, (list, tuple)) or not all(isinstance(item, str) for item in raw):
        raise TypeError(f"a list of strings was expected, not {raw!r}")
    return tuple(raw)


def _offset(raw: object) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise TypeError(f"an offset must be a whole number, not {raw!r}")
    return raw


def _check_unique(documents: tuple[SnapshotDocument, ...], path: Path) -> None:
    for what, keys in (
        ("document", [document.key for document in documents]),
        ("mention", [mention.key for document in documents for mention in document.mentions]),
    ):
        seen: set[str] = set()
        for key in keys:
            if key in seen:
                raise ModelError(
                    say(
                        "{path}: the {what} key {key!r} occurs twice. {remedy}",
                        path=path,
                        what=what,
                        key=key,
                        remedy=say(REMEDY),
                    )
                )
            seen.add(key)
