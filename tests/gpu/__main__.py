"""`python -m tests.gpu [pack | join | report]`; without a word: join what has arrived, check, train, report.

    python -m tests.gpu pack --out gpu-pieces --data ../shared/data
    python -m tests.gpu join --pieces gpu-pieces --material gpu-material
    python -m tests.gpu --material gpu-material --out gpu-out --minutes 40
    python -m tests.gpu --small --out /tmp/gpu-small

Nothing heavy is imported before the wheels that this Python lacks are in place.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.gpu.pack import SIZE, bring, pack, use_site
from tests.gpu.pieces import MANIFEST, PackError, read_manifest, split

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SMALL_PIECE = 100_000
PACKAGES = ("torch", "transformers", "scikit-learn", "numpy")


def main(arguments: list[str] | None = None) -> int:
    """0: all is done. 1: something failed. 3: pieces are missing, or steps are left."""
    options = parsed(arguments)
    try:
        if options.action == "pack":
            return packed(options)
        if options.small:
            return small(options)
        if options.action != "report" and (missing := bring(options.pieces, options.material)):
            say(f"{len(missing)} pieces are still missing: {', '.join(missing)}. Bring them with --pieces FOLDER.")
            return 3
        if options.action == "join":
            installed = use_site(options.material)
            say(f"Installed from the wheels: {', '.join(installed) or 'nothing, all is here'}.")
            say(f"All files are in {options.material}.")
            return 0
        return run(options)
    except PackError as error:
        print(error, file=sys.stderr)
        return 1


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", nargs="?", default="run", choices=("run", "pack", "join", "report"))
    parser.add_argument("--out", type=Path, default=Path("gpu-out"), help="results; for pack: the pieces")
    parser.add_argument("--pieces", type=Path, help="a folder with pieces that have arrived")
    parser.add_argument("--material", type=Path, default=Path("gpu-material"), help="where pieces are joined")
    parser.add_argument("--minutes", type=float, default=40.0, help="no step is begun that would take longer")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1")
    parser.add_argument("--only", nargs="+", metavar="STEP", help="these steps alone: how their names begin")
    parser.add_argument("--small", action="store_true", help="every step on invented material, in a minute or two")
    parser.add_argument("--data", type=Path, default=DATA, help="pack: the folder of the corpora")
    parser.add_argument("--size", type=int, default=SIZE, help="pack: bytes of a piece at most")
    parser.add_argument("--no-wheels", action="store_true", help="pack: the other machine has all packages")
    parser.add_argument("--faiss-gpu", action="store_true", help="pack: FAISS for GPUs too, with CUDA 12 (0.7 GB)")
    return parser.parse_args(arguments)


def packed(options: argparse.Namespace) -> int:
    manifest = pack(
        options.data, options.out, size=options.size, wheels=not options.no_wheels, faiss_gpu=options.faiss_gpu
    )
    total = sum(piece["size"] for piece in manifest["pieces"])
    largest = max(piece["size"] for piece in manifest["pieces"])
    count = len(manifest["pieces"])
    say(f"{len(manifest['files'])} files, {total / 1e6:.1f} MB, in {count} pieces of at most {largest / 1e6:.1f} MB.")
    say(f"Carry each piece with {options.out / MANIFEST}, then: python -m tests.gpu join --pieces FOLDER")
    return 0


def small(options: argparse.Namespace) -> int:
    """All of it with a tiny network: invented material is packed, carried in two loads, joined and used."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a tiny network gains nothing by a second one
    if (options.material / MANIFEST).is_file():
        use_site(options.material)
    from tests.gpu.material import invented

    with tempfile.TemporaryDirectory() as place:
        source, pieces = Path(place) / "source", Path(place) / "pieces"
        options.material = options.out / "material"
        if not (options.material / MANIFEST).is_file():
            split(invented(source), pieces, size=SMALL_PIECE, facts={"encoder": "a tiny random network"})
            last = pieces / read_manifest(pieces)["pieces"][-1]["name"]
            kept = last.rename(last.with_suffix(".late"))
            say(f"Still missing after the first load: {', '.join(bring(pieces, options.material))}.")
            kept.rename(last)
            bring(pieces, options.material)
        return run(options)


def run(options: argparse.Namespace) -> int:
    """Do the steps that are left, and write `report.md`."""
    installed = use_site(options.material) if options.action != "report" else []
    if installed:
        say(f"Installed from the wheels: {', '.join(installed)}.")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in the program's child processes
    os.environ["CURATOR_CACHE"] = str((options.out / "work" / "cache").resolve())
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from models.core.device import choose_device
    from tests.gpu.material import Material
    from tests.gpu.plan import SMALL, Plan, Size
    from tests.gpu.report import report
    from tests.gpu.steps import Results, run_steps

    results = Results.load(options.out)
    if options.action != "report":
        device = choose_device(options.device)
        say(device.sentence)
        work = (options.out / "work").resolve()
        size = SMALL if options.small else Size()
        material = Material(options.material.resolve(), work, held_out=size.held_out, documents=size.documents)
        say(material.world.sentence)
        plan = Plan(material, results, device.name, size)
        facts = {**versions(device.name, device.sentence), "small": options.small or None}
        steps = [one for one in plan.steps() if not options.only or one.name.startswith(tuple(options.only))]
        run_steps(steps, results, minutes=options.minutes, facts=facts, say=say)
    manifest = options.material / MANIFEST
    page = report(results, read_manifest(options.material) if manifest.is_file() else None)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "report.md").write_text(page, encoding="utf-8")
    print(page)
    return 1 if results.failed else 3 if results.left else 0


def versions(device: str, sentence: str) -> dict[str, Any]:
    """What a figure depends on."""
    import faiss
    import torch

    there = {one.name.lower(): one.version for one in metadata.distributions() if one.name}
    return {
        "device": sentence,
        "python": platform.python_version(),
        **{name: there.get(name) for name in PACKAGES},
        "faiss": f"{faiss.__version__}{' for GPUs' if hasattr(faiss, 'StandardGpuResources') else ''}",
        "cuda": torch.version.cuda if device.startswith("cuda") else None,
        "tf32": torch.get_float32_matmul_precision() == "high",
    }


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
