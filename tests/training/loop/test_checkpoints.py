"""The folder of checkpoints by itself: whole or not there, the last two, nothing of another run."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import torch

from models.errors import ModelError
from tests.failing_reads import fail_reads
from training.loop import checkpoints as module
from training.loop.checkpoints import Checkpoints, Saved


def saved(number: int) -> Saved:
    return Saved({"weight": torch.full((2, 3), float(number)), "step": torch.tensor(1.0)}, {"number": number})


def points(folder: Path, **identity: object) -> Checkpoints:
    return Checkpoints(folder / "run", identity={"seed": 1, **identity}, kept={"entity_tower": "trained"})


def test_the_newest_comes_back_and_the_last_two_stay(tmp_path: Path) -> None:
    for number in range(4):
        points(tmp_path).save(saved(number))
    found, notes = points(tmp_path).load()
    assert found is not None
    assert (found.facts, notes) == ({"number": 3}, [])
    assert torch.equal(found.tensors["weight"], saved(3).tensors["weight"])
    assert found.tensors["step"].shape == ()
    assert len(list((tmp_path / "run").iterdir())) == 4


def test_facts_with_numbers_as_keys_are_not_taken_for_damaged(tmp_path: Path) -> None:
    facts = {"mined": {2: [1, 5], 10: [3]}, "rate": 0.1 + 0.2, "figure": float("nan")}
    points(tmp_path).save(Saved({"weight": torch.zeros(1)}, facts))
    found, notes = points(tmp_path).load()
    assert notes == []
    assert found is not None
    assert found.facts["mined"] == {"2": [1, 5], "10": [3]}
    assert found.facts["rate"] == 0.1 + 0.2


def test_nothing_there(tmp_path: Path) -> None:
    assert points(tmp_path).load() == (None, [])
    assert points(tmp_path).kept_before() == {}
    points(tmp_path).remove()


@pytest.mark.parametrize("ending", ["json", "safetensors"])
@pytest.mark.parametrize("how", ["cut", "flipped", "gone"])
def test_damage_is_noticed(tmp_path: Path, ending: str, how: str) -> None:
    for number in range(2):
        points(tmp_path).save(saved(number))
    path = tmp_path / "run" / f"000002.{ending}"
    content = bytearray(path.read_bytes())
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(content[: len(content) // 2])
    else:
        content[-7] ^= 1
        path.write_bytes(content)
    found, notes = points(tmp_path).load()
    assert found is not None
    assert found.facts == {"number": 0}
    silent = (ending, how) == ("json", "gone")  # killed before it was complete: no checkpoint yet
    assert notes == ([] if silent else ["Checkpoint 2 is damaged and was skipped."])


def test_a_file_of_another_kind_is_no_checkpoint(tmp_path: Path) -> None:
    points(tmp_path).save(saved(1))
    for name, content in (("000009.json", "[]"), ("000008.json", json.dumps({"hash": "", "body": {"format": 9}}))):
        (tmp_path / "run" / name).write_text(content)
    found, notes = points(tmp_path).load()
    assert found is not None
    assert len(notes) == 2


@pytest.mark.parametrize("ending", ["json", "safetensors"])
def test_one_that_the_disk_does_not_give_is_skipped_but_the_run_never_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    points(tmp_path).save(saved(1))
    fail_reads(monkeypatch, f"000001.{ending}")
    with pytest.raises(ModelError, match="cannot be read"):
        points(tmp_path).load()
    fail_reads(monkeypatch, "000001.json")
    with pytest.raises(ModelError, match="cannot be read"):
        points(tmp_path).kept_before()
    points(tmp_path).save(saved(2))
    fail_reads(monkeypatch, f"000002.{ending}")
    found, notes = points(tmp_path).load()
    assert found is not None
    assert found.facts == {"number": 1}
    assert "cannot be read" in notes[0]


def test_another_identity_names_what_differs(tmp_path: Path) -> None:
    points(tmp_path, threads=1).save(saved(1))
    found, notes = points(tmp_path, threads=2, base="b").load()
    assert found is None
    assert notes == ["Checkpoint 1 belongs to another run (base, threads) and was ignored."]


def test_what_was_decided_once_comes_back_before_the_identity_is_complete(tmp_path: Path) -> None:
    points(tmp_path, trainer={"torch": "2"}).save(saved(1))
    assert points(tmp_path).kept_before() == {"entity_tower": "trained"}
    assert points(tmp_path, recipe="x").kept_before() == {}


def test_what_a_kill_left_half_written_is_removed(tmp_path: Path) -> None:
    points(tmp_path).save(saved(1))
    (tmp_path / "run" / ".000002.safetensors.77.ab").write_bytes(b"half")
    points(tmp_path).load()
    assert not list((tmp_path / "run").glob(".*"))


def test_a_disk_that_is_full_leaves_the_ones_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points(tmp_path).save(saved(1))

    whole = module.atomic_path

    def full(path: Path) -> AbstractContextManager[Path]:
        """Until the last file of a checkpoint there was room."""
        if path.suffix == ".json":
            raise OSError(28, "No space left on device")
        return whole(path)

    monkeypatch.setattr(module, "atomic_path", full)
    with pytest.raises(OSError, match="No space left"):
        points(tmp_path).save(saved(2))
    found, _ = points(tmp_path).load()
    assert found is not None
    assert found.facts == {"number": 1}
    assert len(list((tmp_path / "run").iterdir())) == 2


def test_removed_without_a_trace(tmp_path: Path) -> None:
    points(tmp_path).save(saved(1))
    points(tmp_path).remove()
    assert not (tmp_path / "run").exists()
