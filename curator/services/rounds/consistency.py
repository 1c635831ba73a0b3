"""Silent re-presentation: occasionally a mention that the curator decided long ago is shown again as if undecided.

The answer is stored as a judgement in the round “Own consistency”; the project's decision stays. The mentions are
chosen by a hash of project and mention, so that the share is right and independent of difficulty. A mention is shown
again after `LATER` at the earliest, once for each decision about it, and at most one within `APART` decisions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from curator.domain.decisions import Change, ChangeKind, Decision, Outcome, Shown, Verdict
from curator.domain.rounds import Round, RoundKind
from curator.domain.wording import tr
from curator.services.curating.curation import CurationService
from curator.services.ports.processes import Clock
from curator.services.ports.storage import Store, UnitOfWork
from curator.services.queue.queue import OpenDocument, QueueService
from curator.services.queue.seat import Attributing, Curation, Linking, Seat
from curator.services.rounds.judging import JudgingLog, said_of
from curator.services.rounds.round_work import as_decision

NAME = "Own consistency"
HeldOut = Callable[[Sequence[int]], Collection[int]]
LATER = timedelta(days=1)
APART = 20


class Repeats:
    """The mentions shown again, and the answers of this session. `share` is in per cent, 0 turns it off."""

    def __init__(self, store: Store, clock: Clock, *, curator: Callable[[], str], share: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._curator = curator
        self._share = share
        self._since = 0  # decisions since the last mention shown again
        self.asked: int | None = None
        self.answers: dict[int, Decision] = {}  # answered mentions, shown until another document is opened
        self.last: int | None = None  # answered last, with no decision since: reversed by undo
        self._opened: int | None = None

    def decided(self) -> None:
        self._since += 1
        self.last = None

    def next(self) -> tuple[int, int] | None:
        """(document id, mention id) of the next due mention; None if there is none."""
        if self.asked is not None or self._share() <= 0 or self._store.read_only or self._since < APART:
            return None
        due = self.due()
        if not due:
            return None
        self._since, self.asked = 0, due[0][1]
        return due[0]

    def due(self) -> list[tuple[int, int]]:
        """All mentions that are due, in the order of their hashes."""
        now, curator = self._clock.now(), self._curator()
        with self._store.read() as unit:
            project = unit.meta.get("project.id") or ""
            known = _last_answers(unit, curator)
            rows = [
                (_place(project, mention), document, mention)
                for document, mention, at in unit.records.decided_by(curator)
                if at <= now - LATER and (mention not in known or known[mention] < at)
            ]
        chosen = sorted(row for row in rows if row[0] < self._share() / 100)
        return [(document, mention) for _, document, mention in chosen]

    def seen(self, opened: OpenDocument) -> OpenDocument:
        """The document with its mentions that are shown again as undecided."""
        if opened.document.id != self._opened:
            self.answers.clear()
            self._opened = opened.document.id
        if self.asked is None and not self.answers:
            return opened
        views = tuple(
            replace(view, decision=None)
            if view.mention.id == self.asked
            else replace(view, decision=self.answers.get(view.mention.id, view.decision))
            for view in opened.mentions
        )
        return replace(opened, mentions=views)

    def answer(self, mention_id: int, verdict: Verdict, shown: Shown | None) -> Change:
        """Record the second answer; the decision stays."""
        curator = self._curator()
        with self._store.write() as unit:
            found = _round(unit, self._clock)
            mention = unit.mentions.get(mention_id)
            unit.rounds.add_documents(found.id, [mention.document_id])
            log = JudgingLog(found.id, self._clock)
            log.judge(unit, [mention_id], verdict, curator=curator, shown=[shown])
            text = said_of(unit, [mention], verdict)
            self.answers[mention_id] = as_decision(log.of(unit, curator)[-1])
        self.asked, self.last = None, mention_id
        return Change(ChangeKind.DECIDED, curator, text, (mention.document_id,), (mention_id,))

    def take_back(self) -> Change | None:
        """Undo the last answer; None if something was decided since."""
        if self.last is None:
            return None
        with self._store.write() as unit:
            found = _round(unit, self._clock)
            JudgingLog(found.id, self._clock).undo(unit, self._curator())
            mention = unit.mentions.get(self.last)
        self.asked, self.last = self.last, None
        self.answers.pop(mention.id, None)
        text = tr("Undid: the decision about “{text}”", text=mention.text)
        return Change(ChangeKind.DECIDED, self._curator(), text, (mention.document_id,), (mention.id,))


class RepeatingCuration:
    """Wraps the project's curation; a decision about a mention shown again is recorded separately. See
    `seat.Curation`."""

    def __init__(self, own: Curation, repeats: Repeats) -> None:
        self._own = own
        self._repeats = repeats
        self.add_mention, self.finish, self.resume = own.add_mention, own.finish, own.resume
        self.redo, self.can_redo = own.redo, own.can_redo

    @property
    def curator(self) -> str:
        return self._own.curator

    def decide_many(
        self, mention_ids: Sequence[int], verdict: Verdict, *, shown: Sequence[Shown | None] = ()
    ) -> Change:
        if list(mention_ids) == [self._repeats.asked]:
            return self._repeats.answer(mention_ids[0], verdict, shown[0] if shown else None)
        change = self._own.decide_many(mention_ids, verdict, shown=shown)
        self._repeats.decided()
        return change

    def undo(self) -> Change | None:
        return self._repeats.take_back() or self._own.undo()

    def can_undo(self) -> bool:
        return self._repeats.last is not None or self._own.can_undo()

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        answers, asked = self._repeats.answers, self._repeats.asked
        found = self._own.current(mention_ids) | {one: answers[one] for one in mention_ids if one in answers}
        cleared = {one for one, made in found.items() if made.verdict.outcome is Outcome.CLEARED}
        return {one: made for one, made in found.items() if one != asked and one not in cleared}

    def history(self, mention_id: int) -> list[Decision]:
        """The history; empty for a mention shown again, since it would reveal the earlier decision."""
        if mention_id == self._repeats.asked:
            return []
        answer = self._repeats.answers.get(mention_id)
        return [answer] if answer is not None else self._own.history(mention_id)


def repeating_seat(
    store: Store,
    own: CurationService,
    suggestions: Linking,
    clock: Clock,
    *,
    curator: Callable[[], str],
    share: Callable[[], float],
    held_out: HeldOut = lambda _: (),
    attributes: Attributing | None = None,
) -> Seat:
    """The project's seat with its `own` curation and mentions shown again."""
    repeats = Repeats(store, clock, curator=curator, share=share)
    queue = QueueService(store, held_out=held_out, seen=repeats.seen, due=repeats.next)
    return Seat(queue, queue.under, RepeatingCuration(own, repeats), suggestions, editing=own, attributes=attributes)


def _round(unit: UnitOfWork, clock: Clock) -> Round:
    """The round of second answers; created for the first one."""
    there = next((one for one in unit.rounds.all() if one.kind is RoundKind.CONSISTENCY), None)
    return there or unit.rounds.get(unit.rounds.create(NAME, RoundKind.CONSISTENCY, [], at=clock.now()))


def _last_answers(unit: UnitOfWork, curator: str) -> dict[int, datetime]:
    """When each mention was last shown again."""
    found = next((one for one in unit.rounds.all() if one.kind is RoundKind.CONSISTENCY), None)
    return {one.mention_id: one.at for one in unit.rounds.current(found.id, curator=curator)} if found else {}


def _place(project: str, mention_id: int) -> float:
    """A number in [0, 1) determined by both."""
    digest = hashlib.sha256(f"{project}:{mention_id}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64
