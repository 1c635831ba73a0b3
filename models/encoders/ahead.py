"""Work on the next pieces in threads while the results of those before are used: numpy lets go of Python's lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")
WORKERS = min(2, os.cpu_count() or 1)
"""More would hold more pieces in memory at a time."""


def ahead(work: Callable[[Piece], Result], pieces: Iterable[Piece], *, workers: int = WORKERS) -> Iterator[Result]:
    """`work(piece)` of each, in their order; `pieces` is gone through in the caller's thread.

    At most `workers` results are under way or wait beside the one in use. An error of `work` is raised in its piece's
    turn; what is under way then, or when the iterator is closed, is waited for.
    """
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="ahead") as pool:
        for piece in pieces:
            if len(waiting) == workers:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, piece))
        while waiting:
            yield waiting.popleft().result()
