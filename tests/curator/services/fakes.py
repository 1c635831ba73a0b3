"""A linker and jobs without processes, and a small project over the real storage."""

from __future__ import annotations

import atexit
import itertools
import json
import secrets
import shutil
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from curator.bootstrap import Project, join
from curator.domain.documents import Span
from curator.domain.entities import Entity
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus, Progress
from curator.domain.suggestions import Candidate, Contrast, NilEstimate, Stamp, Suggestion, WordEffect
from curator.domain.wording import CancelledError, UserError
from curator.project import SystemClock
from curator.services.core.context import Context
from curator.services.core.events import EventBus
from curator.services.ports.processes import DecidedDocument, DetectedMention, LinkDocument
from curator.services.ports.queue import QueueFilter
from curator.settings.schema import Settings
from curator.storage import project as storage
from curator.storage.store import SqlStore

KB: tuple[dict[str, Any], ...] = (
    {"id": "MESH:D008012", "name": "Lidocaine", "synonyms": ["Xylocaine"], "types": ["Chemical"], "definition": "d"},
    {"id": "MESH:D006323", "name": "Heart Arrest", "synonyms": ["Cardiac arrest"], "types": ["Disease"]},
    {"id": "MESH:D001145", "name": "Arrhythmia", "types": ["Disease"], "alt_ids": ["OMIM:115000"]},
)
DOCUMENT = (
    "1|t|Lidocaine and cardiac arrest\n"
    "1|a|Lidocaine slowed an arrhythmia, not blorbitis.\n"
    "1\t0\t9\tLidocaine\tChemical\tD008012\n"
    "1\t14\t28\tcardiac arrest\tSpecificDisease\tD006323\n"
    "1\t49\t59\tarrhythmia\tSpecificDisease\tOMIM:115000\n"
    "1\t65\t74\tblorbitis\tSpecificDisease\t-1\n"
    "1\tCID\tD008012\tD006323\n"
    "\n"
)


def document(number: int) -> str:
    """The same text under another id; its mentions have other ids in the store."""
    return DOCUMENT.replace("1|", f"{number}|").replace("\n1\t", f"\n{number}\t")


def context(store: Any, *, events: EventBus | None = None, clock: Any = None, curator: str = "ada") -> Context:
    """What services share, for a service of one's own."""
    return Context(store, events or EventBus(), clock or SystemClock(), lambda: curator)


@dataclass
class Asked:
    documents: list[LinkDocument]
    urgent: bool
    on_document: Callable[[int, list[Suggestion]], None]
    on_end: Callable[[JobOutcome], None]
    own: bool = True


@dataclass
class FakeLinker:
    """Implements `LinkerPort`; with `manual` requests wait in `asked` until `answer` is called."""

    manual: bool = False
    status: LinkerStatus = field(default_factory=lambda: LinkerStatus(LinkerState.OFF, "off"))
    asked: list[Asked] = field(default_factory=list)
    linked: list[int] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    memory: dict[int, dict[int, tuple[str, ...]]] = field(default_factory=dict)
    entities: dict[str, Entity] = field(default_factory=dict)  # changed in the bundle that serves
    taught: list[list[int]] = field(default_factory=list)  # the documents of each request
    news: threading.Condition = field(default_factory=threading.Condition)  # something was taught or linked
    process: int = 1
    found: dict[int, list[DetectedMention]] = field(default_factory=dict)
    fail_open: str = ""
    closed: bool = False
    detected_types: tuple[str, ...] = ()
    decided_texts: set[str] = field(default_factory=set)
    contrasts: list[Callable[[], None]] = field(default_factory=list)
    listeners: list[Callable[[LinkerStatus], None]] = field(default_factory=list)

    def on_status(self, listener: Callable[[LinkerStatus], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def set_status(self, state: LinkerState, bundle_id: str = "", message: str = "") -> None:
        self.status = LinkerStatus(state, message, bundle_id=bundle_id, process=self.process)
        for listener in list(self.listeners):
            listener(self.status)

    def open(self, bundle: Path, bundle_id: str) -> None:
        assert (bundle / "manifest.json").is_file()
        if bundle_id != self.status.bundle_id:
            self.entities = {}
        self.opened.append(bundle_id)
        if self.fail_open:
            self.set_status(LinkerState.FAILED, message=self.fail_open)
        else:
            self.set_status(LinkerState.READY, bundle_id)

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
        asked = Asked(list(documents), urgent, on_document, on_end, own)
        self.asked.append(asked)
        if not self.manual:
            self.answer(asked)
        return len(self.asked)

    def remember(self, documents: Sequence[DecidedDocument], *, on_end: Callable[[JobOutcome], None]) -> int:
        """The memory as the process would hold it: decided mentions by document."""
        with self.news:
            self.taught.append([one.id for one in documents])
            for one in documents:
                self.memory.pop(one.id, None)
                if one.mentions:
                    self.memory[one.id] = {m.mention.id: m.entity_ids for m in one.mentions}
                    spans = [span for m in one.mentions for span in m.mention.spans]
                    self.decided_texts |= {one.text[span.start : span.end] for span in spans}
            self.news.notify_all()
        on_end(JobOutcome(JobState.DONE, "done"))
        return 0

    def comes(self, what: Callable[[], bool]) -> bool:
        """Whether it is so, now or once something more was taught or linked."""
        with self.news:
            return self.news.wait_for(what, 10)

    def answer(self, asked: Asked, *, bundle_id: str | None = None, outcome: JobState = JobState.DONE) -> None:
        """Link by the first letter: everything goes to the entity whose id sorts first among the allowed types."""
        if outcome is JobState.DONE:
            for one in asked.documents:
                self.linked.append(one.id)
                stamp = Stamp(self.status.bundle_id if bundle_id is None else bundle_id, one.revision)
                asked.on_document(one.id, [suggestion(m.id, stamp, m.types) for m in one.mentions])
            with self.news:
                self.news.notify_all()
        asked.on_end(JobOutcome(outcome, outcome.value))

    def detect(
        self,
        texts: Sequence[tuple[int, str]],
        *,
        types: Sequence[str],
        on_document: Callable[[int, list[DetectedMention]], None],
        on_end: Callable[[JobOutcome], None],
    ) -> int:
        """Finds "arrhythmia", and the texts of the decided mentions that it was taught before."""
        self.detected_types = tuple(types)
        for document_id, text in texts:
            names = {"arrhythmia": "MESH:D001145"} | dict.fromkeys(self.decided_texts, "")
            places = [(text.find(name), name, one) for name, one in names.items()]
            found = [
                DetectedMention(Span(at, at + len(name)), ("Disease",), one) for at, name, one in places if at >= 0
            ]
            on_document(document_id, found)
        on_end(JobOutcome(JobState.DONE, "done"))
        return 1

    def contrast(
        self,
        document: LinkDocument,
        *,
        mention_id: int,
        entity_ids: tuple[str, str],
        on_answer: Callable[[Contrast], None],
        on_end: Callable[[JobOutcome], None],
    ) -> int:
        """The first word of the text speaks for the first entity, the last for the second."""
        first, last = document.text.split()[0], document.text.split()[-1]
        words = (
            WordEffect(Span(0, len(first)), 1.0),
            WordEffect(Span(document.text.rindex(last), document.text.rindex(last) + len(last)), -0.5),
        )
        stamp = Stamp(self.status.bundle_id, document.revision)
        answer = Contrast(mention_id, *entity_ids, 0.5, words, stamp)

        def give() -> None:
            on_answer(answer)
            on_end(JobOutcome(JobState.DONE, "done"))

        self.contrasts.append(give)
        if not self.manual:
            give()
        return 1000 + len(self.contrasts)

    def change_entities(
        self, *, upsert: Sequence[Entity], remove: Sequence[str], on_end: Callable[[JobOutcome], None]
    ) -> int:
        """The entities of the bundle as the process would hold them."""
        self.entities = {key: one for key, one in self.entities.items() if key not in remove}
        self.entities |= {one.id: one for one in upsert}
        on_end(JobOutcome(JobState.DONE, "done"))
        return 0

    def cancel(self, request_id: int) -> None:
        self.cancelled.append(request_id)

    def close(self) -> None:
        self.closed = True


def suggestion(mention_id: int, stamp: Stamp, types: Sequence[str] = ()) -> Suggestion:
    allowed = [one for one in KB if not types or set(one["types"]) & set(types)]
    candidates = tuple(
        Candidate(
            str(one["id"]), str(one["name"]), tuple(one["types"]), str(one["name"]), 1.0 / n, {"lexical": 1.0 / n}
        )
        for n, one in enumerate(allowed, start=1)
    )
    return Suggestion(mention_id, candidates, NilEstimate(0.1, False, False), stamp)


class Ended:
    """A `JobHandle` of work that ended before `start` returned."""

    def __init__(self, outcome: JobOutcome) -> None:
        self.outcome = outcome

    def cancel(self) -> None:
        return

    def wait(self, timeout: float | None = None) -> JobOutcome | None:
        return self.outcome


NUMBERS = itertools.count(1)
"""Of bundles, in the order in which they were made, in whichever project."""


@dataclass
class FakeJobs:
    """Implements `JobPort`: a job writes a bundle's manifest at once; `outcomes` are dealt out first."""

    started: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    outcomes: list[JobOutcome] = field(default_factory=list)
    verdict: str = "promote"
    seen: list[dict[str, Any]] = field(default_factory=list)
    kb_hash: str = "kb"
    result: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)

    def start(
        self,
        kind: str,
        spec: Mapping[str, Any],
        *,
        on_progress: Callable[[Progress], None],
        on_end: Callable[[JobOutcome], None],
    ) -> Ended:
        self.started.append((kind, json.loads(json.dumps(dict(spec)))))
        on_progress(Progress(kind, 1, 1))
        try:
            if "snapshot" in spec:
                lines = (Path(spec["snapshot"]) / "documents.jsonl").read_text(encoding="utf-8").splitlines()
                self.seen = [json.loads(line) for line in lines]
            outcome = self.outcomes.pop(0) if self.outcomes else self.work(kind, spec)
        except OSError as error:  # a real child says it in a sentence too
            outcome = JobOutcome(JobState.FAILED, f"{error.filename}: {error.strerror}.")
        on_end(outcome)
        return Ended(outcome)

    def work(self, kind: str, spec: Mapping[str, Any]) -> JobOutcome:
        """What a job comes to; tests put another in its place."""
        if kind == "evaluate":
            return JobOutcome(JobState.DONE, "done", self.result)
        number = next(NUMBERS)
        bundle_id = f"{number:05}-{kind}-{secrets.token_hex(2)}"
        stages = spec.get("stages") or ["lexical", "names", "pel"]
        gate = {"gate": {"verdict": self.verdict, "message": "said so"}, "seconds": 240.0} if kind == "train" else {}
        manifest = {
            "id": bundle_id,
            "kind": spec.get("recipe", "untrained"),
            "created": (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)).isoformat(),
            "kb_hash": self.kb_hash,
            "retrievers": [{"name": one} for one in stages],
            "training": gate,
            "metrics": self.metrics,
        }
        (Path(spec["staging"]) / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        return JobOutcome(JobState.DONE, "built", {"bundle_id": bundle_id, "verdict": self.verdict})

    def run_here(
        self,
        work: Callable[[], Iterator[Progress]],
        *,
        on_progress: Callable[[Progress], None],
        on_end: Callable[[JobOutcome], None],
    ) -> Ended:
        steps = work()
        try:
            while True:
                on_progress(next(steps))
        except StopIteration as end:
            outcome = JobOutcome(JobState.DONE, "done", end.value or {})
        except CancelledError:
            outcome = JobOutcome(JobState.CANCELLED, "Cancelled.")
        except UserError as error:
            outcome = JobOutcome(JobState.FAILED, str(error))
        on_end(outcome)
        return Ended(outcome)

    def close(self) -> None:
        return


@dataclass
class World:
    """A project with its store, its fakes and the folder for files."""

    project: Project
    store: SqlStore
    linker: FakeLinker
    jobs: FakeJobs
    folder: Path

    def kb(self, entities: Sequence[Mapping[str, Any]] = KB, *, name: str = "kb.jsonl") -> None:
        path = self.folder / name
        path.write_text("".join(json.dumps(one) + "\n" for one in entities), encoding="utf-8")
        finish(self.project.importing.knowledge_base(path))

    def write(self, text: str, *, name: str = "a.pubtator") -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def documents(self, count: int = 1, *, first: int = 1, name: str = "a.pubtator", **options: Any) -> list[int]:
        """Import `count` documents; returns all document ids of the project."""
        text = "".join(document(n) for n in range(first, first + count))
        finish(self.project.importing.documents([self.write(text, name=name)], **options))
        return self.project.queue.ids(QueueFilter())

    def index(self) -> None:
        self.project.retraining.build_index(on_progress=ignore, on_end=ignore)

    def remembered(self, expected: Mapping[int, Mapping[int, tuple[str, ...]]]) -> bool:
        """Whether the linker's memory, which is taught in a thread of its own, comes to hold just this."""
        return self.linker.comes(lambda: self.linker.memory == expected)

    def mentions(self, document_id: int) -> list[int]:
        return [view.mention.id for view in self.project.queue.open(document_id).mentions]


def make_world(
    folder: Path,
    *,
    start: bool = False,
    manual: bool = False,
    link_ahead: int = 200,
    kb: bool = False,
    documents: int = 0,
) -> World:
    """A project in `folder`; `kb` and `documents` are there as if they had been imported."""
    linker, jobs = FakeLinker(manual=manual), FakeJobs()
    store = make_store(folder, kb=kb, documents=documents)
    settings = Settings(link_ahead=link_ahead)
    project = join(store, settings, curator="ada", linker=start, linker_port=linker, job_port=jobs)
    return World(project, store, linker, jobs, folder)


def make_store(
    folder: Path, *, name: str = "p", kb: bool = False, documents: int = 0, linked: bool = False
) -> SqlStore:
    """A new project named `name`: a copy of one that was filled by importing, under an id of its own.

    With `linked` its index was built and its documents were linked, both by fakes.
    """
    template, path = _template(kb, documents, linked), folder / f"{name}.curation"
    shutil.copytree(template / "p.curation", path)
    for source in template.glob("[!p]*"):
        shutil.copy(source, folder)
    project_id = uuid.uuid4().hex
    marker = json.loads((path / "project.curator").read_text(encoding="utf-8"))
    marker |= {"project_id": project_id, "name": name}
    (path / "project.curator").write_text(json.dumps(marker, indent=2) + "\n", encoding="utf-8")
    with closing(sqlite3.connect(path / "project.sqlite")) as conn, conn:
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("UPDATE source_files SET path = replace(path, ?, ?)", (str(template), str(folder)))
        conn.execute("UPDATE meta SET value = replace(value, ?, ?)", (str(template), str(folder)))
        values = [(project_id, "project.id"), (name, "project.name")]
        conn.executemany("UPDATE meta SET value = ? WHERE key = ?", values)
    return storage.open_project(path, lacking=True)  # what was changed here, Curator did not change


@cache
def _template(kb: bool, documents: int, linked: bool) -> Path:
    """The folder of a closed project and the files that it was filled from, made once in each process."""
    folder = Path(mkdtemp(prefix="curator-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    store, linker, jobs = storage.create_project(folder / "p.curation", name="p"), FakeLinker(), FakeJobs()
    project = join(store, Settings(), curator="ada", linker=linked, linker_port=linker, job_port=jobs)
    world = World(project, store, linker, jobs, folder)
    if kb:
        world.kb()
    if documents:
        world.documents(documents)
    if linked:
        world.index()
        project.suggestions.request(project.queue.ids(QueueFilter()), urgent=False)
    project.close()
    return folder


def finish(steps: Any) -> Any:
    """Drive a generator to its end; returns its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def ignore(_: object) -> None:
    return
