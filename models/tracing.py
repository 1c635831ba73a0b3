"""Spans for measuring time; if nothing reads them, a span costs one function call.

The processes that the program starts connect `use` to the program's trace (`curator/tracing.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

Opener = Callable[..., AbstractContextManager[None]]
_NOTHING = nullcontext()


def use(opener: Opener | None = None) -> None:
    """Set the ``opener`` of every later `span` in this process; without one, spans do nothing again."""
    global _opener
    _opener = opener or _no_span


def span(name: str, **facts: Any) -> AbstractContextManager[None]:
    """The block as a span; ``facts`` are numbers and short words about it."""
    return _opener(name, **facts)


def _no_span(_name: str, **_facts: Any) -> AbstractContextManager[None]:
    return _NOTHING


_opener: Opener = _no_span
