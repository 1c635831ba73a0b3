"""The process that links blocks of documents on Ray (`bulk` says what lies in the folder).

Specification: {work, bundle, k, blocks, address, actors, device, threads, cache}: the folder, the bundle's folder, how
many candidates, the hash of each block, the address of a cluster ('' for this computer), how many actors (0: one for
each processor or graphics card), and the options of the linker process, where `threads` are those of one actor.

Each actor of Ray Data holds the whole linker, and answers block after block as the linker process answers messages. It
writes a shard at once or not at all. An actor that dies is started again with the blocks it had not finished.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from curator.domain.wording import ntr, tr
from curator.jobs.bulk import answered, answers_hash
from curator.jobs.child_side import run_job, speak
from curator.jobs.linker_main import decided_input, document_input, mention_on_wire
from curator.jobs.wire import Message
from models.core import atomic_path, record_from_json
from models.errors import ModelError, use
from models.linker import Linker, load_intact

SCHEMA = pyarrow.schema([("document", pyarrow.int64()), ("mentions", pyarrow.string())])
OBJECT_STORE = 256 * 2**20
"""Bytes of Ray's shared memory on this computer: only names of files pass through it."""
LESSON = 64
"""Decided documents that are taught together, as the linker process is taught them: names encoded in other company
differ in the last digit."""
Resources = Mapping[str, float]
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_DEDUP_LOGS": "0"}


def work(spec: Message) -> Generator[Message, None, Message]:
    folder = Path(spec["work"])
    missing = [at for at, digest in enumerate(spec["blocks"]) if answered(shard(folder, at), digest) is None]
    total = len(spec["blocks"])
    yield _step(total - len(missing), total)
    if missing:
        with cluster(spec) as there:
            for done, _ in enumerate(_answer(spec, missing, there), total - len(missing) + 1):
                yield _step(done, total)
    return {"message": ntr("{n:,} block of documents was linked.", "{n:,} blocks of documents were linked.", total)}


def _step(done: int, total: int) -> Message:
    return {"phase": "link", "done": done, "total": total}


def shard(folder: Path, number: int) -> Path:
    return folder / "shards" / f"{number:05}.parquet"


def _answer(spec: Message, missing: Sequence[int], there: Resources) -> Iterator[int]:
    """The numbers of blocks, each when its shard is written. Raises ModelError where an actor cannot go on."""
    import ray.data
    from ray.exceptions import RayError

    gpus = 0 if spec["device"] == "cpu" else int(there.get("GPU", 0))
    actors = min(int(spec["actors"]) or gpus or int(there.get("CPU", 1)), len(missing))
    rows = [{"number": number} for number in missing]
    flow = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
        Actor,
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
    """The sentence of a ModelError within an actor, or what Ray says, on one line."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ModelError):
            return str(cause)
        cause = getattr(cause, "cause", None) or cause.__cause__
    return tr(
        "Linking on Ray failed ({reason}). Run the command again: it continues.", reason=str(error).split("\n")[-1]
    )


@contextmanager
def cluster(spec: Message) -> Iterator[Resources]:
    """Ray while the block lasts; yields what it has. Raises ModelError where there is none at the address."""
    os.environ.update(QUIET)  # nothing is reported over the network
    import ray
    from ray.data import DataContext

    own = "" if spec["address"] else tempfile.mkdtemp(prefix="curator-ray-")
    try:
        if own:
            ray.init(
                "local", include_dashboard=False, log_to_driver=False, object_store_memory=OBJECT_STORE, _temp_dir=own
            )
        else:
            ray.init(spec["address"], log_to_driver=False)
        DataContext.get_current().enable_progress_bars = False
        yield ray.cluster_resources()
    except (ConnectionError, TimeoutError) as error:
        text = tr("No Ray cluster answers at {address}. Check the address, or start one.", address=spec["address"])
        raise ModelError(text) from error
    finally:
        ray.shutdown()
        if own:
            shutil.rmtree(own, ignore_errors=True)


class Actor:
    """A linker with its memory and added entities, in a process of Ray's."""

    def __init__(self, spec: Message) -> None:
        import torch

        torch.set_num_threads(spec["threads"] or os.cpu_count() or 1)  # as the linker process: sums in the same order
        self.spec, self.folder = spec, Path(spec["work"])
        cache = Path(spec["cache"]) if spec["cache"] else None
        self.linker: Linker = load_intact(spec["bundle"], device=spec["device"], cache=cache)[0]
        entities = [record_from_json(one) for one in _read(self.folder / "entities.jsonl")]
        if entities:
            self.linker.change_entities(upsert=entities, remove=())
        decided = _read(self.folder / "memory.jsonl")
        while lesson := list(islice(decided, LESSON)):
            self.linker.remember(*map(decided_input, lesson))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        for number in batch["number"]:
            self.answer(int(number))
        return batch

    def answer(self, number: int) -> None:
        """Write the shard of a block, message by message as the linker process answers them."""
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


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError, OSError, MemoryError))
