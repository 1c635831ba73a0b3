"""Flows about the history of steps: its window, and undo or redo up to a step."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from threading import Event
from typing import Any

from curator.domain.decisions import STEPS, ChangeKind
from curator.domain.jobs import JobOutcome, Progress
from curator.domain.wording import ntr, tr
from curator.services.curating.undo import Journey, Walked
from curator.ui.bench.workbench import Workbench
from curator.ui.dashboard.steps_window import StepsWindow
from curator.ui.deciding.mention_listing import ListingFlow
from curator.ui.kit.key_names import way_to
from curator.ui.kit.messages import ask

EVERY = 0.1
"""Seconds between two shown progress figures of a long journey."""
STOPPED_ONE, STOPPED = "{done}. Stopped: {n} step is left.", "{done}. Stopped: {n:,} steps are left."
MOVED_ON = "{done}. Then something else was done in the project, so the other steps were left as they are."
NOT_MOVED = "Something else was done in the project meanwhile; nothing was changed. Choose the step again."
GOING = "Going to step {number}…"
UNDO_ONE = "Go back to step {number} ({text})? This undoes {n} later step with {decisions}."
UNDO_MANY = "Go back to step {number} ({text})? This undoes {n:,} later steps with {decisions}."
REDO_ONE = "Redo up to step {number} ({text})? This redoes {n} step with {decisions}."
REDO_MANY = "Redo up to step {number} ({text})? This redoes {n:,} steps with {decisions}."
AND_BACK = "You can go forward again until you do something else."


class StepFlows(ListingFlow[StepsWindow]):
    """*Edit > History of steps*."""

    renewing = STEPS | {ChangeKind.IMPORTED}

    def __init__(self, bench: Workbench, *, name_of: Callable[[str], str]) -> None:
        super().__init__(bench)
        self._name_of = name_of
        self._going = False
        self._stopping = Event()  # stops a journey after a whole step

    def show_steps(self) -> StepsWindow | None:
        return self.open(lambda _: None)

    def make(self) -> StepsWindow:
        project, bench = self._bench.project, self._bench
        window = StepsWindow(
            project.steps,
            document=lambda: bench.navigator.opened.document.id if bench.navigator.opened is not None else None,
            name_of=self._name_of,
            writable=not project.read_only,
            parent=bench.window(),
        )
        window.mention_wanted.connect(self.preview)
        window.open_wanted.connect(self.go)
        window.document_wanted.connect(self._go_to_document)
        window.journey_wanted.connect(self._plan)
        window.stop_wanted.connect(self._stopping.set)
        return window

    def _go_to_document(self, number: int) -> None:
        place = self._bench.project.steps.place(number)
        if place is not None:
            self.go(*place)

    def say(self, words: str) -> None:
        """Show a message in the window, also while another is active."""
        if self._window is not None:
            self._window.say(words)

    # --- back and forth ---

    def _plan(self, number: int) -> None:
        """Calculate the journey in a thread; then ask the curator."""
        steps = self._bench.project.steps
        if self._going:
            return

        def planned(outcome: JobOutcome) -> None:
            journey = outcome.result.get("journey")
            if not isinstance(journey, Journey):
                self.say(outcome.message)
            elif journey.refusal or self._bench.many.refusal:
                self.say(journey.refusal or self._bench.many.refusal)
            elif self._window is not None:
                yes = tr("Redo the steps") if journey.forward else tr("Undo the steps")
                ask(
                    self._window,
                    tr("History of steps"),
                    journey_words(journey),
                    yes=yes,
                    then=lambda: self._do(journey),
                )

        self._bench.jobs.ask(lambda: {"journey": steps.journey(number)}, then=planned)

    def _do(self, journey: Journey) -> None:
        """Undo or redo in a thread, a few steps at a time: many steps take seconds, and can be stopped between
        steps."""
        window = self._window
        if window is None:
            return
        self._going = True
        self._stopping.clear()
        self.say(tr(GOING, number=journey.to.id))
        service, stopping = self._bench.project.steps, self._stopping
        report = window.worker.reporter(window.show_way, every=EVERY)

        def steps() -> Generator[Progress, None, Mapping[str, Any]]:
            walk = service.walk(journey)
            while True:
                try:
                    progress = next(walk)
                except StopIteration as end:
                    return {"walked": end.value}
                if stopping.is_set() and progress.done:
                    walk.close()
                    return {"stopped": progress}
                report(progress)
                yield progress

        self._bench.jobs.ask_in_steps(steps, then=partial(self._went, journey))

    def _went(self, journey: Journey, outcome: JobOutcome) -> None:
        self._going = False
        if self._window is not None:
            self._window.show_way(None)
        walked, stopped = outcome.result.get("walked"), outcome.result.get("stopped")
        if isinstance(stopped, Progress):
            done = went_words(stopped.done, forward=journey.forward)
            left = stopped.total - stopped.done
            words = ntr(STOPPED_ONE, STOPPED, left, done=done)
        elif isinstance(walked, Walked) and walked.left:
            done = walked.change.text if walked.change is not None else ""
            words = tr(MOVED_ON, done=done) if done else tr(NOT_MOVED)
        elif isinstance(walked, Walked) and walked.change is not None:
            words = back_words(walked.change.text, forward=journey.forward)
        else:
            words = outcome.message
        self.say(words)
        self._bench.say(words)
        self.renew()

    def close_windows(self) -> None:
        self._stopping.set()
        super().close_windows()


def journey_words(journey: Journey) -> str:
    """The question: how many steps and decisions."""
    number, decisions = len(journey.operations), ntr("{n} decision", "{n:,} decisions", journey.decisions)
    names = {"number": journey.to.id, "text": journey.to.text, "decisions": decisions}
    if journey.forward:
        return ntr(REDO_ONE, REDO_MANY, number, **names)
    return " ".join((ntr(UNDO_ONE, UNDO_MANY, number, **names), tr(AND_BACK)))


def back_words(done: str, *, forward: bool) -> str:
    """A sentence with the change and the key that reverses it step by step."""
    if forward:
        return tr("{done}. {key} undoes one step at a time.", done=done, key=way_to("edit.undo"))
    return tr("{done}. {key} redoes one step at a time.", done=done, key=way_to("edit.redo"))


def went_words(number: int, *, forward: bool) -> str:
    """The number of steps undone or redone."""
    if forward:
        return ntr("Redid {n} step", "Redid {n:,} steps", number)
    return ntr("Undid {n} step", "Undid {n:,} steps", number)
