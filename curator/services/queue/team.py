"""Several curators in one shared project: assigned documents, news of others' changes, and conflicting decisions.

In a folder nobody else writes: any document can be assigned, and there is no news.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from curator.boundary import logged
from curator.domain.decisions import Change, ChangeKind, Decision
from curator.domain.documents import DocumentState
from curator.domain.wording import AwayError, tr
from curator.services.core.context import Context, Service
from curator.services.core.keys import active_bundle
from curator.services.curating.deciding import unpacked
from curator.services.curating.undo import changes_of
from curator.services.ports.queue import MentionContext, QueueFilter
from curator.services.ports.storage import UnitOfWork

log = logging.getLogger(__name__)

MINUTES = 15
"""The default number of minutes for which a document is assigned."""
STEP = "{who}: {step}"
COLLIDED = "{who} decided otherwise than you: {step}. {which}"
THEIRS = "Both decisions are kept, and theirs is in force."
YOURS = "Both decisions are kept, and yours is in force."
LEFT = (DocumentState.IN_PROGRESS, DocumentState.TODO)
State = tuple[object, ...]
OTHERS = (
    ChangeKind.IMPORTED,
    ChangeKind.KNOWLEDGE_BASE,
    ChangeKind.BUNDLE,
    ChangeKind.TYPE_MAPPING,
    ChangeKind.ROUND,
)
"""Changes that are no operations, in the order of `State`."""


@dataclass(frozen=True, slots=True)
class Collision:
    """A mention that another curator decided differently; `current` is the current decision of the two. `step` is the
    other's step in words."""

    mention_id: int
    step: str
    mine: Decision
    theirs: Decision
    current: Decision

    @property
    def words(self) -> str:
        which = tr(THEIRS if self.current == self.theirs else YOURS)
        return tr(COLLIDED, who=self.theirs.curator, step=self.step, which=which)


class TeamService(Service):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._collisions: list[Collision] = []
        self._decided: set[int] = set()  # mentions that this curator decided since the project was opened
        self._told: list[Callable[[Change, Sequence[Collision]], None]] = []
        self._state: State = ()
        self._held: dict[int, float] = {}  # documents assigned here, and when to extend the claim
        self._guard = threading.Lock()
        self._following = False
        if context.store.team is not None:
            context.events.subscribe(self._own)

    # --- documents handed out ---

    def next(self, *, minutes: float = MINUTES) -> int | None:
        """The curator's assigned document, or the first that is not done and not assigned to others. It is assigned for
        `minutes`, extended while they decide. None if there is none."""
        if self._store.team is None:
            with self._store.read() as unit:
                begun, fresh = (unit.documents.rows(QueueFilter(one), offset=0, limit=1) for one in LEFT)
            return next((one.document_id for one in (*begun, *fresh)), None)
        document_id = self._store.team.next(self._curator(), seconds=round(minutes * 60))
        if document_id is not None:
            with self._guard:
                self._held = {document_id: time.monotonic() + minutes * 30}
        return document_id

    def _prolong(self, change: Change) -> None:
        """Extend the claim after half of its time."""
        now = time.monotonic()
        with self._guard:
            due = [one for one in change.document_ids if now > self._held.get(one, float("inf"))]
            self._held.update(dict.fromkeys(due, now + MINUTES * 30))
        for one in due:
            if self._store.team is not None:
                with suppress(AwayError):
                    self._store.team.prolong(one, self._curator(), seconds=MINUTES * 60)

    # --- news ---

    def start(self) -> None:
        """Announce others' changes like this curator's own steps from now on, and collect collisions."""
        with self._guard:
            if self._store.team is None or self._following:
                return
            self._following = True
        self._state = self._other_state()
        self._store.team.follow(self._heard, perform=_perform, sent=self._sent)

    def close(self) -> None:
        """Stop announcing, before this returns."""
        if self._store.team is not None:
            self._store.team.close()

    @property
    def collisions(self) -> Sequence[Collision]:
        """Collisions since the project was opened, oldest first: the last one for each mention and other curator."""
        return tuple(self._collisions)

    def collided(self) -> list[tuple[Collision, MentionContext]]:
        """Collisions with their mentions as they are now, newest first, without those of deleted mentions."""
        every = self.collisions
        ids = tuple(dict.fromkeys(one.mention_id for one in every))
        with self._store.read() as unit:
            now = {one.mention_id: one for one in unit.queue.contexts(ids, bundle_id="")}
        return [(one, now[one.mention_id]) for one in reversed(every) if one.mention_id in now]

    def words(self, change: Change) -> str:
        """A step of somebody else as a sentence."""
        return tr(STEP, who=change.actor, step=change.text) if change.actor else change.text

    def on_news(self, told: Callable[[Change, Sequence[Collision]], None]) -> None:
        """Call `told` in another thread with each step of another curator and its collisions."""
        self._told.append(told)

    def _sent(self, changes: Sequence[Change], missed: Sequence[int]) -> None:
        """Announce together what was kept here while the server was away, or that a backup was restored. It may collide
        with `missed` operations, which were appended while the project was not open here."""
        mine = [one for one in changes if one.kind is ChangeKind.DECIDED and one.actor == self._curator()]
        self._decided.update(it for one in mine for it in one.mention_ids)
        if mine and missed:
            with suppress(AwayError), self._store.read() as unit:
                for change in changes_of(unit, missed):
                    self._collect(self._collided(unit, change) if change.kind is ChangeKind.DECIDED else [])
        for kind in (ChangeKind.IMPORTED, ChangeKind.DECIDED, ChangeKind.DOCUMENT_STATE):
            if some := [one for one in changes if one.kind is kind]:
                documents = tuple(dict.fromkeys(it for one in some for it in one.document_ids))
                mentions = tuple(dict.fromkeys(it for one in some for it in one.mention_ids))
                self._events.emit(replace(some[-1], document_ids=documents, mention_ids=mentions))

    def _own(self, change: Change) -> None:
        if self._store.team is not None:
            self._store.team.changed(change.document_ids)
        if change.kind is ChangeKind.DECIDED and change.actor == self._curator():
            self._decided.update(change.mention_ids)
            self._prolong(change)

    def _heard(self, operations: Sequence[int]) -> None:
        if not operations:
            self._other()
            return
        with self._store.read() as unit:
            changes = changes_of(unit, operations)
            found = [self._collided(unit, one) if one.kind is ChangeKind.DECIDED else [] for one in changes]
        for change, collisions in zip(changes, found, strict=True):
            self._collect(collisions)
            self._events.emit(change)
            for told in tuple(self._told):
                with logged(log, "A listener to the team failed"):
                    told(change, collisions)

    def _collect(self, found: Sequence[Collision]) -> None:
        again = {(one.mention_id, one.theirs.curator) for one in found}
        others = [one for one in self._collisions if (one.mention_id, one.theirs.curator) not in again]
        self._collisions = [*others, *found]

    def _other(self) -> None:
        """Announce writes of others that are not operations."""
        before, self._state = self._state, self._other_state()
        for kind, old, new in zip(OTHERS, before, self._state, strict=True):
            if old != new:
                self._events.emit(Change(kind, "", ""))

    def _other_state(self) -> State:
        with self._store.read() as unit:
            info = unit.kb.info()
            kb = info.content_hash if info is not None else ""
            imports, rounds = len(unit.imports.all()), unit.rounds.all()
            return imports, kb, active_bundle(unit.meta), unit.meta.type_mapping(), rounds

    def _collided(self, unit: UnitOfWork, change: Change) -> list[Collision]:
        me, found = self._curator(), []
        for one in self._decided.intersection(change.mention_ids):
            history = unit.decisions.history(one)
            at = next((i for i, it in enumerate(history) if it.operation_id == change.operation_id), None)
            if at is None or history[at].curator == me:
                continue
            own = [it for it in (*history[max(at - 1, 0) : at], *history[at + 1 :]) if it.curator == me]
            if own and own[-1].verdict != history[at].verdict:
                found.append(Collision(one, change.text, own[-1], history[at], history[-1]))
        return found


def _perform(unit: UnitOfWork, step: Mapping[str, Any]) -> Change:
    return unpacked(step).perform(unit)
