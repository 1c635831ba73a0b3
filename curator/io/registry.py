"""The formats, imported with the first file: that takes 0.4 s, and opening a project does not need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from curator.io.tables.columns import ColumnMemory
    from curator.services.ports.files import FormatRegistry


def default_registry(columns: ColumnMemory | None = None) -> FormatRegistry:
    """The registry of all formats. `columns` remembers the columns chosen for tables."""
    return cast("FormatRegistry", _Late(columns))


class _Late:
    def __init__(self, columns: ColumnMemory | None) -> None:
        self._columns = columns

    def __getattr__(self, name: str) -> Any:
        if name == "_registry":
            from curator.io.recognition import Registry

            self._registry = Registry(self._columns)
            return self._registry
        return getattr(self._registry, name)
