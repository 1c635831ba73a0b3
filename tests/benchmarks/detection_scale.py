"""Memory and time of dictionary detection over a large knowledge base in its file, with both ways to store its names.

    python -m tests.benchmarks.detection_scale --entities 340000

The knowledge base is that of `umls_linking`. Each way runs in its own process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

from tests.benchmarks.kb_search import Speech
from tests.benchmarks.umls_linking import make


def resident() -> float:
    """Megabytes now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def measure(path: Path, automaton: bool) -> None:
    from models.core.stored_kb import StoredKnowledgeBase
    from models.names import detection

    detection.FROM_NAMES = 1 << 60 if automaton else 0
    kb = StoredKnowledgeBase.open(path)
    names = len(kb.names)
    before, began = resident(), time.process_time()
    found = detection.Detector.build(kb)
    built, after = time.process_time() - began, resident()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    speech = Speech()
    texts = [speech.some(250) for _ in range(40)]
    found.detect(texts[0])
    began = time.process_time()
    mentions = sum(len(found.detect(one)) for one in texts)
    each = (time.process_time() - began) / len(texts)
    way = "automaton" if automaton else "in the file"
    print(
        f"{way}: {names:,} names, {after - before:,.0f} MB more (peak {peak:,.0f} MB in all), {built:.1f} s to build, "
        f"{1000 * each:.1f} ms for a text of 250 words, {mentions} mentions",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=340_000)
    chosen = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kb.jsonl"
        make(path, chosen.entities)
        for automaton in (True, False):
            one = context.Process(target=measure, args=(path, automaton))
            one.start()
            one.join()


if __name__ == "__main__":
    main()
