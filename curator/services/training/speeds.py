"""The training speed of this machine, learnt from earlier runs and stored in a small file in the cache folder."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from curator.domain.jobs import Progress
from curator.domain.wording import tr

FILE = "training-speed.json"
CAUTION = 1.5
"""Before the first run here, the recipe's figure, measured on two cores, is multiplied by this."""
ENCODING = "encode entities on"
ENCODE_PHASE, PREPARE_PHASE = "encode", "prepare"
LEAST_MEASURED = 5.0  # the least seconds of encoding for a rate
OWN = "runs of this recipe measured on this machine"
OTHERS = "runs of other recipes measured on this machine"
RULE = "a cautious estimate: no run of this recipe has been measured on this machine yet"
SPREADS = {OWN: (0.7, 1.5), OTHERS: (0.5, 2.0), RULE: (0.4, 2.0)}
"""The range of a run's time relative to the estimate, without other programs, by the source of the estimate."""
MOST_SLOWER = 4.0
QUIET = 1.5
"""A run slowed down by more than this factor does not show how fast the machine is."""
GIVES_WAY = 9.0
"""The processor time that a program gets relative to a training, which has lower priority (`nice` 10)."""
KEPT, QUICK = "vectors kept", "-quick"


class Speeds:
    """Ratio of measured to predicted seconds by recipe and device; the last run counts half, earlier ones the rest."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def factor(self, recipe: str, device: str) -> tuple[float, str]:
        """(factor for a prediction, source of the factor)."""
        factor, basis = self._factor(recipe, device)
        return factor, tr(basis)

    def spread(self, recipe: str, device: str) -> tuple[float, float]:
        """The least and greatest factor for such a prediction, on an otherwise idle machine."""
        return SPREADS[self._factor(recipe, device)[1]]

    def keeps(self, recipe: str, kb_hash: str) -> None:
        """Record that a run of the recipe ended, so that the vectors of this knowledge base are cached."""
        self._write(self._read() | {_kept(recipe, kb_hash): 1.0})

    def kept(self, recipe: str, kb_hash: str) -> bool:
        """Whether a run on this machine encoded the entities of this knowledge base for the recipe before."""
        return _kept(recipe, kb_hash) in self._read()

    def _factor(self, recipe: str, device: str) -> tuple[float, str]:
        known = self._read()
        own = known.get(f"{recipe} {device}")
        if own is not None:
            return own, OWN
        others = [value for key, value in known.items() if key.endswith(f" {device}") and not key.startswith(ENCODING)]
        if others:
            return statistics.median(others), OTHERS
        return CAUTION, RULE

    def encoding(self, device: str) -> float | None:
        """Entities encoded per second in the last run on this device; None before the first."""
        return self._read().get(f"{ENCODING} {device}")

    def measured_encoding(self, device: str, rate: float) -> None:
        if rate > 0:
            self._write(self._read() | {f"{ENCODING} {device}": rate})

    def measured(self, recipe: str, device: str, *, predicted: float, seconds: float) -> None:
        if predicted <= 0:
            return
        known = self._read()
        key = f"{recipe} {device}"
        ratio = seconds / predicted
        known[key] = (known[key] + ratio) / 2 if key in known else ratio
        self._write(known)

    def _write(self, known: dict[str, float]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(known), encoding="utf-8")
        except OSError:
            return  # a missing estimate is not an error

    def _read(self) -> dict[str, float]:
        try:
            raw = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(k): float(v) for k, v in raw.items()} if isinstance(raw, dict) else {}


def _kept(recipe: str, kb_hash: str) -> str:
    """The key of cached vectors, which a recipe and its quick variant share."""
    return f"{KEPT} {recipe.removesuffix(QUICK)} {kb_hash}"


def slower_now() -> float:
    """The slowdown of work by the programs currently running, at most `MOST_SLOWER`."""
    return min(1.0 + busy_now(), MOST_SLOWER)


def job_slower_now() -> float:
    """The greatest slowdown of a training by the programs currently running."""
    return 1.0 + GIVES_WAY * busy_now()


def busy_now() -> float:
    """The number of programs running or waiting per processor during the last minute; 0 if unknown."""
    if sys.platform == "win32":
        return 0.0
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return 0.0


class EncodingWatch:
    """Measures from a run's progress how many entities per second it encoded, and how many before training."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None
        self._last: tuple[float, int] | None = None
        self.before = 0  # their vectors were not cached by an earlier run

    def take(self, progress: Progress) -> None:
        if progress.phase == PREPARE_PHASE and "work" in progress.data:
            self.before = progress.done
        if progress.phase == ENCODE_PHASE and progress.total:
            now = (self._clock(), progress.done)
            self._first, self._last = self._first or now, now

    @property
    def rate(self) -> float | None:
        if self._first is None or self._last is None:
            return None
        seconds, done = self._last[0] - self._first[0], self._last[1] - self._first[1]
        return done / seconds if seconds >= LEAST_MEASURED and done > 0 else None
