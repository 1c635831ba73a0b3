"""What the services of an open project share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from curator.domain.decisions import Change
from curator.domain.rounds import Round
from curator.domain.wording import UserError, tr
from curator.services.core.events import EventBus
from curator.services.ports.processes import Clock
from curator.services.ports.storage import Store, UnitOfWork

ACTIVE_ROUNDS = "active_rounds"  # JSON object: curator -> id of the round that the curator is judging in
IN_ROUND = (
    "You are judging in the round “{name}”, where the project itself is not changed. Leave the round first; nothing "
    "was changed."
)


@dataclass(frozen=True, slots=True)
class Context:
    """`curator` returns the name of the curator."""

    store: Store
    events: EventBus
    clock: Clock
    curator: Callable[[], str]


class Service:
    """The base of a service over the project."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store, self._events = context.store, context.events
        self._clock, self._curator = context.clock, context.curator

    def _emit(self, change: Change) -> Change:
        self._events.emit(change)
        return change

    def _refuse_in_round(self) -> None:
        """Raises UserError while the curator judges in a round, where the project is not changed."""
        with self._store.read() as unit:
            found = active_round(unit, self._curator())
        if found is not None:
            raise UserError(tr(IN_ROUND, name=found.name))


def active_rounds(unit: UnitOfWork) -> dict[str, int]:
    """Curator -> id of the round that the curator is judging in."""
    return {str(name): int(one) for name, one in json.loads(unit.meta.get(ACTIVE_ROUNDS) or "{}").items()}


def active_round(unit: UnitOfWork, curator: str) -> Round | None:
    """The open round that this curator is judging in; None if there is none."""
    round_id = active_rounds(unit).get(curator)
    found = next((one for one in unit.rounds.all() if one.id == round_id), None) if round_id is not None else None
    return found if found is not None and not found.closed else None


# Cached answers that the window needs after every key and that seldom change: they are read again only after a
# write.

Answer = TypeVar("Answer")


class CachedAnswer(Generic[Answer]):
    """The answer to one query of the store, cached until the next write.

    `ask` reads only in the given unit. Thread-safe.
    """

    def __init__(self, store: Store, ask: Callable[[UnitOfWork], Answer]) -> None:
        self._store = store
        self._ask = ask
        self._held: tuple[int, Answer] | None = None

    def get(self) -> Answer:
        written, held = self._store.written, self._held  # before reading, so that later writes are read again
        if held is not None and held[0] == written:
            return held[1]
        with self._store.read() as unit:
            answer = self._ask(unit)
        self._held = (written, answer)
        return answer
