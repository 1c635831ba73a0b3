"""How much a project's own decisions help: what ships is fitted on one corpus, the project is another one.

`python -m tests.benchmarks.leave_one_out [--project ncbi_disease] [--decisions 200 500 1000 2000 4000] [--seeds 1]`:
combiner and NIL are fitted on the other corpus's train documents, as if the program came with these. Documents of the
project's train part are then decided one after another; after so many decisions its development documents are linked,
by the linker with this memory alone, and by the same after a retraining on these decisions, with any verdict of its
gate. Intervals are of the paired difference, resampled by documents. `--recipe` names it; `--shipped` keeps what ships.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from models.linker import tuning
from models.linker.bundle import Bundle, new_id, new_staging, publish, reuse, seal
from models.linker.linker import Linker
from models.linker.tuning import Gold, learn_combiner, tune
from models.rankers.combiner import Combiner
from models.types import DecidedDocument, DocumentInput, LinkedMention
from tests.benchmarks.linker_bc5cdr import DATA, Corpus, build, read_pubtator
from training.job.job import run_training

OTHER = {"ncbi_disease": "bc5cdr", "bc5cdr": "ncbi_disease"}
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Marks:
    """(m,) of one linker: whether the first candidate is right, and whether the answer is, NIL counted."""

    first: np.ndarray
    right: np.ndarray


def train_and_dev(corpus: str) -> tuple[Corpus, Corpus]:
    train, dev = (read_pubtator(DATA / corpus / f"{part}.pubtator.txt") for part in ("train", "dev"))
    return train, dev


def taught(bundle: Path, documents: Sequence[DocumentInput], gold: Gold) -> Linker:
    """A linker of its own with this memory."""
    linker = Linker.load(bundle)
    linker.remember(
        *(DecidedDocument(one, tuple(tuple(sorted(gold[one.key, m.key])) for m in one.mentions)) for one in documents)
    )
    return linker


def marks(linker: Linker, documents: Sequence[DocumentInput], gold: Gold) -> Marks:
    """`documents` are asked under other keys than those of train."""
    first, right = [], []
    for document in documents:
        asked = DocumentInput(f"dev-{document.key}", document.text, document.mentions)
        (answer,) = linker.link([asked])
        for mention in answer.mentions:
            ids = gold[document.key, mention.key]
            first.append(bool(mention.candidates) and mention.candidates[0].entity_id in ids)
            right.append(_is_right(mention, ids))
    return Marks(np.asarray(first), np.asarray(right))


def _is_right(mention: LinkedMention, ids: frozenset[str]) -> bool:
    if mention.nil.is_nil or not ids:
        return mention.nil.is_nil and not ids
    return bool(mention.candidates) and mention.candidates[0].entity_id in ids


def told(old: np.ndarray, new: np.ndarray, document: np.ndarray) -> str:
    """In per cent, with the 95 % interval of the difference."""
    apart = new.astype(float) - old
    sums, counts = np.bincount(document, apart), np.bincount(document)
    draw = np.random.default_rng(0)
    chosen = draw.integers(len(sums), size=(RESAMPLES, len(sums)))
    low, high = np.percentile(sums[chosen].sum(1) / np.maximum(1, counts[chosen].sum(1)), [2.5, 97.5])
    return f"{old.mean():6.1%} → {new.mean():6.1%} ({100 * apart.mean():+.1f}, {100 * low:+.1f} to {100 * high:+.1f})"


def retrained(
    base: Bundle, recipe: str, decided: Sequence[DocumentInput], answers: Gold, folder: Path, seed: int
) -> tuple[Path, str]:
    """The bundle that a training on these decisions leaves, and its gate's verdict."""
    folder.mkdir(parents=True)
    lines = [
        {
            "key": one.key,
            "split": "train",
            "text": one.text,
            "mentions": [
                {
                    "key": m.key,
                    "spans": m.spans,
                    "types": m.types,
                    "gold": {"ids": sorted(answers[one.key, m.key]), "nil": not answers[one.key, m.key]},
                    "shown": [],
                }
                for m in one.mentions
            ],
        }
        for one in decided
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "documents.jsonl").write_text(text, encoding="utf-8")
    files = {"documents.jsonl": hashlib.sha256(text.encode()).hexdigest()}
    (folder / "snapshot.json").write_text(json.dumps({"kb_hash": base.manifest.kb_hash, "files": files}))
    staging = new_staging(base.path.parent)
    spec = {"snapshot": folder, "base": base.path, "staging": staging, "recipe": recipe, "seed": seed}
    work = {"parameters": {}, "device": "auto", "threads": 0, "max_minutes": None, "work": folder / "work"}
    *_, last = run_training({**{k: str(v) if isinstance(v, Path) else v for k, v in {**spec, **work}.items()}})
    print(last.text, flush=True)
    return staging, str(last.data["result"]["verdict"])


def fitted_elsewhere(base: Linker, corpus: str) -> tuple[Bundle, Combiner]:
    """The bundle as it would come with the program had this been the only corpus; its combiner."""
    other, _ = train_and_dev(corpus)
    gold = other.resolved(base)
    elsewhere = taught(base.bundle.path, other.documents, gold)
    scored = [m for m in elsewhere.score(other.documents) if gold[m.document.key, m.query.key]]
    came = learn_combiner(elsewhere, [(m, gold[m.document.key, m.query.key]) for m in scored])
    assert came is not None
    shipped = tune(elsewhere, other.documents, gold, near=came)
    manifest = base.bundle.manifest.replace(combiner=shipped.combiner.to_json(), nil=shipped.nil.to_json())
    staging = new_staging(base.bundle.path.parent)
    for relative in manifest.files:
        reuse(base.bundle, relative, staging)
    seal(staging, manifest.replace(id=new_id("elsewhere")), known=base.bundle)
    return publish(staging), came


def first_decided(train: Corpus, number: int, seed: int) -> list[DocumentInput]:
    """Whole documents until there are so many mentions."""
    documents = list(train.documents)
    random.Random(seed).shuffle(documents)
    found, count = [], 0
    while count < number and documents:
        found.append(documents.pop())
        count += len(found[-1].mentions)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", default="ncbi_disease", choices=sorted(OTHER))
    parser.add_argument("--decisions", nargs="+", type=int, default=[200, 500, 1000, 2000, 4000])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--documents", type=int, default=200, help="so many development documents are linked")
    parser.add_argument("--recipe", default="conventions")
    parser.add_argument("--shipped", action="store_true", help="keep what ships, fitted on both corpora")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        linker = build(folder, ["lexical", "names"])
        base = linker.bundle
        if not options.shipped:
            base, came = fitted_elsewhere(linker, OTHER[options.project])
            tuning.default_combiner = lambda _: came  # type: ignore[assignment]  # what is fitted stays near it
        train, dev = train_and_dev(options.project)
        answers, asked = train.resolved(linker), dev.first(options.documents).documents
        expected = dev.resolved(linker)
        document = np.concatenate([np.full(len(one.mentions), at) for at, one in enumerate(asked)])
        linked = np.asarray([bool(expected[one.key, m.key]) for one in asked for m in one.mentions])
        for seed in range(options.seeds):
            for number in options.decisions:
                decided = first_decided(train, number, seed)
                before = marks(taught(base.path, decided, answers), asked, expected)
                began = time.monotonic()
                made, verdict = retrained(base, options.recipe, decided, answers, folder / f"{seed}-{number}", seed)
                minutes = (time.monotonic() - began) / 60
                after = marks(taught(made, decided, answers), asked, expected)
                shutil.rmtree(made)
                recall = told(before.first[linked], after.first[linked], document[linked])
                whole = told(before.right, after.right, document)
                print(f"seed {seed}, {number:5,} decisions: recall@1 {recall}; right in all {whole}; {verdict}")
                print(f"{minutes:.1f} min", flush=True)


if __name__ == "__main__":
    main()
