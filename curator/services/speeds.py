"""How fast this machine trains, learnt from the runs it has done: a small file in the cache folder."""

from __future__ import annotations

import json
from pathlib import Path

FILE = "training-speed.json"
CAUTION = 1.5
"""Before the first run here the recipe's own figure, measured on two cores, is taken times this."""


class Speeds:
    """Measured over predicted seconds by recipe and device; the last run counts half, those before it the rest."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def factor(self, recipe: str, device: str) -> tuple[float, str]:
        """(what to multiply a prediction by, where that comes from)."""
        known = self._read().get(f"{recipe} {device}")
        if known is None:
            return CAUTION, "a cautious rule: no run of this recipe was measured on this machine yet"
        return known, "runs of this recipe measured on this machine"

    def measured(self, recipe: str, device: str, *, predicted: float, seconds: float) -> None:
        if predicted <= 0:
            return
        known = self._read()
        key = f"{recipe} {device}"
        ratio = seconds / predicted
        known[key] = (known[key] + ratio) / 2 if key in known else ratio
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
