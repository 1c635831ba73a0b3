"""The child's end of the pipes: a thread reads messages; events, and nothing else, go to standard output."""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import cache
from typing import Any, NoReturn, Protocol

from curator.domain import wording
from curator.domain.wording import catalogue, ntr, tr
from curator.jobs import wire
from curator.jobs.child import LANGUAGE
from curator.jobs.heartbeat import TICK
from curator.jobs.wire import Message
from curator.tracing import clock, since

GRACE_SECONDS = 3.0
"""A cancelled child that is still in one long step after this time ends itself. The parent kills it soon after, since a
library that holds the interpreter lock blocks all threads of the child."""
ORPHAN_SECONDS = 0.5
"""The same if the parent has ended: a step that ends sooner is completed."""
NICE, NICER = 5, 10
"""For what a curator waits for, and for trainings. Beside a process that computes with two threads, on two cores, work
like that of a key took 47 and 64 % longer with 5, 2 and 41 % with 10 (two runs on a
busy machine). With more, a training would stand still while other programs compute."""


class Channel:
    """Standard output reserved for events; output of libraries is redirected to the log. A process has one:
    `own_channel`."""

    def __init__(self) -> None:
        self.in_request = False  # whether it is answering a request, for `beat`
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._lock = threading.Lock()
        self._write(wire.greeting())

    def emit(self, event: Mapping[str, object]) -> None:
        self._write(wire.frame(event))

    def beat(self, tick: float = TICK) -> None:
        """Start the thread that sends a heartbeat every `tick` seconds."""
        threading.Thread(target=self._beat, args=(tick,), name="beat", daemon=True).start()

    def _beat(self, tick: float) -> None:
        never = threading.Event()
        while not never.wait(tick):
            times = os.times()
            self.emit(wire.Alive(event="alive", cpu=times.user + times.system, request=self.in_request))

    def receive_into(
        self, inbox: queue.SimpleQueue[Message | None], *, at_end: Callable[[], None] = lambda: None
    ) -> None:
        """Start the thread that puts every request into `inbox`, and None if the parent has ended or sent an invalid
        message; then it calls `at_end`."""
        threading.Thread(target=self._read_input, args=(inbox, at_end), name="input", daemon=True).start()

    def _read_input(self, inbox: queue.SimpleQueue[Message | None], at_end: Callable[[], None]) -> None:
        try:
            for message in wire.received(sys.stdin.buffer, wire.REQUESTS):
                inbox.put(message)
        except wire.WireError as error:
            self.emit(wire.Misunderstood(event="misunderstood", message=str(error)))
        finally:
            inbox.put(None)
            at_end()

    def _write(self, line: bytes) -> None:
        with self._lock:
            self._out.write(line)
            self._out.flush()


@cache
def own_channel() -> Channel:
    """This process's channel, opened at the first call: by `start` if its parent wants heartbeats."""
    return Channel()


class JobEvent(Protocol):
    """An event of a job: progress, and last an event whose data holds the `result`."""

    @property
    def data(self) -> Mapping[str, Any]: ...

    def to_json(self) -> dict[str, Any]: ...


def passed_on(events: Iterable[JobEvent]) -> Generator[Message, None, Message]:
    """Send a job's events as messages; returns the result in the last one."""
    last: JobEvent | None = None
    for last in events:
        yield last.to_json()
    assert last is not None, "a job yields its result last"
    return dict(last.data["result"])


def speak(use: Callable[[Callable[..., str], Callable[..., str]], None]) -> None:
    """Use the parent's language, here and in the packages that get the translation through `use`."""
    wording.use(catalogue(os.environ.get(LANGUAGE, "")))
    use(tr, ntr)


def be_nice(by: int = NICE) -> None:
    """Lower this process's priority, so that the window stays responsive."""
    if hasattr(os, "nice"):
        os.nice(by)


class Cancellation:
    """Set by a `cancel` message or by the parent's end; a step that takes too long is aborted."""

    def __init__(self, inbox: queue.SimpleQueue[Message | None]) -> None:
        self._event = threading.Event()
        self._inbox = inbox
        threading.Thread(target=self._watch, name="cancellation", daemon=True).start()

    def __bool__(self) -> bool:
        return self._event.is_set()

    def _watch(self) -> None:
        while (message := self._inbox.get()) is not None and message["op"] != "cancel":
            pass
        self._event.set()
        grace = GRACE_SECONDS if message is not None else ORPHAN_SECONDS
        timer = threading.Timer(grace, os._exit, args=(130,))
        timer.daemon = True
        timer.start()


def run_job(
    work: Callable[[Message], Generator[Message, None, Message]],
    *,
    user_errors: tuple[type[Exception], ...],
    no_memory: Callable[[Exception], Exception | None] = lambda _: None,
    nice: int = NICE,
) -> NoReturn:
    """Run one job: the first request holds its specification; it yields progress events. `nice` as for `be_nice`.

    `no_memory`: a user error in the place of one that means that memory ran out, None for any other.

    Ends the process with 0 (done), 130 (cancelled), 2 (a user error) or 1 (a bug).
    """
    channel = own_channel()
    inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
    channel.receive_into(inbox)
    request = inbox.get()
    if request is None or request["op"] != "run":
        sys.exit(130)
    be_nice(nice)
    cancelled = Cancellation(inbox)
    try:
        code = _drive(work(request["spec"]), channel, cancelled)
    except Exception as error:  # process boundary: the parent shows any other as a bug with the traceback
        reported = no_memory(error)
        if reported is not None or isinstance(error, user_errors):
            channel.emit(wire.Failed(event="failed", message=_sentence(reported or error)))
            code = 2
        else:
            channel.emit(wire.Crashed(event="crashed", message=repr(error), detail=traceback.format_exc()))
            code = 1
    sys.stderr.flush()
    os._exit(code)  # without waiting for libraries' threads


def _sentence(error: Exception) -> str:
    """The message for an operating-system error; other errors have their own."""
    if isinstance(error, OSError) and error.strerror:
        what = error.filename or tr("A file of the job")
        return tr(
            "{what}: {strerror}. Nothing was changed. Check the folder's permissions and the free disk "
            "space, then start it again.",
            what=what,
            strerror=error.strerror,
        )
    return str(error)


def _drive(steps: Generator[Message, None, Message], channel: Channel, cancelled: Cancellation) -> int:
    while True:
        began = clock()
        try:
            step = next(steps)
            since(str(step.get("phase", "step")), began)
            channel.emit({"event": "progress", **step})
        except StopIteration as end:
            since("result", began)
            channel.emit(wire.Done(event="done", result=end.value))
            return 0
        if cancelled:
            steps.close()
            channel.emit(wire.Cancelled(event="cancelled"))
            return 130
