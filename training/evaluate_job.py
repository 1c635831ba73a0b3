"""The evaluation job: a bundle on the decided mentions of one split. Runs in a child process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from models.device import choose_device
from models.errors import ModelError
from models.linker import Linker
from models.types import LinkedMention
from training.evaluation import evaluate
from training.events import Event, Phase
from training.gold import resolve_gold
from training.snapshot import Snapshot, Split, read_snapshot
from training.spec import EvaluationSpec


def run_evaluation(spec: EvaluationSpec | Mapping[str, Any]) -> Iterator[Event]:
    """Link the documents of the split and count; the last event has phase DONE and the figures in `data["result"]`
    (the JSON of `training.evaluation.Report`, with `bundle` and `split`).

    The snapshot may hold `train` documents besides: their surfaces make the slices "seen" and "unseen surface".
    Raises ModelError where the split holds no decided mention, or snapshot and bundle differ in knowledge base.
    """
    asked = spec if isinstance(spec, EvaluationSpec) else EvaluationSpec.from_json(spec)
    if asked.threads > 0:
        torch.set_num_threads(asked.threads)
    yield Event(Phase.LOAD, 0, 2, text="Reading the decisions")
    snapshot = read_snapshot(asked.snapshot, allow_test=True)
    yield Event(Phase.LOAD, 1, 2, text="Opening the linker")
    linker = Linker.load(asked.bundle, device=choose_device(asked.device))
    if snapshot.kb_hash and snapshot.kb_hash != linker.bundle.manifest.kb_hash:
        raise ModelError("The bundle was made for another knowledge base than the project's. Choose another bundle.")
    yield Event(Phase.LOAD, 2, 2)
    yield from _score(snapshot, linker, asked)


def _score(snapshot: Snapshot, linker: Linker, asked: EvaluationSpec) -> Iterator[Event]:
    documents = snapshot.of_split(asked.split)
    resolve = linker.stages.kb.resolved.get
    gold = resolve_gold(documents, resolve)
    if not gold.mentions:
        raise ModelError(
            f"No mention of a document of the split {asked.split} is decided yet, so there is nothing to compare with."
        )
    linked: list[LinkedMention] = []
    inputs = [document.to_input() for document in documents]
    for number, answer in enumerate(linker.link(inputs, k=asked.k), start=1):
        linked.extend(answer.mentions)
        yield Event(Phase.EVALUATE, number, len(inputs))
    train = snapshot.of_split(Split.TRAIN) if asked.split is not Split.TRAIN else ()
    seen = resolve_gold(train, resolve).surfaces if train else None
    report = evaluate(linked, gold, k=asked.k, seen=seen)
    result = {**report.to_json(), "bundle": linker.bundle.manifest.id, "split": asked.split.value}
    yield Event(Phase.DONE, 1, 1, text=_sentence(result), data={"result": {**result, "message": _sentence(result)}})


def _sentence(result: Mapping[str, Any]) -> str:
    k = result["k"]
    recall = result["recall"]
    return (
        f"{result['mentions']:,} decided mentions, {result['in_kb']:,} in the knowledge base: recall@1 "
        f"{100 * recall['1']:.1f} %, recall@{k} {100 * recall[str(k)]:.1f} %."
    )
