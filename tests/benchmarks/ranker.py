"""The speed of a cross-encoder, as ratios within one run; run from the repository root:

    .venv/bin/python tests/benchmarks/ranker.py --documents 60

Links documents of BC5CDR dev (the knowledge base whole, index warm) without a ranker, then with a cross-encoder on the
tenth of smallest margins, 8 candidates and 128 tokens. Its last layer is random, which does not affect speed. The
margin comes from train documents. The gain from batches of similar length is measured, too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from models.encoders.default_encoder import default_encoder_folder  # noqa: E402
from models.encoders.encoders import load_encoder  # noqa: E402
from models.encoders.inputs import InputSettings  # noqa: E402
from models.linker.linker import Linker  # noqa: E402
from models.rankers.cross_encoder import CrossEncoder, CrossEncoderModule, new_head  # noqa: E402
from models.rankers.ranker import RankerSettings, RankerTally, RerankRule  # noqa: E402
from models.types import DocumentInput  # noqa: E402
from tests.benchmarks.linker_bc5cdr import DATA, build, read_pubtator, say  # noqa: E402
from training.job.ranker_rule import chosen_rule, silent, with_rule  # noqa: E402

INPUTS = InputSettings(64, 64)
CANDIDATES, SHARE, TUNING = 8, 0.1, 50


def with_ranker(linker: Linker, *, batch_size: int | None = None) -> Linker:
    """The linker with an untrained cross-encoder of its own; ``batch_size`` 1 reads pair by pair."""
    encoder = load_encoder(default_encoder_folder(), max_tokens=128)
    if batch_size is not None:
        encoder = replace(encoder, device=replace(encoder.device, batch_size=batch_size))
    module = CrossEncoderModule(encoder.module, new_head(encoder, seed=0))
    ranker = CrossEncoder("cross-encoder", module, encoder, RankerSettings(INPUTS), linker.stages.kb)
    ranked = with_rule(linker, RerankRule(CANDIDATES, share=SHARE))
    ranked.stages = replace(ranked.stages, ranker=ranker, tally=RankerTally())
    return ranked


def seconds(linker: Linker, documents: Sequence[DocumentInput]) -> float:
    started = time.perf_counter()
    for _ in linker.link(documents):
        pass
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=60)
    options = parser.parse_args()
    documents = read_pubtator(DATA / "bc5cdr" / "dev.pubtator.txt").documents[: options.documents]
    tuning = read_pubtator(DATA / "bc5cdr" / "train.pubtator.txt").documents[:TUNING]
    with tempfile.TemporaryDirectory() as folder:
        linker = build(Path(folder), ["lexical", "names"])
        ranked = with_ranker(linker)
        rule = chosen_rule(ranked, list(silent(ranked).score(tuning)))
        seconds(linker, tuning[:5])
        without = seconds(linker, documents)
        measure(with_rule(ranked, rule), documents, without, "in batches of like length")
        measure(with_rule(with_ranker(linker, batch_size=1), rule), documents, without, "pair by pair")


def measure(linker: Linker, documents: Sequence[DocumentInput], without: float, how: str) -> None:
    """Say how long linking takes with the ranker, beside ``without`` it."""
    within, tally, count = seconds(linker, documents), linker.stages.tally, len(documents)
    pairs = CANDIDATES * tally.asked / max(1e-9, tally.seconds)
    say(
        f"{count} documents, {how}: {tally.sentence()} {pairs:.0f} pairs/s; "
        f"{count / without:.2f} documents/s without, {count / within:.2f} with it (ratio {within / without:.2f})"
    )


if __name__ == "__main__":
    main()
