"""A job without a model: counts, obeys cancels, and fails in every way it is told to."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Generator

from curator.jobs.child_side import Message, run_job


class WrongInputError(Exception):
    """The user's error, as far as this job is concerned."""


def work(spec: Message) -> Generator[Message, None, Message]:
    how = spec["how"]
    print("a library prints something")  # noqa: T201 - must not disturb the protocol
    print("and something to the log", file=sys.stderr)  # noqa: T201
    for i in range(spec.get("steps", 3)):
        yield {"phase": "count", "done": i + 1, "total": 3, "text": "counting", "data": {"loss": 1 / (i + 1)}}
    if how == "user":
        raise WrongInputError("The file x.jsonl, line 3 is wrong. Mend it.")
    if how == "system":
        raise OSError(errno.EROFS, "Read-only file system", "/cache")
    if how == "memory":
        raise MemoryError
    if how == "bug":
        raise KeyError("oops")
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"message": "Counted.", "sum": 6}


run_job(work, user_errors=(WrongInputError, OSError, MemoryError))
