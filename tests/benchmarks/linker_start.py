"""How long the linker process takes from its start to the first suggestion, and its memory; from the repository's root:

    .venv/bin/python -m tests.benchmarks.linker_start                    # builds a bundle of 190,256 names first
    .venv/bin/python -m tests.benchmarks.linker_start bundles/SOME-ID    # or measures one that is there

The process is started as the window does it; the embedding cache is only used to build the bundle. The phases are
measured once more in a process of their own, in the order in which a linker is loaded.
"""

from __future__ import annotations

import queue
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from curator.domain.documents import Span
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.suggestions import Suggestion
from curator.jobs.linker_process import LinkerProcess
from curator.services.ports import LinkDocument, LinkMention

KB = Path(__file__).resolve().parents[3] / "shared" / "data" / "kb" / "mesh_medic.jsonl.gz"
RUNS = 3
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
import transformers; from transformers import AutoModel, AutoTokenizer; say("import transformers")
import transformers.models.bert.modeling_bert; say("import its BERT")
from models.linker.bundle import open_bundle
from models.core.device import choose_device
from models.core.kb import load_kb
bundle = open_bundle(sys.argv[1]); say("check the bundle's files")
load_kb(bundle.file("kb.jsonl")).names; say("of that: read the knowledge base")
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import load_encoder
folder = default_encoder_folder(); say("of that: check the default encoder")
load_encoder(folder, device="cpu"); say("of that: load the encoder")
linker = models.linker.linker.Linker.load(sys.argv[1]); say("Linker.load, those three again included")
from models.types import DocumentInput, MentionInput
mentions = eval(sys.argv[3])
document = DocumentInput("1", sys.argv[2], tuple(MentionInput(str(i), (s,), (t,)) for i, (s, t) in enumerate(mentions)))
list(linker.link([document])); say("first document")
list(linker.link([document])); say("the same again")
"""


def mentions() -> list[tuple[tuple[int, int], str]]:
    return [((TEXT.index(s), TEXT.index(s) + len(s)), kind) for s, kind in SURFACES]


def first_suggestion(bundle: Path, log: Path) -> tuple[float, float, str]:
    """Seconds from the start of the process to the first document, its peak memory in MiB, the first candidate."""
    found = [LinkMention(i, (Span(*span),), (kind,)) for i, (span, kind) in enumerate(mentions())]
    document = LinkDocument(1, 1, TEXT, tuple(found))
    answers: list[tuple[float, str]] = []
    ended: queue.SimpleQueue[JobOutcome] = queue.SimpleQueue()

    def receive(_: int, suggestions: list[Suggestion]) -> None:
        answers.append((time.perf_counter(), suggestions[0].candidates[0].name))

    started = time.perf_counter()
    linker = LinkerProcess(log)
    try:
        linker.open(bundle, bundle.name)
        linker.link([document], k=64, urgent=True, on_document=receive, on_end=ended.put)
        outcome = ended.get(timeout=300)
        if outcome.state is not JobState.DONE:
            raise SystemExit(outcome.message)
        return answers[0][0] - started, peak(linker.pid), answers[0][1]
    finally:
        linker.close()


def peak(pid: int | None) -> float:
    """MiB of resident memory at most; Linux only."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), float("nan"))


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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bundle = Path(sys.argv[1]) if len(sys.argv) > 1 else build(folder)
        before = processor_seconds()
        runs = [first_suggestion(bundle, folder) for _ in range(RUNS)]
        computed = (processor_seconds() - before) / RUNS
        seconds = statistics.median(run[0] for run in runs)
        print(f"linker process: {seconds:.2f} s to the first suggestion ({runs[0][2]!r}), median of {RUNS}")
        print(f"processor time {computed:.2f} s a run, peak memory {max(run[1] for run in runs):.0f} MiB")
        print("phases, in another process:", flush=True)
        subprocess.run([sys.executable, "-c", PHASES, str(bundle), TEXT, repr(mentions())], check=True)


if __name__ == "__main__":
    main()
