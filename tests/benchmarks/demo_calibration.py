"""Fits the NIL model used before a project has its own, on the validation split of the demo project `pubmed`.

    python tests/benchmarks/demo_calibration.py [--write]

Prints the figures on the demo's validation and test split; `--write` replaces `resources/calibration.json`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from curator.io import default_registry
from models.linker.build import build_untrained
from models.linker.linker import Linker
from models.linker.tuning import Gold, evaluate, learn_nil
from models.types import DecidedDocument, DocumentInput, MentionInput

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources/demo/pubmed"
OUT = ROOT / "resources/calibration.json"


def read(split: str, linker: Linker) -> tuple[list[DocumentInput], Gold]:
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


def decided(documents: list[DocumentInput], gold: Gold) -> list[DecidedDocument]:
    """The documents with their gold as a curator's decisions."""
    return [
        DecidedDocument(one, tuple(tuple(sorted(gold[one.key, mention.key])) for mention in one.mentions))
        for one in documents
    ]


def fit(stages: tuple[str, ...], folder: Path) -> dict[str, Any]:
    for _ in build_untrained(DEMO / "kb.jsonl", folder, stages=stages):
        pass
    linker = Linker.load(folder)
    documents, gold = read("validation", linker)
    linker.remember(*decided(*read("train", linker)))
    decided_ones = [m for m in linker.score(documents) if (m.document.key, m.query.key) in gold]
    nil = learn_nil(linker, decided_ones, [not gold[m.document.key, m.query.key] for m in decided_ones])
    tuned = linker.with_weights(nil=nil)
    for split in ("validation", "test"):
        scored, answers = read(split, linker)
        linked = list(tuned.link(scored))
        given = [mention for document in linked for mention in document.mentions]
        keys = [(document.key, mention.key) for document in linked for mention in document.mentions]
        print("+".join(stages), split, {k: round(v, 3) for k, v in evaluate(given, [answers[k] for k in keys]).items()})
    return nil.to_json()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    fitted = {}
    for stages in (("lexical",), ("lexical", "names")):
        with tempfile.TemporaryDirectory() as folder:
            fitted["+".join(stages)] = fit(stages, Path(folder))
    if write:
        source = "fitted by tests/benchmarks/demo_calibration.py on the validation split of the demo project pubmed"
        OUT.write_text(json.dumps({"source": source, "nil": fitted}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
