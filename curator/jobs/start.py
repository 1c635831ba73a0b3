"""The first module of every child process: `python -m curator.jobs.start MODULE`.

It ensures that the child ends with its parent before it imports anything that takes long, then runs MODULE. A child
that outlives its parent would occupy the GPU and the processor, and write into a folder that another program may have
opened meanwhile. There are two ways, since each has a gap:

* **The input closes** when the parent ends, in any way, on every system. A thread of the child reads it
  (`child_side.Channel`); a library that holds the interpreter lock, as when torch is imported, delays that thread.
* **The system kills the child** (Linux: `PR_SET_PDEATHSIG`). This is tied to the parent's thread that started the
  child, so this thread reads from the child and lives as long (`child.ChildProcess`).

No checkpoint is written at such an end: it would take longer than the second within which children must end, and the
last one is at most two minutes old (`training.loop.saving`).

Then it sends heartbeats, if the parent wants them (`heartbeat`): MODULE may import torch, which takes seconds, and
longer from a slow disk.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import runpy
import signal
import sys

from curator.jobs.child import BEAT, PARENT

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Make the system end this process with its parent; end it now if the parent has already ended."""
    parent = os.environ.get(PARENT, "")
    if not parent.isdigit():
        return  # started by hand
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library: the closing input remains
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.name == "posix" and os.getppid() != int(parent):  # the parent ended before the call
        os._exit(130)


def main() -> None:
    end_with_parent()
    if tick := os.environ.get(BEAT):
        from curator.jobs.child_side import own_channel

        own_channel().beat(float(tick))
    module = sys.argv.pop(1)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
