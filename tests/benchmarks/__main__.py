"""`make bench`: durations of the main steps, and ratios within this run; not part of the test suite.

The window is measured first (with `--window`, nothing else), in separate processes, on the existing display or on a new
Xvfb. All figures with a target are printed again at the end: figure, target, reached or not. Projects that take minutes
to create are kept in `CURATOR_BENCH` (by default a folder in the user's cache). Figures are stored in HISTORY.md if
there are no uncommitted changes; worse ones are reported (`history.py`).

The knowledge base is the real one in `../shared/data` if present, else the demo's. The embedding cache is empty at
first, so that the first build encodes everything.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import history
from tests.benchmarks.real_window import display
from tests.benchmarks.replay_project import kept, made
from tests.benchmarks.targets import RESULTS, read

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources/demo/pubmed"
REAL = ROOT.parent / "shared/data/kb/mesh_medic.jsonl.gz"
RUNS = 20


def curator(*arguments: object) -> tuple[float, dict[str, object]]:
    """Seconds of a whole command, and its result."""
    command = [sys.executable, "-m", "curator", *map(str, arguments), "--json"]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - started, json.loads(done.stdout)


def quick(work: Callable[[], object]) -> float:
    """Median milliseconds of `RUNS` calls."""
    seconds = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return 1000 * statistics.median(seconds)


def whole_commands(folder: Path) -> Path:
    project = folder / "bench.curation"
    kb = REAL if "--real" in sys.argv and REAL.is_file() else DEMO / "kb.jsonl"
    curator("new", project)
    seconds, _ = curator("kb", "import", project, kb)
    print(f"load the knowledge base {kb.name}: {seconds:.1f} s")
    seconds, _ = curator("import", project, DEMO / "train.pubtator", "--gold")
    print(f"import 27 documents with gold: {seconds:.1f} s")
    first, _ = curator("index", project)
    second, _ = curator("index", project, "--again")
    print(f"build the index: {first:.1f} s, again from the cache: {second:.1f} s, ratio {second / first:.3f}")
    seconds, report = curator("link", project)
    linked = float(str(report["seconds"]))
    print(f"link 27 documents: {seconds:.1f} s with the start of the linker, {27 / linked:.1f} documents/s in all")
    return project


def single_steps(project: Path) -> None:
    from curator.bootstrap import open_project
    from curator.domain.decisions import Verdict
    from curator.services.ports.queue import QueueFilter

    opened = open_project(project, linker=False)
    try:
        document = opened.queue.ids(QueueFilter())[0]
        mention = opened.queue.open(document).mentions[0].mention.id
        for text, work in (
            ("open a document", lambda: opened.queue.open(document)),
            ("decide a mention, durable", lambda: opened.curation.decide(mention, Verdict.nil())),
            ("undo", opened.curation.undo),
            ("search the knowledge base", lambda: opened.knowledge.search("renal fail")),
        ):
            print(f"{text}: {quick(work):.1f} ms (median of {RUNS})")
    finally:
        opened.close()


def windows(results: Path) -> None:
    """Each in a process of its own; one that fails is said, and the others go on."""
    replay = made(kept())
    others: list[tuple[str, ...]] = [
        ("window_start", "--project", str(replay.project)),
        ("open_project", "--folder", str(kept())),
        ("key_latency", str(replay.project), "--beside"),
        ("document_view",),
        ("bulk_step", "--folder", str(kept() / "bulk.curation")),
        ("keys_per_decision", str(replay.project), "--gold", str(replay.gold)),
        ("kb_search", "--folder", str(kept())),
    ]
    with display():
        for name, *arguments in others:
            print(f"\n{name}", flush=True)
            command = [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments]
            done = subprocess.run(command, env={**os.environ, RESULTS: str(results)}, check=False)
            if done.returncode:
                print(f"{name} failed with {done.returncode}.")


def table(results: Path) -> None:
    print("\nfigure, target, reached or not (clock times of this machine at this hour)")
    found, run = read(results), " ".join(("make bench", *sys.argv[1:]))
    for one in found:
        print(f"  {one.line()}")
    for words in history.worse(found, run, before=history.read(), here=history.machine()):
        print(f"  {words}")
    if commit := history.commit():
        history.keep(found, run, commit=commit)
    else:
        print("  Not kept in HISTORY.md: files differ from the commit.")


def indexes() -> None:
    """Every kind of index; of a million vectors with `--million`, which takes half an hour."""
    from tests.benchmarks.index_1m import KINDS, report

    report(1_000_000 if "--million" in sys.argv else 50_000, KINDS)


def linker(results: Path) -> None:
    """The searches for names, and the linker's process with 500 documents, on the real knowledge base."""
    for name, *arguments in (("name_search",), ("linker_start", "--documents", "500")) if REAL.is_file() else ():
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments]
        done = subprocess.run(command, env={**os.environ, RESULTS: str(results)}, check=False)
        if done.returncode:
            print(f"{name} failed with {done.returncode}.")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = folder / "results.jsonl"
        windows(results)
        if "--window" not in sys.argv:
            os.environ["CURATOR_CACHE"] = str(folder / "cache")
            single_steps(whole_commands(folder))
            indexes()
            linker(results)
        table(results)


if __name__ == "__main__":
    main()
