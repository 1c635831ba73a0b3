"""A simulated curator: gold is decided document by document, and the linker learns from each document before the next.

*One key.* In the window, Enter accepts the first suggestion: NIL if the suggestion is flagged NIL, else the first
candidate. A decision takes one key if Enter would record exactly the gold: NIL for NIL, or the one entity. A decision
for several entities always takes more keys, since they are added one by one. The keys 1 … 9 link the mention to a
candidate by rank regardless of the flag. `digit` counts the decisions for which Enter or a digit key is enough.

A document is linked before its decisions are learnt, so its own decisions never influence it. Nothing of a replay is
stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from models.types import LinkedMention
from training.data.gold import GoldMention, Resolve, resolve_gold
from training.data.snapshot import SnapshotDocument
from training.evaluation.teaching import TeachableLinker

DIGITS = 9
LAST = 2000
POINTS = 40
MIN_STEP = 50


@dataclass(frozen=True, slots=True)
class SimulatedDecision:
    """One simulated decision and the keys it took."""

    nil: bool
    flagged: bool
    first_right: bool
    one_key: bool
    digit: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive decisions; `end` is the number of decisions up to its last one.

    `recall_at_1` is over links; `more_keys` is the share of decisions that needed more than one key (`more_than_digit`:
    more than Enter or a digit); `nil_f1` is None without a NIL decision.
    """

    end: int
    decisions: int
    recall_at_1: float | None
    more_keys: float
    more_than_digit: float
    nil_f1: float | None


@dataclass(frozen=True, slots=True)
class ReplayCurves:
    """The whole run. `starts` gives the decision at which each split began; `last` covers the last 2,000 decisions (or
    all, if there are fewer)."""

    documents: int
    decisions: int
    remembers: bool
    every: Stretch
    last: Stretch
    stretches: tuple[Stretch, ...]
    starts: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def simulate(
    documents: Iterable[SnapshotDocument],
    linker: TeachableLinker,
    resolve: Resolve,
    *,
    k: int = 64,
    limit: int | None = None,
) -> Iterator[list[SimulatedDecision]]:
    """At most `limit` decisions, document by document. Each document is learnt before the next is linked."""
    left = limit
    for document in documents:
        if left is not None and left <= 0:
            return
        gold = resolve_gold([document], resolve).mentions[:left]
        answers = {answer.key: answer for answer in linker.link(document, k=k)}
        decided = [decide(mention, answers.get(mention.key)) for mention in gold]
        left = None if left is None else left - len(decided)
        linker.learn(document)
        yield decided


def decide(gold: GoldMention, answer: LinkedMention | None) -> SimulatedDecision:
    """The simulated decision for a mention, given the linker's answer on the screen."""
    flagged = answer is not None and answer.nil.is_nil
    ids = [candidate.entity_id for candidate in answer.candidates] if answer is not None else []
    single = gold.ids[0] if len(gold.ids) == 1 else None
    accepted = gold.nil if flagged else single is not None and ids[:1] == [single]
    return SimulatedDecision(
        nil=gold.nil,
        flagged=flagged,
        first_right=bool(ids) and ids[0] in gold.ids,
        one_key=accepted,
        digit=accepted or (single is not None and single in ids[:DIGITS]),
    )


def curves_of(
    documents: Sequence[Sequence[SimulatedDecision]], *, remembers: bool, starts: dict[str, int] | None = None
) -> ReplayCurves:
    """The curves: about forty stretches of equal length, each of at least 50 decisions."""
    every = [decision for document in documents for decision in document]
    step = max(MIN_STEP, -(-len(every) // POINTS))
    ends = [*range(step, len(every), step), len(every)] if every else []
    if len(ends) > 1 and ends[-1] - ends[-2] < step / 2:
        del ends[-2]  # a short remainder joins the previous stretch
    begins = [0, *ends][: len(ends)]
    return ReplayCurves(
        documents=len(documents),
        decisions=len(every),
        remembers=remembers,
        every=stretch(every, end=len(every)),
        last=stretch(every[-LAST:], end=len(every)),
        stretches=tuple(stretch(every[begin:end], end=end) for begin, end in zip(begins, ends, strict=True)),
        starts=starts or {},
    )


def stretch(decisions: Sequence[SimulatedDecision], *, end: int) -> Stretch:
    count = len(decisions)
    links = [one for one in decisions if not one.nil]
    nils, flagged = count - len(links), sum(one.flagged for one in decisions)
    hits = sum(one.nil and one.flagged for one in decisions)
    return Stretch(
        end=end,
        decisions=count,
        recall_at_1=sum(one.first_right for one in links) / len(links) if links else None,
        more_keys=sum(not one.one_key for one in decisions) / count if count else 0.0,
        more_than_digit=sum(not one.digit for one in decisions) / count if count else 0.0,
        nil_f1=2 * hits / (nils + flagged) if nils else None,
    )
