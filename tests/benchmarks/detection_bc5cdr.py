"""Measure mention detection by dictionary on BC5CDR; run from the repository root:

    .venv/bin/python tests/benchmarks/detection_bc5cdr.py                # the report: dev
    .venv/bin/python tests/benchmarks/detection_bc5cdr.py --split train  # where the rules were chosen

Precision and recall of (span, type), exact and by overlap with a gold mention of the same type; for the types Chemical
and Disease, as a curator of this corpus would choose. "With memory" adds the surfaces of train's mentions as remembered
mentions; on train that would be cheating, so it is measured on dev only.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from models.core.kb import read_kb  # noqa: E402
from models.names.detection import Detector  # noqa: E402
from models.types import DocumentInput  # noqa: E402
from tests.benchmarks.linker_bc5cdr import DATA, read_pubtator, say  # noqa: E402

TYPES = ("Chemical", "Disease")
Span = tuple[int, int, str]


@dataclass
class Counts:
    """Found and gold mentions, those of them that are equal, and those that overlap one of the other side."""

    found: int = 0
    gold: int = 0
    exact: int = 0
    found_overlap: int = 0
    gold_overlap: int = 0

    def add(self, found: set[Span], gold: set[Span]) -> None:
        self.found += len(found)
        self.gold += len(gold)
        self.exact += len(found & gold)
        self.found_overlap += sum(any(_overlap(one, other) for other in gold) for one in found)
        self.gold_overlap += sum(any(_overlap(one, other) for other in found) for one in gold)

    def words(self) -> str:
        exact = _figures(self.exact / max(1, self.found), self.exact / max(1, self.gold))
        overlap = _figures(self.found_overlap / max(1, self.found), self.gold_overlap / max(1, self.gold))
        return f"exact {exact} | overlap {overlap} | {self.found:,} found, {self.gold:,} gold"


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] == other[2]


def _figures(precision: float, recall: float) -> str:
    f1 = 2 * precision * recall / max(1e-12, precision + recall)
    return f"P {100 * precision:.1f} R {100 * recall:.1f} F1 {100 * f1:.1f}"


def gold_of(document: DocumentInput) -> set[Span]:
    return {(m.spans[0][0], m.spans[-1][1], m.types[0]) for m in document.mentions}


def found_in(detector: Detector, text: str) -> set[Span]:
    """The first type of each mention is the one that it gets in a project."""
    return {(m.start, m.end, m.types[0]) for m in detector.detect(text, types=TYPES)}


def report(name: str, detector: Detector, documents: Sequence[DocumentInput]) -> None:
    counts = {kind: Counts() for kind in ("all", *TYPES)}
    started = time.perf_counter()
    found = [found_in(detector, document.text) for document in documents]
    seconds = time.perf_counter() - started
    for document, spans in zip(documents, found, strict=True):
        gold = gold_of(document)
        for kind, one in counts.items():
            one.add(*({span for span in group if kind in ("all", span[2])} for group in (spans, gold)))
    say(f"{name}: {len(documents)} documents, {len(documents) / seconds:,.0f} documents/s")
    for kind, one in counts.items():
        say(f"  {kind:9s} {one.words()}")


def remembered(documents: Iterable[DocumentInput]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Distinct surfaces with their types, as decisions would leave them in the memory."""
    yield from dict.fromkeys((m.surface(d.text), m.types) for d in documents for m in d.mentions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", default="dev", choices=("dev", "train"))
    options = parser.parse_args()
    kb = read_kb(DATA / "kb" / "mesh_medic.jsonl.gz")
    started = time.perf_counter()
    detector = Detector.build(kb)
    say(f"{len(kb.names):,} names made searchable in {time.perf_counter() - started:.1f} s")
    documents = read_pubtator(DATA / "bc5cdr" / f"{options.split}.pubtator.txt").documents
    report(f"names, {options.split}", detector, documents)
    if options.split == "dev":
        train = read_pubtator(DATA / "bc5cdr" / "train.pubtator.txt").documents
        started = time.perf_counter()
        with_memory = detector.remembering(remembered(train))
        say(f"memory of train added in {time.perf_counter() - started:.2f} s")
        report("names and memory of train, dev", with_memory, documents)


if __name__ == "__main__":
    main()
