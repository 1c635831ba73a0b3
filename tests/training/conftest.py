"""A small invented world: 38 entities, a tiny random BERT, an untrained bundle, and snapshots over them."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from models.linker.build import build_untrained
from models.linker.bundle import Bundle, new_staging, publish
from tests.tiny_bert import build_tiny_bert

Line = dict[str, Any]
FIRST = ("heart", "breast", "ovarian", "acute", "chronic", "acid", "pain", "drug")
SECOND = ("disease", "cancer", "failure", "pain", "acid")


def entities() -> list[dict[str, Any]]:
    names = [f"{first} {second}" for first in FIRST for second in SECOND if first != second]
    return [
        {
            "id": f"X:{number}",
            "name": name,
            "synonyms": [f"{name.split()[1]} of the {name.split()[0]}"],
            "types": ["Disease" if number % 2 else "Chemical"],
            "definition": f"a {name} in the {name.split()[0]}" if number % 3 else "",
            "alt_ids": [f"OLD:{number}"] if number < 5 else [],
        }
        for number, name in enumerate(names)
    ]


def document_lines(split: str, count: int, *, seed: int, per_document: int = 6, nil_every: int = 5) -> list[Line]:
    """Documents whose mentions are synonyms of entities, in sentences."""
    draw, known, lines = random.Random(seed), entities(), []
    for number in range(count):
        text, mentions = "", []
        for place in range(per_document):
            entity = draw.choice(known)
            surface = draw.choice([entity["name"], *entity["synonyms"]])
            text += "the drug and " if draw.random() < 0.5 else "pain in a "
            nil = place % nil_every == nil_every - 1
            surface = "beta 2 gamma" if nil else surface
            gold = {"ids": [] if nil else [entity["id"]], "nil": nil}
            mentions.append(
                {
                    "key": f"{split}{number}.{place}",
                    "spans": [[len(text), len(text) + len(surface)]],
                    "types": entity["types"],
                    "gold": gold,
                    "shown": [entity["id"], "X:1"],
                }
            )
            text += surface + ". "
        lines.append({"key": f"{split}-{number}", "split": split, "text": text, "mentions": mentions})
    return lines


def write_lines(folder: Path, lines: Sequence[Line], *, kb_hash: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "documents.jsonl").write_text(text, encoding="utf-8")
    index = {"kb_hash": kb_hash, "files": {"documents.jsonl": hashlib.sha256(text.encode()).hexdigest()}}
    (folder / "snapshot.json").write_text(json.dumps(index))
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_bert(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def base_bundle(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Bundle:
    folder = tmp_path_factory.mktemp("world")
    kb = folder / "kb.jsonl"
    kb.write_text("".join(json.dumps(entity) + "\n" for entity in entities()))
    staging = new_staging(folder / "bundles")
    for _ in build_untrained(kb, staging, encoder=tiny_encoder, cache=folder / "cache", device="cpu"):
        pass
    return publish(staging)


@pytest.fixture
def staging(tmp_path: Path) -> Iterator[Path]:
    return new_staging(tmp_path / "bundles")


MakeSpec = Callable[..., dict[str, Any]]


@pytest.fixture
def make_spec(tmp_path: Path, base_bundle: Bundle) -> MakeSpec:
    """A complete specification; lines and every key can be replaced."""

    def make(recipe: str, *, lines: Sequence[Line] | None = None, **changes: Any) -> dict[str, Any]:
        number = len(list(tmp_path.glob("snapshot*")))
        given = lines
        if given is None:
            given = [*document_lines("train", 8, seed=1), *document_lines("validation", 4, seed=2)]
        folder = write_lines(tmp_path / f"snapshot{number}", given, kb_hash=base_bundle.manifest.kb_hash)
        small = {"epochs": 1, "batch_size": 8, "mention_tokens": 24, "entity_tokens": 16, "learning_rate": 1e-3}
        return {
            "snapshot": str(folder),
            "base": str(base_bundle.path),
            "staging": str(new_staging(tmp_path / "bundles")),
            "recipe": recipe,
            "parameters": small | changes.pop("parameters", {}),
            "seed": 3,
            "device": "cpu",
            "threads": 1,
            "max_minutes": None,
            "cache": str(tmp_path / "cache"),
        } | changes

    return make
