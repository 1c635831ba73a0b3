"""A tiny encoder, a small knowledge base, and an untrained bundle of both."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from models.encoders.encoders import Encoder, load_encoder
from models.linker.build import build_untrained
from models.linker.bundle import Bundle, new_staging, publish
from models.types import EntityRecord

ENTITIES = (
    EntityRecord("D1", "Breast Neoplasms", ("breast cancer", "cancer of breast"), ("Disease",), "A tumour.", ("O1",)),
    EntityRecord("D2", "Ovarian Neoplasms", ("ovarian cancer",), ("Disease",)),
    EntityRecord("D3", "Heart Failure", ("cardiac failure", "CHF"), ("Disease",), "The heart fails."),
    EntityRecord("C1", "Calcium", ("calcium",), ("Chemical",), "A metal."),
    EntityRecord("C2", "Acetylsalicylic Acid", ("aspirin", "ASA"), ("Chemical", "Drug")),
    EntityRecord("X1", "Ca", (), ()),
)


def _tiny_bert_module() -> object:
    name = "tests_tiny_bert"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "tiny_bert.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def write_kb(path: Path, entities: tuple[EntityRecord, ...] = ENTITIES) -> Path:
    lines = [
        json.dumps(
            {
                "id": e.id,
                "name": e.name,
                "synonyms": e.synonyms,
                "types": e.types,
                "definition": e.definition,
                "alt_ids": e.alt_ids,
            }
        )
        for e in entities
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = _tiny_bert_module().build_tiny_bert  # type: ignore[attr-defined]
    return build(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="session")
def make_tiny_bert():
    return _tiny_bert_module().build_tiny_bert  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def encoder(tiny_bert: Path) -> Encoder:
    return load_encoder(tiny_bert, device="cpu", max_tokens=64)


@pytest.fixture(scope="session")
def make_bundle(tiny_bert: Path):
    def make(folder: Path, entities=ENTITIES, stages=("lexical", "names"), **options) -> Bundle:
        folder.mkdir(parents=True, exist_ok=True)
        kb = write_kb(folder / "source.jsonl", entities)
        staging = new_staging(folder / "bundles")
        cache = folder / "cache"
        for _ in build_untrained(kb, staging, encoder=tiny_bert, stages=stages, cache=cache, device="cpu", **options):
            pass
        return publish(staging)

    return make


@pytest.fixture(scope="session")
def bundle(make_bundle, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return make_bundle(tmp_path_factory.mktemp("bundle"))
