"""How fast this machine trains, learnt from the runs it has done: a small file in the cache folder."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from curator.domain.jobs import Progress
from curator.domain.wording import tr

FILE = "training-speed.json"
CAUTION = 1.5
"""Before the first run here the recipe's own figure, measured on two cores, is taken times this."""
ENCODING = "encode entities on"
ENCODE_PHASE, PREPARE_PHASE = "encode entities", "prepare"
LEAST_MEASURED = 5.0  # seconds of encoding that give a rate
OWN = "runs of this recipe measured on this machine"
OTHERS = "runs of other recipes measured on this machine"
RULE = "a cautious estimate: no run of this recipe has been measured on this machine yet"
SPREADS = {OWN: (0.7, 1.5), OTHERS: (0.5, 2.0), RULE: (0.4, 2.0)}
"""How much less or more than foreseen a run takes while no other program runs, by where the figure comes from."""
MOST_SLOWER = 4.0
QUIET = 1.5
"""Times as long as alone: from there on a run says too little of how fast the machine is."""
GIVES_WAY = 3.0
"""Shares of a processor that a program gets for each one of a job, which runs at lower priority."""
KEPT, QUICK = "vectors kept", "-quick"


class Speeds:
    """Measured over predicted seconds by recipe and device; the last run counts half, those before it the rest."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def factor(self, recipe: str, device: str) -> tuple[float, str]:
        """(what to multiply a prediction with, where that comes from)."""
        factor, basis = self._factor(recipe, device)
        return factor, tr(basis)

    def spread(self, recipe: str, device: str) -> tuple[float, float]:
        """What to multiply such a prediction with, at least and at most, on processors that nothing else uses."""
        return SPREADS[self._factor(recipe, device)[1]]

    def keeps(self, recipe: str, kb_hash: str) -> None:
        """A run of the recipe ended: the vectors of this knowledge base are kept for the next one."""
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
        """Entities encoded a second in the last run on this device; None before the first."""
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
            return  # an estimate is not worth an error

    def _read(self) -> dict[str, float]:
        try:
            raw = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(k): float(v) for k, v in raw.items()} if isinstance(raw, dict) else {}


def _kept(recipe: str, kb_hash: str) -> str:
    """A recipe and its quick variant read entities alike."""
    return f"{KEPT} {recipe.removesuffix(QUICK)} {kb_hash}"


def slower_now() -> float:
    """How many times as long work takes while other programs run as they do now, `MOST_SLOWER` at most."""
    return min(1.0 + busy_now(), MOST_SLOWER)


def job_slower_now() -> float:
    """How many times as long a job takes at most while other programs run as they do now."""
    return 1.0 + GIVES_WAY * busy_now()


def busy_now() -> float:
    """How many programs ran or waited for each processor during the last minute; 0 if the system does not say."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (OSError, AttributeError):  # Windows
        return 0.0


class EncodingWatch:
    """How many entities a second a run encoded again, from its progress, and how many it encoded before training."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None
        self._last: tuple[float, int] | None = None
        self.before = 0  # their vectors were not kept from an earlier run

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
