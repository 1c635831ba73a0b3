"""One of several processes: writes down what it was given, and waits for the end, or stops."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from pathlib import Path

from curator.jobs.wire import REQUESTS, received

(run,) = itertools.islice(received(sys.stdin.buffer, REQUESTS), 1)
spec = run["spec"]
names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
given = {"device": spec["device"], **{name: os.environ[name] for name in names}}
with Path(spec["pipe"]).open("w") as pipe:
    pipe.write(json.dumps(given) + "\n")
    pipe.flush()
    if spec.get("stop"):
        os.kill(os.getpid(), signal.SIGSTOP)
    sys.stdin.buffer.read()
