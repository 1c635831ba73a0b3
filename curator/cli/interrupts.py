"""Ctrl+C between two steps instead of anywhere, so that it leaves no transaction open and no lock held."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = b"\nStopping after this step; Ctrl+C again stops at once.\n"


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Within, Ctrl+C has its effect when the yielded function is called: it raises KeyboardInterrupt.

    A second Ctrl+C raises wherever the program is. Where Ctrl+C does not raise (it is ignored, as under `nohup`, or the
    thread is not the main one), nothing changes.
    """
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield _nothing
        return
    pressed = False

    def hold(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        os.write(2, STOPPING)  # sys.stderr may be in the middle of a write

    def look() -> None:
        if pressed:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, hold)
    try:
        yield look
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _nothing() -> None:
    return
