"""The immutable input of a job, written from the store: `documents.jsonl` and `snapshot.json` in a folder.

One document per line: {"key", "name", "split", "text", "mentions": [{"key", "spans", "types", "gold": null | {"ids",
"nil"}, "shown", "stated"}]}; a link to a provisional entity is NIL there, since no bundle was built with it. A mention
with a second opinion has "opinion": an entity's id, or "" for none of the candidates. The index holds the knowledge
base's hash and the documents file's SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from curator.domain.decisions import Decision, Outcome, Verdict
from curator.domain.documents import Document, DocumentState, Mention, Split
from curator.domain.entities import Entity, TypeMapping
from curator.domain.jobs import Progress
from curator.domain.suggestions import Opinion
from curator.domain.wording import UserError, tr
from curator.services.ports.storage import Store, UnitOfWork

DOCUMENTS = "documents.jsonl"
INDEX = "snapshot.json"
GOLD = (Outcome.LINK, Outcome.NIL)


@dataclass(slots=True)
class SnapshotCounts:
    """The contents of a snapshot for one split: documents with a link or NIL decision, and these decisions.

    `passed_over` counts the candidates that were shown and not chosen.
    """

    documents: int = 0
    links: int = 0
    nils: int = 0
    passed_over: int = 0
    entities: set[str] = field(default_factory=set)

    @property
    def decisions(self) -> int:
        return self.links + self.nils

    def joined(self, other: SnapshotCounts) -> SnapshotCounts:
        """The counts of both splits together."""
        return SnapshotCounts(
            self.documents + other.documents,
            self.links + other.links,
            self.nils + other.nils,
            self.passed_over + other.passed_over,
            self.entities | other.entities,
        )

    def add(self, decisions: Sequence[Decision]) -> None:
        self.documents += 1
        self.links += sum(one.verdict.outcome is Outcome.LINK for one in decisions)
        self.nils += sum(one.verdict.outcome is Outcome.NIL for one in decisions)
        self.entities.update(entity for one in decisions for entity in one.verdict.entity_ids)
        self.passed_over += sum(
            shown.entity_id not in one.verdict.entity_ids
            for one in decisions
            for shown in (one.shown.candidates if one.shown else ())
        )


def count_gold(store: Store, split: Split, *, only_done: bool = False, enough: int | None = None) -> SnapshotCounts:
    """The counts of a snapshot of this split; with `enough`, of its first documents with so many links."""
    counts = SnapshotCounts()
    with store.read() as unit:
        new = unit.kb.provisional_only()
        for document_id in unit.documents.ids(
            split=split, state=DocumentState.DONE if only_done else None, answered=True
        ):
            gold = _gold(unit, document_id, new)
            if gold:
                counts.add(list(gold.values()))
            if enough is not None and counts.links >= enough:
                break
    return counts


def write_snapshot(
    store: Store,
    folder: Path,
    splits: Sequence[Split],
    *,
    kb_hash: str,
    only_done: bool | Collection[Split] = False,
    waiting: int = 0,
) -> Generator[Progress, None, dict[str, int]]:
    """Write the documents of `splits` with a link or NIL decision; returns {"documents": number}.

    Up to `waiting` more documents have mentions but no decision, to show the effect of a new linker on the queue.
    `only_done` leaves out documents that are not done, in all splits or in the given ones, as for evaluation. What the
    snapshot contains is saved in the project when this ends. Raises UserError for a full or failing disk or an
    unwritable folder.
    """
    with _told(folder):
        counts = yield from _write_documents(
            store, folder, splits, kb_hash=kb_hash, only_done=only_done, waiting=waiting
        )
    store.settle()
    return counts


def _write_documents(
    store: Store,
    folder: Path,
    splits: Sequence[Split],
    *,
    kb_hash: str,
    only_done: bool | Collection[Split],
    waiting: int,
) -> Generator[Progress, None, dict[str, int]]:
    folder.mkdir(parents=True, exist_ok=True)
    done = () if only_done is False else splits if only_done is True else only_done
    states = {split: DocumentState.DONE if split in done else None for split in splits}
    with store.read() as unit:
        ids = [one for split, state in states.items() for one in unit.documents.ids(split=split, state=state)]
        mapping, new = unit.meta.type_mapping(), unit.kb.provisional_only()
    written = 0
    digest = hashlib.sha256()
    with (folder / DOCUMENTS).open("wb") as out:
        for number, document_id in enumerate(ids, start=1):
            line, decided = _line(store, document_id, mapping, new, waiting=waiting > 0)
            digest.update(line)
            out.write(line)
            written += decided
            waiting -= bool(line) and not decided
            if number % 50 == 0 or number == len(ids):
                yield Progress("read the decisions", number, len(ids))
        out.flush()
        os.fsync(out.fileno())
    index = {"kb_hash": kb_hash, "files": {DOCUMENTS: digest.hexdigest()}}
    (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")
    return {"documents": written}


def write_knowledge_base(store: Store, path: Path) -> Generator[Progress, None, dict[str, int]]:
    """The active knowledge base as JSON lines, for a job that builds a bundle. Raises UserError for a full disk."""
    written = 0
    with _told(path.parent), store.read() as unit, path.open("w", encoding="utf-8", newline="\n") as out:
        info = unit.kb.info()
        total = info.entities if info else 0
        for entity in unit.kb.iterate():
            out.write(json.dumps(_entity(entity), ensure_ascii=False) + "\n")
            written += 1
            if written % 2000 == 0:
                yield Progress("write the knowledge base", written, total)
    return {"entities": written}


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Context: operating-system errors as a UserError."""
    try:
        yield
    except OSError as error:
        raise UserError(
            tr(
                "The job's input cannot be written to {folder} ({strerror}). Check the folder's "
                "permissions and the free disk space, then start it again.",
                folder=folder,
                strerror=error.strerror or error,
            )
        ) from error


def _gold(unit: UnitOfWork, document_id: int, new: Collection[str]) -> dict[int, Decision]:
    """Current link and NIL decisions of the document's mentions that are not deleted; links to `new` entities are
    NIL."""
    current = unit.decisions.current_of_document(document_id)
    if not current:
        return {}
    living = {one.id for one in unit.mentions.of_document(document_id)}
    gold = {key: one for key, one in current.items() if one.verdict.outcome in GOLD and key in living}
    return {key: known_gold(one, new) for key, one in gold.items()}


def known_gold(decision: Decision, new: Collection[str]) -> Decision:
    """The decision without `new` entities, which no bundle was built with, among chosen and shown ones. NIL if nothing
    else was chosen."""
    verdict, shown = decision.verdict, decision.shown
    if not set(new).isdisjoint(verdict.entity_ids):
        kept = tuple(one for one in verdict.entity_ids if one not in new)
        verdict = Verdict.link(*kept) if kept else Verdict.nil()
    if shown is not None and any(one.entity_id in new for one in shown.candidates):
        shown = replace(shown, candidates=tuple(one for one in shown.candidates if one.entity_id not in new))
    same = verdict is decision.verdict and shown is decision.shown
    return decision if same else replace(decision, verdict=verdict, shown=shown)


def _line(
    store: Store, document_id: int, mapping: TypeMapping, new: Collection[str], *, waiting: bool
) -> tuple[bytes, bool]:
    """The document's line (empty if it is left out), and whether it has a decision."""
    with store.read() as unit:
        gold = _gold(unit, document_id, new)
        if not gold and not waiting:
            return b"", False
        document = unit.documents.get(document_id, compared=True)
        mentions = unit.mentions.of_document(document_id)
        opinions = unit.suggestions.opinions([one.id for one in mentions])
    if not gold and not mentions:
        return b"", False
    raw = json.dumps(_document(document, mentions, gold, mapping, opinions), ensure_ascii=False)
    return raw.encode("utf-8", "surrogatepass") + b"\n", bool(gold)


def _document(
    document: Document,
    mentions: Sequence[Mention],
    gold: Mapping[int, Decision],
    mapping: TypeMapping,
    opinions: Mapping[int, Opinion],
) -> dict[str, Any]:
    return {
        "key": str(document.id),
        "name": document.external_id,
        "split": document.split.value,
        "text": document.text,
        "mentions": [_mention(one, gold.get(one.id), mapping, opinions.get(one.id)) for one in mentions],
    }


def _mention(
    mention: Mention, decision: Decision | None, mapping: TypeMapping, opinion: Opinion | None
) -> dict[str, Any]:
    verdict = decision.verdict if decision else None
    shown = decision.shown.candidates if decision and decision.shown else ()
    return {
        "key": str(mention.id),
        "spans": [[one.start, one.end] for one in mention.spans],
        "types": list(mapping.types_for(mention.type)),
        "gold": {"ids": list(verdict.entity_ids), "nil": verdict.outcome is Outcome.NIL} if verdict else None,
        "shown": [one.entity_id for one in shown],
        "stated": mention.raw_ids if decision and decision.is_imported else "",
        **({"opinion": opinion.entity_id or ""} if opinion is not None else {}),
    }


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "name": entity.name,
        "synonyms": entity.synonyms,
        "types": entity.types,
        "definition": entity.definition,
        "alt_ids": entity.alt_ids,
        "parents": entity.parents,
    }
