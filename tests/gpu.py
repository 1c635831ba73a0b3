"""`make gpu`: what a computer's GPU gives, against its processor, and trainings on it.

    python -m tests.gpu --out gpu-out --minutes 40     # BC5CDR of ../shared/data where it is there, else the demo
    python -m tests.gpu --small --device cpu           # the demo and few steps, in some minutes

In this order: the same vectors, the same neighbours, how many names a second, what happens on a card that other
programs fill, and each recipe trained. A training is not begun after the minutes are over. Figures go to `report.md`;
the exit code is 1 if something failed. Needs only `models`, `training` and `resources`, and no network.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models.core.device import choose_device
from models.core.kb import KnowledgeBase, load_kb
from models.encoders import encoders
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import Encoder, load_encoder
from models.errors import ModelError, no_memory
from models.linker.build import NAMES_TOKENS, build_untrained
from models.linker.bundle import Bundle, discard_staging, new_staging, open_bundle, publish
from models.linker.index_repair import load_intact
from models.types import DocumentInput, MentionInput
from models.vectors import index as search
from resources.recipe_files import recipe_ids
from tests.benchmarks.experiments.worlds import WORLDS, World, write_snapshot
from tests.benchmarks.linker_bc5cdr import DATA
from training.job.job import run_training

COMPARED, QUERIES, NEIGHBOURS, NAMES = 2000, 1000, 64, 20_000
EQUAL, LONG_TOKENS, LONG_TEXTS = 1e-6, 128, 2048
FORMATS = (("float32", "highest", "fp32"), ("TF32", "high", "fp32"), ("bf16", "high", "bf16"), ("fp16", "high", "fp16"))
"""Name, torch's precision of float32 products, the encoder's number format."""
LEVELS = (2048, 1024, 768, 640, 512, 256)
"""MiB left free by other programs. A process with CUDA takes some 520 before it computes anything."""
ACTS = ("choose", "encode", "link", "train")
SMALL_RECIPES = ("names", "pel-pb-quick", "cross-encoder-quick")
Row = Sequence[object]


@dataclass(frozen=True)
class Material:
    """The documents and an untrained linker over their knowledge base, which the processor built."""

    world: World
    work: Path
    steps: int
    names: int

    @cached_property
    def bundle(self) -> Bundle:
        pointer = self.work / "bundle.txt"
        if pointer.is_file():
            return open_bundle(Path(pointer.read_text(encoding="utf-8")))
        self.work.mkdir(parents=True, exist_ok=True)
        kb = self.work / "kb.jsonl"
        kb.write_text("".join(json.dumps(one) + "\n" for one in self.world.entities), encoding="utf-8")
        staging = new_staging(self.work / "bundles")
        for _ in build_untrained(kb, staging, device="cpu", cache=self.work / "cache"):
            pass
        bundle = publish(staging)
        pointer.write_text(str(bundle.path), encoding="utf-8")
        return bundle

    @cached_property
    def kb(self) -> KnowledgeBase:
        return load_kb(self.bundle.file("kb.jsonl"))

    def some(self, count: int) -> list[str]:
        """So many of the names, evenly spread."""
        names = list(self.kb.names)
        return names[:: max(1, len(names) // count)][:count]


# --- vectors, neighbours, speed ---


def encoder_on(
    device: str, precision: str = "fp32", products: str = "highest", *, tokens: int = NAMES_TOKENS
) -> Encoder:
    """The default encoder; choosing a GPU turns TF32 on, so the setting of products is put back."""
    chosen = choose_device(device, precision=precision)
    encoder = load_encoder(default_encoder_folder(), device=chosen, max_tokens=tokens)
    torch.set_float32_matmul_precision(products if device.startswith("cuda") else "highest")
    return encoder


def formats(device: str) -> tuple[tuple[str, str, str], ...]:
    """On a processor half precision is emulated, and slow: float32 alone."""
    return FORMATS if device.startswith("cuda") else FORMATS[:1]


def vectors(material: Material, device: str) -> Iterator[str]:
    """Names encoded in each number format against the processor's in float32."""
    some = material.some(COMPARED)
    exact = encoder_on("cpu").encode(some)
    rows = []
    for name, products, precision in formats(device):
        own = encoder_on(device, precision, products).encode(some)
        cosines = (own * exact).sum(1)
        same = float((nearest(own) == nearest(exact)).mean())
        rows.append([name, f"{cosines.min():.7f}", f"{np.abs(own - exact).max():.3g}", f"{same:.4f}"])
        if name == "float32" and cosines.min() < 1 - 1e-4:
            raise ModelError(f"vectors in float32 differ from the processor's: the smallest cosine is {cosines.min()}")
    yield table(("format", "smallest cosine", "largest difference", "same nearest name"), rows)


def nearest(own: np.ndarray) -> np.ndarray:
    scores = own @ own.T
    np.fill_diagonal(scores, -np.inf)
    found: np.ndarray = scores.argmax(1)
    return found


def neighbours(material: Material, device: str) -> Iterator[str]:
    """The nearest names on the device against exact search. Names may have equal vectors, so scores are compared."""
    matrix = encoder_on("cpu").encode(material.some(NAMES))
    queries = matrix[:: max(1, len(matrix) // QUERIES)][:QUERIES]
    k = min(NEIGHBOURS, len(matrix))
    plan = search.plan_index(*matrix.shape, kind=search.IndexKind.FLAT)
    index = search.VectorIndex.build(matrix, plan=plan)
    exact = index.search(queries, k)[0]
    if device.startswith("cuda"):
        yield index.to_gpu()
    index.search(queries, k)
    begun = time.perf_counter()
    scores, places = index.search(queries, k)
    seconds = time.perf_counter() - begun
    near = np.einsum("qd,qkd->qk", queries, matrix[places])
    share = float((near >= exact - EQUAL).mean())
    head = ("queries", "vectors", "equally near", "largest difference", "queries a second")
    apart = f"{np.abs(scores - exact).max():.3g}"
    yield table(head, [[len(queries), len(matrix), f"{share:.5f}", apart, f"{len(queries) / seconds:,.0f}"]])
    if share < 1:
        raise ModelError(f"{1 - share:.5f} of the neighbours are not as near as the exact ones")


def speed(material: Material, device: str) -> Iterator[str]:
    """Names, and texts of LONG_TOKENS tokens, encoded in a second."""
    some, rows = material.some(material.names), []
    for name, products, precision in formats(device):
        encoder = encoder_on(device, precision, products, tokens=LONG_TOKENS)
        long = [(own * LONG_TOKENS)[:LONG_TOKENS] for own in encoder.token_ids(some[:LONG_TEXTS])]
        encoder.encode(some[:64])
        of_names = rate(lambda encoder=encoder: encoder.encode(some), len(some))
        of_texts = rate(lambda encoder=encoder, long=long: encoder.encode_ids(long), len(long))
        rows.append([name, of_names, of_texts])
    yield table(("format", "names a second", f"texts of {LONG_TOKENS} tokens a second"), rows)


def rate(work: Callable[[], object], count: int) -> str:
    begun = time.perf_counter()
    work()
    return f"{count / max(time.perf_counter() - begun, 1e-9):,.0f}"


# --- a card that other programs fill: a process leaves so much of its memory free, and another one works ---


def full_card(material: Material, device: str) -> Iterator[str]:
    """Each act gives the processor's answers or ends with a sentence; another error is a bug."""
    before = json.dumps(linked(material, "cpu"))
    (material.work / "linked.json").write_text(before, encoding="utf-8")
    rows, bugs = [], []
    for level in LEVELS if device.startswith("cuda") else (0,):
        with filled(level):
            found = json.loads(child("--act", "--device", device, *more(material)).stdout.splitlines()[-1])
        rows.append([level or "all", *(found[name] for name in ACTS)])
        bugs += [one for one in found.values() if one.startswith("BUG")]
    yield table(("MiB free", *ACTS), rows)
    if bugs:
        raise ModelError(bugs[0])


def more(material: Material) -> list[str]:
    return ["--out", str(material.work.parent), *(["--small"] if material.world.name == "wikia" else [])]


def child(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.gpu", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ModelError(done.stderr.strip()[-2000:])
    return done


@contextmanager
def filled(level: int) -> Iterator[None]:
    """Another process holds all of the GPU's memory but so many MiB; nothing with 0."""
    if not level:
        yield
        return
    command = [sys.executable, "-m", "tests.gpu", "--fill", str(level)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as filler:
        assert filler.stdin is not None
        assert filler.stdout is not None
        if not filler.stdout.readline().startswith("full"):
            raise ModelError(f"the GPU could not be filled but for {level} MiB")
        yield
        filler.stdin.close()


def fill(level: int) -> None:
    """Hold the GPU's memory until standard input ends."""
    held = torch.empty(1, dtype=torch.uint8, device="cuda")
    left = torch.cuda.mem_get_info()[0] - level * 2**20
    if left > 0:
        held = torch.empty(left, dtype=torch.uint8, device="cuda")
    print("full", len(held), flush=True)
    sys.stdin.read()


def act(material: Material, device: str) -> dict[str, str]:
    """How each of ACTS ended, and how often a batch was halved."""
    halved, give_back = [0], encoders.give_back_gpu_memory

    def counted() -> None:
        halved[0] += 1
        give_back()

    encoders.give_back_gpu_memory = counted  # type: ignore[attr-defined]
    before = json.loads((material.work / "linked.json").read_text(encoding="utf-8"))
    work: Mapping[str, Callable[[], str]] = {
        "choose": lambda: choose_device(device).sentence,
        "encode": lambda: f"{len(encoder_on(device, tokens=LONG_TOKENS).encode(material.some(NAMES)))} names",
        "link": lambda: (
            f"{np.mean([one == two for one, two in zip(before, linked(material, device), strict=True)]):.4f}"
        ),
        "train": lambda: str(trained(material, device, "names", steps=4)["run"]["steps"]) + " steps",
    }
    found = {}
    for name in ACTS:
        halved[0] = 0
        found[name] = ended(work[name]) + (f" (halved {halved[0]} times)" if halved[0] else "")
    return found


def ended(work: Callable[[], str]) -> str:
    try:
        return work()
    except Exception as error:  # what a child process of the program does with its errors
        told = error if isinstance(error, ModelError) else no_memory(error)
        return str(told) if told else f"BUG: {error!r}"[:500]


def linked(material: Material, device: str) -> list[str]:
    """The first candidate of each mention of the judged documents."""
    documents = [
        DocumentInput(one["key"], one["text"], tuple(map(mention, one["mentions"]))) for one in material.world.judged
    ]
    answers = load_intact(material.bundle.path, device=device)[0].link(documents[:20], k=5)
    return [next(iter(one.candidates.entity_ids), "") for document in answers for one in document.mentions]


def mention(raw: Mapping[str, Any]) -> MentionInput:
    return MentionInput(raw["key"], tuple((start, end) for start, end in raw["spans"]), tuple(raw["types"]))


# --- trainings ---


def trained(material: Material, device: str, recipe: str, *, steps: int | None) -> dict[str, Any]:
    """What a linker's manifest says of its training, and the verdict; the linker is thrown away."""
    staging = new_staging(material.work / "bundles")
    snapshot = write_snapshot(material.world, material.work / "snapshot", kb_hash=material.bundle.manifest.kb_hash)
    spec = {
        "snapshot": str(snapshot),
        "base": str(material.bundle.path),
        "staging": str(staging),
        "recipe": recipe,
        "parameters": {},
        "seed": 0,
        "device": device,
        "max_steps": steps,
        "cache": str(material.work / "cache"),
        "work": str(material.work / "unfinished" / recipe),
        "keeps_part": True,
    }
    try:
        *_, last = run_training(spec)
        training = open_bundle(staging).manifest.training
        return {"run": training.get("run", {"steps": 0}), "verdict": last.data["result"]["verdict"]}
    finally:
        discard_staging(staging)


def trainings(material: Material, device: str, ends: float, *, small: bool) -> Iterator[str]:
    rows, failed = [], []
    for recipe in SMALL_RECIPES if small else recipe_ids():
        begun = time.monotonic()
        if begun > ends:
            rows.append([recipe, "–", "–", "no time was left"])
            continue
        try:
            found = trained(material, device, recipe, steps=material.steps)
            rows.append([recipe, found["run"]["steps"], f"{time.monotonic() - begun:.0f}", found["verdict"]])
        except (ModelError, RuntimeError, OSError, ValueError, LookupError) as error:
            traceback.print_exc()
            failed.append(recipe)
            rows.append([recipe, "–", f"{time.monotonic() - begun:.0f}", f"failed: {error}"])
        print(*rows[-1], flush=True)
    yield table(("recipe", "steps", "s", "verdict"), rows)
    if failed:
        raise ModelError(f"not trained: {', '.join(failed)}")


# --- the report ---


def table(head: Sequence[str], rows: Sequence[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "/") for cell in line) + " |" for line in lines)


def report(options: argparse.Namespace, material: Material) -> int:
    device, ends, failed = choose_device(options.device), time.monotonic() + 60 * options.minutes, 0
    versions = f"Python {platform.python_version()}, torch {torch.__version__}, FAISS {search.faiss.__version__}"
    parts = ["# On a GPU", f"{device.sentence} {versions}.", material.world.sentence]
    steps: Mapping[str, Callable[[], Iterator[str]]] = {
        "Vectors against the processor's in float32": lambda: vectors(material, device.name),
        "Neighbours against exact search": lambda: neighbours(material, device.name),
        "Speed": lambda: speed(material, device.name),
        "A card that other programs fill": lambda: full_card(material, device.name),
        "Trainings": lambda: trainings(material, device.name, ends, small=options.small),
    }
    for title, step in steps.items():
        print(f"{time.strftime('%H:%M:%S')} {title}", flush=True)
        parts.append(f"## {title}")
        try:
            for part in step():
                parts.append(part)
                print(part, flush=True)
        except (ModelError, RuntimeError, OSError, ValueError, AssertionError, LookupError) as error:
            traceback.print_exc()
            parts.append(f"**Failed**: {error}")
            failed = 1
    (options.out / "report.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("gpu-out"))
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1")
    parser.add_argument("--small", action="store_true", help="the demo, few steps, three recipes")
    parser.add_argument("--fill", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--act", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.fill is not None:
        fill(options.fill)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    small = options.small or not (DATA / "bc5cdr").is_dir()
    world = WORLDS["wikia" if small else "bc5cdr"]()
    material = Material(
        world,
        (options.out / "work").resolve(),
        steps=4 if options.small else 200,
        names=200 if options.small else NAMES,
    )
    if options.act:
        print(json.dumps(act(material, options.device)))
        return 0
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return report(options, material)


if __name__ == "__main__":
    sys.exit(main())
