from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.bundle import Bundle
from models.errors import ModelError
from tests.training.conftest import document_lines, write_lines
from training.evaluate_job import run_evaluation
from training.events import Phase


def spec(tmp_path: Path, base: Bundle, *, split: str = "test", **changes: Any) -> dict[str, Any]:
    lines = [*document_lines("train", 3, seed=1), *document_lines("test", 3, seed=2)]
    folder = write_lines(tmp_path / "snapshot", lines, kb_hash=changes.pop("kb_hash", base.manifest.kb_hash))
    return {"snapshot": str(folder), "bundle": str(base.path), "split": split, "k": 8, "device": "cpu"} | changes


def test_figures_of_a_split(tmp_path: Path, base_bundle: Bundle) -> None:
    events = list(run_evaluation(spec(tmp_path, base_bundle)))
    assert [event.phase for event in events[-2:]] == [Phase.EVALUATE, Phase.DONE]
    result = events[-1].data["result"]
    assert (result["mentions"], result["nil_mentions"], result["k"]) == (18, 3, 8)
    assert result["recall"]["1"] > 0.9
    assert result["bundle"] == base_bundle.manifest.id
    assert {"seen surface", "unseen surface"} <= set(result["slices"])
    assert "recall@1" in result["message"]


def test_train_itself_has_no_seen_slices(tmp_path: Path, base_bundle: Bundle) -> None:
    *_, last = run_evaluation(spec(tmp_path, base_bundle, split="train"))
    assert "seen surface" not in last.data["result"]["slices"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"split": "validation"}, "No mention .* validation is decided"),
        ({"split": "dev"}, "no split 'dev'"),
        ({"kb_hash": "other"}, "another knowledge base"),
        ({"bundle": ""}, "lacks 'bundle'"),
    ],
)
def test_what_cannot_be_evaluated(tmp_path: Path, base_bundle: Bundle, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        list(run_evaluation(spec(tmp_path, base_bundle, **changes)))
