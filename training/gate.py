"""Whether a trained bundle may take over: whole linkers are compared on held-out documents.

The trained part is also held against itself untrained, and refused where it is worse by more than a standard error; so
is a linker that is right less often when NIL counts too.
With refitted fusion weights a harmful part gets weight 0, and the whole linker alone would not show the harm.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from training.evaluation import Report


class Verdict(StrEnum):
    """PROMOTE: better. NO_GAIN: as good as before. REFUSED: worse; only the curator can promote it knowingly."""

    PROMOTE = "promote"
    NO_GAIN = "no_gain"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Alone:
    """The trained part by itself on the gate documents: recall@1 and recall@k before and after training."""

    before_at_1: float
    after_at_1: float
    before_at_k: float
    after_at_k: float


@dataclass(frozen=True, slots=True)
class GateResult:
    """The verdict, a sentence for the curator, and the figures it rests on. `weight` is the part's fusion weight."""

    verdict: Verdict
    sentence: str
    mentions: int
    old_recall_at_1: float
    new_recall_at_1: float
    alone: Alone
    weight: float
    old_accuracy: float | None = None
    new_accuracy: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def judge(old: Report, new: Report, alone: Alone, *, weight: float, stage: str) -> GateResult:
    """Compare two linkers by recall@1, and by how often they are right with NIL, on the same documents."""
    verdict, sentence = _verdict(old, new, alone, weight, stage)
    shares = (old.accuracy, new.accuracy)
    return GateResult(verdict, sentence, new.in_kb, old.recall_at_1, new.recall_at_1, alone, weight, *shares)


def _verdict(old: Report, new: Report, alone: Alone, weight: float, stage: str) -> tuple[Verdict, str]:
    where = f"on {new.in_kb:,} held-out linked mentions"
    whole = f"recall@1 of the whole linker {where}"
    by_itself = f"by itself “{stage}” went from {_percent(alone.before_at_1)} to {_percent(alone.after_at_1)}"
    if new.recall_at_1 < old.recall_at_1:
        return Verdict.REFUSED, (
            f"Refused: {whole} fell from {_percent(old.recall_at_1)} to {_percent(new.recall_at_1)}; {by_itself}."
        )
    before, after = old.accuracy or 0.0, new.accuracy or 0.0
    if after < before - _chance(before, new.mentions):
        return Verdict.REFUSED, (
            f"Refused: with NIL counted the whole linker is right in {_percent(after)} of {new.mentions:,} held-out "
            f"mentions, before in {_percent(before)}; recall@1 {where} is {_percent(new.recall_at_1)}; {by_itself}."
        )
    if alone.after_at_1 < alone.before_at_1 - _chance(alone.before_at_1, new.in_kb):
        return Verdict.REFUSED, (
            f"Refused: training made “{stage}” worse than it was untrained, from {_percent(alone.before_at_1)} to "
            f"{_percent(alone.after_at_1)} recall@1 by itself {where}. The decisions may contradict each other."
        )
    if weight == 0:
        return Verdict.NO_GAIN, (
            f"No gain: “{stage}” got the weight 0, so {whole} stays at {_percent(new.recall_at_1)}; {by_itself}."
        )
    if new.recall_at_1 == old.recall_at_1:
        return Verdict.NO_GAIN, f"No gain: {whole} is {_percent(new.recall_at_1)} as before; {by_itself}."
    if after < before:
        return Verdict.NO_GAIN, (
            f"No gain: {whole} rose from {_percent(old.recall_at_1)} to {_percent(new.recall_at_1)}, but with NIL "
            f"counted it is right in {_percent(after)} instead of {_percent(before)}; {by_itself}."
        )
    return Verdict.PROMOTE, (
        f"Better: {whole} rose from {_percent(old.recall_at_1)} to {_percent(new.recall_at_1)}; {by_itself}."
    )


def _chance(share: float, mentions: int) -> float:
    """The standard error of a share of so many mentions: a part that is worse by less may be so by chance."""
    return math.sqrt(share * (1 - share) / mentions) if mentions else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
