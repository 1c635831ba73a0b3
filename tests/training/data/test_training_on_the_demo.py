"""Training for real: the default encoder on the demo project's abstracts."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from models.encoders.default_encoder import default_encoder_folder
from models.linker.build import build_untrained
from models.linker.bundle import new_staging, open_bundle, publish
from tests.training.conftest import Line, write_lines
from training.data.progress import Phase
from training.job.job import run_training

SHORT = {
    "epochs": 1,
    "learning_rate": 1e-4,
    "mention_tokens": 32,
    "entity_tokens": 16,
    "style": "types-synonyms",
    "layers": "all",
    "domain": "cross",
    "calibrated": False,
    "negative_count": 16,
}
UNTRAINED_BY_DESIGN = ("embeddings.position_ids", "embeddings.token_type_ids")


def demo_lines(split: str) -> list[Line]:
    """The demo's PubTator file as snapshot lines."""
    text = (resources.files("resources") / "demo" / "pubmed" / f"{split}.pubtator").read_text(encoding="utf-8")
    return [_line(block.split("\n"), split) for block in text.strip().split("\n\n")]


def _line(rows: list[str], split: str) -> Line:
    key, title = rows[0].split("|t|")
    mentions: list[dict[str, Any]] = []
    for number, row in enumerate(rows[2:]):
        _, start, end, _, kind, ids = row.split("\t")[:6]
        named = [name if ":" in name else f"MESH:{name}" for name in ids.split("|") if name != "-1"]
        gold = {"ids": named, "nil": not named}
        spans = [[int(start), int(end)]]
        mentions.append({"key": f"{key}.{number}", "spans": spans, "types": [kind], "gold": gold, "shown": []})
    text = f"{title} {rows[1].split('|a|')[1]}"
    return {"key": key, "split": split, "text": text, "mentions": mentions}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The untrained bundle over the demo's knowledge base and a specification to train from it."""
    folder = tmp_path_factory.mktemp("demo")
    staging = new_staging(folder / "bundles")
    with resources.as_file(resources.files("resources") / "demo" / "pubmed" / "kb.jsonl") as kb:
        for _ in build_untrained(kb, staging, cache=folder / "cache", device="cpu"):
            pass
    base = publish(staging)
    train, validation, kb_hash = demo_lines("train"), demo_lines("validation"), base.manifest.kb_hash
    return {
        "snapshot": str(write_lines(folder / "snapshot", [*train[::2], *validation], kb_hash=kb_hash)),
        "few": str(write_lines(folder / "few", [*train[::8], *validation], kb_hash=kb_hash)),
        "base": str(base.path),
        "recipe": "pel-pb-quick",
        "parameters": SHORT,
        "seed": 1,
        "device": "cpu",
        "cache": str(folder / "cache"),
    }


@pytest.mark.soak
def test_training_helps_and_shuffled_decisions_are_not_heard(demo: dict[str, Any], tmp_path: Path) -> None:
    staging = new_staging(tmp_path)
    events = list(run_training({**demo, "staging": str(staging)}))
    losses = [event.data["loss"] for event in events if event.phase is Phase.TRAIN and "loss" in event.data]
    quarter = len(losses) // 4
    assert sum(losses[-quarter:]) < 0.8 * sum(losses[:quarter])
    result = events[-1].data["result"]
    alone = result["metrics"]["alone"]
    assert alone["after_at_1"] >= alone["before_at_1"] + 0.015
    _assert_every_tensor_changed(staging)

    shuffled = new_staging(tmp_path)
    *_, last = run_training({**demo, "snapshot": demo["few"], "staging": str(shuffled)}, shuffle_labels=True)
    assert last.data["result"]["verdict"] == "no_gain"
    manifest = open_bundle(shuffled).manifest
    assert manifest.training["gate"]["verdict"] == "no_gain"
    assert not manifest.combiner.get("heard"), "what it learnt from nonsense changes no answer"
    json.dumps(last.to_json())


def _assert_every_tensor_changed(staging: Path) -> None:
    before = load_file(default_encoder_folder() / "model.safetensors")
    bundle = open_bundle(staging)
    for encoder in bundle.manifest.retrievers[-1].encoders:
        after = load_file(bundle.encoder_folder(encoder) / "model.safetensors")
        known = [name for name in after if name in before and name not in UNTRAINED_BY_DESIGN]
        assert len(known) > 90
        assert not [name for name in known if torch.equal(after[name], before[name].to(after[name].dtype))]
