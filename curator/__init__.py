"""Curator: review, decide and retrain entity links in biomedical and Wikia documents."""

from __future__ import annotations

import dataclasses
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


def compile_methods_late() -> None:
    """Let the program's classes that become dataclasses from now on compile each method at its first call.

    The window has 350 dataclasses with 2,000 methods, of which a start uses a tenth. To compile all of them took 0.1 s,
    an eighth of the time until a project was usable. Other versions of Python compile them in another way; there,
    nothing changes. Other packages' classes stay as they are, since these may read their methods' signatures.
    """
    module: Any = dataclasses
    compiled = getattr(module, "_create_fn", None)
    if compiled is None or hasattr(compiled, "late"):
        return

    def late(name: str, args: Any, body: Any, **places: Any) -> Callable[..., Any]:
        if (places.get("globals") or {}).get("__name__", "").partition(".")[0] != "curator":
            own: Callable[..., Any] = compiled(name, args, body, **places)
            return own
        made: list[Any] = []

        def method(*given: Any, **named: Any) -> Any:
            if not made:
                made.append(compiled(name, args, body, **places))
                made[0].__qualname__ = method.__qualname__
            for one in type(given[0]).__mro__:
                if one.__dict__.get(name) is method:
                    setattr(one, name, made[0])
            return made[0](*given, **named)

        method.__name__ = name
        return method

    late.late = True  # type: ignore[attr-defined]
    module._create_fn = late
