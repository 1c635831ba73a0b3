"""Judgements and attributes in one round, with undo and redo, which are derived from the append-only rows, so a restart
changes nothing.

An ordinary row is a step. A row noted `undo` undoes the last current step, a row noted `redo` redoes it; an ordinary
row after an undo clears redo, as in an editor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from curator.domain.attributes import AttributeEdit
from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.documents import Mention
from curator.domain.rounds import Judgement
from curator.domain.wording import tr
from curator.services.curating.deciding import mentions_words
from curator.services.ports.processes import Clock
from curator.services.ports.storage import UnitOfWork

UNDO, REDO = "undo", "redo"
Step = Judgement | AttributeEdit

JUDGED = {
    Outcome.NIL: "Judged {what} as NIL",
    Outcome.REJECTED: "Judged {what} as rejected",
    Outcome.SKIPPED: "Skipped {what} in this round",
    Outcome.CLEARED: "Cleared the judgement of {what}",
}


@dataclass(slots=True)
class Steps:
    """A curator's judgements and attributes, each in order, with the current and the undone steps. The last one is
    next."""

    log: list[Judgement] = field(default_factory=list)
    set: list[AttributeEdit] = field(default_factory=list)
    done: list[Step] = field(default_factory=list)
    undone: list[Step] = field(default_factory=list)

    def take(self, one: Step) -> None:
        if isinstance(one, Judgement):
            self.log.append(one)
        else:
            self.set.append(one)
        if one.note == UNDO and self.done:
            self.undone.append(self.done.pop())
        elif one.note == REDO and self.undone:
            self.done.append(self.undone.pop())
        else:
            self.done.append(one)
            self.undone.clear()


class JudgingLog:
    """Appends to a round, and undoes and redoes in it, separately for each curator. Rows are append-only, so only new
    rows are read."""

    def __init__(self, round_id: int, clock: Clock) -> None:
        self._round = round_id
        self._clock = clock
        self._known: dict[str, Steps] = {}

    def of(self, unit: UnitOfWork, curator: str) -> list[Judgement]:
        """All judgements of the curator, oldest first."""
        return self._steps(unit, curator).log

    def _steps(self, unit: UnitOfWork, curator: str) -> Steps:
        steps = self._known.setdefault(curator, Steps())
        new: list[Step] = [*unit.rounds.log(self._round, curator, after=steps.log[-1].id if steps.log else 0)]
        after = steps.set[-1].id if steps.set else 0
        new += unit.mentions.round_attributes(self._round, curator, after=after)
        for one in sorted(new, key=_place):
            steps.take(one)
        return steps

    def set_attributes(
        self,
        unit: UnitOfWork,
        mention_ids: Sequence[int],
        attribute_id: int,
        value_id: int | None,
        *,
        curator: str,
        note: str = "",
    ) -> None:
        """Append a value of an attribute for each mention; None clears it."""
        log = self._steps(unit, curator).log
        unit.mentions.append_attributes(
            [(one, attribute_id, value_id) for one in mention_ids],
            curator=curator,
            at=self._clock.now(),
            round_id=self._round,
            behind=log[-1].id if log else 0,
            note=note,
        )

    def judge(
        self,
        unit: UnitOfWork,
        mention_ids: Sequence[int],
        verdict: Verdict,
        *,
        curator: str,
        shown: Sequence[Shown | None] = (),
        note: str = "",
    ) -> None:
        verdicts = [verdict] * len(mention_ids)
        at = self._clock.now()
        unit.rounds.judge(self._round, mention_ids, verdicts, curator=curator, at=at, note=note, shown=shown)

    def undo(self, unit: UnitOfWork, curator: str) -> Step | None:
        """Undo the last step and return it; None if there is none."""
        steps = self._steps(unit, curator)
        if not steps.done:
            return None
        step = steps.done[-1]
        if isinstance(step, AttributeEdit):
            same = (step.mention_id, step.attribute_id)
            had = [one for one in steps.set if (one.mention_id, one.attribute_id) == same and one.id < step.id]
            self._set_again(unit, step, had[-1].value_id if had else None, note=UNDO)
            return step
        before = [one for one in steps.log if one.mention_id == step.mention_id and one.id < step.id]
        verdict = before[-1].verdict if before else Verdict(Outcome.CLEARED)
        self.judge(unit, [step.mention_id], verdict, curator=curator, note=UNDO)
        return step

    def redo(self, unit: UnitOfWork, curator: str) -> Step | None:
        """Redo the step undone last, and return it; None if there is none."""
        steps = self._steps(unit, curator)
        if not steps.undone:
            return None
        step = steps.undone[-1]
        if isinstance(step, AttributeEdit):
            self._set_again(unit, step, step.value_id, note=REDO)
        else:
            self.judge(unit, [step.mention_id], step.verdict, curator=curator, note=REDO, shown=[step.shown])
        return step

    def _set_again(self, unit: UnitOfWork, step: AttributeEdit, value_id: int | None, *, note: str) -> None:
        ids = [step.mention_id]
        self.set_attributes(unit, ids, step.attribute_id, value_id, curator=step.curator, note=note)

    def can_undo(self, unit: UnitOfWork, curator: str) -> bool:
        return bool(self._steps(unit, curator).done)

    def can_redo(self, unit: UnitOfWork, curator: str) -> bool:
        return bool(self._steps(unit, curator).undone)


def _place(one: Step) -> tuple[int, int]:
    """The sort key: attributes come after the judgement that was the last one when they were set."""
    return (one.id, 0) if isinstance(one, Judgement) else (one.behind, one.id)


def said_of(unit: UnitOfWork, mentions: Sequence[Mention], verdict: Verdict) -> str:
    """The sentence that describes a judgement."""
    what = mentions_words(mentions)
    if verdict.outcome is Outcome.LINK:
        names = unit.kb.get_many(verdict.entity_ids)
        return tr(
            "Judged {what} as {names}", what=what, names=" + ".join(names[one].name for one in verdict.entity_ids)
        )
    return tr(JUDGED[verdict.outcome], what=what)
