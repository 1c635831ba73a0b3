"""One training in several processes, one for each GPU.

The job's own process is the first; it starts the others with the same specification, each with its own GPU. They train
together (`training.loop.accelerator`); only the first does the steps after training.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from curator.jobs import wire
from curator.jobs.child import command, tie
from curator.jobs.wire import Message

RANK = "RANK"


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
    process = subprocess.Popen(  # noqa: S603 - our own module, no shell
        command(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,  # only the first process reports
        env=os.environ | dict(environment) | tie(),
    )
    assert process.stdin is not None, "the process was started with a pipe"
    try:
        process.stdin.write(wire.greeting() + wire.frame(wire.RunJob(op="run", spec=spec)))
        process.stdin.flush()
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()  # it ends by itself when its input closes
        process.kill()
        process.wait()


def _place(number: int) -> dict[str, str]:
    return {RANK: str(number), "LOCAL_RANK": str(number)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
