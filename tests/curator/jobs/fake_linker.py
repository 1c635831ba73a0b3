"""A linker process without a model: it answers by rule and dies when a text says so."""

from __future__ import annotations

import os
import queue
import signal
from pathlib import Path
from typing import Any

from curator.jobs.child_side import own_channel
from curator.jobs.wire import PACK

channel = own_channel()
inbox: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
channel.receive_into(inbox)
bundle = ""
entities: set[str] = set()


def answer(document: dict[str, Any], batch: int) -> None:
    text = document["text"]
    if text.startswith("DIE ALWAYS"):
        os.kill(os.getpid(), signal.SIGKILL)
    if text.startswith("DIE ONCE "):
        mark = Path(text.removeprefix("DIE ONCE "))
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    mentions = [
        {
            "id": m["id"],
            "expanded": " ".join(sorted(entities)),
            "candidates": {
                "entity_ids": ["X:1"],
                "names": [text[m["spans"][0][0] : m["spans"][0][1]]],
                "types": [[]],
                "matched": ["x"],
                "score": [0.5],
                "scores": {"lexical": [0.5]},
                "probability": [0.4],
                "decided": [[0, 0]],
            },
            "nil": {"score": 0.25, "is_nil": False, "calibrated": False},
        }
        for m in document["mentions"]
    ]
    channel.emit(
        {"event": "linked", "batch": batch, "document": document["id"], "revision": document["revision"]}
        | {"bundle": bundle, "mentions": PACK(mentions)}
    )


while (message := inbox.get()) is not None:
    if message["op"] == "open":
        if message["bundle"].endswith("slow"):
            continue  # another bundle is requested before this one is loaded
        if message["bundle"].endswith("broken"):
            channel.emit(
                {"event": "open_failed", "bundle_id": message["bundle_id"], "message": "The bundle is broken."}
            )
        else:
            bundle = message["bundle_id"]
            channel.emit(
                {
                    "event": "opened",
                    "bundle_id": bundle,
                    "device": "CPU",
                    "stages": ["lexical"],
                    "on_gpu": False,
                    "hears_opinions": False,
                }
            )
    elif message["op"] == "entities":
        entities = entities.union(one["name"] for one in message["upsert"]).difference(message["remove"])
        channel.emit({"event": "end", "batch": message["batch"]})
    elif message["op"] == "link":
        for document in message["documents"]:
            answer(document, message["batch"])
        channel.emit({"event": "end", "batch": message["batch"]})
