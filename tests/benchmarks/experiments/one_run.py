"""One run, in a process of its own: train a setting, measure its bundle, keep the figures as JSON.

python -m tests.benchmarks.experiments.one_run --world bc5cdr --setting "pel-pb" --seed 0 --work FOLDER
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path
from typing import Any

from models.core.file_io import write_json
from models.linker.bundle import discard_staging, new_staging
from models.linker.linker import Linker
from tests.benchmarks.experiments.measure import Judged, ranker_alone, remember, retriever_alone, to_json, whole
from tests.benchmarks.experiments.settings import SETTINGS, Setting
from tests.benchmarks.experiments.worlds import FULL, WORLDS, World, base_bundle, write_snapshot
from training.job.job import run_training

UNTRAINED = "untrained"


def run_untrained(world: World, work: Path) -> dict[str, Any]:
    """The linker before any training, without a memory and with it; its first rows are the re-rankers' candidates."""
    linker = Linker.load(base_bundle(world, work).path)
    judged = Judged.of(world, linker)
    without = whole(linker, judged)
    remember(linker, world)
    facts = {
        "document": judged.document,
        "nil": [not gold for gold in judged.gold],
        "sentence": world.sentence,
        "passes": world.passes,
        "steps": world.steps,
        "many": world.many,
    }
    return {"setting": UNTRAINED, "seed": 0, "world": facts, "alone": without, "whole": whole(linker, judged)}


def run_setting(world: World, setting: Setting, seed: int, work: Path, *, minutes: float | None) -> dict[str, Any]:
    """Train, then measure."""
    base = base_bundle(world, work)
    staging = new_staging(work / "bundles")
    begun = time.monotonic()
    unfinished = work / "unfinished" / file_name(setting.name, seed)
    spec = {
        "snapshot": str(write_snapshot(world, work / "snapshot", kb_hash=base.manifest.kb_hash)),
        "base": str(base.path),
        "staging": str(staging),
        "recipe": setting.recipe,
        "parameters": setting.parameters(full=world.name == FULL, passes=world.passes),
        "seed": seed,
        "max_minutes": minutes,
        "max_steps": world.steps,
        "cache": str(work / "cache"),
        "work": str(unfinished),
        "keeps_part": True,
    }
    try:
        *_, last = run_training(spec)
        seconds = time.monotonic() - begun
        linker = Linker.load(staging)
        judged = Judged.of(world, linker)
        ranks = setting.ranks
        alone = ranker_alone(linker, judged, _candidates(setting, work)) if ranks else retriever_alone(linker, judged)
        remember(linker, world)
        result = {
            "setting": setting.name,
            "recipe": setting.recipe,
            "parameters": spec["parameters"],
            "seed": seed,
            "seconds": round(seconds, 1),
            "run": linker.bundle.manifest.training["run"],
            "verdict": last.data["result"]["verdict"],
            "held_out": linker.bundle.manifest.metrics["alone"],
            "alone": alone,
            "whole": whole(linker, judged),
        }
        if ranks:
            best = best_retriever(work)
            if best is not None:
                result["over"] = best["setting"]
                result["over_best"] = ranker_alone(linker, judged, best["alone"]["rows"])
        shutil.rmtree(unfinished, ignore_errors=True)
        return result
    finally:
        discard_staging(staging)


def best_retriever(work: Path) -> dict[str, Any] | None:
    """Of the finished runs of the first seed, the retriever that finds most among its first 64 on the held-out
    documents (never on the judged ones)."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((work / "runs").glob("*.0.json"))]
    retrievers = [one for one in found if "rows" in one["alone"] and one["setting"] != UNTRAINED]
    return max(retrievers, key=lambda one: (one["held_out"]["after_at_k"], one["setting"]), default=None)


def file_name(setting: str, seed: int) -> str:
    return f"{setting.replace(' ', '_')}.{seed}"


def _candidates(setting: Setting, work: Path) -> list[list[int]]:
    """The first rows of the untrained linker without a memory, as many as the re-ranker was trained on."""
    untrained = json.loads((work / "runs" / f"{UNTRAINED}.0.json").read_text(encoding="utf-8"))
    count = int(setting.parameters()["candidates"])
    return [own[:count] for own in untrained["alone"]["rows"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=sorted(WORLDS), required=True)
    parser.add_argument("--setting", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, help="most minutes of training; a run that it cuts is not comparable")
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    world, work = WORLDS[options.world](), options.work
    (work / "runs").mkdir(parents=True, exist_ok=True)
    if options.setting == UNTRAINED:
        result = run_untrained(world, work)
    else:
        setting = next(one for one in SETTINGS if one.name == options.setting)
        result = run_setting(world, setting, options.seed, work, minutes=options.minutes)
    write_json(work / "runs" / f"{file_name(options.setting, options.seed)}.json", json.loads(to_json(result)))


if __name__ == "__main__":
    main()
