"""The linker process: loads bundles and links batches of documents. Started by `LinkerProcess`, never by hand.

Its messages are defined in `wire`. A new bundle is loaded while the old one is still in use, and swapped in when ready.
No bundle is used before the hashes of all its files are compared; damaged indexes, and those of a bundle from another
computer, are rebuilt first.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

from curator import tracing
from curator.domain.jobs import ANSWER_MENTIONS
from curator.domain.wording import tr
from curator.jobs.child_side import Channel, be_nice, own_channel, speak
from curator.jobs.wire import (
    PACK,
    BatchEnd,
    BatchError,
    ChangeEntities,
    Contrasted,
    ContrastTwo,
    DecidedDocumentOnWire,
    Detect,
    Detected,
    DocumentOnWire,
    Link,
    Linked,
    LinkedMentionOnWire,
    Message,
    Opened,
    OpenFailed,
    Opening,
    Remember,
)
from models import tracing as model_tracing
from models.errors import ModelError, NoMemoryError, no_memory, use
from models.types import DecidedDocument, DocumentInput, LinkedMention, MentionInput

Event = Mapping[str, object]
TRIM_EVERY = 1  # answers; after every second one, the process holds 20 MiB more and is no faster


@dataclass(slots=True)
class Serving:
    """The loaded linker and its bundle; `linker` is None before the first bundle is ready."""

    linker: Any = None
    bundle_id: str = ""
    wanted: str = ""  # the bundle requested last
    device: str = "auto"
    threads: int = 0
    cache: Path | None = None
    decided: dict[str, DecidedDocument] = field(default_factory=dict)
    answered: int = 0
    loading: threading.Lock = field(default_factory=threading.Lock)


def main() -> None:
    channel = own_channel()
    inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
    speak(use)
    if tracing.is_on():
        model_tracing.use(tracing.span)
    channel.receive_into(inbox, at_end=leave)
    serving = Serving()
    be_nice()
    while (message := inbox.get()) is not None:
        handle(message, serving, channel, inbox)
    leave()


def leave() -> NoReturn:
    """End at once, even during an answer, which nobody would read, without waiting for libraries' threads."""
    sys.stderr.flush()
    os._exit(0)


def handle(message: Message, serving: Serving, channel: Channel, inbox: queue.SimpleQueue[Message | None]) -> None:
    op = message["op"]
    if op == "start":
        serving.device, serving.threads = message["device"], int(message["threads"])
        serving.cache = Path(message["cache"]) if message.get("cache") else None
    elif op == "open":
        serving.wanted = message["bundle_id"]
        loading = threading.Thread(target=load, args=(message, serving, channel, inbox), daemon=True)
        loading.start()
    elif op == "loaded":
        swap(message, serving, channel)
    else:
        answer(message, serving, channel)


def swap(message: Message, serving: Serving, channel: Channel) -> None:
    """Put the loaded linker into use."""
    from models.rankers.stage_weights import OPINION

    if message["bundle_id"] != serving.wanted:
        return  # another bundle was requested since
    try:
        hand_memory_on(serving, message["linker"])
    except Exception as error:  # without memory for both linkers, the one in use stays
        if (reported := no_memory(error)) is None:
            raise
        channel.emit(OpenFailed(event="open_failed", bundle_id=message["bundle_id"], message=str(reported)))
        return
    serving.linker, serving.bundle_id = message["linker"], message["bundle_id"]
    keep_loaded(serving.linker)
    manifest = serving.linker.bundle.manifest
    stages = [spec.name for spec in manifest.retrievers] + (["ranker"] if manifest.ranker else [])
    repaired = message["repaired"]
    note = (tr("Damaged files were rebuilt: {repaired}.", repaired=", ".join(repaired)),) if repaired else ()
    device = " ".join((*serving.linker.describe(), *note))
    channel.emit(
        Opened(
            event="opened",
            bundle_id=serving.bundle_id,
            stages=stages,
            device=device,
            on_gpu=serving.linker.device.name != "cpu",
            hears_opinions=serving.linker.uses_stage(OPINION),
        )
    )


def keep_loaded(linker: Any) -> None:
    """Free the previous linker, and exclude the loaded objects from garbage collection: scanning them repeatedly took a
    quarter of the time of linking."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    trim(linker)


def trim(linker: Any) -> None:
    """Return to the system what the process holds and does not use.

    The GNU C library keeps free memory between what is in use: 100 MB after 500 documents. Of an encoder's words, few
    occur again soon: 20 MB, which are mapped again from the page cache.
    """
    if sys.platform != "linux":
        return
    if linker is not None:  # a question before the first bundle
        linker.give_back()
    with contextlib.suppress(OSError, AttributeError):  # another C library keeps less
        ctypes.CDLL(None).malloc_trim(0)


def hand_memory_on(serving: Serving, linker: Any) -> None:
    """Pass the memory on to the new bundle; with another encoder of names it is learnt again."""
    if serving.linker is not None and linker.shares_memory_with(serving.linker):
        linker.adopt_memory(serving.linker)
    elif serving.decided:
        linker.remember(*serving.decided.values())


def load(message: Message, serving: Serving, channel: Channel, inbox: queue.SimpleQueue[Message | None]) -> None:
    """Load one bundle at a time: libraries with lazy imports (transformers) fail in two threads at once."""
    with serving.loading:
        if message["bundle_id"] == serving.wanted:  # else another bundle was requested meanwhile
            load_now(message, serving, channel, inbox)


def load_now(message: Message, serving: Serving, channel: Channel, inbox: queue.SimpleQueue[Message | None]) -> None:
    def tell(sentence: str) -> None:
        channel.emit(Opening(event="opening", bundle_id=message["bundle_id"], message=sentence))

    try:
        with tracing.span("load"):
            linker, repaired = loaded(message["bundle"], serving, tell)
            linker.recollection.keep_vectors(serving.cache)
    except ModelError as error:
        channel.emit(OpenFailed(event="open_failed", bundle_id=message["bundle_id"], message=str(error)))
    except Exception as error:  # thread boundary: the parent reports the failure, the log has the traceback
        traceback.print_exc()
        failed = tr("Linker {bundle_id} could not be loaded ({error!r}).", bundle_id=message["bundle_id"], error=error)
        text = str(no_memory(error) or failed)
        channel.emit(OpenFailed(event="open_failed", bundle_id=message["bundle_id"], message=text))
    else:
        inbox.put({"op": "loaded", "linker": linker, "bundle_id": message["bundle_id"], "repaired": repaired})


def loaded(bundle: str, serving: Serving, tell: Callable[[str], None]) -> tuple[Any, tuple[str, ...]]:
    """The linker, and its damaged files; on the processor if it was not said where, and the GPU's memory is full."""
    from models.core.device import give_back_gpu_memory
    from models.linker.index_repair import load_intact

    try:
        return load_intact(bundle, device=serving.device, cache=serving.cache, tell=tell)
    except (RuntimeError, MemoryError, NoMemoryError) as error:
        reported = no_memory(error)
        if serving.device != "auto" or reported is None or not reported.on_gpu:
            raise
    give_back_gpu_memory()
    tell(tr("The GPU has too little free memory for this linker. It runs on the processor instead."))
    return load_intact(bundle, device="cpu", cache=serving.cache, tell=tell)


def answer(message: Message, serving: Serving, channel: Channel) -> None:
    batch = message["batch"]
    channel.in_request = True
    try:
        with tracing.span(message["op"], batch=batch):
            events = OPERATIONS[message["op"]](message, serving)
        with tracing.span("send", batch=batch):
            for event in events:
                channel.emit(event)
        channel.emit(BatchEnd(event="end", batch=batch))
    except Exception as error:  # process boundary: one bad document must not end the process
        reported = no_memory(error)
        together = message["op"] == "link" and len(message["documents"]) > 1
        if isinstance(reported or error, ModelError) and not (reported and together):
            channel.emit(_error(batch, "user", str(reported or error)))
        else:  # documents that do not fit in memory together are then sent one by one, like those of a bug
            channel.emit(_error(batch, "bug", str(reported or repr(error)), detail=traceback.format_exc()))
    finally:
        channel.in_request = False
    serving.answered += 1
    if not serving.answered % TRIM_EVERY:
        trim(serving.linker)


def _error(batch: int, kind: Literal["user", "bug"], message: str, *, detail: str = "") -> BatchError:
    return {"event": "error", "batch": batch, "kind": kind, "message": message, "detail": detail}


def link(message: Link, serving: Serving) -> Iterable[Linked]:
    """One answer for each document; several for one with more than `ANSWER_MENTIONS`."""
    raw = message["documents"]
    answers = serving.linker.link([document_input(one) for one in raw], k=message["k"], own=message["own"])
    return (
        {
            "event": "linked",
            "batch": message["batch"],
            "document": one["id"],
            "revision": one["revision"],
            "bundle": serving.bundle_id,
            "mentions": PACK([mention_on_wire(m) for m in linked.mentions[at : at + ANSWER_MENTIONS]]),
        }
        for one, linked in zip(raw, answers, strict=True)
        for at in range(0, max(len(linked.mentions), 1), ANSWER_MENTIONS)
    )


def detect(message: Detect, serving: Serving) -> list[Detected]:
    return [
        {
            "event": "detected",
            "batch": message["batch"],
            "document": one["id"],
            "mentions": [
                {"start": m.start, "end": m.end, "types": list(m.types), "entity_ids": list(m.entity_ids)}
                for m in serving.linker.detect(one["text"], types=tuple(message["types"]))
            ],
        }
        for one in message["documents"]
    ]


def change_entities(message: ChangeEntities, serving: Serving) -> Sequence[Event]:
    """Removing an unknown entity is not an error here: after a restart the same changes are sent again."""
    from models.core.kb import record_from_json

    present = [entity_id for entity_id in message["remove"] if entity_id in serving.linker.stages.kb.rows]
    serving.linker.change_entities(upsert=[record_from_json(dict(raw)) for raw in message["upsert"]], remove=present)
    return []


def remember(message: Remember, serving: Serving) -> Sequence[Event]:
    """Learn decisions, which are also kept as received for a bundle with another encoder."""
    given = {str(one["id"]): decided_input(one) for one in message["documents"]}
    serving.decided |= given
    serving.linker.remember(*given.values())
    return []


def contrast(message: ContrastTwo, serving: Serving) -> list[Contrasted]:
    """How the words around one mention support one or the other of two candidates."""
    from models.linker.occlusion import occlude

    raw, (first, second) = message["document"], message["entities"]
    found = occlude(serving.linker, document_input(raw), str(message["mention"]), (first, second))
    return [
        {
            "event": "contrasted",
            "batch": message["batch"],
            "mention": message["mention"],
            "entities": [first, second],
            "revision": raw["revision"],
            "bundle": serving.bundle_id,
            "lead": found.lead,
            "words": [(word.start, word.end, word.change) for word in found.words],
        }
    ]


OPERATIONS: Mapping[str, Callable[[Any, Serving], Iterable[Event]]] = {
    "contrast": contrast,
    "remember": remember,
    "link": link,
    "detect": detect,
    "entities": change_entities,
}


def document_input(raw: DocumentOnWire | DecidedDocumentOnWire) -> DocumentInput:
    mentions = tuple(
        MentionInput(str(m["id"]), tuple((s, e) for s, e in m["spans"]), tuple(m["types"]), m["opinion"])
        for m in raw["mentions"]
    )
    return DocumentInput(str(raw["id"]), raw["text"], mentions)


def decided_input(raw: DecidedDocumentOnWire) -> DecidedDocument:
    return DecidedDocument(document_input(raw), tuple(tuple(m["entity_ids"]) for m in raw["mentions"]))


def mention_on_wire(linked: LinkedMention) -> LinkedMentionOnWire:
    found = linked.candidates
    return {
        "id": int(linked.key),
        "expanded": linked.expanded if linked.expanded != linked.surface else "",
        "candidates": {
            "entity_ids": found.entity_ids,
            "names": found.names,
            "types": found.types,
            "matched": found.matched,
            "score": found.score,
            "scores": found.scores,
            "probability": found.probability,
            "decided": found.decided,
        },
        "nil": {"score": linked.nil.score, "is_nil": linked.nil.is_nil, "calibrated": linked.nil.calibrated},
    }


if __name__ == "__main__":
    main()
