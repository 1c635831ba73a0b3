"""Curator: review, decide and retrain entity links in biomedical and Wikia documents."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def opened_late(room: str, **modules: str) -> Callable[[str], Any]:
    """The `__getattr__` of a room's face (PEP 562): a module is imported when one of its names is first used.

    A starting window or a command then loads only what it uses. `modules` lists the exported names of each module,
    separated by spaces. Raises AttributeError for any other name.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def name_of(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{homes[name]}"), name)

    return name_of
