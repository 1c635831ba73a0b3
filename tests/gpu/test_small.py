"""The whole command on invented material, and what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gpu.__main__ import main
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


def test_nothing_is_imported_that_the_other_machine_lacks() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & set(ELSEWHERE)
    assert {"accelerate", "ahocorasick", "faiss"} <= loaded & WHEELS.keys()


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
