"""The limit of CPU time for each operation on an input."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

patience = 1.0  # times the limit, for machines that may be slow and busy
_seconds = 0.0  # of the input that is being read


class TooLong(BaseException):  # no reader may catch it
    """The input took more than its time."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TooLong inside the block."""
    global _seconds

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"more than {seconds * patience} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    _seconds = seconds * patience
    again()
    try:
        yield
    finally:
        _seconds = 0.0
        again()
        signal.signal(signal.SIGVTALRM, before)


def again() -> None:
    """Something else is done with the input now, such as writing what was read, and may take as much."""
    signal.setitimer(signal.ITIMER_VIRTUAL, _seconds)
