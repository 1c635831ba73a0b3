"""Processes are killed at bad moments: nothing that was decided is lost, nothing half-made is seen, the next run works.

Everything is real but the encoder, which is a tiny one, so that indexes and trainings take seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import queue
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from curator import bootstrap
from curator.bootstrap import Project
from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.documents import Split
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus, Progress
from curator.domain.suggestions import Suggestion
from curator.jobs.linker_process import LinkerProcess
from curator.jobs.runner import JobRunner
from curator.services.ports.processes import LinkDocument
from curator.services.ports.queue import QueueFilter
from curator.settings.file import load
from curator.storage import project as storage
from tests.tiny_bert import build_tiny_bert
from training.data.progress import Phase

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs SIGKILL, /proc and process handles")
DEMO = Path(__file__).resolve().parents[2] / "resources" / "demo" / "pubmed"
TIMEOUT = 240.0  # seconds; a slow machine beside other long tests
GONE = 1.0
"""Seconds in which the children of a killed process must have ended."""
PARAMETERS = {"epochs": 1, "mention_tokens": 16, "entity_tokens": 8, "entity_tower": "frozen"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Settings with a tiny encoder, and the folders for logs and embeddings."""
    folder = tmp_path_factory.mktemp("home")
    build_tiny_bert(folder / "encoder", hidden=16, layers=1)
    (folder / "settings.json").write_text(json.dumps({"encoder_folder": str(folder / "encoder")}), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        live_in(folder, patch)
        yield folder


def live_in(home: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("CURATOR_CONFIG_DIR", str(home))
    patch.setenv("CURATOR_LOG_DIR", str(home / "log"))
    patch.setenv("CURATOR_CACHE", str(home / "cache"))


@pytest.fixture(scope="module")
def imported(home: Path) -> Path:
    """The demo's training documents with gold, some of them for validation; without an index."""
    project = bootstrap.create_project(home / "imported.curation", linker=False)
    try:
        run(project.importing.knowledge_base(DEMO / "kb.jsonl"))
        run(project.importing.documents([DEMO / "train.pubtator"], gold=True, hold_out=3))
    finally:
        project.close()
    return project.folder


@pytest.fixture(scope="module")
def built(home: Path, imported: Path) -> Path:
    """With the full index."""
    project = bootstrap.open_project(shutil.copytree(imported, home / "built.curation"), linker=False)
    try:
        handle = project.retraining.build_index(on_progress=ignore, on_end=ignore)
        outcome = handle.wait(TIMEOUT)
        assert outcome is not None
        assert outcome.state is JobState.DONE, outcome
    finally:
        project.close()
    return project.folder


@pytest.fixture
def folder(built: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the built project for one test."""
    live_in(home, monkeypatch)
    return Path(shutil.copytree(built, tmp_path / "p.curation"))


def run(steps: Any) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def ignore(_: object) -> None:
    return


def state(folder: Path) -> dict[str, Any]:
    """What everybody sees of a project: counts, knowledge base, the bundles and the one that serves."""
    project = bootstrap.open_project(folder, read_only=True, linker=False)
    try:
        counts, kb = project.queue.counts(), project.knowledge.info()
        return {
            "documents": project.queue.count(QueueFilter()),
            "mentions": counts.mentions,
            "decisions": dict(counts.decisions_by_outcome),
            "kb": kb.content_hash if kb else "",
            "bundles": {one.id: one.active for one in project.retraining.bundles()},
        }
    finally:
        project.close()


def assert_clean(folder: Path) -> None:
    """Opened for writing, a project holds nothing that a killed process left."""
    bootstrap.open_project(folder, linker=False).close()
    assert_swept(folder)
    with storage.open_project(folder) as store, store.write() as unit:
        assert unit.files.remove_incomplete() == 0


def assert_swept(folder: Path) -> None:
    """No half-made bundle, no job's input; what a training can go on from was discarded."""
    assert not list((folder / "bundles").glob(".*"))
    assert not (folder / "jobs").exists() or not list((folder / "jobs").iterdir())


# --- the linker process ------------------------------------------------------------------------------------------


class KilledLinker(LinkerProcess):
    """Its child is killed while it answers: when the first answer has arrived and others are on their way."""

    killed = 0

    def link(
        self,
        documents: Sequence[LinkDocument],
        *,
        on_document: Callable[[int, list[Suggestion]], None],
        **options: Any,
    ) -> int:
        def answered(document_id: int, suggestions: list[Suggestion]) -> None:
            on_document(document_id, suggestions)
            if not self.killed:
                assert self.pid is not None
                self.killed = self.pid
                os.kill(self.killed, signal.SIGKILL)

        return super().link(documents, on_document=answered, **options)


@pytest.mark.soak
def test_a_killed_linker_is_restarted_and_every_suggestion_arrives(folder: Path, home: Path) -> None:
    """As the window does it: nobody waits, a decision is made meanwhile, answers come when they come."""
    linker = KilledLinker(home / "log")
    statuses: list[LinkerStatus] = []
    linker.on_status(statuses.append)
    store = storage.open_project(folder)
    project = bootstrap.join(store, load().settings, linker=False, linker_port=linker)
    changes: queue.SimpleQueue[Change] = queue.SimpleQueue()
    project.events.subscribe(changes.put)
    try:
        project.suggestions.start()
        waited_for = set(project.queue.ids(QueueFilter()))
        project.suggestions.request(sorted(waited_for))
        operation = project.curation.decide(1, Verdict.nil()).operation_id
        while waited_for:
            change = changes.get(timeout=TIMEOUT)
            if change.kind is ChangeKind.SUGGESTIONS:
                waited_for -= set(change.document_ids)
        assert linker.killed
        assert linker.pid != linker.killed
        kinds = [one.state for one in statuses]
        assert kinds == [LinkerState.STARTING, LinkerState.READY, LinkerState.RESTARTING, LinkerState.READY]
        assert "restarted" in statuses[2].message
        assert project.suggestions.trouble() == ""
        with store.read() as unit:
            linked = [unit.suggestions.of_document(one) for one in unit.documents.ids()]
            assert unit.decisions.history(1)[-1].operation_id == operation
        assert sum(map(len, linked)) == project.queue.counts().mentions, "every mention has its suggestion"
        assert all(one.candidates for document in linked for one in document.values())
    finally:
        project.close()


# --- the training process ----------------------------------------------------------------------------------------

DYING = """
import os, signal, sys
from curator.jobs.child_side import run_job
from curator.jobs.train_main import work
import training.job.job

def dying(spec):
    point = os.environ["DIE_AT"]
    if point == "seal":  # everything is written but the manifest
        training.job.job.seal = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
    steps = work(spec)
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            return end.value
        if event["phase"] == point:
            os.kill(os.getpid(), signal.SIGKILL)
        yield event

run_job(dying, user_errors=())
"""


def train(project: Project) -> tuple[JobOutcome, list[Progress]]:
    seen: list[Progress] = []
    handle = project.retraining.start("pel-pb-quick", PARAMETERS, on_progress=seen.append, on_end=ignore)
    outcome = handle.wait(TIMEOUT)
    assert outcome is not None
    return outcome, seen


@pytest.mark.soak
def test_a_killed_training_leaves_the_bundle_that_serves(
    folder: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(folder)
    (tmp_path / "dying_training.py").write_text(DYING, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{Path(__file__).resolve().parents[2]}")
    dying = JobRunner(home / "log", modules={"train": "dying_training"})
    project = bootstrap.join(storage.open_project(folder), load().settings, linker=False, job_port=dying)
    try:
        for point in (Phase.LOAD, Phase.TRAIN, "seal"):
            monkeypatch.setenv("DIE_AT", point)
            outcome, _ = train(project)
            assert outcome.state is JobState.CRASHED, f"{point}: {outcome}"
            assert "killed by signal 9" in outcome.message
            assert state(folder) == before, "seen by a reader while the project is open"
            assert not list((folder / "bundles").glob(".staging-*")), "swept away at once"
            [kept] = project.retraining.interrupted()
            assert outcome.result["resumable"] == kept.id
            project.retraining.discard_interrupted(kept.id)
    finally:
        project.close()
    assert_clean(folder)


# --- the application ---------------------------------------------------------------------------------------------


class Killable:
    """A command of the real program whose progress bars go to a terminal, so that its progress can be read."""

    def __init__(self, *arguments: object) -> None:
        self._terminal, end = pty.openpty()
        command = [sys.executable, "-m", "curator", *map(str, arguments)]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=end, env=environment)
        os.close(end)

    def wait_for(self, word: str) -> None:
        """Until its progress shows `word`."""
        shown = b""
        while word.encode() not in shown:
            assert select.select([self._terminal], [], [], TIMEOUT)[0], shown
            try:
                shown += os.read(self._terminal, 65536)
            except OSError:  # Linux says so when the other end is closed
                pytest.fail(f"{word!r} did not come, only {shown!r}")

    def kill(self) -> None:
        """Kill the program, and see that its children end by themselves."""
        handles = [os.pidfd_open(one) for one in children_of(self.process.pid)]
        self.process.kill()
        try:
            for handle in handles:
                assert select.select([handle], [], [], GONE)[0], "a child outlives the program"
        finally:
            for handle in handles:
                os.close(handle)
        self.children = len(handles)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # a terminal that nobody reads would stop the program
            while select.select([self._terminal], [], [], TIMEOUT)[0]:
                os.read(self._terminal, 65536)
        return self.process.wait(TIMEOUT)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self._terminal)


@contextlib.contextmanager
def command(*arguments: object) -> Iterator[Killable]:
    running = Killable(*arguments)
    try:
        yield running
    finally:
        running.close()


def children_of(pid: int) -> list[int]:
    """Process ids of the living children."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


def settings_of(parameters: Mapping[str, object]) -> list[str]:
    return [word for name, value in parameters.items() for word in ("--set", f"{name}={value}")]


@pytest.mark.soak
def test_a_program_killed_while_it_trains_leaves_no_process_and_the_next_training_works(folder: Path) -> None:
    before = state(folder)
    endless = {**PARAMETERS, "epochs": 100}
    with command("train", folder, "--recipe", "pel-pb-quick", *settings_of(endless)) as running:
        running.wait_for("loss")
        assert list((folder / "bundles").glob(".staging-*")), "killed amid its work"
        running.kill()
    assert running.children == 1
    assert state(folder) == before
    project = bootstrap.open_project(folder, linker=False)
    try:
        [kept] = project.retraining.interrupted()
        project.retraining.discard_interrupted(kept.id)
        assert_swept(folder)
        outcome, seen = train(project)
        assert outcome.state is JobState.DONE, outcome
        assert {"read the decisions", "train"} <= {one.phase for one in seen}
        assert outcome.result["bundle"] in {one.id for one in project.retraining.bundles()}
    finally:
        project.close()


@pytest.fixture(scope="module")
def large_kb(home: Path) -> Path:
    """A knowledge base of 40,000 entities."""
    path = home / "large.jsonl"
    entities = (
        json.dumps({"id": f"X:{n}", "name": f"Entity {n}", "synonyms": [f"e{n}"]}) + "\n" for n in range(40_000)
    )
    path.write_text("".join(entities), encoding="utf-8")
    return path


@pytest.mark.soak
@pytest.mark.parametrize("how", ["kill", "interrupt"])
def test_a_program_stopped_while_it_imports_a_knowledge_base(folder: Path, large_kb: Path, how: str) -> None:
    before = state(folder)
    with command("kb", "import", folder, large_kb) as running:
        running.wait_for("000 entities")
        if how == "kill":
            running.kill()
        else:
            assert running.interrupt() == 130
    assert state(folder) == before, "the knowledge base of before serves"
    assert_clean(folder)
    project = bootstrap.open_project(folder, linker=False)
    try:
        assert project.knowledge.entity("X:1") is None
        assert not [one for one in project.knowledge.search("Entity 1", limit=5) if one.entity.id.startswith("X:")]
        assert not project.retraining.needs_index()
        assert len(project.queue.ids(QueueFilter(split=Split.VALIDATION))) == 3
    finally:
        project.close()
