"""Steps that are done once: each leaves its result in `results.json`, and a later call does what is left.

No step is begun for which, by what was measured, no time is left. One that fails is kept as failed, with its reason,
and tried again by the next call; the others go on.
"""

from __future__ import annotations

import gc
import json
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models.core.file_io import write_json
from models.errors import ModelError

RESULTS = "results.json"
TRAINED, ENCODED = "training", "encoding"
"""The steps whose `texts_a_second` say how fast this machine is."""
CAUTION = 1.2
Result = dict[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Step:
    """`run` gives the figures. `kind`: steps of one kind take about as long. `needs` are steps to be done before.

    `trained` and `encoded` texts, and `fixed` seconds, foresee how long the first of its kind takes. `products` are
    files without which the step is not done.
    """

    name: str
    kind: str
    run: Callable[[], Result]
    needs: tuple[str, ...] = ()
    trained: float = 0.0
    encoded: float = 0.0
    fixed: float = 0.0
    products: tuple[Path, ...] = ()
    seed: int | None = None


@dataclass
class Results:
    """What is done, by name of the step, and why others are not; written after every step."""

    path: Path
    done: dict[str, Result] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, out: Path) -> Results:
        """Those of an earlier call; ModelError where the file is damaged."""
        path = out / RESULTS
        if not path.is_file():
            return cls(path)
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return cls(path, {name: raw["done"][name] for name in raw["order"]}, dict(raw["failed"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path} is damaged ({error}). Remove it, and all steps are done again.") from error

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        found = {"done": self.done, "order": list(self.done), "failed": self.failed, "left": self.left}
        write_json(self.path, found)

    def figures(self, name: str) -> Result:
        """Of a step that is done."""
        found: Result = self.done[name]["figures"]
        return found

    def seconds(self, step: Step) -> float:
        """How long a step is likely to take: by its kind, else by the rates of this machine."""
        own = [one["seconds"] for one in self.done.values() if one["kind"] == step.kind]
        if own:
            return CAUTION * sum(own) / len(own)
        rates = {name: self.figures(name)["texts_a_second"] for name in (TRAINED, ENCODED) if name in self.done}
        texts = ((step.trained, TRAINED), (step.encoded, ENCODED))
        return CAUTION * (step.fixed + sum(count / max(1, rates[name]) for count, name in texts if name in rates))


def run_steps(steps: Sequence[Step], results: Results, *, minutes: float, facts: Mapping[str, Any], say: Say) -> None:
    """As many of the steps that are left as the minutes hold, in their order."""
    ends = time.monotonic() + 60 * minutes
    results.left.clear()
    for step in steps:
        if _is_done(step, results):
            continue
        results.done.pop(step.name, None)
        reason = _reason(step, results, ends - time.monotonic())
        if reason:
            results.left[step.name] = reason
            say(f"left: {step.name}: {reason}")
            continue
        _run(step, results, facts, say)
        results.save()
    results.save()


def _is_done(step: Step, results: Results) -> bool:
    return step.name in results.done and all(path.exists() for path in step.products)


def _reason(step: Step, results: Results, left: float) -> str:
    """Why a step is not begun; empty where it is."""
    missing = [name for name in step.needs if name not in results.done]
    if missing:
        return f"needs {', '.join(missing)}"
    expected = results.seconds(step)
    if expected > left:
        return f"would take about {expected:.0f} s, {max(0.0, left):.0f} s are left"
    return ""


def _run(step: Step, results: Results, facts: Mapping[str, Any], say: Say) -> None:
    begun = time.monotonic()
    try:
        figures = step.run()
    except (ModelError, RuntimeError, OSError, ValueError, AssertionError, LookupError) as error:
        results.failed[step.name] = f"{type(error).__name__}: {error}\n{traceback.format_exc()[-3000:]}"
        say(f"failed: {step.name}: {error}")
        return
    finally:
        _free()
    seconds = round(time.monotonic() - begun, 2)
    results.failed.pop(step.name, None)
    known = {"kind": step.kind, "seconds": seconds, "seed": step.seed, **facts}
    results.done[step.name] = {**known, "figures": figures}
    say(f"done: {step.name}: {seconds:.1f} s")


def _free() -> None:
    """The device's memory of what is gone."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
