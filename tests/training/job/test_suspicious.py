"""Gold that models of other documents doubt: found where it was made wrong, by nothing that saw it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models.errors import ModelError
from models.linker.bundle import Bundle
from models.types import LinkedMention, NilEstimate, ScoredCandidate
from tests.training.conftest import document_lines, write_lines
from training.data.gold import GoldMention
from training.data.progress import Phase
from training.data.snapshot import SnapshotDocument, Split
from training.job.suspicious import FOLDS, folds_of, run_suspicious, suspicion


def run(tmp_path: Path, base: Bundle, lines: list[dict[str, Any]]) -> dict[str, Any]:
    folder = write_lines(tmp_path / "snapshot", lines, kb_hash=base.manifest.kb_hash)
    *events, last = run_suspicious({"snapshot": str(folder), "bundle": str(base.path), "device": "cpu"})
    assert [one.done for one in events if one.total] == list(range(1, 2 * len(lines) + 1))
    assert last.phase is Phase.DONE
    return dict(last.data["result"])


def test_a_wrong_link_is_found_and_stays_found_when_its_own_document_teaches(
    tmp_path: Path, base_bundle: Bundle
) -> None:
    """The wrong decision is in the memory, too: only a memory that does not hear the document itself doubts it."""
    lines = [*document_lines("train", 5, seed=1), *document_lines("test", 1, seed=2)]
    linked = [one for one in lines[0]["mentions"] if one["gold"]["ids"]]
    wrong, other = linked[0], next(one for one in linked if one["gold"]["ids"] != linked[0]["gold"]["ids"])
    wanted = wrong["gold"]["ids"]
    wrong["gold"] = {"ids": other["gold"]["ids"], "nil": False}
    result = run(tmp_path, base_bundle, lines)
    found = next(one for one in result["rows"] if one["mention"] == wrong["key"])
    assert (found["document"], [found["rival"]]) == (lines[0]["key"], wanted)
    assert found["rival_probability"] > 0.9
    assert found["probability"] < 0.1
    gaps = [one["rival_probability"] - one["probability"] for one in result["rows"]]
    assert gaps == sorted(gaps, reverse=True)
    links = sum(bool(mention["gold"]["ids"]) for line in lines for mention in line["mentions"])
    assert (result["checked"], result["folds"]) == (links, FOLDS)
    assert result["found"] == len(result["rows"])
    assert json.dumps(result)
    wrong["gold"] = {"ids": wanted, "nil": False}
    assert wrong["key"] not in [one["mention"] for one in run(tmp_path, base_bundle, lines)["rows"]]


def test_one_document_is_judged_by_nobody(tmp_path: Path, base_bundle: Bundle) -> None:
    with pytest.raises(ModelError, match="at least two documents"):
        run(tmp_path, base_bundle, document_lines("train", 1, seed=1))


def answer(nil: float, *candidates: tuple[str, float]) -> LinkedMention:
    found = tuple(
        ScoredCandidate(key, key.lower(), (), key, chance, {}, probability=chance) for key, chance in candidates
    )
    return LinkedMention("m", "x", "", found, NilEstimate(nil, nil > 0.5, True))


@pytest.mark.parametrize(
    ("ids", "rival"),
    [(("A",), None), (("B",), ("A", 0.2, 0.6)), (("B", "A"), None), ((), ("A", 0.1, 0.6)), (("Z",), ("A", 0.0, 0.6))],
)
def test_the_likeliest_other_answer_is_the_rival(ids: tuple[str, ...], rival: tuple[str, float, float] | None) -> None:
    gold = GoldMention("m", "d", "x", (), ids, raw="X")
    found = suspicion(gold, answer(0.1, ("A", 0.6), ("B", 0.2)))
    assert (None if found is None else (found.rival, found.probability, found.rival_probability)) == rival


def test_nil_is_a_rival_like_any_other() -> None:
    found = suspicion(GoldMention("m", "d", "x", (), ("B",)), answer(0.7, ("A", 0.2), ("B", 0.1)))
    assert found is not None
    assert (found.rival, found.gap) == ("NIL", pytest.approx(0.6))


def test_folds_are_whole_documents_each_in_one() -> None:
    documents = [SnapshotDocument(str(n), Split.TRAIN, "x") for n in range(12)]
    folds = folds_of(documents)
    assert sorted(len(fold) for fold in folds) == [2, 2, 2, 3, 3]
    assert {one.key for fold in folds for one in fold} == {one.key for one in documents}
    assert [fold[::-1] for fold in folds_of(documents[::-1])] == folds
