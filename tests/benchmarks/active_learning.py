"""Compares orders of work by what the linker learns from 500 decisions; run from the repository root on a quiet
machine:

    .venv/bin/python -m tests.benchmarks.active_learning

BC5CDR train only: 80 documents are for evaluation, and each seed draws 250 of the others as the queue. A curator who
knows the gold decides in the given order; the linker's memory learns. Every 125 decisions recall@1 is measured on the
evaluation documents, and the curve's mean height over the first 500 decisions is the order's area. Suggestions of the
queue are those made before the first decision, as in the program, which links a document again only when it is opened;
the work list is rebuilt every 25 decisions. The orders never use the evaluation documents, nor gold of undecided
mentions.

Areas of 21 November 2026, seeds 1, 2, 3: random 0.8993 0.9259 0.9120 (mean 0.9124), uncertain 0.9031 0.9231 0.9167
(0.9143), diverse 0.9074 0.9284 0.9270 (0.9209): diverse is above both for each seed.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from curator.services.ports.queue import WorkRow
from curator.services.queue.ordering import diverse, string_of, uncertain
from models.linker.linker import Linker
from models.types import DecidedDocument, DocumentInput, LinkedMention
from tests.benchmarks.linker_bc5cdr import DATA, Gold, build, read_pubtator, say

JUDGED, QUEUE, DECISIONS, STEP, RENEWED = 80, 250, 500, 125, 25
SEEDS = (1, 2, 3)
Chosen = Callable[[Sequence[WorkRow], Counter[tuple[str, str]], random.Random], Sequence[WorkRow]]

ORDERS: dict[str, Chosen] = {
    "random": lambda rows, _, rng: rng.sample(list(rows), len(rows)),
    "uncertain": lambda rows, _, __: uncertain(rows),
    "diverse": lambda rows, decided, _: diverse(rows, decided=decided, length=RENEWED),
}


@dataclass(frozen=True)
class Queue:
    """`rows` name mentions by their place in `keys`."""

    documents: dict[str, DocumentInput]
    keys: list[tuple[str, str]]
    rows: list[WorkRow]


def suggested(linker: Linker, documents: Sequence[DocumentInput]) -> Queue:
    keys: list[tuple[str, str]] = []
    rows: list[WorkRow] = []
    for number, (document, linked) in enumerate(zip(documents, linker.link(documents, k=2), strict=True)):
        for mention in linked.mentions:
            given = next(one for one in document.mentions if one.key == mention.key)
            rows.append(work_row(mention, len(keys), number, "/".join(given.types)))
            keys.append((document.key, mention.key))
    return Queue({one.key: one for one in documents}, keys, rows)


def work_row(mention: LinkedMention, place: int, document: int, kind: str) -> WorkRow:
    """As the store gives it."""
    found = [one.probability for one in mention.candidates]
    nil = mention.nil.is_nil
    first = "NIL" if nil else mention.candidates[0].entity_id if found else ""
    sure = None if not found else 1 - found[0] if nil else found[0]
    margin = found[0] - (found[1] if len(found) > 1 else 0.0) if found else None
    return WorkRow(place, document, mention.surface, kind, first, sure, margin, nil)


def taught(queue: Queue, chosen: Sequence[WorkRow], gold: Gold) -> list[DecidedDocument]:
    """The documents of the decided mentions, with these alone."""
    by_document: dict[str, set[str]] = {}
    for row in chosen:
        document, mention = queue.keys[row.mention_id]
        by_document.setdefault(document, set()).add(mention)
    decided = []
    for key, mentions in by_document.items():
        document = queue.documents[key]
        kept = tuple(one for one in document.mentions if one.key in mentions)
        answers = tuple(tuple(sorted(gold[key, one.key])) for one in kept)
        decided.append(DecidedDocument(DocumentInput(key, document.text, kept), answers))
    return decided


def recall(linker: Linker, judged: Sequence[DocumentInput], gold: Gold) -> float:
    right = total = 0
    for document, linked in zip(judged, linker.link(judged, k=1), strict=True):
        for mention in linked.mentions:
            answers = gold[document.key, mention.key]
            if answers:
                total += 1
                right += bool(mention.candidates) and mention.candidates[0].entity_id in answers
    return right / total


def curve(
    linker: Linker, queue: Queue, judged: Sequence[DocumentInput], gold: Gold, choose: Chosen, seed: int, start: float
) -> list[float]:
    """Recall@1 after 0, 125, … 500 decisions, `start` being the first; the memory is emptied afterwards."""
    rng = random.Random(seed)
    decided: Counter[tuple[str, str]] = Counter()
    left, done, heights = list(queue.rows), [], [start]
    while len(done) < DECISIONS:
        if done and len(done) % STEP == 0:
            linker.remember(*taught(queue, done, gold))
            heights.append(recall(linker, judged, gold))
        part = list(choose(left, decided, rng))[:RENEWED]
        done += part
        taken = {row.mention_id for row in part}
        left = [row for row in left if row.mention_id not in taken]
        decided.update(string_of(row) for row in part)
    linker.remember(*taught(queue, done, gold))
    heights.append(recall(linker, judged, gold))
    linker.remember(*(DecidedDocument(DocumentInput(key, one.text, ()), ()) for key, one in queue.documents.items()))
    return heights


def area(heights: Sequence[float]) -> float:
    """Mean height by the trapezium rule."""
    return sum((a + b) / 2 for a, b in pairwise(heights)) / (len(heights) - 1)


def main() -> None:
    corpus = read_pubtator(DATA / "bc5cdr" / "train.pubtator.txt")
    areas: dict[str, list[float]] = {name: [] for name in ORDERS}
    with tempfile.TemporaryDirectory() as folder:
        linker = build(Path(folder), ["lexical", "names"])
        gold = corpus.resolved(linker)
        for seed in SEEDS:
            drawn = random.Random(seed).sample(list(corpus.documents), JUDGED + QUEUE)
            judged = [DocumentInput(f"judged-{one.key}", one.text, one.mentions) for one in drawn[:JUDGED]]
            seen = gold | {
                (f"judged-{one.key}", m.key): gold[one.key, m.key] for one in drawn[:JUDGED] for m in one.mentions
            }
            queue = suggested(linker, drawn[JUDGED:])
            start = recall(linker, judged, seen)
            for name, choose in ORDERS.items():
                begun = time.perf_counter()
                heights = curve(linker, queue, judged, seen, choose, seed, start)
                areas[name].append(area(heights))
                points = " ".join(f"{one:.3f}" for one in heights)
                say(f"seed {seed} {name:10} area {areas[name][-1]:.4f}  {points}  {time.perf_counter() - begun:.0f} s")
    for name, found in areas.items():
        say(f"{name:10} {' '.join(f'{one:.4f}' for one in found)}  mean {sum(found) / len(found):.4f}")


if __name__ == "__main__":
    main()
