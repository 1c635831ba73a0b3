"""The specification of a job, checked once, when the job starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models.errors import ModelError, say
from training.data.snapshot import Split


@dataclass(frozen=True, slots=True)
class TrainingSpec:
    """A training job. `threads` 0 leaves the choice to torch. `max_minutes` limits the whole job (None: no limit).
    `max_steps` limits the optimiser steps (None: no limit), for comparisons at equal steps.

    `cache` is the folder for vectors of the untrained encoder, kept between jobs (None: the user's cache folder).
    `work` is the folder for checkpoints, from which an interrupted job resumes (None: it cannot). `tensorboard` is the
    folder for TensorBoard files (None: none are written). `keeps_part`: a trained component without a gain stays in the
    result, for experiments; otherwise it is left out if the other weights bring a gain without it.
    """

    snapshot: Path
    base: Path
    staging: Path
    recipe: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    device: str = "auto"
    threads: int = 0
    max_minutes: float | None = None
    max_steps: int | None = None
    cache: Path | None = None
    work: Path | None = None
    tensorboard: Path | None = None
    keeps_part: bool = False

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> TrainingSpec:
        """Raises ModelError that names a missing key."""
        minutes, steps = raw.get("max_minutes"), raw.get("max_steps")
        return cls(
            snapshot=Path(_needed(raw, "snapshot")),
            base=Path(_needed(raw, "base")),
            staging=Path(_needed(raw, "staging")),
            recipe=str(_needed(raw, "recipe")),
            parameters=dict(raw.get("parameters") or {}),
            seed=int(raw.get("seed") or 0),
            device=str(raw.get("device") or "auto"),
            threads=int(raw.get("threads") or 0),
            max_minutes=None if minutes is None else float(minutes),
            max_steps=None if steps is None else int(steps),
            cache=_path(raw, "cache"),
            work=_path(raw, "work"),
            tensorboard=_path(raw, "tensorboard"),
            keeps_part=bool(raw.get("keeps_part")),
        )


@dataclass(frozen=True, slots=True)
class EvaluationSpec:
    """An evaluation job: a bundle on the decided mentions of one split of a snapshot, `k` candidates each.

    `against` is another bundle to compare with. `memory`: the linker remembers the snapshot's train decisions (not
    those of the split that is evaluated). `whole_kb`: the mentions are linked a second time without their types.
    `resamples` and `seed` are used for the intervals.
    """

    snapshot: Path
    bundle: Path
    split: Split
    k: int = 64
    device: str = "auto"
    threads: int = 0
    against: Path | None = None
    memory: bool = True
    whole_kb: bool = False
    resamples: int = 1000
    seed: int = 0

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> EvaluationSpec:
        """Raises ModelError that names a missing key or an unknown split."""
        resamples = raw.get("resamples")
        return cls(
            snapshot=Path(_needed(raw, "snapshot")),
            bundle=Path(_needed(raw, "bundle")),
            split=_split(_needed(raw, "split")),
            k=int(raw.get("k") or 64),
            device=str(raw.get("device") or "auto"),
            threads=int(raw.get("threads") or 0),
            against=_path(raw, "against"),
            memory=bool(raw.get("memory", True)),
            whole_kb=bool(raw.get("whole_kb", False)),
            resamples=1000 if resamples is None else int(resamples),
            seed=int(raw.get("seed") or 0),
        )


@dataclass(frozen=True, slots=True)
class ReplaySpec:
    """A replay job: the gold of `split`, then of `then`, decided document by document by a simulated curator; at most
    `limit` decisions (None: all)."""

    snapshot: Path
    bundle: Path
    split: Split
    then: Split | None = None
    limit: int | None = None
    memory: bool = True
    k: int = 64
    device: str = "auto"
    threads: int = 0

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> ReplaySpec:
        """Raises ModelError that names a missing key or an unknown split."""
        return cls(
            snapshot=Path(_needed(raw, "snapshot")),
            bundle=Path(_needed(raw, "bundle")),
            split=_split(_needed(raw, "split")),
            then=_split(raw["then"]) if raw.get("then") else None,
            limit=int(raw["limit"]) if raw.get("limit") else None,
            memory=bool(raw.get("memory", True)),
            k=int(raw.get("k") or 64),
            device=str(raw.get("device") or "auto"),
            threads=int(raw.get("threads") or 0),
        )


def _path(raw: Mapping[str, Any], name: str) -> Path | None:
    return Path(raw[name]) if raw.get(name) else None


def _split(name: Any) -> Split:
    if name not in tuple(Split):
        raise ModelError(say("Unknown split '{name}'. Choose one of: {split}.", name=name, split=", ".join(Split)))
    return Split(name)


def _needed(raw: Mapping[str, Any], name: str) -> Any:
    if not raw.get(name):
        raise ModelError(say("The job's specification has no '{name}'.", name=name))
    return raw[name]
