"""The project's side of linking on Ray: documents are written as blocks, answers come back as Parquet shards, which are
checked before anything is stored.

    bulk/KEY/            KEY is a hash of what decides the answers: linker, memory, added entities, number of candidates
      memory.jsonl       the decided documents of the memory
      entities.jsonl
      blocks/00000.jsonl one request, a message a line
      shards/00000.parquet

A shard contains the hash of its block. So the next run with the same key resumes a stopped run: it uses every shard
whose block is the same. When all answers are received, the folder is removed.

Mentions with equal strings are not joined: each answer depends on its document, by abbreviations and context, and is to
be the same as that of the linker process.
"""

from __future__ import annotations

import gc
import hashlib
import importlib.util
import json
import queue
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.suggestions import Stamp, Suggestion
from curator.domain.wording import CancelledError, UserError, tr
from curator.jobs.linker_messages import (
    LinkerOptions,
    decided_to_wire,
    document_to_wire,
    entity_to_wire,
    parts_of,
    suggestions_of,
)
from curator.jobs.wire import DocumentOnWire
from curator.services.ports.processes import BulkTask, Cluster, JobPort, LinkDocument

VERSION = 1
"""Part of the key: raise it if answers or their format change."""
TICK = 0.2
DAMAGED = (
    "The answers in {file} are incomplete or damaged. They and those after them were not stored. Run the command "
    "again: what is missing is calculated again."
)
NOT_INSTALLED = "Ray is not installed. Install it with `pip install 'curator[ray]'`."
Receive = Callable[[Sequence[int], dict[int, list[Suggestion]]], None]


@dataclass(frozen=True, slots=True)
class Block:
    """One written request: its documents with their revisions, and the hash of the file."""

    ids: tuple[int, ...]
    revisions: tuple[int, ...]
    digest: str


class RayBulk:
    """Implements `BulkPort`."""

    def __init__(self, folder: Path, jobs: JobPort, options: LinkerOptions) -> None:
        """`folder` is for the blocks and shards of runs; it is created when needed."""
        self._folder, self._jobs, self._options = folder, jobs, options

    def check(self, cluster: Cluster) -> None:
        if cluster.address and not cluster.address.startswith("ray://"):
            raise UserError(
                tr(
                    "{address} is no address of a Ray cluster. Give one such as ray://head:10001, or ray for this "
                    "computer.",
                    address=cluster.address,
                )
            )
        if any(importlib.util.find_spec(name) is None for name in ("ray", "pyarrow")):
            raise UserError(tr(NOT_INSTALLED))

    def link(
        self, task: BulkTask, requests: Iterable[Sequence[LinkDocument]], receive: Receive, cluster: Cluster
    ) -> Generator[Progress, None, None]:
        self.check(cluster)
        memory = (decided_to_wire(one) for one in task.decided)
        entities = (entity_to_wire(one) for one in task.entities)
        folder = prepare(self._folder, (task.bundle_id, task.k), memory, entities)
        _remove_outdated(folder)
        blocks: list[Block] = []
        for documents in requests:
            blocks.append(_write_block(folder / "blocks" / f"{len(blocks):05}.jsonl", documents))
            yield Progress("prepare", len(blocks), 0)
        spec = {
            "work": str(folder),
            "bundle": str(task.bundle),
            "k": task.k,
            "blocks": [one.digest for one in blocks],
            "cluster": {"address": cluster.address, "actors": cluster.actors},
            "device": self._options.device,
            "threads": self._options.threads,
            "cache": self._options.cache,
        }
        with closing(self._run(spec)) as steps:
            for step in steps:
                yield step
                if step.phase == "link" and step.done == len(blocks):
                    break  # store while Ray ends, which takes seconds
            for number, block in enumerate(blocks):
                receive(block.ids, read_answers(folder / "shards" / f"{number:05}.parquet", block, task.bundle_id))
                yield Progress("store", number + 1, len(blocks))
            for _ in steps:
                pass
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, spec: Mapping[str, Any]) -> Generator[Progress, None, None]:
        """The job that answers missing blocks. Closing the generator cancels it; finished answers stay."""
        inbox: queue.SimpleQueue[Progress | JobOutcome] = queue.SimpleQueue()
        handle = self._jobs.start("bulk", spec, on_progress=inbox.put, on_end=inbox.put)
        outcome: JobOutcome | None = None
        try:
            while outcome is None:
                try:
                    news = inbox.get(timeout=TICK)
                except queue.Empty:
                    continue
                if isinstance(news, JobOutcome):
                    outcome = news
                else:
                    yield news
        finally:
            if outcome is None:
                handle.cancel()
                handle.wait()
        if outcome.state is JobState.CANCELLED:
            raise CancelledError
        if outcome.state is not JobState.DONE:
            raise UserError(outcome.message)


def _write_block(path: Path, documents: Sequence[LinkDocument]) -> Block:
    ids, revisions = tuple(one.id for one in documents), tuple(one.revision for one in documents)
    return Block(
        ids, revisions, write_block(path, ([document_to_wire(one) for one in part] for part in parts_of(documents)))
    )


# Shared with the other end.


def prepare(root: Path, facts: Sequence[object], memory: Iterable[Any], entities: Iterable[Any]) -> Path:
    """The folder of a run with its memory and entities, in the wire format. Raises UserError if it cannot be
    written."""
    taught, added = _lines(memory), _lines(entities)
    key = hashlib.sha256(b"\0".join((json.dumps([VERSION, *facts]).encode(), taught, added))).hexdigest()[:16]
    folder = root / key
    try:
        for name in ("blocks", "shards"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "memory.jsonl").write_bytes(taught)
        (folder / "entities.jsonl").write_bytes(added)
    except OSError as error:
        raise UserError(
            tr(
                "{folder} cannot be written ({strerror}). Check the folder's permissions and the free disk space.",
                folder=folder,
                strerror=error.strerror,
            )
        ) from error
    return folder


def _remove_outdated(folder: Path) -> None:
    """Remove runs of other linkers or memories, which will not be resumed."""
    for other in folder.parent.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


def write_block(path: Path, messages: Iterable[Sequence[DocumentOnWire]]) -> str:
    """Write a block for one actor, one message of the linker process per line; returns the hash of the file."""
    raw = _lines(messages)
    path.write_bytes(raw)
    return hashlib.sha256(raw).hexdigest()


def _lines(records: Iterable[Any]) -> bytes:
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records).encode("utf-8", "surrogatepass")


def read_answers(path: Path, block: Block, bundle_id: str) -> dict[int, list[Suggestion]]:
    """The suggestions of a shard by document. Raises UserError if it is incomplete or for another block."""
    table = answered(path, block.digest)
    if table is None or tuple(row["document"] for row in table) != block.ids:
        path.unlink(missing_ok=True)
        raise UserError(tr(DAMAGED, file=path))
    with _no_collection():
        return {
            id_: suggestions_of(json.loads(row["mentions"]), Stamp(bundle_id, revision))
            for id_, revision, row in zip(block.ids, block.revisions, table, strict=True)
        }


@contextmanager
def _no_collection() -> Iterator[None]:
    """Searching new objects for cycles takes two thirds of the time in which many are made, and finds none."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def answered(path: Path, digest: str) -> list[dict[str, Any]] | None:
    """The rows of a shard, {document, mentions: JSON}; None if it is missing, damaged or for another block."""
    from pyarrow import ArrowException, parquet

    try:
        table = parquet.read_table(path)
        rows: list[dict[str, Any]] = table.to_pylist()
    except (OSError, ArrowException):
        return None
    said = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    whole = said.get("block") == digest and said.get("answers") == answers_hash(rows)
    return rows if whole else None


def answers_hash(rows: Iterable[Mapping[str, Any]]) -> str:
    return hashlib.sha256("\n".join(f"{row['document']} {row['mentions']}" for row in rows).encode()).hexdigest()
