"""Measure the untrained linker on BC5CDR or NCBI Disease; run from the repository root:

    .venv/bin/python tests/benchmarks/linker_bc5cdr.py                       # the report: BC5CDR dev
    .venv/bin/python tests/benchmarks/linker_bc5cdr.py --corpus ncbi_disease # NCBI Disease dev
    .venv/bin/python tests/benchmarks/linker_bc5cdr.py --fit                 # choose the defaults, on train only

Recall is over mentions with a gold id in the knowledge base (alternate ids resolved), any-match, candidates
restricted to the mention's type. NIL is fitted on the first ``--tune`` train documents (50); the fusion weights of
the untrained stages are the program's defaults. Nothing else is taken from the corpus.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from models.linker.build import build_untrained  # noqa: E402
from models.linker.bundle import new_staging, publish  # noqa: E402
from models.linker.linker import Linker  # noqa: E402
from models.linker.tuning import average_precision, evaluate, tune  # noqa: E402
from models.types import DocumentInput, MentionInput  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
KB_TYPES = {"Chemical": ("Chemical",)}  # every other type of both corpora is a kind of disease
HEADER = re.compile(r"^(\d+)\|([ta])\|(.*)$")
Gold = dict[tuple[str, str], frozenset[str]]
Line = dict[str, Any]


@dataclass(frozen=True)
class Corpus:
    """Documents, and raw gold ids by (document, mention); keys are unique even where PMIDs repeat."""

    documents: tuple[DocumentInput, ...]
    gold: dict[tuple[str, str], str]

    def first(self, count: int) -> Corpus:
        return Corpus(self.documents[:count], self.gold)

    def resolved(self, linker: Linker) -> Gold:
        keys = [(d.key, m.key) for d in self.documents for m in d.mentions]
        return {key: resolve(self.gold[key], linker) for key in keys}


def resolve(raw: str, linker: Linker) -> frozenset[str]:
    """Primary ids of all ids that the knowledge base knows; empty means NIL."""
    found = set()
    for part in re.split(r"[|+,]", raw):
        for name in (part.strip(), f"MESH:{part.strip()}"):
            entity = linker.entity(name)
            if entity is not None:
                found.add(entity.id)
    return frozenset(found)


def read_pubtator(path: Path) -> Corpus:
    documents: list[DocumentInput] = []
    gold: dict[tuple[str, str], str] = {}
    text = ""
    mentions: list[MentionInput] = []
    for line in [*path.read_text(encoding="utf-8").split("\n"), ""]:
        header = HEADER.match(line.rstrip("\r"))
        fields = line.rstrip("\r").split("\t")
        key = f"d{len(documents)}"
        if header:
            text = header[3] if header[2] == "t" else f"{text} {header[3]}"
        elif len(fields) >= 5 and fields[1].isdigit():
            mention = MentionInput(
                f"{key}m{len(mentions)}", ((int(fields[1]), int(fields[2])),), KB_TYPES.get(fields[4], ("Disease",))
            )
            gold[key, mention.key] = fields[5] if len(fields) > 5 else "-1"
            mentions.append(mention)
        elif not line.strip() and text:
            documents.append(DocumentInput(key, text, tuple(mentions)))
            text, mentions = "", []
    return Corpus(tuple(documents), gold)


def read_documents(path: Path) -> list[Line]:
    """PubTator documents as snapshot lines, without a split; NIL follows from the knowledge base later."""
    return [_document(block.split("\n")) for block in path.read_text(encoding="utf-8").strip().split("\n\n")]


def _document(rows: Sequence[str]) -> Line:
    key, _, title = rows[0].split("|", 2)
    mentions = []
    for number, row in enumerate(rows[2:]):
        fields = row.split("\t")
        if len(fields) < 6 or not fields[1].isdigit():
            continue  # a relation
        ids = [f"MESH:{name}" for name in fields[5].split("|") if name != "-1"]
        spans = [[int(fields[1]), int(fields[2])]]
        gold = {"ids": ids, "nil": not ids}
        mentions.append({"key": f"{key}.{number}", "spans": spans, "types": [fields[4]], "gold": gold, "shown": []})
    return {"key": key, "text": f"{title} {rows[1].split('|', 2)[2]}", "mentions": mentions}


def build(folder: Path, stages: Sequence[str]) -> Linker:
    staging = new_staging(folder)
    started = time.perf_counter()
    for _ in build_untrained(DATA / "kb" / "mesh_medic.jsonl.gz", staging, stages=tuple(stages)):
        pass
    bundle = publish(staging)
    built = time.perf_counter()
    linker = Linker.load(bundle.path)
    say(f"built in {built - started:.1f} s, loaded in {time.perf_counter() - built:.1f} s")
    return linker


def report(linker: Linker, corpus: Corpus) -> None:
    started = time.perf_counter()
    scored = list(linker.score(corpus.documents))
    answers = [linker.finish(mention) for mention in scored]
    seconds = time.perf_counter() - started
    gold = corpus.resolved(linker)
    say(
        f"{len(corpus.documents)} documents, {len(answers)} mentions: {len(corpus.documents) / seconds:.1f} documents/s"
    )
    kinds = {"all": None, "Disease": ("Disease",), "Chemical": ("Chemical",)}
    for name, types in kinds.items():
        chosen = [(m, a) for m, a in zip(scored, answers, strict=True) if types in (None, m.query.types)]
        if not chosen:
            continue
        figures = evaluate([a for _, a in chosen], [gold[m.document.key, a.key] for m, a in chosen])
        say(f"{name:9s} " + json.dumps({key: round(value, 4) for key, value in figures.items()}))
    plain = np.asarray([1 - (a.candidates[0].score if a.candidates else 0) for a in answers])
    truth = np.asarray([not gold[m.document.key, a.key] for m, a in zip(scored, answers, strict=True)])
    say(f"NIL by plain top score: auPR {average_precision(plain, truth):.4f}")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def fit(linker: Linker, train: Corpus) -> Linker:
    """Print the weights, the combiner and the NIL model that train chooses: the program's defaults come from here."""
    every = sorted(linker.fusion.weights.keys() - {"names"})
    tuned = tune(linker, train.documents, train.resolved(linker), stages=every)
    for part in (tuned.fusion, tuned.combiner, tuned.nil):
        say(json.dumps(part.to_json(), indent=1))
    return linker.with_weights(fusion=tuned.fusion, combiner=tuned.combiner, nil=tuned.nil)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="bc5cdr", choices=("bc5cdr", "ncbi_disease"))
    parser.add_argument("--stages", nargs="+", default=["lexical", "names"])
    parser.add_argument("--fit", action="store_true", help="fit on 200 train documents and report on 100 others")
    parser.add_argument("--tune", type=int, default=50, help="train documents to fit NIL on; 0: the defaults")
    options = parser.parse_args()
    train = read_pubtator(DATA / options.corpus / "train.pubtator.txt")
    with tempfile.TemporaryDirectory() as folder:
        linker = build(Path(folder), options.stages)
        if options.fit:
            report(fit(linker, train.first(200)), Corpus(train.documents[200:300], train.gold))
            return
        if options.tune:
            tuning = train.first(options.tune)
            tuned = tune(linker, tuning.documents, tuning.resolved(linker))
            linker = linker.with_weights(fusion=tuned.fusion, combiner=tuned.combiner, nil=tuned.nil)
        say("\n".join(linker.describe()))
        report(linker, read_pubtator(DATA / options.corpus / "dev.pubtator.txt"))
    say(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
