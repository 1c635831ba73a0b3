"""Cached answers that the window needs after every key and that seldom change: they are read again only after a
write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from curator.services.ports.storage import Store, UnitOfWork

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
