"""The whole command on invented material, and what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.gpu import checks
from tests.gpu.__main__ import main
from tests.gpu.material import Material, invented
from tests.gpu.pack import WHEELS, half_encoder
from tests.gpu.plan import BOTH, DECISIONS

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = ("PySide6", "sqlalchemy", "sqlite_utils", "click", "rich", "lxml", "pyoxigraph", "openpyxl", "curator")
IMPORTS = """
import sys
from tests.gpu import __main__
assert not {"torch", "numpy", "models"} & sys.modules.keys(), "something heavy before the wheels are in place"
from tests.gpu import checks, material, names_alone, plan, report, steps, synonyms, trained
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.mark.soak
def test_nothing_is_imported_that_the_other_machine_lacks() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & set(ELSEWHERE)
    assert {"ahocorasick", "faiss"} <= loaded & WHEELS.keys()


@pytest.mark.soak
def test_the_encoder_is_halved_and_stays_the_same(tmp_path: Path) -> None:
    facts = half_encoder(tmp_path / "encoder")
    assert facts["smallest_cosine"] > 0.9999
    assert (tmp_path / "encoder/model.safetensors").stat().st_size < 48e6
    assert not list(tmp_path.rglob("*.bin"))


def test_every_action_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["join", "--material", str(tmp_path / "none")]) == 1
    assert "--pieces" in capsys.readouterr().err
    assert main(["pack", "--out", str(tmp_path), "--data", str(tmp_path), "--no-wheels"]) == 1
    assert "train.pubtator.txt is missing" in capsys.readouterr().err


@pytest.mark.soak
def test_the_checks_compare_every_number_format_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor in the place of a GPU."""
    to, choose = torch.Tensor.to, checks.choose_device

    def moved(self: torch.Tensor, *wanted: object, **more: object) -> torch.Tensor:
        return to(self, *("cpu" if one == "cuda" else one for one in wanted), **more)

    monkeypatch.setattr(torch.Tensor, "to", moved)
    monkeypatch.setattr(checks, "choose_device", lambda device, *, precision: choose("cpu", precision=precision))
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 2**30)
    monkeypatch.setattr(checks.search, "gpu_count", lambda: 1)
    monkeypatch.setattr(checks.search, "_brute_force", checks.search._matrix_product)
    invented(tmp_path / "material")
    material = Material(tmp_path / "material", tmp_path / "work", held_out=2, documents=7)
    before = torch.get_float32_matmul_precision()
    found = checks.vectors(material, "cuda")["formats"]
    assert list(found) == ["float32", "TF32", "bf16", "fp16"]
    assert found["float32"]["smallest_cosine"] > 0.99999 > found["bf16"]["smallest_cosine"] > 0.99
    near = checks.neighbours(material, "cuda")
    assert {name: one["equally_near"] for name, one in near["ways"].items()} == dict.fromkeys(
        ("FAISS on the processor", "torch on the processor", "torch on the GPU", "FAISS on the GPU"), 1.0
    )
    assert not near["notes"]
    assert checks.encoding(material, "cuda", names=50)["gpu_gib"] == 1
    assert list(checks.training(material, "cuda", steps=2, pairs=30)["formats"]) == ["fp32", "bf16"]
    torch.set_float32_matmul_precision(before)


@pytest.mark.soak
def test_all_steps_run_and_a_second_call_does_what_is_left(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.gpu", "--small", "--out", str(tmp_path), "--device", "cpu"]
    first = subprocess.run([*command, "--minutes", "0.5"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert first.returncode in (0, 3), first.stdout + first.stderr
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert {DECISIONS, BOTH} <= results["done"].keys()
    assert not results["failed"]
    assert not results["left"]
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "Proxy loss against cross-entropy, mixed" in page
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".pkl", ".pt", ".bin")]
