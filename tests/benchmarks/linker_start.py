"""Measures the linker process from its start to the first suggestion, and its memory; from the repository's root:

    .venv/bin/python -m tests.benchmarks.linker_start                    # builds a bundle of 190,256 names first
    .venv/bin/python -m tests.benchmarks.linker_start bundles/SOME-ID    # or measures one that is there
    .venv/bin/python -m tests.benchmarks.linker_start --documents 500    # and links so many of BC5CDR dev

The process is started as the window does it; the embedding cache is only used to build the bundle. The phases are
measured again in a separate process, in the order in which a linker is loaded. Memory is the resident set. What of it
is mapped from files, such as libraries and indexes, the system can take back at any time; the rest is the process's
own.
"""

from __future__ import annotations

import argparse
import queue
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.documents import Span
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.suggestions import Suggestion
from curator.jobs.linker_process import LinkerProcess
from curator.services.ports.processes import LinkDocument, LinkMention
from tests.benchmarks.linker_bc5cdr import DATA, read_pubtator
from tests.benchmarks.targets import measured, tell

KB = Path(__file__).resolve().parents[3] / "shared" / "data" / "kb" / "mesh_medic.jsonl.gz"
RUNS = 3
START_S, MOST_MIB = 4.0, 700.0
TEXT = "Acute renal failure after aspirin. A patient with breast cancer was given cisplatin (CDDP) for her tumours."
SURFACES = (("renal failure", "Disease"), ("aspirin", "Chemical"), ("breast cancer", "Disease"), ("CDDP", "Chemical"))
PHASES = """
import sys, time
def say(what):
    global last
    now = time.perf_counter()
    kb = {line.split(":")[0]: int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("Vm")}
    print(f"  {what:42s} {now - last:5.2f} s   {kb['VmRSS'] / 1024:6.0f} MiB now, {kb['VmHWM'] / 1024:6.0f} at most")
    last = time.perf_counter()
last = time.perf_counter()
import torch; say("import torch")
import faiss, scipy.sparse; say("import faiss and SciPy")
import models.linker.linker; say("import the rest of models.linker.linker")
from models.linker.bundle import open_bundle
from models.core.device import choose_device
from models.core.kb import load_kb
bundle = open_bundle(sys.argv[1]); say("check the bundle's files")
load_kb(bundle.file("kb.jsonl")).names; say("of that: read the knowledge base")
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import load_encoder
folder = default_encoder_folder(); say("of that: check the default encoder")
load_encoder(folder, device="cpu", trainable=False); say("of that: load the encoder")
linker = models.linker.linker.Linker.load(sys.argv[1]); say("Linker.load, those three again included")
from models.types import DocumentInput, MentionInput
mentions = eval(sys.argv[3])
document = DocumentInput("1", sys.argv[2], tuple(MentionInput(str(i), (s,), (t,)) for i, (s, t) in enumerate(mentions)))
list(linker.link([document])); say("first document")
list(linker.link([document])); say("the same again")
"""


def mentions() -> list[tuple[tuple[int, int], str]]:
    return [((TEXT.index(s), TEXT.index(s) + len(s)), kind) for s, kind in SURFACES]


@dataclass(frozen=True, slots=True)
class Memory:
    """MiB of a process: resident at most, resident now, and of that its own. Linux only."""

    most: float = float("nan")
    now: float = float("nan")
    own: float = float("nan")

    @classmethod
    def of(cls, pid: int | None) -> Memory:
        status = Path(f"/proc/{pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        found = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.endswith("kB")}
        return cls(*(found.get(name, float("nan")) for name in ("VmHWM", "VmRSS", "RssAnon")))


@dataclass(slots=True)
class Answers:
    """What came back: seconds of the clock, and the first candidate's name."""

    began: float
    first: float = 0.0
    name: str = ""
    mentions: int = 0
    ended: queue.SimpleQueue[JobOutcome] = field(default_factory=queue.SimpleQueue)

    def receive(self, _: int, suggestions: list[Suggestion]) -> None:
        self.mentions += len(suggestions)
        if not self.name and suggestions and suggestions[0].candidates:
            self.first, self.name = time.perf_counter() - self.began, suggestions[0].candidates[0].name

    def link(self, linker: LinkerProcess, documents: Sequence[LinkDocument], *, urgent: bool) -> None:
        linker.link(documents, k=64, urgent=urgent, on_document=self.receive, on_end=self.ended.put)
        outcome = self.ended.get(timeout=1800)
        if outcome.state is not JobState.DONE:
            raise SystemExit(outcome.message)


def first_suggestion(bundle: Path, log: Path) -> tuple[Answers, Memory]:
    """From the start of the process to the first document."""
    found = [LinkMention(i, (Span(*span),), (kind,)) for i, (span, kind) in enumerate(mentions())]
    return _linked(bundle, log, [LinkDocument(1, 1, TEXT, tuple(found))], urgent=True)


def many(bundle: Path, log: Path, count: int) -> tuple[Answers, Memory]:
    """The same with so many documents of BC5CDR dev."""
    corpus = read_pubtator(DATA / "bc5cdr" / "dev.pubtator.txt").documents[:count]
    documents = [
        LinkDocument(
            number,
            1,
            one.text,
            tuple(
                LinkMention(1000 * number + at, tuple(Span(*span) for span in mention.spans), mention.types)
                for at, mention in enumerate(one.mentions)
            ),
        )
        for number, one in enumerate(corpus, 1)
    ]
    return _linked(bundle, log, documents, urgent=False)


def _linked(bundle: Path, log: Path, documents: Sequence[LinkDocument], *, urgent: bool) -> tuple[Answers, Memory]:
    answers = Answers(time.perf_counter())
    linker = LinkerProcess(log)
    try:
        linker.open(bundle, bundle.name)
        answers.link(linker, documents, urgent=urgent)
        return answers, Memory.of(linker.pid)
    finally:
        linker.close()


def processor_seconds() -> float:
    """Of all child processes that have ended: what a start costs on a busy machine too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(folder: Path) -> Path:
    from models.linker.build import build_untrained
    from models.linker.bundle import new_staging, publish

    staging = new_staging(folder)
    for _ in build_untrained(KB, staging):
        pass
    return publish(staging).path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", nargs="?", type=Path, help="a folder; without, one of 190,256 names is built")
    parser.add_argument("--documents", type=int, default=0, help="link so many of BC5CDR dev too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bundle = given.bundle or build(folder)
        before = processor_seconds()
        runs = [first_suggestion(bundle, folder) for _ in range(RUNS)]
        computed = (processor_seconds() - before) / RUNS
        clock, first = statistics.median(one.first for one, _ in runs), runs[0][0].name
        note = f"clock {clock:.2f} s, first candidate {first!r}"
        tell("linker process: processor time to the first suggestion", computed, "s", most=START_S, note=note)
        own = max(memory.own for _, memory in runs)
        measured("linker process: resident at most, one document", max(one.most for _, one in runs), "MiB")
        measured("linker process: of that its own, one document", own, "MiB")
        if given.documents:
            before = processor_seconds()
            answers, memory = many(bundle, folder, given.documents)
            worked = processor_seconds() - before
            what = f"{given.documents} documents"
            note = f"{answers.mentions:,} mentions, {memory.now:.0f} MiB now"
            tell(f"linker process: resident at most, {what}", memory.most, "MiB", most=MOST_MIB, note=note)
            measured(f"linker process: of that its own, {what}", memory.own, "MiB")
            measured(f"linker process: processor time with its start, {what}", worked, "s")
        print("phases, in another process:", flush=True)
        subprocess.run([sys.executable, "-c", PHASES, str(bundle), TEXT, repr(mentions())], check=True)


if __name__ == "__main__":
    main()
