"""The project for simulated key presses: train's gold as the memory, development documents linked and undecided.

`python -m tests.benchmarks.replay_project FOLDER [--documents 60]`: BC5CDR with MeSH from `../shared/data`, of whose
development documents so many are taken, evenly; all of them with `--documents 500`. Where the corpus is absent, the
demo's documents. It is created by the command line as by a user, and kept for reuse. Vectors come from the user's cache
if present; the rest takes minutes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import platformdirs

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared/data"
DEMO = ROOT / "resources/demo/pubmed"
DOCUMENTS = 60


@dataclass(frozen=True, slots=True)
class Replay:
    """`gold` is the file of the undecided documents, with what is right."""

    project: Path
    gold: Path


def kept() -> Path:
    """Where `make bench` keeps what takes minutes to create."""
    return Path(os.environ.get("CURATOR_BENCH") or platformdirs.user_cache_dir("curator-bench"))


def take_evenly(source: Path, target: Path, number: int) -> None:
    """Write so many of a PubTator file's documents."""
    documents = [one for one in source.read_text(encoding="utf-8").split("\n\n") if one.strip()]
    number = min(number, len(documents))
    chosen = [documents[at * len(documents) // number].strip("\n") for at in range(number)]
    target.write_text("\n\n".join(chosen) + "\n\n", encoding="utf-8")


def made(folder: Path, documents: int = DOCUMENTS) -> Replay:
    """The project in this folder, made where it is not there yet."""
    real = (DATA / "bc5cdr/dev.pubtator.txt").is_file()
    name = f"bc5cdr-{documents}" if real else "demo"
    found = Replay(folder / f"{name}.curation", folder / f"{name}.pubtator")
    if not found.project.exists():
        _make(found, documents, real=real)
    return found


def _make(found: Replay, documents: int, *, real: bool) -> None:
    began, half = time.perf_counter(), found.project.with_name(f"half-{found.project.name}")
    found.project.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(half, ignore_errors=True)
    kb = DATA / "kb/mesh_medic.jsonl.gz" if real else DEMO / "kb.jsonl"
    train = DATA / "bc5cdr/train.pubtator.txt" if real else DEMO / "train.pubtator"
    take_evenly(DATA / "bc5cdr/dev.pubtator.txt" if real else DEMO / "test.pubtator", found.gold, documents)
    for arguments in (
        ("new", half),
        ("kb", "import", half, kb),
        ("import", half, train, "--gold", "--split", "train"),
        ("import", half, found.gold, "--split", "test"),
        ("link", half, "--split", "test"),
    ):
        command = [sys.executable, "-m", "curator", *map(str, arguments)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    half.rename(found.project)
    print(f"{found.project.name} was made in {time.perf_counter() - began:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    given = parser.parse_args()
    print(made(given.folder, given.documents).project)


if __name__ == "__main__":
    main()
