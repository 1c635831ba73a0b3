"""The process that links blocks of documents, or encodes names, on Ray (`bulk` describes the folder).

Specification: {work, bundle, k, blocks, cluster, device, threads, cache}: the folder, the bundle's folder, the number
of candidates, the hash of each block, {address: of a cluster, '' for this computer; actors: their number, 0 for one per
processor or GPU}, and the options of the linker process, where `threads` is the number per actor; 0 is one, since Ray
reserves one processor for each, and threads that outnumber the processors wait for one another.

To encode: {kb, work, cluster, encoder, precision, device, cache}: the knowledge base as JSON lines, a folder for the
blocks, and the options of the index job. Vectors go to the embedding cache, whose files have checksums and may be
written by many processes: the index job finds them there. On a cluster, its machines must share `cache`.

Each actor of Ray Data holds the whole linker, and answers block after block like the linker process. It writes a shard
atomically. An actor that dies is restarted with its unfinished blocks.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from curator.domain.wording import ntr, tr
from curator.jobs.bulk import answered, answers_hash, prepare, write_block
from curator.jobs.child_side import run_job, speak
from curator.jobs.linker_main import decided_input, document_input, mention_on_wire
from curator.jobs.wire import DecidedOnWire, DocumentOnWire, LinkedMentionOnWire, MentionOnWire, Message
from curator.temporary import place_for_sockets
from models.core.device import choose_device
from models.core.file_io import atomic_path
from models.core.kb import record_from_json
from models.encoders.cache import EmbeddingCache
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import load_encoder
from models.errors import ModelError, no_memory, use
from models.linker.build import NAMES_TOKENS
from models.linker.index_repair import load_intact
from models.linker.linker import Linker, batches
from models.types import (
    CandidateList,
    DecidedDocument,
    DocumentInput,
    LinkedDocument,
    LinkedMention,
    NilEstimate,
)

SCHEMA = pyarrow.schema([("document", pyarrow.int64()), ("mentions", pyarrow.string())])
OBJECT_STORE = 256 * 2**20
"""Bytes of Ray's shared memory on this computer: only names of files pass through it."""
ENDING = 50
"""Tenths of a second for Ray's processes to end; the next start of the program removes what is left."""
LESSON = 64
"""Decided documents that are learnt together, as in the linker process: encoding names in other batches changes the
last digit."""
Resources = Mapping[str, float]
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_DEDUP_LOGS": "0"}


def work(spec: Message) -> Generator[Message, None, Message]:
    if "kb" in spec:
        return (yield from encode_names(spec))
    total = len(spec["blocks"])
    for done in answer_blocks(spec):
        yield {"phase": "link", "done": done, "total": total}
    return {"message": ntr("{n:,} block of documents was linked.", "{n:,} blocks of documents were linked.", total)}


def answer_blocks(spec: Message) -> Iterator[int]:
    """Answer every block without a complete shard; yields the number of answered blocks."""
    folder, total = Path(spec["work"]), len(spec["blocks"])
    missing = [at for at, digest in enumerate(spec["blocks"]) if answered(shard(folder, at), digest) is None]
    yield total - len(missing)
    if missing:
        with cluster(spec["cluster"]["address"]) as there:
            for done, _ in enumerate(_answer(Actor, spec, missing, there), total - len(missing) + 1):
                yield done


def shard(folder: Path, number: int) -> Path:
    return folder / "shards" / f"{number:05}.parquet"


def _answer(
    actor: Callable[[Message], BlockActor], spec: Message, missing: Sequence[int], there: Resources
) -> Iterator[int]:
    """The number of each block when it is done. Raises ModelError if an actor fails."""
    import ray.data
    from ray.exceptions import RayError

    gpus = 0 if spec["device"] == "cpu" else int(there.get("GPU", 0))
    actors = min(int(spec["cluster"]["actors"]) or gpus or int(there.get("CPU", 1)), len(missing))
    rows = [{"number": number} for number in missing]
    flow = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
        actor,
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=actors),
        num_gpus=min(1.0, gpus / actors),
        fn_constructor_args=(dict(spec),),
    )
    try:
        for row in flow.iter_rows():
            yield int(row["number"])
    except RayError as error:
        raise ModelError(_reason(error)) from error


def _reason(error: Exception) -> str:
    """The message of a ModelError in an actor, or Ray's message, on one line."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(reported := no_memory(cause) or cause, ModelError):
            return str(reported)
        cause = getattr(cause, "cause", None) or cause.__cause__
    return tr(
        "Linking on Ray failed ({reason}). Run the command again: it continues.", reason=str(error).split("\n")[-1]
    )


@contextmanager
def cluster(address: str) -> Iterator[Resources]:
    """Context with a running Ray; yields its resources. Raises ModelError if there is no cluster at the address."""
    os.environ.update(QUIET)  # disables usage reports over the network
    import ray
    from ray.data import DataContext

    own = "" if address else place_for_sockets("ray")
    try:
        if own:
            ray.init(
                "local", include_dashboard=False, log_to_driver=False, object_store_memory=OBJECT_STORE, _temp_dir=own
            )
        else:
            ray.init(address, log_to_driver=False)
        DataContext.get_current().enable_progress_bars = False
        yield ray.cluster_resources()
    except (ConnectionError, TimeoutError) as error:
        text = tr("No Ray cluster answers at {address}. Check the address, or start one.", address=address)
        raise ModelError(text) from error
    finally:
        ray.shutdown()
        if own:
            _remove(Path(own))


def _remove(folder: Path) -> None:
    """Ray's processes, which end on their own, may write into the folder meanwhile."""
    for _ in range(ENDING):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)


class BlockActor(ABC):
    """Processes one block after another, in a Ray process."""

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        for number in batch["number"]:
            self.answer(int(number))
        return batch

    @abstractmethod
    def answer(self, number: int) -> None:
        """Process a block and write the result."""


class Actor(BlockActor):
    """A linker with its memory and added entities."""

    def __init__(self, spec: Message) -> None:
        import torch

        torch.set_num_threads(spec["threads"] or 1)
        self.spec, self.folder = spec, Path(spec["work"])
        cache = Path(spec["cache"]) if spec["cache"] else None
        self.linker: Linker = load_intact(spec["bundle"], device=spec["device"], cache=cache)[0]
        entities = [record_from_json(one) for one in _read(self.folder / "entities.jsonl")]
        if entities:
            self.linker.change_entities(upsert=entities, remove=())
        decided = _read(self.folder / "memory.jsonl")
        while lesson := list(islice(decided, LESSON)):
            self.linker.remember(*map(decided_input, lesson))

    def answer(self, number: int) -> None:
        """Write the shard of a block, message by message, like the linker process."""
        rows = []
        for part in _read(self.folder / "blocks" / f"{number:05}.jsonl"):
            answers = self.linker.link([document_input(one) for one in part], k=self.spec["k"], own=False)
            for raw, linked in zip(part, answers, strict=True):
                mentions = [mention_on_wire(one) for one in linked.mentions]
                rows.append({"document": raw["id"], "mentions": json.dumps(mentions)})
        facts = {"block": self.spec["blocks"][number], "answers": answers_hash(rows)}
        table = pyarrow.Table.from_pylist(rows, SCHEMA.with_metadata(facts))
        with atomic_path(shard(self.folder, number)) as beside:
            parquet.write_table(table, beside, compression="zstd")


def _read(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8", errors="surrogatepass") as lines:
        yield from map(json.loads, lines)


# Names for an index.

PIECES = 8
"""Pieces of the embedding cache in a block."""


def encode_names(spec: Message) -> Generator[Message, None, Message]:
    """Encode the names of a knowledge base that the embedding cache lacks."""
    with Path(spec["kb"]).open(encoding="utf-8") as lines:
        names = [name for line in lines for name in record_from_json(json.loads(line)).names]
    pieces = names_cache(spec).missing(names)
    blocks = [pieces[at : at + PIECES] for at in range(0, len(pieces), PIECES)]
    folder = Path(spec["work"])
    for number, block in enumerate(blocks):
        (folder / f"{number:05}.json").write_text(json.dumps(block), encoding="utf-8")
    yield {"phase": "names", "done": 0, "total": len(blocks)}
    if blocks:
        with cluster(spec["cluster"]["address"]) as there:
            for done, _ in enumerate(_answer(NamesActor, spec, range(len(blocks)), there), 1):
                yield {"phase": "names", "done": done, "total": len(blocks)}
    return {"message": tr("The names are encoded.")}


def names_cache(spec: Message) -> EmbeddingCache:
    folder = Path(spec["encoder"]) if spec["encoder"] else default_encoder_folder()
    device = choose_device(spec["device"], precision=spec["precision"])
    encoder = load_encoder(folder, device=device, max_tokens=NAMES_TOKENS, trainable=False)
    return EmbeddingCache(encoder, root=Path(spec["cache"]) if spec["cache"] else None)


class NamesActor(BlockActor):
    """An encoder that fills the embedding cache."""

    def __init__(self, spec: Message) -> None:
        import torch

        torch.set_num_threads(1)
        self.folder, self.cache = Path(spec["work"]), names_cache(spec)

    def answer(self, number: int) -> None:
        self.cache.add(json.loads((self.folder / f"{number:05}.json").read_text(encoding="utf-8")))


# Evaluations: their linker runs in this process, but documents are linked by other processes.


def linked_elsewhere(
    spec: Message, bundle: Path, decided: Sequence[DecidedDocument], documents: Sequence[DocumentInput], k: int
) -> Generator[int, None, list[LinkedDocument]]:
    """The answers of a linker with this memory; yields the number of answered documents. `spec` has `bulk`, the folder,
    and `cluster`, as above. Raises ModelError and UserError."""
    memory = ({**_raw(one.document), "mentions": _decided(one)} for one in decided)
    inputs = list(documents)
    wanted = hashlib.sha256(repr(inputs).encode("utf-8", "surrogatepass")).hexdigest()
    folder = prepare(Path(spec["bulk"]), (bundle.name, k, wanted), memory, ())
    groups = list(batches(inputs))
    blocks = [
        write_block(folder / "blocks" / f"{at:05}.jsonl", [[_raw(one) for one in group]])
        for at, group in enumerate(groups)
    ]
    for done in answer_blocks({**spec, "work": str(folder), "bundle": str(bundle), "k": k, "blocks": blocks}):
        yield sum(map(len, groups[:done]))
    answers = []
    for at, (group, digest) in enumerate(zip(groups, blocks, strict=True)):
        rows = answered(shard(folder, at), digest)
        assert rows is not None, "it was checked or written just now"
        answers += [_linked(one, json.loads(row["mentions"])) for one, row in zip(group, rows, strict=True)]
    shutil.rmtree(folder, ignore_errors=True)
    return answers


def _raw(document: DocumentInput) -> DocumentOnWire:
    mentions: list[MentionOnWire] = [
        {
            "id": int(one.key),
            "spans": [list(span) for span in one.spans],
            "types": list(one.types),
            "opinion": one.opinion,
        }
        for one in document.mentions
    ]
    return {"id": int(document.key), "revision": 0, "text": document.text, "mentions": mentions}


def _decided(one: DecidedDocument) -> list[DecidedOnWire]:
    pairs = zip(_raw(one.document)["mentions"], one.outcomes, strict=True)
    return [{**mention, "entity_ids": list(ids)} for mention, ids in pairs]


def _linked(document: DocumentInput, raw: Sequence[LinkedMentionOnWire]) -> LinkedDocument:
    mentions = []
    for asked, said in zip(document.mentions, raw, strict=True):
        surface = asked.surface(document.text)
        found = said["candidates"]
        candidates = CandidateList(
            found["entity_ids"],
            found["names"],
            [tuple(one) for one in found["types"]],
            found["matched"],
            found["score"],
            found["scores"],
            found["probability"],
            [(times, documents) for times, documents in found["decided"]],
        )
        mentions.append(LinkedMention(asked.key, surface, said["expanded"], candidates, NilEstimate(**said["nil"])))
    return LinkedDocument(document.key, tuple(mentions))


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError, OSError), no_memory=no_memory)
