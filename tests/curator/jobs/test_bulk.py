"""Linking by several linkers at once: the same answers, nothing damaged is stored, what was answered is used again."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curator.domain.documents import Span
from curator.domain.entities import Entity
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.suggestions import Stamp, Suggestion
from curator.domain.wording import UserError
from curator.jobs import bulk_main
from curator.jobs.bulk import RayBulk
from curator.jobs.linker_main import decided_input, document_input, mention_on_wire
from curator.jobs.linker_messages import (
    LinkerOptions,
    decided_to_wire,
    document_to_wire,
    entity_to_wire,
    parts_of,
    suggestions_of,
)
from curator.jobs.runner import JobRunner
from curator.services.ports.processes import (
    BulkTask,
    Cluster,
    DecidedDocument,
    DecidedMention,
    LinkDocument,
    LinkMention,
)
from models.core.kb import record_from_json
from models.encoders import cache
from models.linker.build import build_untrained
from models.linker.bundle import Bundle, new_staging, publish
from models.linker.index_repair import load_intact
from models.linker.linker import Linker, batches
from tests.tiny_bert import build_tiny_bert

ENTITIES = [Entity("E1", "Horse palsy", ("equine palsy",), ("T",)), Entity("E2", "Aspirin"), Entity("E3", "Palsy")]
WORDS = ("horse palsy", "aspirin", "zebra palsy", "palsies")
NEW = Entity("Z", "Zebra palsy")
HERE = Cluster(actors=2)
Answers = dict[int, list[Suggestion]]


def document(number: int, *, revision: int = 0) -> LinkDocument:
    text = f"{WORDS[number % 4]} in patient {number}"
    mention = LinkMention(10 * number, (Span(0, len(WORDS[number % 4])),), ())
    return LinkDocument(number, revision, text, (mention,))


DECIDED = DecidedDocument(99, "zebra palsy", (DecidedMention(LinkMention(990, (Span(0, 11),), ()), ("E1",)),))
REQUESTS = [[document(number) for number in range(at, at + 20)] for at in range(0, 80, 20)]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    folder = tmp_path_factory.mktemp("built")
    kb = folder / "kb.jsonl"
    kb.write_text("".join(json.dumps(entity_to_wire(one)) + "\n" for one in ENTITIES), encoding="utf-8")
    staging = new_staging(folder / "bundles")
    for _ in build_untrained(kb, staging, stages=("lexical",), device="cpu"):
        pass
    return publish(staging)


@pytest.fixture
def task(bundle: Bundle) -> BulkTask:
    return BulkTask(bundle.path, bundle.manifest.id, 5, (DECIDED,), (NEW,))


class Handle:
    def cancel(self) -> None:
        pass

    def wait(self, timeout: float | None = None) -> JobOutcome | None:
        return None


class JobsHere:
    """Does the job in this process, with one actor and without Ray; `after` so many blocks the process dies."""

    def __init__(self, *, after: int | None = None) -> None:
        self.after = after
        self.answered: list[int] = []

    def start(
        self,
        kind: str,
        spec: Mapping[str, Any],
        *,
        on_progress: Callable[[Progress], None],
        on_end: Callable[[JobOutcome], None],
    ) -> Handle:
        assert kind == "bulk"
        folder = Path(spec["work"])
        actor = bulk_main.Actor(dict(spec))
        for number, digest in enumerate(spec["blocks"]):
            if len(self.answered) == self.after:
                on_end(JobOutcome(JobState.CRASHED, "The background process was killed."))
                return Handle()
            if bulk_main.answered(bulk_main.shard(folder, number), digest) is None:
                actor.answer(number)
                self.answered.append(number)
                on_progress(Progress("link", number + 1, len(spec["blocks"])))
        on_end(JobOutcome(JobState.DONE, ""))
        return Handle()


def answers(folder: Path, jobs: Any, task: BulkTask, requests: Sequence[Sequence[LinkDocument]] = REQUESTS) -> Answers:
    found: Answers = {}
    bulk = RayBulk(folder / "bulk", jobs, LinkerOptions(device="cpu", threads=1))
    for _ in bulk.link(task, requests, lambda _, given: found.update(given), HERE):
        pass
    return found


def expected(task: BulkTask) -> Answers:
    """As the linker process answers."""
    linker: Linker = load_intact(task.bundle, device="cpu")[0]
    linker.change_entities(upsert=[record_from_json(dict(entity_to_wire(NEW)))], remove=())
    linker.remember(decided_input(decided_to_wire(DECIDED)))
    found: Answers = {}
    for part in [part for request in REQUESTS for part in parts_of(request)]:
        linked = linker.link([document_input(document_to_wire(one)) for one in part], k=task.k, own=False)
        for one, answer in zip(part, linked, strict=True):
            mentions = [mention_on_wire(mention) for mention in answer.mentions]
            found[one.id] = suggestions_of(mentions, Stamp(task.bundle_id, one.revision))
    return found


def test_the_answers_are_those_of_the_linker_process(tmp_path: Path, task: BulkTask) -> None:
    found = answers(tmp_path, JobsHere(), task)
    assert found == expected(task)
    assert list(found) == list(range(80))
    assert {one[0].candidates[0].entity_id for one in found.values()} == {"E1", "E2", "E3", "Z"}
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_stopped_is_taken_up(tmp_path: Path, task: BulkTask) -> None:
    with pytest.raises(UserError, match="killed"):
        answers(tmp_path, JobsHere(after=2), task)
    jobs = JobsHere()
    assert answers(tmp_path, jobs, task) == expected(task)
    assert jobs.answered == [2, 3]


def test_a_changed_document_or_memory_is_linked_again(tmp_path: Path, task: BulkTask) -> None:
    with pytest.raises(UserError):
        answers(tmp_path, JobsHere(after=3), task)
    changed = [[*REQUESTS[0][:-1], document(19, revision=1)], *REQUESTS[1:]]
    jobs = JobsHere()
    answers(tmp_path, jobs, task, changed)
    assert jobs.answered == [0, 3]
    with pytest.raises(UserError):
        answers(tmp_path, JobsHere(after=3), task)
    jobs = JobsHere()
    answers(tmp_path, jobs, BulkTask(task.bundle, task.bundle_id, task.k))  # without memory and the new entity
    assert jobs.answered == [0, 1, 2, 3]


@pytest.mark.parametrize("damage", [lambda raw: b"", lambda raw: raw[:-9], lambda raw: raw[:90] + b"?" + raw[91:]])
def test_a_damaged_shard_is_answered_again(
    tmp_path: Path, task: BulkTask, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError):
        answers(tmp_path, JobsHere(after=3), task)
    (shard,) = tmp_path.glob("bulk/*/shards/00001.parquet")
    shard.write_bytes(damage(shard.read_bytes()))
    jobs = JobsHere()
    assert answers(tmp_path, jobs, task) == expected(task)
    assert jobs.answered == [1, 3]


def test_nothing_of_a_shard_that_was_damaged_since_is_stored(tmp_path: Path, task: BulkTask) -> None:
    class Spoilt(JobsHere):
        def start(self, kind: str, spec: Mapping[str, Any], **listeners: Any) -> Handle:
            def end(outcome: JobOutcome) -> None:
                bulk_main.shard(Path(spec["work"]), 1).write_bytes(b"PAR1")
                listeners["on_end"](outcome)

            return super().start(kind, spec, on_progress=listeners["on_progress"], on_end=end)

    found: Answers = {}
    bulk = RayBulk(tmp_path / "bulk", Spoilt(), LinkerOptions(device="cpu", threads=1))
    with pytest.raises(UserError, match=r"00001\.parquet are incomplete or damaged"):
        for _ in bulk.link(task, REQUESTS, lambda _, given: found.update(given), HERE):
            pass
    assert list(found) == list(range(20))
    jobs = JobsHere()
    answers(tmp_path, jobs, task)
    assert jobs.answered == [1]


def answering(here: list[int]) -> Callable[..., Iterator[int]]:
    """In the place of Ray: one actor in this process."""

    def answer(actor: Callable[[Any], Any], spec: Any, missing: Sequence[int], _: Any) -> Iterator[int]:
        made = actor(spec)
        for number in missing:
            made.answer(number)
            here.append(number)
            yield number

    return answer


def test_documents_of_an_evaluation_are_linked_elsewhere(
    tmp_path: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [document_input(document_to_wire(one)) for request in REQUESTS for one in request]
    decided = [decided_input(decided_to_wire(DECIDED))]
    linker: Linker = load_intact(bundle.path, device="cpu")[0]
    linker.remember(*decided)
    here: list[int] = []

    monkeypatch.setattr(bulk_main, "_answer", answering(here))
    monkeypatch.setattr(bulk_main, "cluster", lambda _: nullcontext({}))
    place = {"address": "", "actors": 2}
    spec = {"bulk": str(tmp_path), "cluster": place, "device": "cpu", "threads": 1, "cache": ""}

    def run() -> Iterator[int]:
        found = yield from bulk_main.linked_elsewhere(spec, bundle.path, decided, documents, 5)
        assert found == list(linker.link(documents, k=5))

    stopped = run()
    assert [next(stopped), next(stopped)][0] == 0
    stopped.close()
    assert here == [0]
    assert list(run())[-1] == len(documents)
    assert here == list(range(len(list(batches(documents)))))
    assert list(tmp_path.iterdir()) == []


def test_names_are_encoded_elsewhere_to_the_same_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_main, "PIECES", 1)
    monkeypatch.setattr(cache, "PIECE_ROWS", 16)
    here: list[int] = []
    monkeypatch.setattr(bulk_main, "_answer", answering(here))
    monkeypatch.setattr(bulk_main, "cluster", lambda _: nullcontext({}))
    names = [f"palsy of {'the ' * (at % 7)}finger {at}" for at in range(50)]
    kb = tmp_path / "kb.jsonl"
    lines = (json.dumps(entity_to_wire(Entity(f"E{at}", name, (name, names[0])))) for at, name in enumerate(names))
    kb.write_text("\n".join(lines), encoding="utf-8")
    encoder = {"encoder": str(build_tiny_bert(tmp_path / "encoder")), "precision": "fp32", "device": "cpu"}
    spec = {"kb": str(kb), "work": str(tmp_path), "cluster": {"address": "", "actors": 2}, **encoder}
    steps = list(bulk_main.work({**spec, "cache": str(tmp_path / "there")}))
    assert [(one["phase"], one["done"], one["total"]) for one in steps] == [("names", at, 4) for at in range(5)]
    alone = bulk_main.names_cache({**spec, "cache": str(tmp_path / "alone")})
    assert [len(one) for one in alone.missing(names)] == [13, 13, 12, 12]
    elsewhere = bulk_main.names_cache({**spec, "cache": str(tmp_path / "there")})
    assert elsewhere.missing(names) == []
    assert np.array_equal(alone.vectors(names), elsewhere.vectors(names))
    list(bulk_main.work({**spec, "cache": str(tmp_path / "there")}))
    assert here == [0, 1, 2, 3]


def test_without_ray_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    bulk = RayBulk(tmp_path / "bulk", JobsHere(), LinkerOptions())
    with pytest.raises(UserError, match=r"pip install 'curator\[ray\]'"):
        bulk.check(HERE)
    with pytest.raises(UserError, match="no address of a Ray cluster"):
        bulk.check(Cluster("localhost:1"))


# With Ray itself.


@contextmanager
def running(folder: Path) -> Iterator[JobRunner]:
    jobs = JobRunner(folder)
    try:
        yield jobs
    finally:
        jobs.close()


def actors() -> list[int]:
    """Process ids of Ray's actors that hold a linker."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if command.startswith(b"ray::") and b"MapBatches(Actor)" in command:
                found.append(int(entry.name))
    return found


@pytest.mark.soak
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra package ray")
def test_on_ray_with_an_actor_that_is_killed(tmp_path: Path, task: BulkTask) -> None:
    found: Answers = {}
    killed: list[int] = []
    with running(tmp_path) as jobs:
        bulk = RayBulk(tmp_path / "bulk", jobs, LinkerOptions(device="cpu", threads=1))
        for progress in bulk.link(task, REQUESTS * 8, lambda _, given: found.update(given), HERE):
            if progress.phase == "link" and progress.done == 3 and not killed:
                killed = actors()[:1]
                os.kill(killed[0], signal.SIGKILL)
    assert killed
    assert found == expected(task)
    assert not (tmp_path / "bulk").exists()


@pytest.mark.soak
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra package ray")
def test_a_cluster_that_is_not_there_gets_a_sentence(tmp_path: Path, task: BulkTask) -> None:
    with running(tmp_path) as jobs:
        bulk = RayBulk(tmp_path / "bulk", jobs, LinkerOptions(device="cpu", threads=1))
        with pytest.raises(UserError, match=r"No Ray cluster answers at ray://127\.0\.0\.1:1"):
            for _ in bulk.link(task, REQUESTS, lambda *_: None, Cluster("ray://127.0.0.1:1")):
                pass
