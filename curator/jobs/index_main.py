"""The process that builds an untrained bundle.

Specification: {kb, staging, stages, encoder, index, lexical, precision, cache, device}: the knowledge base as JSON
lines, the staging folder, `["lexical"]` or `["lexical", "names"]`, the encoder's folder and the embedding cache's ('' =
the default ones), the kind of index (auto, flat, sq8 or pq4), the lists for search by spelling (characters,
merged or bm25), the number format in which names are encoded (auto, fp32, bf16 or fp16). Result: {bundle_id,
message}.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from importlib import resources
from pathlib import Path
from typing import Any

from curator.domain.wording import tr
from curator.jobs.child_side import run_job, speak
from curator.jobs.wire import Message
from models.errors import ModelError, no_memory, use
from models.linker.build import build_untrained
from models.linker.bundle import new_id
from models.names.lexical_merged import parse_list
from models.vectors.index_plan import parse_kind


def work(spec: Message) -> Generator[Message, None, Message]:
    stages = tuple(spec["stages"])
    bundle_id = new_id("untrained" if "names" in stages else "untrained-lexical")
    steps = build_untrained(
        Path(spec["kb"]),
        Path(spec["staging"]),
        encoder=Path(spec["encoder"]) if spec.get("encoder") else None,
        stages=stages,
        cache=Path(spec["cache"]) if spec.get("cache") else None,
        device=spec.get("device") or "auto",
        precision=spec.get("precision") or "fp32",
        index_kind=parse_kind(spec.get("index") or ""),
        lexical=parse_list(spec.get("lexical") or ""),
        nil=shipped_nil(stages),
        bundle_id=bundle_id,
    )
    for progress in steps:
        yield {"phase": progress.stage, "done": progress.done, "total": progress.total}
    return {"bundle_id": bundle_id, "message": tr("The index is built.")}


def shipped_nil(stages: tuple[str, ...]) -> dict[str, Any]:
    """The NIL model that comes with the program, fitted on train documents of BC5CDR, NCBI Disease and the demo; it is
    used until the project has its own."""
    text = resources.files("resources").joinpath("calibration.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["nil"]["+".join(stages)]
    return {**found, "calibrated": False}


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError, OSError), no_memory=no_memory)
