"""Whether a trained bundle is put into use: the sealed linker is evaluated on documents that it was not fitted on.

Both linkers link the same held-out documents, with weights fitted on the other folds. A part that is not used changes
no answer, so there is no gain unless combiner and NIL were refitted. A gain is a significantly higher log-likelihood of
the decisions, resampled by documents, or a significantly higher share of right answers (NIL included) while the
log-likelihood did not fall. A linker with a gain is promoted if neither recall@1 nor the share of right answers fell by
more than half a point. A linker is refused only if it is significantly worse.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from models.errors import english, say
from models.linker.linker import Linker
from models.types import DocumentInput, LinkedMention
from training.data.document_splits import place
from training.data.gold import GoldMention, GoldSet
from training.data.progress import Event, Phase
from training.data.snapshot import SnapshotDocument
from training.evaluation.headline import compare
from training.evaluation.outcomes import outcomes
from training.evaluation.resampling import DocumentBootstrap, Figure, ratio

BELOW, ABOVE = 10.0, 5.0
"""Percentage of the resamples below the lower bound (for promotion) and above the upper bound (for refusal)."""
MAY_FALL = 0.005
"""How far recall@1, and the share right including NIL, may fall in a promoted linker."""
LEAST_PROBABILITY = 1e-3
LIKELIHOOD, RECALL, RIGHT = "log-likelihood", "recall@1", "right in all"


class GateOutcome(StrEnum):
    """PROMOTE: better. NO_GAIN: as good as before. REFUSED: worse; only the curator can promote it, on request."""

    PROMOTE = "promote"
    NO_GAIN = "no_gain"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ComponentQuality:
    """The trained part alone on the gate documents: recall@1 and recall@k before and after training."""

    before_at_1: float
    after_at_1: float
    before_at_k: float
    after_at_k: float


@dataclass(frozen=True, slots=True)
class Part:
    """A trained part: the name of its stage, its quality alone, and whether the new linker uses it. If combiner and NIL
    were refitted too, `without` holds the answers of the refitted linker without the part. A part that replaces another
    (`in_place`) cannot be left unused: it must be better."""

    stage: str
    component: ComponentQuality
    used: bool
    without: Sequence[LinkedMention] | None = None
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class Gain:
    """The old linker's figure, the new one's, and the bounds of the resampled differences (`BELOW`, `ABOVE`)."""

    old: float
    new: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GateResult:
    """The verdict, a sentence for the curator, and the evidence: `mentions` is the number of linked mentions, `gains`
    are by figure. `component` is None if no network was trained."""

    verdict: GateOutcome
    sentence: str
    mentions: int
    component: ComponentQuality | None
    used: bool
    gains: Mapping[str, Gain]

    def to_json(self) -> dict[str, Any]:
        """The JSON for the manifest; the sentence is always in English."""
        facts = asdict(self)
        renamed = {"alone": facts.pop("component"), "heard": facts.pop("used")}
        return {
            **facts,
            **renamed,
            "sentence": english(self.sentence),
        }


NOT_USED = (
    "No gain: “{stage}” does not make held-out decisions more likely, so it is not used. Recall@1 of "
    "the whole linker on {n:,} held-out linked mentions stays at {old}; that of the new component alone "
    "went from {alone_before} to {alone_after}."
)
WORSE = (
    "Worse: on {mentions:,} held-out mentions, the whole linker is significantly worse: recall@1 went "
    "from {old} to {new}, and the share of right answers, NIL included, from {before} to {after}."
)
WITHIN_CHANCE = (
    "No gain: on {mentions:,} held-out mentions, the whole linker is not significantly better: recall@1 "
    "went from {old} to {new}, and the share of right answers, NIL included, from {before} to {after}."
)
BETTER = (
    "Better: on {mentions:,} held-out mentions, recall@1 of the whole linker went from {old} to {new}, "
    "and the share of right answers, NIL included, from {before} to {after}."
)
NOT_BY_IT = (
    "No gain from “{stage}”: on {mentions:,} held-out mentions, recall@1 of the whole linker went from "
    "{old} to {new}, and the share of right answers, NIL included, from {before} to {after}, but "
    "refitting only the other weights makes the decisions just as likely."
)
BY_ITSELF = "{sentence} On its own, “{stage}” went from {alone_before} to {alone_after}."
WITHOUT = "{sentence} Refitting only the other weights, without “{stage}”, would give {new} and {after}."
UNUSED = (
    "{sentence} “{stage}” is not used, since it does not make held-out decisions more likely; only the "
    "other weights were refitted."
)


def judge(
    old: Sequence[LinkedMention], new: Sequence[LinkedMention], gold: GoldSet, part: Part | None = None
) -> GateResult:
    """Compare two linkers' answers to the same held-out mentions; `part` is the trained part, if any."""
    gains = gains_of(old, new, gold)
    linked = sum(not one.nil for one in gold.mentions)
    words = {"mentions": len(gold.mentions), "n": linked, **_percents(gains)}
    verdict, sentence = _verdict(gains, words, part)
    if verdict is GateOutcome.PROMOTE and part is not None and part.in_place and part.without is not None:
        beside = gains_of(part.without, new, gold)[LIKELIHOOD]
        if beside.new <= beside.old:
            verdict, sentence = GateOutcome.NO_GAIN, say(NOT_BY_IT, **words, stage=part.stage)
    if part is None:
        return GateResult(verdict, sentence, linked, None, False, gains)
    return GateResult(verdict, _beside(sentence, part, gold, old), linked, part.component, part.used, gains)


def _verdict(gains: Mapping[str, Gain], words: Mapping[str, Any], part: Part | None) -> tuple[GateOutcome, str]:
    recall, right = gains[RECALL], gains[RIGHT]
    if part is not None and not part.used and part.without is None:
        return GateOutcome.NO_GAIN, say(NOT_USED, **words, **_alone(part))
    if recall.high < 0 or right.high < 0:
        return GateOutcome.REFUSED, say(WORSE, **words)
    likelihood = gains[LIKELIHOOD]
    more_right = right.low > 0 and likelihood.new >= likelihood.old  # equal with only another NIL threshold
    if (likelihood.low > 0 or more_right) and min(recall.low, right.low) > -MAY_FALL:
        return GateOutcome.PROMOTE, say(BETTER, **words)
    return GateOutcome.NO_GAIN, say(WITHIN_CHANCE, **words)


def _beside(sentence: str, part: Part, gold: GoldSet, old: Sequence[LinkedMention]) -> str:
    """The sentence with the part's quality alone, and the gain of refitting without the part."""
    if not part.used and part.without is None:
        return sentence
    described = say(BY_ITSELF, sentence=sentence, **_alone(part))
    if part.without is None:
        return described
    if not part.used:
        return say(UNUSED, sentence=described, stage=part.stage)
    return say(WITHOUT, sentence=described, stage=part.stage, **_percents(gains_of(old, part.without, gold)))


def _alone(part: Part) -> dict[str, str]:
    before, after = (_percent(share) for share in (part.component.before_at_1, part.component.after_at_1))
    return {"stage": part.stage, "alone_before": before, "alone_after": after}


def _percents(gains: Mapping[str, Gain]) -> dict[str, str]:
    recall, right = gains[RECALL], gains[RIGHT]
    return {
        "old": _percent(recall.old),
        "new": _percent(recall.new),
        "before": _percent(right.old),
        "after": _percent(right.new),
    }


def gains_of(old: Sequence[LinkedMention], new: Sequence[LinkedMention], gold: GoldSet) -> dict[str, Gain]:
    """New − old with intervals over documents, paired. The gain of an undefined figure (no linked mention) is 0."""
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
    """(m,) log-probability that the linker gives to each decision, including NIL."""
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


# Old and new linker compared: tests and intervals on the held-out documents, and changes in the queue.

QUEUE_DOCUMENTS = 50
"""Documents with undecided mentions that both linkers link: more would delay the end of a short training."""


def comparison(old: Sequence[LinkedMention], new: Sequence[LinkedMention], gold: GoldSet, *, k: int) -> dict[str, Any]:
    """Differences new − old with paired intervals over documents, and exact tests: of the decisions with their NIL
    flags, and of the first candidates of linked mentions."""
    this, other = outcomes(new, gold), outcomes(old, gold)
    return compare(this, other, DocumentBootstrap(this.document), k=k).to_json()


def undecided(documents: Sequence[SnapshotDocument]) -> list[DocumentInput]:
    """At most QUEUE_DOCUMENTS documents, chosen by a hash of their keys, with only their undecided mentions."""
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
    """Changes of the first suggestions for undecided mentions: the number of mentions linked, and the changes.

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
