"""Lexical linking in a knowledge base of the UMLS's size: building the index, loading it, linking a document.

    python -m tests.benchmarks.umls_linking --entities 340000

At 3,400,000 entities there are 7.4 million names; the index takes some 10 GB of disk. Building and linking are each a
process. *Of its own* is memory not backed by a file; pages of the index, which the system can reclaim, are reported
separately.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.kb_search import Speech

TYPES = 127
_OWN, _ALL = re.compile(r"RssAnon:\s+(\d+)"), re.compile(r"VmRSS:\s+(\d+)")


def make(path: Path, entities: int) -> None:
    """JSON lines like those of the UMLS benchmark: 2.2 names each, a third of the entities defined."""
    speech = Speech()
    pick = speech.random
    with path.open("w", encoding="utf-8") as file:
        for number in range(entities):
            count = 1 + (pick.random() < 0.6) + (pick.random() < 0.35) + (pick.random() < 0.22)
            names = [speech.some(pick.randint(1, 6)) for _ in range(count)]
            entity = {
                "id": f"UMLS:C{number:07}",
                "name": names[0],
                "synonyms": names[1:],
                "types": [f"Kind {number % TYPES}"],
                "definition": speech.some(25) if number % 3 == 0 else "",
                "alt_ids": [],
            }
            file.write(json.dumps(entity) + "\n")


def watched(what: str, work: Callable[[], object]) -> None:
    """Do it, and return seconds and the greatest memory while it ran."""
    done, peaks = threading.Event(), [0, 0]

    def watch() -> None:
        while not done.wait(0.2):
            status = Path("/proc/self/status").read_text()
            for at, pattern in enumerate((_OWN, _ALL)):
                found = pattern.search(status)
                peaks[at] = max(peaks[at], int(found[1]) >> 10 if found else 0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    began, worked = time.perf_counter(), time.process_time()
    work()
    spent, busy = time.perf_counter() - began, time.process_time() - worked
    done.set()
    watcher.join()
    own, whole = peaks
    print(f"{what}: {spent:.1f} s, processor {busy:.1f} s; at most {own:,} MB of its own, {whole:,} MB with files")


def build(source: Path, bundle: Path) -> None:
    from models.linker.build import build_untrained

    def work() -> None:
        for _ in build_untrained(source, bundle, stages=("lexical",)):
            pass

    watched("build the lexical index", work)


def link(source: Path, bundle: Path) -> None:
    from models.linker.linker import Linker
    from models.types import DocumentInput, MentionInput

    loaded: list[Linker] = []
    watched("load it", lambda: loaded.append(Linker.load(bundle, device="cpu")))
    with source.open(encoding="utf-8") as lines:
        names = [json.loads(line)["name"] for line, _ in zip(lines, range(20), strict=False)]
    text, mentions = "", []
    for key, name in enumerate(names):
        mentions.append(MentionInput(str(key), ((len(text), len(text) + len(name)),)))
        text += name + ". "
    document = DocumentInput("1", text, mentions)
    for what in ("link a document of 20 mentions", "link it again"):
        watched(what, lambda: deque(loaded[0].link([document]), maxlen=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=340_000)
    chosen = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        source, bundle = Path(name) / "kb.jsonl", Path(name) / "bundle"
        bundle.mkdir()
        for target, arguments in (
            (make, (source, chosen.entities)),
            (build, (source, bundle)),
            (link, (source, bundle)),
        ):
            process = spawn.Process(target=target, args=arguments)
            process.start()
            process.join()
            if process.exitcode:
                raise SystemExit(f"{target.__name__} failed with {process.exitcode}")
        print(f"bundle: {sum(one.stat().st_size for one in bundle.rglob('*') if one.is_file()) >> 20:,} MB")


if __name__ == "__main__":
    main()
