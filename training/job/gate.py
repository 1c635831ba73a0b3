"""Whether a trained bundle may take over: the linker that is sealed is judged on documents that it was not fitted on.

Both linkers answer the same held-out documents, both under weights fitted on the other folds. A part that is not heard
changes no answer: no gain. A gain is one of the log-likelihood of the decisions, resampled by documents; it promotes
where neither recall@1 nor being right with NIL may have fallen by more than half a point. Refused is only a linker that
is worse beyond chance.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from models.errors import english, say
from models.linker import Linker
from models.types import DocumentInput, LinkedMention
from training.data import Event, GoldMention, GoldSet, Phase, SnapshotDocument, place
from training.evaluation import DocumentBootstrap, Figure, compare, outcomes, ratio

BELOW, ABOVE = 10.0, 5.0
"""Per cent of the resamples below the lower bound, which promotes, and above the upper one, which refuses."""
MAY_FALL = 0.005
"""By how much recall@1, or the share right with NIL, may have fallen in a promoted linker."""
LEAST_PROBABILITY = 1e-3
LIKELIHOOD, RECALL, RIGHT = "log-likelihood", "recall@1", "right in all"


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
class Gain:
    """The old linker's figure, the new one's, and the bounds of the resampled differences (`BELOW`, `ABOVE`)."""

    old: float
    new: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GateResult:
    """The verdict, a sentence for the curator, and what it rests on: `mentions` are linked ones, `gains` by figure."""

    verdict: GateOutcome
    sentence: str
    mentions: int
    alone: Alone
    heard: bool
    gains: Mapping[str, Gain]

    def to_json(self) -> dict[str, Any]:
        """For the manifest: its sentence in English, whoever reads it later."""
        return {**asdict(self), "sentence": english(self.sentence)}


NOT_HEARD = (
    "No gain: held-out decisions are no likelier with “{stage}”, so it is not heard, and recall@1 of the whole linker "
    "on {n:,} held-out linked mentions stays at {old}; by itself it went from {alone_before} to {alone_after}."
)
WORSE = (
    "Refused: on {mentions:,} held-out mentions the whole linker is worse beyond chance: recall@1 went from {old} to "
    "{new}, right with NIL counted from {before} to {after}; by itself “{stage}” went from {alone_before} to "
    "{alone_after}."
)
WITHIN_CHANCE = (
    "No gain: on {mentions:,} held-out mentions the whole linker is not better beyond chance: recall@1 went from {old} "
    "to {new}, right with NIL counted from {before} to {after}; by itself “{stage}” went from {alone_before} to "
    "{alone_after}."
)
BETTER = (
    "Better: on {mentions:,} held-out mentions recall@1 of the whole linker went from {old} to {new}, right with NIL "
    "counted from {before} to {after}; by itself “{stage}” went from {alone_before} to {alone_after}."
)


def judge(
    old: Sequence[LinkedMention],
    new: Sequence[LinkedMention],
    gold: GoldSet,
    alone: Alone,
    *,
    heard: bool,
    stage: str,
) -> GateResult:
    """Compare two linkers' answers to the same held-out mentions. `heard` tells whether the new part changes any."""
    gains = gains_of(old, new, gold)
    recall, right = gains[RECALL], gains[RIGHT]
    linked = sum(not one.nil for one in gold.mentions)
    words = {
        "n": linked,
        "mentions": len(gold.mentions),
        "stage": stage,
        "old": _percent(recall.old),
        "new": _percent(recall.new),
        "before": _percent(right.old),
        "after": _percent(right.new),
        "alone_before": _percent(alone.before_at_1),
        "alone_after": _percent(alone.after_at_1),
    }
    verdict, sentence = _verdict(gains, words, heard=heard)
    return GateResult(verdict, sentence, linked, alone, heard, gains)


def _verdict(gains: Mapping[str, Gain], words: Mapping[str, Any], *, heard: bool) -> tuple[GateOutcome, str]:
    recall, right = gains[RECALL], gains[RIGHT]
    if not heard:
        return GateOutcome.NO_GAIN, say(NOT_HEARD, **words)
    if recall.high < 0 or right.high < 0:
        return GateOutcome.REFUSED, say(WORSE, **words)
    if gains[LIKELIHOOD].low > 0 and min(recall.low, right.low) > -MAY_FALL:
        return GateOutcome.PROMOTE, say(BETTER, **words)
    return GateOutcome.NO_GAIN, say(WITHIN_CHANCE, **words)


def gains_of(old: Sequence[LinkedMention], new: Sequence[LinkedMention], gold: GoldSet) -> dict[str, Gain]:
    """New − old with intervals over documents, paired. A figure that is not defined (no linked mention) gains 0."""
    before, after = outcomes(old, gold), outcomes(new, gold)
    every = np.ones(len(before), dtype=bool)
    figures: dict[str, Figure] = {}
    for name, found, answers in (("old", before, old), ("new", after, new)):
        figures |= {
            f"{name} {LIKELIHOOD}": ratio(likelihoods(answers, gold), every),
            f"{name} {RECALL}": ratio(found.found_any(1), found.in_kb),
            f"{name} {RIGHT}": ratio(found.right, every),
        }
    bootstrap = DocumentBootstrap(before.document)
    values = bootstrap.values(figures)
    found_gains = {}
    for name in (LIKELIHOOD, RECALL, RIGHT):
        apart = values[f"new {name}"] - values[f"old {name}"]
        apart = apart[np.isfinite(apart)]
        low, high = np.percentile(apart, [BELOW, 100 - ABOVE]) if len(apart) else (0.0, 0.0)
        was, now = (float(np.nan_to_num(bootstrap.point(figures[f"{who} {name}"]))) for who in ("old", "new"))
        found_gains[name] = Gain(was, now, float(low), float(high))
    return found_gains


def likelihoods(answers: Sequence[LinkedMention], gold: GoldSet) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(m,) logarithm of the probability that the linker gives to what was decided, NIL included."""
    by_key = {answer.key: answer for answer in answers}
    given = [_probability(one, by_key.get(one.key)) for one in gold.mentions]
    return np.log(np.clip(np.asarray(given, dtype=np.float64), LEAST_PROBABILITY, 1.0))


def _probability(decided: GoldMention, answer: LinkedMention | None) -> float:
    if answer is None:
        return 0.0
    if decided.nil:
        return answer.nil.score
    return sum(one.probability or 0.0 for one in answer.candidates if one.entity_id in decided.ids)


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
