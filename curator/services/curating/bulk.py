"""Accepts sure suggestions in bulk, once a checked sample bounds how many of them can be wrong (`bulk_plan`)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from curator.domain.decisions import Change, Outcome, Verdict
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.core.keys import active_bundle
from curator.services.curating.bulk_plan import MOST_CHECKS, Audit, AuditState, BulkPlan, make_plan, percent_up, tally
from curator.services.curating.deciding import decide_in
from curator.services.curating.propagation import shown_in_line
from curator.services.ports.queue import MentionContext, QueueFilter

CHECKED = "checked for a bulk step"
ACCEPTED = "accepted in bulk, error of the unseen at most {limit:.2f} % (95 %): {checked:,} checked, {wrong:,} wrong"
NOT_YET = "The sample has not been checked yet; nothing was accepted."


@dataclass(frozen=True, slots=True)
class BulkOffer:
    """The possible bulk acceptance for a filter. `undecided` is the number of mentions with a fresh suggestion of an
    entity; `unsuggested` that of undecided mentions without a fresh suggestion; `calibrated`: whether probabilities are
    calibrated."""

    plan: BulkPlan
    undecided: int
    unsuggested: int
    calibrated: bool

    @property
    def pays(self) -> bool:
        """Whether more mentions can be accepted unseen than must be checked."""
        return bool(self.plan.sets) and self.plan.sets[0].saved >= self.plan.sets[0].checks


@dataclass(frozen=True, slots=True)
class BulkReport:
    """`change` is None if nothing was left to accept; `left_out` is the number of mentions that changed since the plan
    was made; `limit` is the limit of the error of those accepted."""

    change: Change | None
    accepted: int
    left_out: int
    limit: float


class BulkService(Service):
    def offer(
        self, where: QueueFilter, *, error: float, seed: int | None = None, most_checks: int = MOST_CHECKS
    ) -> BulkOffer:
        """The suggestions that could be accepted for the filtered mentions, with an error of at most `error` (0…1).

        The sample is drawn again each time unless a seed is given. Raises UserError for an error outside 0…0.5.
        """
        if not 0.0 < error <= 0.5:
            raise UserError(
                tr("The error cannot be {error:g} %. Choose a value above 0 and up to 50 %.", error=100 * error)
            )
        drawn = secrets.randbits(31) if seed is None else seed
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
            chances = unit.queue.chances(where, bundle_id=bundle_id)
            tried = unit.queue.tried(bundle_id=bundle_id)
            unsuggested = unit.queue.unsuggested(where, bundle_id=bundle_id)
            first = unit.queue.contexts([one.mention_id for one in chances[:1]], bundle_id=bundle_id)
        calibrated = bool(first) and first[0].head is not None and first[0].head.calibrated
        plan = make_plan(chances, tried, error=error, seed=drawn, most_checks=most_checks)
        return BulkOffer(plan, len(chances), unsuggested, calibrated)

    def contexts(self, mention_ids: tuple[int, ...]) -> list[MentionContext]:
        """The sample with its contexts, for display."""
        with self._store.read() as unit:
            return unit.queue.contexts(mention_ids, bundle_id=active_bundle(unit.meta))

    def check(self, audit: Audit, mention_id: int, right: bool) -> Change | None:
        """Record a check. A right suggestion is decided at once, so that no check is lost; one that changes from right
        to wrong is undecided again. Raises UserError like deciding; the check counts only when it is saved."""
        entity = next(one.entity_id for one in audit.plan.chances if one.mention_id == mention_id)
        was = audit.marks.get(mention_id)
        if was is right:
            return None
        verdict = Verdict.link(entity) if right else None
        change = self._decide(mention_id, verdict) if right or was else None
        audit.mark(mention_id, right)
        return change

    def accept(self, audit: Audit) -> BulkReport:
        """Accept the suggestions that the checked sample allows, as one operation, except those that changed since the
        plan was made.

        Raises UserError before the sample is checked or if it allows nothing.
        """
        if audit.state is not AuditState.PASSED:
            raise UserError(tr(NOT_YET))
        wanted = {one.mention_id: one.entity_id for one in audit.accepted()}
        with self._store.write() as unit:
            found = unit.queue.contexts(list(wanted), bundle_id=active_bundle(unit.meta))
            same = [one for one in found if _is_same(one, wanted[one.mention_id])]
            limit = audit.limit_of(len(same))
            change = (
                decide_in(
                    unit,
                    [one.mention_id for one in same],
                    [Verdict.link(wanted[one.mention_id]) for one in same],
                    curator=self._curator(),
                    clock=self._clock,
                    shown=[shown_in_line(one) for one in same],
                    note=self._note(audit, limit),
                    text=ntr(
                        "Accepted {n} mention in bulk (error at most {error:.1f} %)",
                        "Accepted {n:,} mentions in bulk (error at most {error:.1f} %)",
                        len(same),
                        error=percent_up(max(limit, audit.plan.error), 1),
                    ),
                )
                if same
                else None
            )
        if change is not None:
            self._events.emit(change)
        return BulkReport(change, len(same), len(wanted) - len(same), limit)

    def _note(self, audit: Audit, limit: float) -> str:
        _, wrong = tally({one: audit.marks[one] for one in audit.sample})
        return ACCEPTED.format(limit=percent_up(limit, 2), checked=len(audit.sample), wrong=wrong)

    def _decide(self, mention_id: int, verdict: Verdict | None) -> Change:
        with self._store.write() as unit:
            change = decide_in(
                unit,
                [mention_id],
                [verdict or Verdict(Outcome.CLEARED)],
                curator=self._curator(),
                clock=self._clock,
                note=CHECKED,
            )
        return self._emit(change)


def _is_same(context: MentionContext, entity_id: str) -> bool:
    """Whether it is still undecided and has the same suggestion as when the plan was made."""
    head = context.head
    return context.verdict is None and head is not None and head.entity_id == entity_id and not head.is_nil
