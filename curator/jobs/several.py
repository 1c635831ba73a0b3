"""One training in several processes, one for each GPU.

The job's own process is the first; it starts the others with the same specification, each with its own GPU. They train
together (`training.loop.accelerator`); only the first does the steps after training. It watches their heartbeats, as
its own are watched (`heartbeat`): without one of them the others would wait for it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import cast

from curator.domain.wording import tr
from curator.jobs import wire
from curator.jobs.child import BEAT, command, tie
from curator.jobs.child_side import give_up
from curator.jobs.heartbeat import FOR_JOBS, TICK, Heartbeat
from curator.jobs.wire import Alive, Message

RANK = "RANK"
JOIN_SECONDS = 5.0  # a process that the other one left behind may hold its output
SILENT = (
    "One of the processes that train together stopped responding, and all were ended. Nothing was changed; start it "
    "again."
)


def rank() -> int:
    """This process's number among those that train together; 0 if it is alone."""
    return int(os.environ.get(RANK) or 0)


@contextmanager
def together(spec: Message, module: str) -> Iterator[Message]:
    """The specification for this process, while the others run `module`; they end with the block, or with this process.

    `spec["processes"]` is the total number (default 1: nothing is started).
    """
    count = int(spec.get("processes") or 1)
    if count < 2 or rank():
        yield spec
        return
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "WORLD_SIZE": str(count)}
    with ExitStack() as started:
        for number in range(1, count):
            started.enter_context(_other(module, own_spec(spec, number), {**shared, **_place(number)}))
        os.environ.update({**shared, **_place(0)})
        try:
            yield own_spec(spec, 0)
        finally:
            for name in (*shared, *_place(0)):
                os.environ.pop(name, None)


def own_spec(spec: Message, number: int) -> Message:
    """The specification for process `number`: with its own GPU."""
    return {**spec, "device": f"cuda:{number}" if str(spec.get("device")) in ("auto", "cuda") else spec["device"]}


@contextmanager
def _other(module: str, spec: Message, environment: Mapping[str, str]) -> Iterator[None]:
    tick = float(os.environ.get(BEAT) or TICK)
    process = subprocess.Popen(  # noqa: S603 - our own module, no shell
        command(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | dict(environment) | tie() | {BEAT: str(tick)},
    )
    assert process.stdin is not None, "the process was started with a pipe"

    def silent() -> None:
        process.kill()
        give_up(tr(SILENT))

    heartbeat = Heartbeat(process.pid, silent, FOR_JOBS, tick=tick)
    listener = threading.Thread(target=_listen, args=(process, heartbeat), name="other process", daemon=True)
    listener.start()
    try:
        process.stdin.write(wire.greeting() + wire.frame(wire.RunJob(op="run", spec=spec)))
        process.stdin.flush()
        yield
    finally:
        heartbeat.stop()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()  # it ends by itself when its input closes
        process.kill()
        process.wait()
        listener.join(JOIN_SECONDS)


def _listen(process: subprocess.Popen[bytes], heartbeat: Heartbeat) -> None:
    """Read what the process sends until it ends. Only the first process reports: everything else is ignored."""
    assert process.stdout is not None, "the process was started with a pipe"
    with process.stdout as stdout:
        try:
            for message in wire.received(stdout, wire.EVENTS):
                if message["event"] == "alive":
                    heartbeat.watch.heard(cast(Alive, message))
        except wire.WireError:
            heartbeat.stop()
            stdout.read()
    heartbeat.stop()  # it has ended; libraries notice that


def _place(number: int) -> dict[str, str]:
    return {RANK: str(number), "LOCAL_RANK": str(number)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
