"""Sequences that make their rows when they are asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class RowSequence(Sequence[T_co]):
    """Places from either end and slices, by `at` for one place from the front."""

    @abstractmethod
    def at(self, place: int) -> T_co: ...

    @overload
    def __getitem__(self, row: int) -> T_co: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[T_co]: ...
    def __getitem__(self, row: int | slice) -> T_co | Sequence[T_co]:
        """Raises IndexError beyond either end."""
        if isinstance(row, slice):
            return self.between(*row.indices(len(self)))
        place = int(row) + len(self) if row < 0 else int(row)
        if not 0 <= place < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self.at(place)

    def between(self, first: int, last: int, step: int) -> Sequence[T_co]:
        return tuple(self.at(place) for place in range(first, last, step))
