"""Whether a trained bundle may take over: whole linkers are compared on held-out documents.

The trained part is also held against itself untrained, and refused where it is worse by more than a standard error; so
is a linker that is right less often when NIL counts too.
With refitted fusion weights a harmful part gets weight 0, and the whole linker alone would not show the harm.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from models.errors import english, say
from models.linker import Linker
from models.types import DocumentInput, LinkedMention
from training.data import Event, GoldSet, Phase, SnapshotDocument, place
from training.evaluation import DocumentBootstrap, Report, compare, outcomes


class GateOutcome(StrEnum):
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

    verdict: GateOutcome
    sentence: str
    mentions: int
    old_recall_at_1: float
    new_recall_at_1: float
    alone: Alone
    weight: float
    old_accuracy: float | None = None
    new_accuracy: float | None = None

    def to_json(self) -> dict[str, Any]:
        """For the manifest: its sentence in English, whoever reads it later."""
        return {**asdict(self), "sentence": english(self.sentence)}


FELL = (
    "Refused: recall@1 of the whole linker on {n:,} held-out linked mentions fell from {old} to {new}; by itself "
    "“{stage}” went from {alone_before} to {alone_after}."
)
WRONG_WITH_NIL = (
    "Refused: with NIL counted the whole linker is right in {after} of {mentions:,} held-out mentions, before in "
    "{before}; recall@1 on {n:,} held-out linked mentions is {new}; by itself “{stage}” went from {alone_before} to "
    "{alone_after}."
)
WORSE_ALONE = (
    "Refused: training made “{stage}” worse than it was untrained, from {alone_before} to {alone_after} recall@1 by "
    "itself on {n:,} held-out linked mentions. The decisions may contradict each other."
)
NO_WEIGHT = (
    "No gain: “{stage}” got the weight 0, so recall@1 of the whole linker on {n:,} held-out linked mentions stays at "
    "{new}; by itself “{stage}” went from {alone_before} to {alone_after}."
)
AS_BEFORE = (
    "No gain: recall@1 of the whole linker on {n:,} held-out linked mentions is {new} as before; by itself “{stage}” "
    "went from {alone_before} to {alone_after}."
)
ROSE_WITHOUT_NIL = (
    "No gain: recall@1 of the whole linker on {n:,} held-out linked mentions rose from {old} to {new}, but with NIL "
    "counted it is right in {after} instead of {before}; by itself “{stage}” went from {alone_before} to {alone_after}."
)
ROSE = (
    "Better: recall@1 of the whole linker on {n:,} held-out linked mentions rose from {old} to {new}; by itself "
    "“{stage}” went from {alone_before} to {alone_after}."
)


def judge(old: Report, new: Report, alone: Alone, *, weight: float, stage: str) -> GateResult:
    """Compare two linkers by recall@1, and by how often they are right with NIL, on the same documents."""
    verdict, sentence = _verdict(old, new, alone, weight, stage)
    shares = (old.accuracy, new.accuracy)
    return GateResult(verdict, sentence, new.in_kb, old.recall_at_1, new.recall_at_1, alone, weight, *shares)


def _verdict(old: Report, new: Report, alone: Alone, weight: float, stage: str) -> tuple[GateOutcome, str]:
    before, after = old.accuracy or 0.0, new.accuracy or 0.0
    figures = {
        "n": new.in_kb,
        "mentions": new.mentions,
        "stage": stage,
        "old": _percent(old.recall_at_1),
        "new": _percent(new.recall_at_1),
        "before": _percent(before),
        "after": _percent(after),
        "alone_before": _percent(alone.before_at_1),
        "alone_after": _percent(alone.after_at_1),
    }
    if new.recall_at_1 < old.recall_at_1:
        return GateOutcome.REFUSED, say(FELL, **figures)
    if after < before - _chance(before, new.mentions):
        return GateOutcome.REFUSED, say(WRONG_WITH_NIL, **figures)
    if alone.after_at_1 < alone.before_at_1 - _chance(alone.before_at_1, new.in_kb):
        return GateOutcome.REFUSED, say(WORSE_ALONE, **figures)
    if weight == 0:
        return GateOutcome.NO_GAIN, say(NO_WEIGHT, **figures)
    if new.recall_at_1 == old.recall_at_1:
        return GateOutcome.NO_GAIN, say(AS_BEFORE, **figures)
    if after < before:
        return GateOutcome.NO_GAIN, say(ROSE_WITHOUT_NIL, **figures)
    return GateOutcome.PROMOTE, say(ROSE, **figures)


def _chance(share: float, mentions: int) -> float:
    """The standard error of a share of so many mentions: a part that is worse by less may be so by chance."""
    return math.sqrt(share * (1 - share) / mentions) if mentions else 0.0


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# The old linker beside the new one: tests and intervals on the held-out documents, and what the queue would see.

QUEUE_DOCUMENTS = 50
"""Documents with undecided mentions that are linked by both: more would hold up the end of a short training."""


def comparison(old: Sequence[LinkedMention], new: Sequence[LinkedMention], gold: GoldSet, *, k: int) -> dict[str, Any]:
    """Differences new − old with paired intervals over documents, and exact tests: of the decisions with their NIL
    flags, and of the first candidates of linked mentions."""
    this, other = outcomes(new, gold), outcomes(old, gold)
    return compare(this, other, DocumentBootstrap(this.document), k=k).to_json()


def undecided(documents: Sequence[SnapshotDocument]) -> list[DocumentInput]:
    """At most QUEUE_DOCUMENTS documents, chosen by their keys, with their undecided mentions alone."""
    found: list[DocumentInput] = []
    for document in sorted(documents, key=lambda one: place(one.key, salt="queue")):
        open_keys = {mention.key for mention in document.mentions if mention.gold is None}
        if open_keys and len(found) < QUEUE_DOCUMENTS:
            whole = document.to_input(decided_only=False)
            left = tuple(mention for mention in whole.mentions if mention.key in open_keys)
            found.append(DocumentInput(whole.key, whole.text, left))
    return found


def queue_changes(
    old: Linker, new: Linker, documents: Sequence[DocumentInput]
) -> Generator[Event, None, dict[str, Any]]:
    """How the first suggestions for undecided mentions change: how many were asked, and those that change.

    A change holds document, mention, surface, and the answers before and after: an entity id or "NIL".
    """
    total, asked, changes = len(documents), 0, []
    for number, document in enumerate(documents, start=1):
        (before,), (after,) = (list(linker.link([document], own=True)) for linker in (old, new))
        asked += len(after.mentions)
        for was, now in zip(before.mentions, after.mentions, strict=True):
            if _answer(was) != _answer(now):
                changes.append(
                    {
                        "document": document.key,
                        "mention": now.key,
                        "surface": now.surface,
                        "before": _answer(was),
                        "after": _answer(now),
                    }
                )
        text = say("Comparing the suggestions for undecided mentions") if number == 1 else ""
        yield Event(Phase.EVALUATE, number, total, text=text)
    return {"documents": total, "mentions": asked, "changes": changes}


def _answer(mention: LinkedMention) -> str:
    return "NIL" if mention.nil.is_nil or not mention.candidates else mention.candidates[0].entity_id
