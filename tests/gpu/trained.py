"""Recipes trained as the program trains them, and what of each part is found on the development set by itself."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.linker.bundle import Bundle, discard_staging, new_staging, publish
from models.linker.linker import Linker
from models.linker.tuning import average_precision
from tests.benchmarks.experiments.measure import Judged, ranker_alone, retriever_alone, whole
from tests.benchmarks.experiments.worlds import World, write_snapshot
from tests.gpu.material import Material
from tests.gpu.synonyms import drained
from training.data.budget import Budget
from training.data.spec import TrainingSpec
from training.job.assembly import base_encoder_folder
from training.job.job import run_training
from training.job.preparation import load, prepare, untrained_towers
from training.tasks.vectors import mention_vectors, pool_vectors

CANDIDATES, SPREAD_DOCUMENTS = 16, 20
LARGE = 1e30


@dataclass(frozen=True)
class Runner:
    """Trains over the material on a device; `max_steps` bounds every training (None: not)."""

    material: Material
    device: str
    max_steps: int | None = None

    def spec(
        self,
        base: Bundle,
        recipe: str,
        parameters: Mapping[str, Any],
        seed: int,
        name: str,
        *,
        world: World | None = None,
    ) -> dict[str, Any]:
        """A training job's specification, with a fresh staging folder; the decisions are the material's unless a
        `world` is given."""
        work = self.material.work
        folder = work / "snapshots" / ("all" if world is None else name)
        snapshot = write_snapshot(world or self.material.world, folder, kb_hash=base.manifest.kb_hash)
        return {
            "snapshot": str(snapshot),
            "base": str(base.path),
            "staging": str(new_staging(work / "bundles")),
            "recipe": recipe,
            "parameters": dict(parameters),
            "seed": seed,
            "device": self.device,
            "max_steps": self.max_steps,
            "cache": str(work / "cache"),
            "work": str(work / "unfinished" / name),
            "keeps_part": True,
        }

    def train(self, base: Bundle, recipe: str, parameters: Mapping[str, Any], seed: int, name: str) -> tuple[Path, Any]:
        """The staging folder with the trained part, and what the job says of it."""
        spec = self.spec(base, recipe, parameters, seed, name)
        try:
            *_, last = run_training(spec)
        except BaseException:
            discard_staging(Path(spec["staging"]))
            raise
        finally:
            shutil.rmtree(spec["work"], ignore_errors=True)
        return Path(spec["staging"]), last.data["result"]

    def names(self, base: Bundle, target: Path, seed: int) -> dict[str, Any]:
        """The recipe `names` on the decisions; its encoder is copied to `target`."""
        staging, result = self.train(base, "names", {}, seed, target.name)
        bundle = publish(staging)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(base_encoder_folder(bundle), target)
        return {**_run(bundle), "verdict": result["verdict"], "gate": result["message"]}

    def part(
        self, base: Bundle, recipe: str, changes: Mapping[str, Any], seed: int, name: str, *, rows: Sequence[list[int]]
    ) -> dict[str, Any]:
        """A retriever over the whole knowledge base, or a re-ranker over the first `rows` of the base: recall on dev by
        itself, and on the held-out train documents before and after."""
        staging, result = self.train(base, recipe, changes, seed, name)
        try:
            linker = Linker.load(staging, device=self.device)
            judged = Judged.of(self.material.world, linker)
            ranks = linker.stages.ranker is not None
            found = ranker_alone(linker, judged, rows) if ranks else retriever_alone(linker, judged)
            figures = _recall(found["ranks"], judged, found["first"])
            return {"parameters": dict(changes), **_run(linker.bundle), "verdict": result["verdict"], **figures}
        finally:
            discard_staging(staging)

    def untrained(self, base: Bundle) -> dict[str, Any]:
        """The whole linker on dev without a memory, and its first rows, which re-rankers order."""
        linker = Linker.load(base.path, device=self.device)
        judged = Judged.of(self.material.world, linker)
        found = whole(linker, judged)
        first = [" ".join(map(str, own[:CANDIDATES])) for own in found["rows"]]
        return {**_recall(found["ranks"], judged, None), "rows": first}

    def spread(self, base: Bundle, parameters: Mapping[str, Any]) -> dict[str, float]:
        """Standard deviations of the distance, and of its square, of train mentions from their wrong candidates before
        training: the units of margins."""
        world = self.material.world
        few = replace(world, train=world.train[:SPREAD_DOCUMENTS])
        spec = TrainingSpec.from_json(self.spec(base, "prototype", parameters, 0, "spread", world=few))
        try:
            loaded = drained(load(spec))
            prepared = drained(prepare(loaded, Budget(None), shuffle_labels=False))
        finally:
            discard_staging(spec.staging)
        towers = untrained_towers(loaded, prepared.encoder, prepared.texts)
        wrong = [
            [row for row in prepared.ranked.get(one.key, ())[:CANDIDATES] if row not in loaded.kinship.of(one.gold)]
            for one in prepared.train
        ]
        rows = sorted({row for own in wrong for row in own})
        entities, place = pool_vectors(towers, rows), {row: at for at, row in enumerate(rows)}
        mentions = mention_vectors(towers, prepared.train)
        apart = np.concatenate(
            [
                np.linalg.norm(entities[[place[row] for row in own]] - mention, axis=1)
                for mention, own in zip(mentions, wrong, strict=True)
                if own
            ]
        )
        return {
            "plain": round(float(apart.std()), 5),
            "squared": round(float((apart**2).std()), 5),
            "pairs": len(apart),
        }


def rows_of(figures: Mapping[str, Any]) -> list[list[int]]:
    """The rows that `untrained` kept."""
    return [[int(row) for row in own.split()] for own in figures["rows"]]


def _run(bundle: Bundle) -> dict[str, Any]:
    """What the manifest says of the training."""
    run, alone = bundle.manifest.training["run"], bundle.manifest.metrics["alone"]
    kept = ("steps", "epochs", "seconds", "precision", "cut_short", "micro_batch")
    return {"run": {key: run[key] for key in kept}, "held_out": dict(alone)}


def _recall(ranks: Sequence[int], judged: Judged, first: Sequence[float] | None) -> dict[str, Any]:
    """Of linked mentions; `hits_1` and `hits_64` of each, and how many of them each document has."""
    linked = np.asarray([bool(gold) for gold in judged.gold])
    place, document = np.asarray(ranks), np.asarray(judged.document)
    found: dict[str, Any] = {"mentions": int(linked.sum()), "sizes": np.bincount(document[linked]).tolist()}
    for k in (1, 64):
        hits = place[linked] <= k
        found |= {f"recall_{k}": round(float(hits.mean()), 4), f"hits_{k}": "".join("01"[int(hit)] for hit in hits)}
    if first is not None and not linked.all():
        surest = np.nan_to_num(np.asarray(first), neginf=-LARGE, posinf=LARGE)
        found["nil_aupr"] = round(average_precision(-surest, ~linked), 4)
    return found
