"""Child processes that exchange the messages of `wire` over their standard input and output."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, cast

from curator.boundary import logged
from curator.domain import wording
from curator.jobs import wire
from curator.jobs.heartbeat import TICK, Heartbeat, Limits
from curator.jobs.wire import Alive, Message

log = logging.getLogger(__name__)
TAIL_BYTES = 4000
LANGUAGE = "CURATOR_LANGUAGE"
"""The environment variable with the language of a child's sentences: en, de."""
PARENT = "CURATOR_PARENT"
"""The environment variable with the process id of the program that starts a child."""
BEAT = "CURATOR_BEAT"
"""The environment variable with the seconds between two heartbeats of a child; without it, it sends none."""
ENVIRONMENT = {
    "PYTHONIOENCODING": "utf-8",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # Threads that spin while they wait slow down two processes on two cores: a training step during an evaluation took
    # more than ten seconds, and takes two if threads sleep.
    "OMP_WAIT_POLICY": "PASSIVE",
}

PAUSE_SECONDS = 0.1
"""The longest pause, for keys that paint nothing. Others end when the key is painted: after 8 ms, nearly always within
16, and later if other programs compute."""
GAP_SECONDS = 0.06


def command(module: str) -> list[str]:
    """The command that starts `module` as a child of this process; its environment also needs `tie`."""
    return [sys.executable, "-m", "curator.jobs.start", module]


def tie() -> dict[str, str]:
    """The environment variables that make a child end with this process (`start`)."""
    return {PARENT: str(os.getpid())}


class ChildGoneError(Exception):
    """The child's input is closed: it ended or is ending; `on_exit` follows."""


class Pauses:
    """Child processes stand still from a key until the window has painted it, and so does work of the window's own
    threads that can wait.

    A lower priority is not enough for that: beside a training and linking, on two cores, the slowest of a hundred keys
    took three times as long as alone. Linux has policies that give way completely (`SCHED_IDLE`), but no user may take
    them back, and such a linker would stand still as long as any other program computes. A stopped process gives way
    completely, and only for a moment. In three runs on a busy machine, with and without pauses in turn, keys
    took 13, 9 and 10 instead of 14, 15 and 12 ms (medians), and 55, 46 and 56 instead of 98, 122 and 64 ms (one of a
    hundred). Much of the rest was this process's own: a thread stores the answers of the linker, and lists follow them.
    Beside a thread that stores answers without a break, keys took 14 instead of 21 ms, and one of twenty 45 instead of
    54, since it gives way too (360 keys each, in turn, on a busy machine).

    * Another thread ends a pause after `PAUSE_SECONDS`, so a window that waits for a child's pipe waits no longer.
    * A key that comes within `GAP_SECONDS` of the last pause makes none: if a key is held down, the children work
      most of the time.
    * If this process ends, the system kills its children even if they are stopped (`start`). Only Linux does that, so
      only there children are stopped.

    Each child leads its own session.
    """

    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._stopped: list[subprocess.Popen[bytes]] = []
        self._changed = threading.Condition()
        self._ended = 0.0  # the end of the current pause or of the last one, in monotonic seconds
        self._thread: threading.Thread | None = None

    def add(self, child: subprocess.Popen[bytes]) -> None:
        with self._changed:
            self._children.append(child)

    def remove(self, child: subprocess.Popen[bytes]) -> None:
        with self._changed:
            self._children.remove(child)
            self._changed.notify_all()

    def make_way(self) -> None:
        """Stop every child until `go_on` is called, or for `PAUSE_SECONDS`; returns at once."""
        now = time.monotonic()
        with self._changed:
            if not self._children or now < self._ended + GAP_SECONDS:
                return
            self._ended = now + PAUSE_SECONDS
            self._stopped = list(self._children)
            for one in self._stopped:
                _signal(one, signal.SIGSTOP)
            if self._thread is None:
                self._thread = threading.Thread(target=self._end_late, name="end of pauses", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def go_on(self) -> None:
        """End the pause, if there is one."""
        if self._stopped:
            with self._changed:
                self._end()

    def give_way(self) -> None:
        """Return after the pause, if there is one: for this process's own threads, before each step of work that can
        wait, since the key needs the interpreter lock and the database too."""
        if self._stopped:
            with self._changed:
                self._changed.wait_for(lambda: not self._stopped, PAUSE_SECONDS)

    def _end(self) -> None:
        for one in self._stopped:
            _signal(one, signal.SIGCONT)
        self._stopped = []
        self._ended = min(self._ended, time.monotonic())
        self._changed.notify_all()

    def _end_late(self) -> None:
        """The thread that ends the pauses which last too long; it lives as long as there are children."""
        with self._changed:
            while True:
                while not self._stopped:
                    if not self._children:
                        self._thread = None
                        return
                    self._changed.wait()
                left = self._ended - time.monotonic()
                if left <= 0:
                    self._end()
                else:
                    self._changed.wait(left)


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a child and to all processes that it started."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)


PAUSES = Pauses()


def make_way() -> None:
    """Let a key have all cores: every child process of this process stands still until it is painted."""
    if sys.platform == "linux":
        PAUSES.make_way()


def go_on() -> None:
    """The key is painted: the child processes go on."""
    PAUSES.go_on()


def give_way() -> None:
    """Wait while a key is handled; returns at once if there is none."""
    PAUSES.give_way()


class ChildProcess:
    """Runs `python -m module`. The child ends within a second of this process, regardless of how that ends (`start`).

    `on_message` and `on_exit(return code, last lines of its log)` come from the child's reader thread. A child that
    sends invalid messages is killed, after a `misunderstood` message in its name, and one whose messages cannot be read
    or taken after a `crashed` message. With `limits`, a child without
    heartbeats is killed too (`heartbeat`), checked every `tick` seconds. Raises OSError if the process cannot be
    started, not if `log` cannot be written.
    """

    def __init__(
        self,
        module: str,
        *,
        log: Path,
        on_message: Callable[[Message], None],
        on_exit: Callable[[int, str], None],
        limits: Limits | None = None,
        tick: float = TICK,
    ) -> None:
        self._on_message = on_message
        self._on_exit = on_exit
        self._log = _writable(log)
        self._log_start = self._log.stat().st_size
        self._write_lock = threading.Lock()
        self._heartbeat: Heartbeat | None = None
        self._started: queue.SimpleQueue[subprocess.Popen[bytes] | BaseException] = queue.SimpleQueue()
        self._ready = threading.Event()
        beats = {} if limits is None else {BEAT: str(tick)}
        self._reader = threading.Thread(target=self._run, args=(module, beats), name=f"reader of {module}", daemon=True)
        self._reader.start()
        started = self._started.get()
        if isinstance(started, BaseException):
            raise started
        self._process = started
        if limits is not None:
            self._heartbeat = Heartbeat(self.pid, self.kill, limits, tick=tick)
        self._ready.set()
        with contextlib.suppress(ChildGoneError):
            self._write(wire.greeting())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def unresponsive(self) -> bool:
        """Whether the child was killed because it sent no heartbeat."""
        return self._heartbeat is not None and self._heartbeat.unresponsive

    def send(self, message: Mapping[str, object]) -> None:
        """Send one message. Raises ChildGoneError if the child no longer reads."""
        self._write(wire.frame(message))

    def _write(self, line: bytes) -> None:
        with self._write_lock:
            stdin = _open_pipe(self._process.stdin)
            try:
                stdin.write(line)
                stdin.flush()
            except (OSError, ValueError) as error:
                raise ChildGoneError(f"process {self.pid} no longer listens") from error

    def kill(self) -> None:
        """Kill it at once, with every process that it started; afterwards only `on_exit` is called."""
        if self._process.poll() is not None:
            return
        if sys.platform == "win32":
            self._process.kill()
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # it leads its own session

    def close(self, *, timeout: float = 5.0) -> None:
        """Close the child's input, wait for its end, kill it if that takes longer than `timeout` seconds."""
        self._close_input()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def _close_input(self) -> None:
        with self._write_lock, contextlib.suppress(OSError):
            _open_pipe(self._process.stdin).close()

    def _run(self, module: str, beats: Mapping[str, str]) -> None:
        """Start the child in a thread that lives as long as it, since the system ends the child with this thread."""
        try:
            with self._log.open("ab") as errors:
                process = subprocess.Popen(  # noqa: S603 - our own module, no shell
                    command(module),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=os.environ | ENVIRONMENT | {LANGUAGE: wording.language(), **beats} | tie(),
                    start_new_session=True,
                )
        except BaseException as error:  # thread boundary: raised in the constructor
            self._started.put(error)
            return
        PAUSES.add(process)
        self._started.put(process)
        self._ready.wait()
        self._read()

    def _read(self) -> None:
        stdout = _open_pipe(self._process.stdout)
        with stdout:
            try:
                for message in wire.received(stdout, wire.EVENTS):
                    if message["event"] != "alive":
                        with self._heartbeat.watch.away() if self._heartbeat is not None else contextlib.nullcontext():
                            self._on_message(message)
                    elif self._heartbeat is not None:
                        self._heartbeat.watch.heard(cast(Alive, message))
            except wire.WireError as error:
                self._fail({"event": "misunderstood", "message": str(error)})
            except Exception as error:  # the boundary of the thread
                log.exception("A message of process %d was not taken", self.pid)
                self._fail({"event": "crashed", "message": repr(error), "detail": traceback.format_exc()})
        code = self._process.wait()
        PAUSES.remove(self._process)
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self._close_input()
        with logged(log, "The end of process %d was not taken", self.pid):
            self._on_exit(code, self._log_tail())

    def _fail(self, message: Message) -> None:
        self.kill()
        with logged(log, "The failure of process %d was not taken", self.pid):
            self._on_message(message)

    def _log_tail(self) -> str:
        """'' if the disk does not give it."""
        try:
            with self._log.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(self._log_start, end - TAIL_BYTES))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""


def _writable(log: Path) -> Path:
    """A log that cannot be written does not stop the program: the null device then."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.open("ab").close()
    except OSError:
        return Path(os.devnull)
    return log


def _open_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "the process was started with pipes"
    return pipe
