"""What was shown for a decision as it lies in the store: unpacked when somebody asks for it.

Every decided mention of a document carries it, and only the history of the current one shows it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from curator.domain.decisions import Shown
from curator.storage.packing import unpack_shown

PACKED = tuple(one.name for one in fields(Shown))
_set = object.__setattr__  # the dataclass is frozen for everybody else


class StoredShown(Shown):
    """Equal to a `Shown` with the same content."""

    __slots__ = ("_payload",)

    @classmethod
    def packed(cls, payload: bytes) -> StoredShown:
        made = cls.__new__(cls)
        _set(made, "_payload", payload)
        return made

    def __getattr__(self, name: str) -> Any:
        """Only called for what is not there yet."""
        if name not in PACKED:
            raise AttributeError(name)
        whole = unpack_shown(object.__getattribute__(self, "_payload"))
        for part in PACKED:
            _set(self, part, getattr(whole, part))
        return getattr(whole, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shown):
            return NotImplemented
        return all(getattr(self, part) == getattr(other, part) for part in PACKED)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, part) for part in PACKED))
