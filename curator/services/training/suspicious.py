"""Suspicious gold: decisions that models fitted on other documents find unlikely, for review.

The list is stored in the project. A line is removed when its mention is decided differently, or when the curator keeps
the decision: a kept decision is not listed again until it changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from curator.domain.decisions import Change, ChangeKind, Decision, Outcome
from curator.domain.documents import Split
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import UserError, tr
from curator.services.core.context import Context, Service
from curator.services.ports.processes import JobHandle
from curator.services.ports.storage import UnitOfWork
from curator.services.training.job_chain import JobChain, OnEnd, OnProgress
from curator.services.training.snapshots import write_snapshot
from curator.services.training.workplace import JobDesk

FOUND = "suspicious_gold"  # JSON: {"at", "checked", "message", "rows": […]}
KEPT = "suspicious_kept"  # JSON object: mention id -> {"answer", "by", "at"} of the decision that was reviewed and kept
NO_INDEX = "There is no index yet. `curator index` builds one; then decisions can be checked."
NIL = "NIL"


@dataclass(frozen=True, slots=True)
class SuspiciousGold:
    """A decision and the answer that is likelier, with the probabilities of models that never saw the document."""

    document_id: int
    mention_id: int
    surface: str
    gold: tuple[str, ...]
    probability: float
    rival: str
    rival_name: str
    rival_probability: float


@dataclass(frozen=True, slots=True)
class SuspiciousList:
    """The decisions still to review, widest gap first; `message` describes the check, '' before the first."""

    rows: tuple[SuspiciousGold, ...]
    message: str
    checked: int


class SuspiciousService(Service):
    def __init__(self, context: Context, desk: JobDesk) -> None:
        super().__init__(context)
        self._desk = desk

    def start(self, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Search in a child process; no decision changes. The outcome's result holds `rows`, without kept ones. Raises
        UserError if no bundle is in use."""
        active = self._desk.switch.active()
        if active is None:
            raise UserError(tr(NO_INDEX))
        folder = self._desk.workplace.new_folder()
        spec = {"snapshot": str(folder), "bundle": active.path, **self._desk.options().spec()}
        splits = tuple(Split)

        def finish(outcome: JobOutcome) -> JobOutcome:
            self._desk.workplace.remove(folder)
            return self._take(outcome) if outcome.state is JobState.DONE else outcome

        chain = JobChain(
            [
                lambda progress, end: self._desk.jobs.run_here(
                    lambda: write_snapshot(self._desk.store, folder, splits, kb_hash=active.kb_hash),
                    on_progress=progress,
                    on_end=end,
                ),
                lambda progress, end: self._desk.jobs.start("suspicious", spec, on_progress=progress, on_end=end),
            ],
            on_progress=on_progress,
            on_end=on_end,
            finish=finish,
            repeats=True,
        )
        return chain.start()

    def found(self) -> SuspiciousList:
        """The last list, without decisions kept or changed since."""
        with self._desk.store.read() as unit:
            stored = _stored(unit.meta.get(FOUND) or "{}")
            rows = _open_rows(unit, stored.rows)
        return replace(stored, rows=tuple(rows))

    def keep(self, mention_id: int) -> Change:
        """Mark the decision as right: it is not listed again until it changes. Raises UserError for an undecided
        mention."""
        with self._desk.store.write() as unit:
            current = unit.decisions.current([mention_id]).get(mention_id)
            if current is None:
                raise UserError(tr("This mention is undecided now, so there is no decision to keep."))
            kept = _kept(unit)
            kept[str(mention_id)] = {
                "answer": list(answer_of(current)),
                "by": self._curator(),
                "at": self._clock.now().isoformat(),
            }
            unit.meta.set(KEPT, json.dumps(kept, ensure_ascii=False))
            text = tr("Kept the decision about “{text}”", text=unit.mentions.get(mention_id).text)
        change = Change(ChangeKind.ROUND, self._curator(), text, (), (mention_id,))
        return self._emit(change)

    def _take(self, outcome: JobOutcome) -> JobOutcome:
        """Store the list, unless the project is read-only; return the remaining rows."""
        result = outcome.result
        rows = [_from_job(one) for one in result.get("rows", ())]
        stored = {
            "at": self._clock.now().isoformat(),
            "message": outcome.message,
            "checked": result.get("checked", 0),
            "rows": [asdict(one) for one in rows],
        }
        if not self._desk.store.read_only:
            with self._desk.store.write() as unit:
                unit.meta.set(FOUND, json.dumps(stored, ensure_ascii=False))
        with self._desk.store.read() as unit:
            left = _open_rows(unit, rows)
        return JobOutcome(outcome.state, outcome.message, {**result, "rows": [asdict(one) for one in left]})


def answer_of(decision: Decision) -> tuple[str, ...]:
    """The entities of a link, sorted, or NIL; () for anything else."""
    if decision.verdict.outcome is Outcome.NIL:
        return (NIL,)
    return tuple(sorted(decision.verdict.entity_ids))


def _open_rows(unit: UnitOfWork, rows: Sequence[SuspiciousGold]) -> list[SuspiciousGold]:
    current = unit.decisions.current([one.mention_id for one in rows])
    kept = _kept(unit)
    left = []
    for one in rows:
        decision = current.get(one.mention_id)
        answer = answer_of(decision) if decision is not None else ()
        known = kept.get(str(one.mention_id))
        if answer == (tuple(sorted(one.gold)) or (NIL,)) and (known is None or known.get("answer") != list(answer)):
            left.append(one)
    return left


def _kept(unit: UnitOfWork) -> dict[str, dict[str, Any]]:
    return dict(json.loads(unit.meta.get(KEPT) or "{}"))


def _stored(text: str) -> SuspiciousList:
    """An empty list if another program stored it in another form."""
    try:
        found = json.loads(text)
        rows = tuple(_row(one) for one in found.get("rows", ()))
        return SuspiciousList(rows, str(found.get("message", "")), int(found.get("checked", 0)))
    except (AttributeError, KeyError, TypeError, ValueError):
        return SuspiciousList((), "", 0)


def _from_job(raw: Mapping[str, Any]) -> SuspiciousGold:
    return _row({**raw, "document_id": int(raw["document"]), "mention_id": int(raw["mention"])})


def _row(raw: Mapping[str, Any]) -> SuspiciousGold:
    return SuspiciousGold(
        int(raw["document_id"]),
        int(raw["mention_id"]),
        str(raw["surface"]),
        tuple(map(str, raw["gold"])),
        float(raw["probability"]),
        str(raw["rival"]),
        str(raw["rival_name"]),
        float(raw["rival_probability"]),
    )
