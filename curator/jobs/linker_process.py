"""The linker for the window: a child process that gets small batches and is restarted when it dies.

One thread, the keeper, owns all state. Every public method only puts work into its inbox, so none blocks the caller.
Documents go to the child a few at a time, so that an urgent request overtakes queued ones.
"""

from __future__ import annotations

import itertools
import logging
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from curator.boundary import logged
from curator.domain.entities import Entity
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus
from curator.domain.suggestions import Contrast, Suggestion
from curator.domain.wording import tr
from curator.jobs import wire
from curator.jobs.child import ChildGoneError, ChildProcess, give_way
from curator.jobs.heartbeat import FOR_LINKER, TICK
from curator.jobs.linker_messages import (
    LinkerOptions,
    contrast_from_wire,
    decided_to_wire,
    detected_from_wire,
    document_to_wire,
    entity_to_wire,
    parts_of,
    suggestions_from_wire,
)
from curator.jobs.runner import cancelled
from curator.services.ports.processes import DecidedDocument, DetectedMention, LinkDocument

MODULE = "curator.jobs.linker_main"
IN_FLIGHT = 2  # one in progress, one waiting in the pipe
MAX_ATTEMPTS = 2
MAX_DEATHS, DEATHS_WITHIN = 3, 60.0  # give up after more deaths than this within this many seconds
ENDED = "The linker process ended unexpectedly and is being restarted."
UNRESPONSIVE = "The linker process stopped responding. It was ended and is being restarted."
BUG = "The linker stopped because of an error in Curator ({error})."
log = logging.getLogger(__name__)


def _done() -> JobOutcome:
    return JobOutcome(JobState.DONE, tr("Done."))


@dataclass(slots=True)
class Request:
    id: int
    on_end: Callable[[JobOutcome], None]
    receive: Callable[[Any], None]
    urgent: bool
    left: int = 0  # batches not yet answered
    ended: bool = False


@dataclass(slots=True)
class Batch:
    request: Request
    message: Mapping[str, object]  # of `wire`; its `batch` is set when it is sent
    attempts: int = 0


@dataclass(slots=True)
class State:
    """The state that the keeper thread owns."""

    child: ChildProcess | None = None
    generation: int = 0
    ready: bool = False
    bundle: tuple[str, str] | None = None  # (path, id) that should be in use
    requests: dict[int, Request] = field(default_factory=dict)
    urgent: deque[Batch] = field(default_factory=deque)
    waiting: deque[Batch] = field(default_factory=deque)
    sent: dict[int, Batch] = field(default_factory=dict)
    deaths: deque[float] = field(default_factory=deque)
    changes: list[Mapping[str, object]] = field(default_factory=list)  # of the bundle's entities, for every new child


class LinkerProcess:
    """Implements `LinkerPort`."""

    def __init__(
        self, log_dir: Path, options: LinkerOptions | None = None, *, module: str = MODULE, tick: float = TICK
    ) -> None:
        """`tick`: seconds between two checks whether the process is alive (`heartbeat`)."""
        self._log_dir = log_dir
        self._module = module
        self._tick = tick
        self._options = options or LinkerOptions()
        self._status = LinkerStatus(LinkerState.OFF, tr("No linker is loaded yet."))
        self._listeners: list[Callable[[LinkerStatus], None]] = []
        self._state = State()
        self._ids = itertools.count(1)
        self._batches = itertools.count(1)
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._closed = False
        self._keeper = threading.Thread(target=self._keep, name="linker keeper", daemon=True)
        self._keeper.start()

    # --- public, from any thread ---------------------------------------------------------------------------

    @property
    def status(self) -> LinkerStatus:
        return self._status

    @property
    def pid(self) -> int | None:
        """Process id of the running child, for diagnostics and tests."""
        child = self._state.child
        return child.pid if child is not None else None

    def on_status(self, listener: Callable[[LinkerStatus], None]) -> Callable[[], None]:
        self._listeners.append(listener)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return end

    def open(self, bundle: Path, bundle_id: str) -> None:
        self._inbox.put(partial(self._open, str(bundle), bundle_id))

    def link(
        self,
        documents: Sequence[LinkDocument],
        *,
        k: int,
        urgent: bool,
        on_document: Callable[[int, list[Suggestion]], None],
        on_end: Callable[[JobOutcome], None],
        own: bool = True,
    ) -> int:
        def receive(message: wire.Linked) -> None:
            on_document(message["document"], suggestions_from_wire(message))

        messages: list[wire.Link] = [
            {"op": "link", "batch": 0, "k": k, "own": own, "documents": [document_to_wire(one) for one in part]}
            for part in parts_of(documents, urgent=urgent)
        ]
        return self._ask(messages, receive, on_end, urgent=urgent)

    def remember(self, documents: Sequence[DecidedDocument], *, on_end: Callable[[JobOutcome], None]) -> int:
        message = wire.Remember(op="remember", batch=0, documents=[decided_to_wire(one) for one in documents])
        return self._ask([message] if documents else [], lambda _: None, on_end, urgent=True)

    def detect(
        self,
        texts: Sequence[tuple[int, str]],
        *,
        types: Sequence[str],
        on_document: Callable[[int, list[DetectedMention]], None],
        on_end: Callable[[JobOutcome], None],
    ) -> int:
        def receive(message: wire.Detected) -> None:
            on_document(message["document"], detected_from_wire(message))

        messages: list[wire.Detect] = [
            {"op": "detect", "batch": 0, "types": list(types), "documents": [{"id": i, "text": text}]}
            for i, text in texts
        ]
        return self._ask(messages, receive, on_end, urgent=False)

    def contrast(
        self,
        document: LinkDocument,
        *,
        mention_id: int,
        entity_ids: tuple[str, str],
        on_answer: Callable[[Contrast], None],
        on_end: Callable[[JobOutcome], None],
    ) -> int:
        def receive(message: wire.Contrasted) -> None:
            on_answer(contrast_from_wire(message))

        asked = document_to_wire(document)
        message = wire.ContrastTwo(
            op="contrast", batch=0, document=asked, mention=mention_id, entities=list(entity_ids)
        )
        return self._ask([message], receive, on_end, urgent=True)

    def change_entities(
        self, *, upsert: Sequence[Entity], remove: Sequence[str], on_end: Callable[[JobOutcome], None]
    ) -> int:
        new = [entity_to_wire(entity) for entity in upsert]
        message = wire.ChangeEntities(op="entities", batch=0, upsert=new, remove=list(remove))
        self._inbox.put(partial(self._state.changes.append, message))
        return self._ask([message], lambda _: None, on_end, urgent=True)

    def cancel(self, request_id: int) -> None:
        self._inbox.put(partial(self._cancel, request_id))

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._inbox.put(self._shut_down)
        self._inbox.put(None)
        self._keeper.join()

    # --- the keeper's thread -------------------------------------------------------------------------------

    def _keep(self) -> None:
        while (work := self._inbox.get()) is not None:
            give_way()
            try:
                work()
            except Exception as error:  # the boundary of the thread
                log.exception("The linker's thread failed")
                self._begin_again(error)

    def _begin_again(self, error: Exception) -> None:
        """After a bug in this thread, repeat what was requested with another process, or give up."""
        state = self._state
        try:
            if state.child is not None:
                state.child.kill()
            if state.child is None or self._closed:
                raise error
            self._exited(state.generation, 0, traceback.format_exc())
        except Exception:
            state.child, state.ready = None, False
            with logged(log, "The linker could not be given up"):
                self._give_up(tr(BUG, error=repr(error)))

    def _ask(
        self,
        messages: Sequence[Mapping[str, object]],
        receive: Callable[[Any], None],
        on_end: Callable[[JobOutcome], None],
        *,
        urgent: bool,
    ) -> int:
        request = Request(next(self._ids), on_end, receive, urgent, left=len(messages))
        self._inbox.put(partial(self._accept, request, messages))
        return request.id

    def _accept(self, request: Request, messages: Sequence[Mapping[str, object]]) -> None:
        state = self._state
        if not messages:
            self._end(request, _done())
            return
        state.requests[request.id] = request
        line = state.urgent if request.urgent else state.waiting
        line.extend(Batch(request, message) for message in messages)
        if self._status.state in (LinkerState.OFF, LinkerState.FAILED):
            self._fail_all(JobOutcome(JobState.FAILED, self._status.message))
        self._pump()

    def _open(self, path: str, bundle_id: str) -> None:
        state = self._state
        if state.bundle != (path, bundle_id):
            state.changes.clear()
        state.bundle = (path, bundle_id)
        state.deaths.clear()
        if state.child is None:
            self._start(LinkerState.STARTING, tr("The linker is starting."))
            return
        if state.ready:
            self._status = replace(self._status, opening=bundle_id)
        elif self._status.state is LinkerState.FAILED:
            self._set_status(LinkerStatus(LinkerState.STARTING, tr("The linker is starting.")))
        self._send_open()

    def _start(self, state: LinkerState, message: str) -> None:
        self._set_status(LinkerStatus(state, message))
        self._state.generation += 1
        generation = self._state.generation
        try:
            self._state.child = ChildProcess(
                self._module,
                log=self._log_dir / "linker.log",
                on_message=lambda m: self._inbox.put(partial(self._receive, generation, m)),
                on_exit=lambda code, tail: self._inbox.put(partial(self._exited, generation, code, tail)),
                limits=FOR_LINKER,
                tick=self._tick,
            )
        except OSError as error:
            self._give_up(tr("The linker process could not be started ({error}).", error=error))
            return
        options = self._options
        self._send(wire.Start(op="start", device=options.device, threads=options.threads, cache=options.cache))
        self._send_open()

    def _send_open(self) -> None:
        if self._state.bundle is not None:
            path, bundle_id = self._state.bundle
            self._send(wire.Open(op="open", bundle=path, bundle_id=bundle_id))

    def _send(self, message: Mapping[str, object]) -> None:
        try:
            if self._state.child is not None:
                self._state.child.send(message)
        except ChildGoneError:
            return  # `_exited` comes next and sends it again

    def _pump(self) -> None:
        state = self._state
        while state.ready and len(state.sent) < IN_FLIGHT and (state.urgent or state.waiting):
            batch = (state.urgent or state.waiting).popleft()
            if batch.request.ended:
                continue
            number = next(self._batches)
            batch.attempts += 1
            state.sent[number] = batch
            self._send({**batch.message, "batch": number})

    def _receive(self, generation: int, message: wire.Message) -> None:
        if generation != self._state.generation:
            return
        event = message["event"]
        if event in ("linked", "detected", "contrasted"):
            batch = self._state.sent.get(message["batch"])
            if batch is not None and not batch.request.ended:
                self._pass_on(batch.request, message)
        elif event == "end":
            self._batch_done(message["batch"])
        elif event == "error":
            self._batch_failed(cast(wire.BatchError, message))
        elif event == "opening":
            if not self._state.ready:
                self._set_status(replace(self._status, message=message["message"]))
        elif event == "opened":
            self._opened(cast(wire.Opened, message))
        elif event == "open_failed":
            self._open_failed(cast(wire.OpenFailed, message))
        else:
            self._misunderstood(message["message"])

    def _pass_on(self, request: Request, message: wire.Message) -> None:
        """A request whose answer cannot be taken ends; the others go on."""
        try:
            request.receive(message)
        except Exception as error:  # the boundary of a callback
            log.exception("An answer of the linker was not taken")
            self._end(request, JobOutcome.of_error(error))

    def _batch_done(self, number: int) -> None:
        batch = self._state.sent.pop(number, None)
        if batch is not None:
            batch.request.left -= 1
            if batch.request.left == 0:
                self._end(batch.request, _done())
        self._pump()

    def _batch_failed(self, message: wire.BatchError) -> None:
        batch = self._state.sent.pop(message["batch"], None)
        if batch is not None:
            state = JobState.FAILED if message["kind"] == "user" else JobState.CRASHED
            self._end(batch.request, JobOutcome(state, message["message"], detail=message["detail"]))
        self._pump()

    def _opened(self, message: wire.Opened) -> None:
        self._state.ready = True
        wanted = self._state.bundle[1] if self._state.bundle is not None else ""
        for change in self._state.changes:
            self._send(change)
        self._set_status(
            LinkerStatus(
                LinkerState.READY,
                "ready",
                bundle_id=message["bundle_id"],
                device=message["device"],
                on_gpu=message["on_gpu"],
                stages=tuple(message["stages"]),
                process=self._state.generation,
                hears_opinions=message["hears_opinions"],
                opening=wanted if wanted != message["bundle_id"] else "",
            )
        )
        self._pump()

    def _open_failed(self, message: wire.OpenFailed) -> None:
        text = message["message"]
        if self._state.bundle is not None and message["bundle_id"] != self._state.bundle[1]:
            return  # another bundle was requested since
        if self._state.ready:  # the bundle in use stays in use
            self._set_status(replace(self._status, message=text, opening=""))
        else:
            self._set_status(LinkerStatus(LinkerState.FAILED, text))
            self._fail_all(JobOutcome(JobState.FAILED, text))

    def _misunderstood(self, text: str) -> None:
        """Stop after a protocol error: another child would fail the same way, so none is started until requested."""
        state = self._state
        state.generation += 1  # its end is expected
        state.child, state.ready = None, False
        state.sent.clear()
        self._set_status(LinkerStatus(LinkerState.FAILED, text))
        self._fail_all(JobOutcome(JobState.FAILED, text))

    def _exited(self, generation: int, code: int, log_tail: str) -> None:
        state = self._state
        if generation != state.generation:
            return
        silent = state.child is not None and state.child.unresponsive
        state.child, state.ready = None, False
        now = time.monotonic()
        state.deaths.append(now)
        while state.deaths and now - state.deaths[0] > DEATHS_WITHIN:
            state.deaths.popleft()
        self._put_back(log_tail)
        if len(state.deaths) > MAX_DEATHS:
            self._give_up(
                tr(
                    "The linker process crashed {number} times within a minute (last exit code {code}).",
                    number=len(state.deaths),
                    code=code,
                )
            )
        else:
            self._start(LinkerState.RESTARTING, tr(UNRESPONSIVE if silent else ENDED))

    def _put_back(self, log_tail: str) -> None:
        """The request in progress is repeated once; a second death during it ends the request."""
        for _, batch in sorted(self._state.sent.items(), reverse=True):
            if batch.request.ended:
                continue
            if batch.attempts >= MAX_ATTEMPTS:
                text = tr("The linker process crashed twice on this request; nothing was changed.")
                self._end(batch.request, JobOutcome(JobState.CRASHED, text, detail=log_tail))
            else:
                (self._state.urgent if batch.request.urgent else self._state.waiting).appendleft(batch)
        self._state.sent.clear()

    def _give_up(self, message: str) -> None:
        text = tr(
            "{message} See {log_dir}. To try again, choose Model › Restart linker.",
            message=message,
            log_dir=self._log_dir / "linker.log",
        )
        self._set_status(LinkerStatus(LinkerState.FAILED, text))
        self._fail_all(JobOutcome(JobState.FAILED, text))

    def _fail_all(self, outcome: JobOutcome) -> None:
        self._state.urgent.clear()
        self._state.waiting.clear()
        for request in list(self._state.requests.values()):
            self._end(request, outcome)

    def _cancel(self, request_id: int) -> None:
        request = self._state.requests.get(request_id)
        if request is not None:
            self._end(request, cancelled())

    def _end(self, request: Request, outcome: JobOutcome) -> None:
        self._state.requests.pop(request.id, None)
        if not request.ended:
            request.ended = True
            with logged(log, "The end of a request was not taken"):
                request.on_end(outcome)

    def _shut_down(self) -> None:
        state = self._state
        state.generation += 1  # later messages and the exit are expected
        self._set_status(LinkerStatus(LinkerState.OFF, tr("The linker was closed.")))
        self._fail_all(cancelled())
        if state.child is not None:
            state.child.close()
            state.child = None

    def _set_status(self, status: LinkerStatus) -> None:
        self._status = status
        for listener in list(self._listeners):
            with logged(log, "A listener to the linker failed"):
                listener(status)
