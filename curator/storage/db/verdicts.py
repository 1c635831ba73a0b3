"""A verdict as columns: what decisions and judgements share."""

from __future__ import annotations

import json

from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict

REASONS: dict[Outcome, type[NilReason] | type[RejectReason] | type[SkipReason]] = {
    Outcome.NIL: NilReason,
    Outcome.REJECTED: RejectReason,
    Outcome.SKIPPED: SkipReason,
}


def verdict_columns(verdict: Verdict) -> dict[str, str | None]:
    """The columns `outcome`, `entity_ids` (a JSON list) and `reason`."""
    return {
        "outcome": verdict.outcome.value,
        "entity_ids": json.dumps(verdict.entity_ids, ensure_ascii=False),
        "reason": verdict.reason.value if verdict.reason else None,
    }


def verdict_of(outcome: str, entity_ids: str, reason: str | None) -> Verdict:
    """The verdict that was stored in these columns."""
    kind = Outcome(outcome)
    return Verdict(kind, tuple(json.loads(entity_ids)), REASONS[kind](reason) if reason else None)
