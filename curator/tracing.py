"""Where time goes: spans of work in Chrome's trace format, written only where the environment asks for them.

`CURATOR_TRACE=FILE curator open …` lets the window, the commands and all their child processes append to one file,
which Perfetto, Speedscope and chrome://tracing show. Spans have names and numbers, never text of a document. Without
the variable a span costs a function call. Every package may import this module, as it imports none of ours.

    with span("find candidates", mentions=len(mentions)):
        ...
    began = clock()             # a span that ends elsewhere, such as a key press whose answer is painted later
    since("key", began, key="Return")

`models` has the same `span` (`models/tracing.py`), which the child processes connect with this one.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

VARIABLE = "CURATOR_TRACE"
log = logging.getLogger(__name__)

clock = time.perf_counter_ns
"""Nanoseconds; the same for all processes of a computer."""


class Trace:
    """One process's end of a trace file: each span is one line, appended with one write."""

    def __init__(self, path: Path) -> None:
        """Raises OSError where the file cannot be written."""
        new = not path.exists() or path.stat().st_size == 0
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._process = os.getpid()
        if new:  # the format allows a list without its end
            os.write(self._file, b"[\n")
        self._write({"ph": "M", "name": "process_name", "args": {"name": Path(sys.argv[0]).stem or "curator"}})

    def write(self, name: str, began: int, ended: int, facts: dict[str, Any]) -> None:
        """A span between two values of `clock`."""
        times = {"ts": began / 1000, "dur": (ended - began) / 1000}
        self._write({"ph": "X", "name": name, **times, "args": facts})

    def _write(self, event: dict[str, Any]) -> None:
        where = {"pid": self._process, "tid": threading.get_native_id()}
        os.write(self._file, json.dumps({**event, **where}).encode() + b",\n")


class _Span(AbstractContextManager[None]):
    __slots__ = ("_began", "_facts", "_name", "_trace")

    def __init__(self, trace: Trace, name: str, facts: dict[str, Any]) -> None:
        self._trace, self._name, self._facts = trace, name, facts

    def __enter__(self) -> None:
        self._began = clock()

    def __exit__(self, *_: object) -> None:
        self._trace.write(self._name, self._began, clock(), self._facts)


def is_on() -> bool:
    """Whether spans are written: what only a span needs is worked out only then."""
    return _trace is not None


def span(name: str, **facts: Any) -> AbstractContextManager[None]:
    """The block as a span; `facts` are numbers and short words about it."""
    return _NOTHING if _trace is None else _Span(_trace, name, facts)


def since(name: str, began: int, **facts: Any) -> None:
    """What has lasted from `began`, a value of `clock`, until now as a span."""
    if _trace is not None:
        _trace.write(name, began, clock(), facts)


def _opened(path: str) -> Trace | None:
    if not path:
        return None
    try:
        return Trace(Path(path))
    except OSError as error:
        log.warning("No trace is written: %s cannot be opened (%s). Check %s.", path, error.strerror, VARIABLE)
        return None


_NOTHING = nullcontext()
_trace = _opened(os.environ.get(VARIABLE, ""))
