"""A job without a model: counts, obeys cancels, and fails as requested."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator

from curator.jobs import child_side
from curator.jobs.child_side import run_job
from curator.jobs.wire import Message
from models.errors import no_memory

child_side.GRACE_SECONDS = 0.1


HOLDS = "import sys, time; pipe = open(sys.argv[1], 'w'); pipe.write('x'); pipe.flush(); time.sleep(1000)"
"""Holds a named pipe open for as long as it lives."""


class WrongInputError(Exception):
    """The user's error, for this job."""


def work(spec: Message) -> Generator[Message, None, Message]:
    how = spec["how"]
    print("a library prints something")  # noqa: T201 - must not disturb the protocol
    print("and something to the log", file=sys.stderr)  # noqa: T201
    for i in range(spec.get("steps", 3)):
        data = {"loss": 1 / (i + 1), "pid": os.getpid()}
        yield {"phase": "count", "done": i + 1, "total": 3, "text": "counting", "data": data}
    if how == "busy":
        threading.Event().wait()  # one long step; other threads go on
    if how == "computes":
        sys.setswitchinterval(10**6)  # one long step that keeps the interpreter lock
        while True:
            pass
    if how == "deaf":
        if "pipe" in spec:
            subprocess.Popen([sys.executable, "-c", HOLDS, spec["pipe"]])
        ctypes.PyDLL(None).pause()  # one long step that keeps the interpreter lock
    if how == "user":
        raise WrongInputError("The file x.jsonl, line 3 is wrong. Mend it.")
    if how == "system":
        raise OSError(errno.EROFS, "Read-only file system", "/cache")
    if how == "memory":
        raise MemoryError
    if how == "gpu memory":
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    if how == "bug":
        raise KeyError("oops")
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"message": "Counted.", "sum": 6}


run_job(work, user_errors=(WrongInputError, OSError), no_memory=no_memory)
