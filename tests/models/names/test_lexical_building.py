"""An index built on the disk is the one that is built in memory, to the last bit."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from models.names import lexical_building
from models.names.lexical import TfIdf
from models.names.lexical_building import build_on_disk
from models.text.normalise import normalise


def some_names(count: int) -> list[str]:
    chance = random.Random(7)
    words = ["renal", "failure", "β-catenin", "x", "acute", "Lidocaine", "\U0001f600", "2-methyl", "", "of the"]
    return [" ".join(chance.choice(words) for _ in range(chance.randint(0, 5))) for _ in range(count)]


@pytest.mark.parametrize("at_once", [1 << 20, 50, 1])
@pytest.mark.parametrize("count", [1, 7, 300])
def test_it_is_bit_for_bit_the_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, count: int
) -> None:
    monkeypatch.setattr(lexical_building, "CHUNK", 64)
    monkeypatch.setattr(lexical_building, "AT_ONCE", at_once)
    names = some_names(count)
    steps = list(build_on_disk(names, tmp_path / "disk"))
    TfIdf.fit([normalise(name) for name in names]).save(tmp_path / "memory")
    files = sorted(one.name for one in (tmp_path / "memory").iterdir())
    assert sorted(one.name for one in (tmp_path / "disk").iterdir()) == files
    for name in files:
        if name.endswith(".npy"):
            one, other = (np.load(tmp_path / part / name) for part in ("disk", "memory"))
            assert one.dtype == other.dtype
            assert np.array_equal(one, other), name
        else:
            assert (tmp_path / "disk" / name).read_text() == (tmp_path / "memory" / name).read_text()
    assert [one.done for one in steps] == sorted(one.done for one in steps)
    assert steps[-1].done == steps[-1].total
