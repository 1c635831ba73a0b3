"""Measures time: spans of work in Chrome's trace format, written only if an environment variable is set.

`CURATOR_TRACE=FILE curator open …` makes the window, the commands and all child processes append to one file, for
Perfetto, Speedscope or chrome://tracing. Spans contain names and numbers, never document text. Without the variable, a
span costs one function call. Every package may import this module, as it imports none of ours.

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
"""Time in nanoseconds, shared by all processes of a computer."""


class Trace:
    """One process's writer of a trace file: each span is one line, appended with one write."""

    def __init__(self, path: Path) -> None:
        """Raises OSError if the file cannot be written."""
        new = not path.exists() or path.stat().st_size == 0
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._process = os.getpid()
        if new:  # the format allows an unterminated list
            os.write(self._file, b"[\n")
        self._write({"ph": "M", "name": "process_name", "args": {"name": Path(sys.argv[0]).stem or "curator"}})

    def write(self, name: str, began: int, ended: int, facts: dict[str, Any]) -> None:
        """Write a span between two values of `clock`."""
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
    """Whether spans are written, to skip computing values needed only for them."""
    return _trace is not None


def span(name: str, **facts: Any) -> AbstractContextManager[None]:
    """Record the block as a span; `facts` are numbers and short texts about it."""
    return _NOTHING if _trace is None else _Span(_trace, name, facts)


def since(name: str, began: int, **facts: Any) -> None:
    """Record a span from `began`, a value of `clock`, until now."""
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
