"""Pieces: split, carried in several loads, joined; what is missing or damaged is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gpu import pack
from tests.gpu.pieces import MANIFEST, PackError, join, split, take

CONTENTS = {"a/first.txt": b"x" * 250, "empty": b"", "second.bin": bytes(range(256)) * 3}


@pytest.fixture
def pieces(tmp_path: Path) -> Path:
    for name, content in CONTENTS.items():
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_bytes(content)
    out = tmp_path / "pieces"
    manifest = split({name: tmp_path / "source" / name for name in CONTENTS}, out, size=100, facts={"a": 1})
    assert [piece["size"] for piece in manifest["pieces"]] == [100] * 10 + [18]
    return out


def test_what_is_joined_is_what_was_split(pieces: Path, tmp_path: Path) -> None:
    assert join(pieces, tmp_path / "out")["facts"] == {"a": 1}
    assert {name: (tmp_path / "out" / name).read_bytes() for name in CONTENTS} == CONTENTS


def test_a_second_split_leaves_nothing_of_the_first(pieces: Path, tmp_path: Path) -> None:
    split({"second.bin": tmp_path / "source/second.bin"}, pieces, size=1000)
    assert sorted(path.name for path in pieces.iterdir()) == [MANIFEST, "piece-000.bin"]


def test_pieces_arrive_in_several_loads(pieces: Path, tmp_path: Path) -> None:
    load, material = tmp_path / "load", tmp_path / "material"
    load.mkdir()
    (load / MANIFEST).write_bytes((pieces / MANIFEST).read_bytes())
    names = [f"piece-{number:03d}.bin" for number in range(11)]
    for first, last in ((0, 4), (4, 9)):
        for name in names[first:last]:
            (pieces / name).rename(load / name)
        assert pack.bring(load, material) == names[last:]
        for name in names[first:last]:
            (load / name).unlink()
    assert not (material / "second.bin").exists()
    assert pack.bring(pieces, material) == []
    assert {name: (material / name).read_bytes() for name in CONTENTS} == CONTENTS
    assert not (material / pack.PIECES).exists()
    assert pack.bring(None, material) == pack.bring(load, material) == []


def test_missing_and_damaged_pieces_are_named(pieces: Path, tmp_path: Path) -> None:
    (pieces / "piece-003.bin").write_bytes(b"y" * 100)
    for work in (lambda: join(pieces, tmp_path / "out"), lambda: take(pieces, tmp_path / "kept")):
        with pytest.raises(PackError, match=r"piece-003\.bin is damaged"):
            work()
    (pieces / "piece-003.bin").unlink()
    with pytest.raises(PackError, match=r"1 of 11 pieces are missing in .*: piece-003\.bin"):
        join(pieces, tmp_path / "out")


def test_another_pack_is_not_mixed_in(pieces: Path, tmp_path: Path) -> None:
    other, material = tmp_path / "other", tmp_path / "material"
    split({"second.bin": tmp_path / "source/second.bin"}, other, size=1000)
    (pieces / "piece-000.bin").unlink()
    assert pack.bring(pieces, material) == ["piece-000.bin"]
    with pytest.raises(PackError, match="another pack"):
        pack.bring(other, material)
    assert pack.bring(other, tmp_path / "whole") == []
    with pytest.raises(PackError, match="another pack"):
        pack.bring(pieces, tmp_path / "whole")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda raw: raw.update(format=9), "of version 9"),
        (lambda raw: raw.pop("pieces"), "is damaged"),
        (lambda raw: raw["files"][0].update(path="../outside"), "outside of the folder"),
        (lambda raw: raw["files"][0].update(path="/outside"), "outside of the folder"),
    ],
)
def test_manifests_that_do_not_fit_are_refused(pieces: Path, tmp_path: Path, change, said: str) -> None:
    raw = json.loads((pieces / MANIFEST).read_text())
    change(raw)
    (pieces / MANIFEST).write_text(json.dumps(raw))
    with pytest.raises(PackError, match=said):
        join(pieces, tmp_path / "out")
    (pieces / MANIFEST).unlink()
    with pytest.raises(PackError, match="is missing"):
        join(pieces, tmp_path / "out")


def test_what_cannot_be_packed_or_used_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PackError, match="at least 1 byte"):
        split({}, tmp_path, size=0)
    with pytest.raises(PackError, match="--pieces"):
        pack.bring(None, tmp_path)
    with pytest.raises(PackError, match="--data"):
        pack._present(tmp_path / "train.txt")
    assert pack.use_site(tmp_path) == [], "everything is installed here"
    (tmp_path / "wheels").mkdir()
    assert pack._with_gpu(tmp_path, "faiss-cpu") == ("faiss-cpu",)
    (tmp_path / "wheels" / "faiss_gpu-1.15.1-cp310-abi3-manylinux_2_28_x86_64.whl").touch()
    for there, expected in ((False, ("faiss-cpu",)), (True, pack.FAISS_GPU)):
        monkeypatch.setattr("torch.cuda.is_available", lambda there=there: there)
        assert pack._with_gpu(tmp_path, "faiss-cpu") == expected
    assert pack._with_gpu(tmp_path, "numba") == ("numba",)
    assert pack._wheel(tmp_path / "wheels", "faiss-gpu").name.startswith("faiss_gpu-1.15.1")
    monkeypatch.setattr(pack, "WHEELS", {"no_such_module": "no-such-package"})
    with pytest.raises(PackError, match="no package no-such-package"):
        pack.use_site(tmp_path)
