"""The first module of every child process: `python -m curator.jobs.start MODULE`.

It ties the child to the life of its parent before it imports anything that takes long, then runs MODULE. A child that
outlives its parent would hold the graphics card and the processor, and write into a folder that another program may
have opened by then. Two ways, since each has its gap:

* **The input closes** when the parent ends, however it ends, on every system. A thread of the child reads it
  (`child_side.Channel`); a library that holds the interpreter lock, as while torch is loaded, delays that thread.
* **The system kills the child** (Linux: `PR_SET_PDEATHSIG`). It means the parent's thread that started the child, which
  therefore is the one that reads from it and lives as long (`child.ChildProcess`).

No checkpoint is written at such an end: it would take longer than the second in which children are to be gone, and the
last one is at most two minutes old (`training.loop.saving`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import runpy
import signal
import sys

from curator.jobs.child import PARENT

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Let the system end this process with its parent's; ends it now where the parent is gone already."""
    parent = os.environ.get(PARENT, "")
    if not parent.isdigit():
        return  # started by hand
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library: the closing input remains
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.name == "posix" and os.getppid() != int(parent):  # it ended before the system was asked
        os._exit(130)


def main() -> None:
    end_with_parent()
    module = sys.argv.pop(1)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
