"""Answers that the window needs after every key and that seldom change: read once, and again after a write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from curator.services.ports import Store, UnitOfWork

Answer = TypeVar("Answer")


class CachedAnswer(Generic[Answer]):
    """The answer of one question to the store, which is cached until the next unit was written.

    `ask` reads in the given unit and depends on nothing else that changes. Safe to call from several threads.
    """

    def __init__(self, store: Store, ask: Callable[[UnitOfWork], Answer]) -> None:
        self._store = store
        self._ask = ask
        self._held: tuple[int, Answer] | None = None

    def get(self) -> Answer:
        written, held = self._store.written, self._held  # before reading: what is written meanwhile is asked for again
        if held is not None and held[0] == written:
            return held[1]
        with self._store.read() as unit:
            answer = self._ask(unit)
        self._held = (written, answer)
        return answer
