"""Fits the NIL model that is used until a project has its own, on the train documents of BC5CDR and NCBI Disease, and
on those that the demo project `pubmed` trains and validates with:

    python -m tests.benchmarks.nil_fit [--write]

Each mention is taken with the memory of its corpus and without it. Every corpus has the same influence: the mentions of
the smaller ones are repeated. It prints the share of right answers, NIL included, on the development documents and the
demo's test documents, by the model that ships and by the new one, without and with the memory. `--write` replaces
`resources/calibration.json`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from curator.io.registry import default_registry
from curator.jobs.index_main import shipped_nil
from models.linker.answering import ScoredMention
from models.linker.build import build_untrained
from models.linker.linker import Linker
from models.linker.tuning import Gold
from models.rankers.nil import NilFeatures, NilModel, fit_nil
from models.types import DecidedDocument, DocumentInput, MentionInput
from tests.benchmarks.linker_bc5cdr import DATA, build, read_pubtator

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources/demo/pubmed"
OUT = ROOT / "resources/calibration.json"
CORPORA = ("bc5cdr", "ncbi_disease")
STAGES = (("lexical",), ("lexical", "names"))


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention with its memory or without: whether it is NIL, and whether the first candidate is right."""

    features: NilFeatures
    nil: bool
    first: bool

    def is_right(self, model: NilModel) -> bool:
        said = model.score(self.features) >= model.threshold
        return self.nil if said else self.first


@dataclass(frozen=True, slots=True)
class Part:
    """Documents of a corpus."""

    name: str
    memory: tuple[Seen, ...]
    bare: tuple[Seen, ...]


def part(name: str, linker: Linker, documents: Iterable[DocumentInput], gold: Gold) -> Part:
    """`gold` has the documents' keys, before a colon if they have one."""
    scored = list(linker.score(documents))
    seen = [
        [_seen(linker, one, gold[one.document.key.partition(":")[0], one.query.key]) for one in view]
        for view in (scored, [mention.without_memory() for mention in scored])
    ]
    return Part(name, tuple(seen[0]), tuple(seen[1]))


def _seen(linker: Linker, mention: ScoredMention, ids: frozenset[str]) -> Seen:
    answer = linker.finish(mention, k=1)
    first = bool(answer.candidates) and answer.candidates[0].entity_id in ids
    return Seen(linker.nil_features(mention), not ids, first)


def remembered(base: Linker, documents: Sequence[DocumentInput], gold: Gold) -> Linker:
    """The untrained linker with these decisions in its memory."""
    linker = Linker.load(base.bundle.path)
    linker.remember(
        *(DecidedDocument(one, tuple(tuple(sorted(gold[one.key, m.key])) for m in one.mentions)) for one in documents)
    )
    return linker


def corpora(base: Linker) -> tuple[list[Part], list[Part]]:
    """The train and the development documents."""
    fitted, judged = [], []
    for name in CORPORA:
        train, dev = (read_pubtator(DATA / name / f"{one}.pubtator.txt") for one in ("train", "dev"))
        linker = remembered(base, train.documents, gold := train.resolved(base))
        fitted.append(part(name, linker, train.documents, gold))
        others = (DocumentInput(f"{one.key}:dev", one.text, one.mentions) for one in dev.documents)
        judged.append(part(f"{name} dev", linker, others, dev.resolved(base)))
    return fitted, judged


def demo(base: Linker) -> tuple[Part, Part]:
    """What the demo trains and validates with, and its test documents."""
    splits = [_read(split, base) for split in ("train", "validation", "test")]
    documents, gold = [*splits[0][0], *splits[1][0]], splits[0][1] | splits[1][1]
    linker = remembered(base, documents, gold)
    return part("demo", linker, documents, gold), part("demo test", linker, *splits[2])


def _read(split: str, linker: Linker) -> tuple[list[DocumentInput], Gold]:
    documents, gold = [], {}
    for number, document in enumerate(default_registry().by_name("pubtator").open(DEMO / f"{split}.pubtator")):
        key = f"{split}-{number}"
        mentions = []
        for place, mention in enumerate(document.mentions):
            spans = tuple((span.start, span.end) for span in mention.spans)
            mentions.append(MentionInput(str(place), spans, (mention.type,)))
            found = (linker.stages.kb.resolved.get(f"MESH:{one}") for one in mention.ids)
            gold[key, str(place)] = frozenset(one for one in found if one)
        documents.append(DocumentInput(key, document.text, tuple(mentions)))
    return documents, gold


def fit(parts: Sequence[Part]) -> NilModel:
    """Every part has the same influence."""
    most = max(len(one.memory) for one in parts)
    times = [round(most / len(one.memory)) for one in parts]
    memory = [seen for one, many in zip(parts, times, strict=True) for seen in one.memory * many]
    bare = [(seen.features, seen.nil) for one, many in zip(parts, times, strict=True) for seen in one.bare * many]
    return fit_nil([seen.features for seen in memory], [seen.nil for seen in memory], more=bare)


def show(parts: Sequence[Part], models: dict[str, NilModel]) -> None:
    for one in parts:
        for words, view in (("without memory", one.bare), ("with memory", one.memory)):
            right = {name: np.mean([seen.is_right(model) for seen in view]) for name, model in models.items()}
            wrong = {
                name: np.mean([model.score(seen.features) >= model.threshold and not seen.nil for seen in view])
                for name, model in models.items()
            }
            figures = ", ".join(f"{name} {right[name]:.1%} (falsely NIL {wrong[name]:.1%})" for name in models)
            print(f"  {one.name}, {words}, {len(view):,}: {figures}", flush=True)


def fitted(stages: tuple[str, ...], folder: Path) -> dict[str, Any]:
    (folder / "demo").mkdir()
    for _ in build_untrained(DEMO / "kb.jsonl", folder / "demo", stages=stages):
        pass
    known, asked = corpora(build(folder, stages))
    own, test = demo(Linker.load(folder / "demo"))
    model = fit([*known, own])
    print("+".join(stages))
    show([*asked, test], {"ships": NilModel.from_json(shipped_nil(stages)), "new": model})
    return model.to_json()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    found = {}
    for stages in STAGES:
        with tempfile.TemporaryDirectory() as folder:
            found["+".join(stages)] = fitted(stages, Path(folder))
    if write:
        source = "fitted by tests/benchmarks/nil_fit.py on train documents of BC5CDR, NCBI Disease and the demo"
        OUT.write_text(json.dumps({"source": source, "nil": found}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
