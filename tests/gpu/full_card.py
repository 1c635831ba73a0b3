"""What the linker does on a GPU that other programs fill: one process leaves so much of its memory free, another works.

Each act ends as it should, or with a sentence; another error is a bug. Vectors and links are compared with those of the
processor.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models.core.device import choose_device
from models.core.kb import read_kb
from models.encoders import encoders
from models.encoders.encoders import Encoder, load_encoder
from models.errors import ModelError, no_memory
from models.linker.build import build_untrained
from models.linker.bundle import new_staging, publish
from models.linker.index_repair import load_intact
from models.types import DocumentInput, MentionInput
from tests.gpu.material import Material
from tests.gpu.synonyms import Learning, learn

LEVELS = (2048, 1024, 768, 640, 512, 256)
"""MiB left free. A process with CUDA takes some 520 before it computes anything. Each takes half a minute or more."""
TOKENS, TEXTS, ENTITIES, DOCUMENTS, PAIRS = 128, 512, 5000, 20, 400
ACTS = ("choose", "encode", "link", "train")


def measure(material: Material, device: str) -> dict[str, Any]:
    """How each act ended at each level; on a processor once, with all its memory."""
    folder = prepared(material)
    levels = LEVELS if device.startswith("cuda") else (0,)
    return {"levels": {str(level): _at(level, folder, device) for level in levels}}


def prepared(material: Material) -> Path:
    """The folder of what all processes use: an encoder, a linker of few entities, what the processor answers."""
    folder = material.work / "full-card"
    if (folder / "bundle.txt").is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with material.kb_file.open(encoding="utf-8") as every:
        (folder / "kb.jsonl").write_text("".join(islice(every, ENTITIES)), encoding="utf-8")
    (folder / "documents.json").write_text(json.dumps(material.lines("bc5cdr", "dev")[:DOCUMENTS]), encoding="utf-8")
    (folder / "encoder.txt").write_text(str(material.encoder), encoding="utf-8")
    staging = new_staging(folder / "bundles")
    for _ in build_untrained(folder / "kb.jsonl", staging, encoder=material.encoder, device="cpu"):
        pass
    bundle = publish(staging)
    np.save(folder / "vectors.npy", encoded(folder, "cpu"))
    (folder / "links.json").write_text(json.dumps(linked(folder, "cpu", bundle.path)), encoding="utf-8")
    (folder / "bundle.txt").write_text(str(bundle.path), encoding="utf-8")
    return folder


def _at(level: int, folder: Path, device: str) -> dict[str, Any]:
    with _filled(level):
        command = [sys.executable, "-m", "tests.gpu.full_card", "--folder", str(folder), "--device", device]
        done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ModelError(f"with {level} MiB free: {done.stderr.strip()[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def _filled(level: int) -> Iterator[None]:
    """Another process holds all of the GPU's memory but this; nothing with 0."""
    if not level:
        yield
        return
    command = [sys.executable, "-m", "tests.gpu.full_card", "--fill", str(level)]
    with subprocess.Popen(
        command, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as filler:
        assert filler.stdin is not None
        assert filler.stdout is not None
        if not filler.stdout.readline().startswith("full"):
            raise ModelError(f"the GPU could not be filled but for {level} MiB")
        yield
        filler.stdin.close()


def _environment() -> dict[str, str]:
    """Packages are found where this process finds them."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}


def fill(level: int) -> None:
    """Hold the GPU's memory until standard input ends."""
    held = torch.empty(1, dtype=torch.uint8, device="cuda")
    more = torch.cuda.mem_get_info()[0] - level * 2**20
    if more > 0:
        held = torch.empty(more, dtype=torch.uint8, device="cuda")
    print("full", len(held), flush=True)
    sys.stdin.read()


def acts(folder: Path, device: str) -> dict[str, Any]:
    """How each of `ACTS` ended: `figures`, or `told` a sentence, or `bug`."""
    bundle = Path((folder / "bundle.txt").read_text(encoding="utf-8"))
    given_back = [0]
    give_back = encoders.give_back_gpu_memory

    def counted() -> None:
        given_back[0] += 1
        give_back()

    encoders.give_back_gpu_memory = counted  # type: ignore[attr-defined]
    work: dict[str, Callable[[], dict[str, Any]]] = {
        "choose": lambda: {"sentence": choose_device("auto" if device != "cpu" else "cpu").sentence},
        "encode": lambda: {"smallest_cosine": _smallest(np.load(folder / "vectors.npy"), encoded(folder, device))},
        "link": lambda: {
            "same": _same(json.loads((folder / "links.json").read_text()), linked(folder, device, bundle))
        },
        "train": lambda: trained(folder, device),
    }
    found = {}
    for name in ACTS:
        given_back[0] = 0
        found[name] = _ended(work[name]) | {"halved": given_back[0]}
    return found


def _ended(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return {"figures": work()}
    except Exception as error:  # what a child process of the program does with its errors
        told = error if isinstance(error, ModelError) else no_memory(error)
        return {"told": str(told)} if told else {"bug": repr(error)[:500]}


def encoded(folder: Path, device: str) -> np.ndarray:
    """(TEXTS, d) vectors of texts of TOKENS tokens."""
    encoder = _encoder(folder, device)
    ids = encoder.token_ids([f"{number} milligrams" for number in range(TEXTS)])
    return encoder.encode_ids([(own * TOKENS)[:TOKENS] for own in ids])


def linked(folder: Path, device: str, bundle: Path) -> list[list[str]]:
    """The first candidate of each mention, for each document."""
    raw = json.loads((folder / "documents.json").read_text(encoding="utf-8"))
    documents = [DocumentInput(one["key"], one["text"], tuple(map(_mention, one["mentions"]))) for one in raw]
    answers = load_intact(bundle, device=device)[0].link(documents, k=5)
    return [[next(iter(mention.candidates.entity_ids), "") for mention in one.mentions] for one in answers]


def _mention(raw: dict[str, Any]) -> MentionInput:
    return MentionInput(raw["key"], tuple((start, end) for start, end in raw["spans"]), tuple(raw["types"]))


def trained(folder: Path, device: str) -> dict[str, Any]:
    """A few steps of the names' task."""
    learning = Learning(pairs=PAIRS, epochs=1, max_steps=4, precision="fp32")
    result, _ = learn(_encoder(folder, device), read_kb(folder / "kb.jsonl"), learning)
    return {"steps": result.steps, "notes": list(result.notes)}


def _encoder(folder: Path, device: str) -> Encoder:
    return load_encoder((folder / "encoder.txt").read_text(encoding="utf-8"), device=device, max_tokens=TOKENS)


def _smallest(one: np.ndarray, other: np.ndarray) -> float:
    return round(float((one * other).sum(1).min()), 6)


def _same(one: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> float:
    pairs = [(a, b) for first, second in zip(one, other, strict=True) for a, b in zip(first, second, strict=True)]
    return round(sum(a == b for a, b in pairs) / max(1, len(pairs)), 4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fill", type=int)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if options.fill is not None:
        fill(options.fill)
    else:
        print(json.dumps(acts(options.folder, options.device)))
