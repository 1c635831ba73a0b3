"""A store for who may look and not write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from curator.domain.errors import UserError
from curator.domain.saving import Listener, Saving
from curator.services.ports import Store, UnitOfWork


class RefusingStore:
    """A store that is read and never written: see `ports.Store`."""

    def __init__(self, store: Store, why: str) -> None:
        self._store = store
        self._why = why

    @property
    def read_only(self) -> bool:
        return True

    @property
    def folder(self) -> Path:
        return self._store.folder

    @property
    def written(self) -> int:
        return self._store.written

    def read(self) -> AbstractContextManager[UnitOfWork]:
        return self._store.read()

    def write(self) -> AbstractContextManager[UnitOfWork]:
        raise UserError(self._why)

    def settle(self) -> None:
        self._store.settle()

    @property
    def saving(self) -> Saving:
        return self._store.saving

    def on_saving(self, listener: Listener) -> Callable[[], None]:
        return self._store.on_saving(listener)

    def close(self) -> None:
        """It belongs to somebody else."""
