"""One attempt: a fresh copy of a scenario's folder, a child that acts on it and is disturbed, and a second child, as
the next start of the program, that opens and checks the result."""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from curator.domain.wording import UserError
from curator.storage.store import SqlStore, SqlUnitOfWork
from tests.durability.disk import Disk, Tree, read_tree, write_tree
from tests.durability.judging import LEFT, State, leftovers, plain, state_of
from tests.durability.scenarios import Scenario, scenarios
from tests.durability.shim import Call, Kind, Shim, read_record
from tests.durability.world import DEADLINE, Place, Promises, Refused, Run, open_project, run_child


class Reference:
    """An undisturbed run: the folder before it, its calls, and its states after each step as the next start sees them,
    found when they are needed first."""

    def __init__(
        self, stage: Stage, scenario: Scenario, before: Tree, calls: Sequence[Call], reads: Sequence[Call]
    ) -> None:
        self.root = str(stage.place.root)
        self.base = f"{stage.place.base}/"
        self.before = before
        self.calls = calls
        self.reads = reads
        self.steps = scenario.steps
        self._stage = stage
        self._scenario = scenario
        self._committed: list[Tree] = []
        self._trees = [before, *self._after_steps()]
        self._states: dict[int, State] = {}
        self._between: list[State] | None = None
        self.last = self.state(self.steps)
        if scenario.again is not None:
            stage.reset(self._trees[-1])
            self.last = stage.seen(scenario, again=True)
        self.names = set(before) | {name for tree in (self._trees[0], self._trees[-1]) for name in tree}
        self.names |= set(self.last.files) | {Path(name).parent.as_posix() for name in self.last.files}

    def state(self, step: int) -> State:
        if step not in self._states:
            self._states[step] = self._seen(self._trees[step])
        return self._states[step]

    def all(self) -> list[State]:
        return [self.state(step) for step in range(self.steps + 1)]

    def after_commits(self) -> list[State]:
        """The states between the transactions of scenarios that may be stopped there."""
        if self._between is None:
            self._between = []
            for tree in self._committed:
                self._between.append(self._seen(tree).without_left())
        return self._between

    def _seen(self, tree: Tree) -> State:
        """The state of a tree. What an attempt left in the folder is there again afterwards."""
        kept = read_tree(self._stage.place.root)
        self._stage.reset(tree)
        found = self._stage.seen(self._scenario)
        self._stage.reset(kept)
        return found

    def _after_steps(self) -> list[Tree]:
        """The folder when each step was answered."""
        disk, trees = Disk(self.root, self.before), []
        for call in self.calls:
            if call.kind is Kind.MARK:
                if call.path == COMMIT and self._scenario.commits:
                    self._committed.append(disk.now())
                elif call.path == f"answered {len(trees) + 1}":
                    trees.append(disk.now())
            else:
                disk.take(call)
        assert len(trees) == self.steps, f"{len(trees)} of {self.steps} steps were answered"
        return [*trees[:-1], disk.now()]


COMMIT = "commit"
"""The mark after each transaction."""
FRESH = 200
"""Starts after which another process takes over."""


SELDOM = 8
"""Of so many attempts that left nothing unfinished, one repeats the command."""


class Starter:
    """A process that starts the program on the folder as often as it is asked to."""

    def __init__(self, place: Place) -> None:
        self.used = 0
        asked, self._ask = os.pipe()
        self._answers, answer = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._ask)
            os.close(self._answers)
            with suppress(BaseException):
                _start_each(place, asked, answer)
            os._exit(0)
        os.close(asked)
        os.close(answer)

    def start(self, scenario: Scenario, *, again: bool) -> Run:
        self.used += 1
        os.write(self._ask, json.dumps([scenario.name, again]).encode() + b"\n")
        raw, until = b"", time.monotonic() + DEADLINE
        while not raw.endswith(b"\n"):
            if not select.select([self._answers], [], [], max(0.0, until - time.monotonic()))[0]:
                return Run("hangs")
            if not (read := os.read(self._answers, 1 << 16)):
                return Run("killed", "the next start ended without a word")
            raw += read
        end, said, fact = json.loads(raw)
        return Run(end, said, facts=[fact])

    def close(self) -> None:
        os.close(self._ask)
        os.close(self._answers)
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


def _start_each(place: Place, asked: int, answer: int) -> None:
    known = {one.name: one for one in scenarios()}
    for line in os.fdopen(asked):
        name, again = json.loads(line)
        end, said, fact = "done", "", ""
        try:
            if place.project.exists():
                open_project(place).close()
            if again and (repeat := known[name].again) is not None:
                repeat(place)
            state = state_of(place.root)
            if (look := known[name].look) is not None:
                state.files.update(look(place))
            fact = state.to_json()
        except BaseException as error:
            known_kinds = isinstance(error, UserError | Refused)
            end, said = ("refused", str(error)) if known_kinds else ("failed", traceback.format_exc())
        left = (json.dumps([end, said, fact]) + "\n").encode()
        while left:
            left = left[os.write(answer, left) :]


class Stage:
    """The place of one worker, on which scenarios run one after the other."""

    def __init__(self, base: Path) -> None:
        self.place = Place(base)
        self.place.prepare()
        self._shim = Shim()
        self._starter: Starter | None = None
        self.turns = itertools.count()
        self.judged: dict[tuple[str, bytes], list[Finding]] = {}

    def reference(self, scenario: Scenario) -> Reference:
        """Raises AssertionError where the scenario fails without any disturbance."""
        self.place.clear()
        scenario.prepare(self.place)  # in this process, whose forks then find the program in memory
        before = read_tree(self.place.root)
        record = self.place.base / "record"
        acted = self._act(scenario, log=record)
        assert acted.end == "done", f"{scenario.name} fails undisturbed: {acted.said}"
        calls = read_record(record)
        self.reset(before)
        acted = self._act(scenario, log=record, kinds=Kind.READ)
        assert acted.end == "done", f"{scenario.name} fails undisturbed: {acted.said}"
        reads = [one for one in read_record(record) if one.kind is Kind.READ]
        return Reference(self, scenario, before, calls, reads)

    def seen(self, scenario: Scenario, *, again: bool = False) -> State:
        """The state after the next start. Raises AssertionError where it fails."""
        run = self.next_start(scenario, again=again)
        assert run.end == "done", run.said
        return State.from_json(run.facts[-1])

    def reset(self, tree: Tree) -> None:
        self.place.clear()
        write_tree(tree, self.place.root)

    def act(self, scenario: Scenario, **arming: Any) -> Run:
        """Run the scenario with the shim armed; see `Shim.arm`."""
        return self._act(scenario, **arming)

    def next_start(self, scenario: Scenario, *, again: bool = False) -> Run:
        """Open what is left as the program does, and, with `again`, repeat the command; its last fact is a `State`.

        One process does that for many attempts, so that each costs its work alone.
        """
        if self._starter is None or self._starter.used >= FRESH:
            self.close()
            self._starter = Starter(self.place)
        run = self._starter.start(scenario, again=again)
        if run.end != "done":  # it may have left a project open
            self.close()
        return run

    def close(self) -> None:
        if self._starter is not None:
            self._starter.close()
            self._starter = None

    def _act(self, scenario: Scenario, *, log: Path | None = None, **arming: Any) -> Run:
        def work(out: int) -> None:
            handle = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY) if log else -1
            if log:
                _mark_commits(self._shim)
            reads = arming.get("kinds") == Kind.READ  # those of the inputs too
            self._shim.arm(self.place.base if reads else self.place.root, log=handle, **arming)
            try:
                scenario.act(self.place, Promises(out, self._shim.mark))
            finally:
                os.write(out, f"fact hits {self._shim.disarm()}\n".encode())

        return run_child(work)


def _mark_commits(shim: Shim) -> None:
    """In this process."""
    write = SqlStore.write

    @contextmanager
    def marked(store: SqlStore) -> Iterator[SqlUnitOfWork]:
        with write(store) as unit:
            yield unit
        shim.mark(COMMIT)

    SqlStore.write = marked  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong after an attempt. `fault`: lost, between, leftover, traceback, unopened, hangs, silent or wrong."""

    fault: str
    text: str


def judge(
    stage: Stage, scenario: Scenario, reference: Reference, run: Run, *, promised: int, reached: int
) -> list[Finding]:
    """Compare what is left with the states from `promised` to `reached` steps."""
    found: list[Finding] = []
    start = stage.next_start(scenario)
    if start.end != "done":
        return [Finding("unopened" if start.end != "hangs" else "hangs", start.said)]
    state = State.from_json(start.facts[-1]).without_left()
    right = range(promised, min(reached, reference.steps) + 1)
    if state not in [reference.state(n).without_left() for n in right]:
        found += _wrong(scenario, reference, state, right)
    known = {plain(name) for name in reference.names}
    left = _left(stage, known)
    if scenario.again is not None and (left or found or next(stage.turns) % SELDOM == 0):
        start = stage.next_start(scenario, again=True)
        if start.end != "done":
            return [*found, Finding("unopened", f"again: {start.said}")]
        last = State.from_json(start.facts[-1])
        done = reference.last.without_left() if scenario.repeats else replace(state, files=last.without_left().files)
        if last.without_left() != done and not last.without_left().free_of(scenario.free - {"files"}, [done]):
            found.append(Finding("between", f"again: {reference.last.without_left().difference(last.without_left())}"))
        left = _left(stage, known)
    if left:
        found.append(Finding("leftover", ", ".join(left[:4])))
    return found


def _wrong(scenario: Scenario, reference: Reference, state: State, right: range) -> list[Finding]:
    whole = [one.without_left() for one in reference.all()]
    if state in whole:
        return [Finding("lost", f"{whole.index(state)} steps instead of {right.start} to {right.stop - 1}")]
    if scenario.free and right.start < reference.steps and state.free_of(scenario.free, whole[: scenario.others]):
        return []
    if right.start < reference.steps and state in reference.after_commits():
        return []
    nearest = min((whole[n] for n in right), key=lambda one: len(one.difference(state)))
    return [Finding("between", nearest.difference(state))]


def _left(stage: Stage, known: set[str]) -> list[str]:
    return [one for one in leftovers(stage.place.root, known=known) if LEFT.search(one)]
