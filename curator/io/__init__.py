"""Documents and knowledge bases in files: one module for each format, and a registry that joins them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from curator.io.column_memory import ColumnMemory
    from curator.io.registry import Registry

__all__ = ["default_registry"]


def default_registry(columns: ColumnMemory | None = None) -> Registry:
    """Every format there is. `columns` remembers what was chosen for tables. The formats are loaded with the first
    question: opening a project asks none."""
    return cast("Registry", _Late(columns))


class _Late:
    def __init__(self, columns: ColumnMemory | None) -> None:
        self._columns = columns

    @cached_property
    def _registry(self) -> Registry:
        from curator.io.formats import every_format

        return every_format(self._columns)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._registry, name)
