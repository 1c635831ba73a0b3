"""When a trained ranker is asked: its margin is chosen on the documents set aside for tuning."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

from models.answering import ScoredMention
from models.bundle import RankerSpec
from models.linker import Linker
from models.ranker import RULE, RerankRule, Tally, choose_margin
from models.reranking import fused_without_ranker, lead, rerank
from models.stages import Stages


def without_ranker(linker: Linker) -> Linker:
    """The same linker as if it had no ranker."""
    return _with_stages(linker, replace(linker.stages, ranker=None))


def without_time_limit(linker: Linker) -> Linker:
    """The same linker, its ranker unhurried: what is fitted, judged or compared must not depend on the machine."""
    return with_rule(linker, replace(linker.stages.rule, seconds=None))


def with_rule(linker: Linker, rule: RerankRule) -> Linker:
    """The same linker asking its ranker by another rule, with a tally of its own."""
    return _with_stages(linker, replace(linker.stages, rule=rule, tally=Tally()))


def silent(linker: Linker) -> Linker:
    """The same linker never asking its ranker, if it has one."""
    return with_rule(linker, replace(linker.stages.rule, margin=-1.0, seconds=None))


def chosen_rule(linker: Linker, scored: Sequence[ScoredMention]) -> RerankRule:
    """The linker's rule with the margin that its share of the `scored` mentions lies within, under its weights."""
    leads = [lead(fused_without_ranker(linker.fusion, mention.table)) for mention in scored]
    rule = linker.stages.rule
    return replace(rule, margin=choose_margin(leads, rule.share))


def ask(linker: Linker, scored: Sequence[ScoredMention]) -> list[ScoredMention]:
    """Mentions scored by all other stages, with the ranker's scores by the linker's rule."""
    pairs = []
    for one in scored:
        mention = next(m for m in one.document.mentions if m.key == one.query.key)
        pairs.append((one.document, mention))
    order = [fused_without_ranker(linker.fusion, one.table) for one in scored]
    tables = rerank(linker.stages, pairs, [one.table for one in scored], order)
    return [replace(one, table=table) for one, table in zip(scored, tables, strict=True)]


def with_margin(spec: RankerSpec, margin: float | None) -> RankerSpec:
    """The manifest's entry with another margin."""
    rule = replace(RerankRule.from_json(spec.top_k, spec.settings), margin=margin)
    return replace(spec, settings={**spec.settings, RULE: rule.to_json()})


def rule_note(rule: RerankRule, scored: Sequence[ScoredMention]) -> str:
    """A sentence for the curator."""
    if rule.margin is None:
        return f"The ranker is asked about every mention and its first {rule.top_k} candidates."
    return (
        f"The ranker is asked about the first {rule.top_k} candidates where the first leads by {rule.margin:.3g} at "
        f"most: {100 * rule.share:.0f} % of the {len(scored):,} held-out mentions."
    )


def _with_stages(linker: Linker, stages: Stages) -> Linker:
    other = copy.copy(linker)
    other.stages = stages
    return other
