"""When a trained ranker runs: its margin is chosen on the documents held out for tuning."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from models.errors import say
from models.linker.answering import ScoredMention
from models.linker.bundle import RankerSpec
from models.linker.linker import Linker
from models.linker.reranking import doubt
from models.linker.stages import Stages
from models.rankers.ranker import RULE, RankerTally, RerankRule, choose_margin


def without_ranker(linker: Linker) -> Linker:
    """The same linker without its ranker."""
    return _with_stages(linker, replace(linker.stages, ranker=None))


def without_time_limit(linker: Linker) -> Linker:
    """The same linker with no time limit for its ranker: fits and comparisons must not depend on the machine's
    speed."""
    return with_rule(linker, replace(linker.stages.rule, seconds=None))


def with_rule(linker: Linker, rule: RerankRule) -> Linker:
    """The same linker with another rule for its ranker, and its own counts."""
    return _with_stages(linker, replace(linker.stages, rule=rule, tally=RankerTally()))


def silent(linker: Linker) -> Linker:
    """The same linker that never runs its ranker, if it has one."""
    return with_rule(linker, replace(linker.stages.rule, margin=-1.0, seconds=None))


def chosen_rule(linker: Linker, scored: Sequence[ScoredMention]) -> RerankRule:
    """The linker's rule with the margin that covers the rule's share of the `scored` mentions."""
    rule = linker.stages.rule
    return replace(rule, margin=choose_margin([doubt(linker.answerer(), one).lead for one in scored], rule.share))


def with_margin(spec: RankerSpec, margin: float | None) -> RankerSpec:
    """The manifest's entry with another margin."""
    rule = replace(RerankRule.from_json(spec.top_k, spec.settings), margin=margin)
    return replace(spec, settings={**spec.settings, RULE: rule.to_json()})


def rule_note(rule: RerankRule, scored: Sequence[ScoredMention]) -> str:
    """A sentence for the curator."""
    if rule.margin is None:
        return say("The ranker is applied to every mention and its first {top_k} candidates.", top_k=rule.top_k)
    return say(
        "The ranker is applied to the first {top_k} candidates if the first leads by at most "
        "{margin:.3g} percentage points of probability: {share:.0f} % of the {number:,} held-out "
        "mentions.",
        top_k=rule.top_k,
        margin=100 * rule.margin,
        share=100 * rule.share,
        number=len(scored),
    )


def _with_stages(linker: Linker, stages: Stages) -> Linker:
    other = copy.copy(linker)
    other.stages = stages
    return other
