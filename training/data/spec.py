"""The specification of a job, checked once when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models.errors import ModelError, say
from training.data.snapshot import Split


@dataclass(frozen=True, slots=True)
class TrainingSpec:
    """A training job. `threads` 0 leaves torch's choice, `max_minutes` None sets no bound; it bounds the whole job.
    `max_steps` (None: no bound) ends training after so many steps of the optimiser, for comparisons at equal steps.

    `cache` is where vectors of the untrained encoder are kept between jobs (None: the user's cache folder). `work` is
    where checkpoints are kept: an interrupted job resumes from there (None: it cannot). `tensorboard` is where the live
    figures are written for TensorBoard (None: nowhere).
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

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> TrainingSpec:
        """ModelError names a missing key."""
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
        )


@dataclass(frozen=True, slots=True)
class EvaluationSpec:
    """An evaluation job: a bundle on the decided mentions of one split of a snapshot, `k` candidates each.

    `against` is another bundle to be compared with. `memory`: the linker remembers the snapshot's train decisions (not
    those of the split that is evaluated). `whole_kb`: the mentions are linked a second time without their types.
    `resamples` and `seed` are those of the intervals.
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
        """ModelError names a missing key or an unknown split."""
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
        """ModelError names a missing key or an unknown split."""
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
