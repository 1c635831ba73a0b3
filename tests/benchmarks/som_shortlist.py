"""How much of what SOM finds best a shortlist keeps, and what re-ranking it costs; run from the repository root:

    .venv/bin/python tests/benchmarks/som_shortlist.py --mentions 32 --entities 0

Diseases of the knowledge base (``--entities`` a random sample of them, 0: all, which takes minutes to encode) and
disease mentions of BC5CDR train, read by the default encoder untrained. Every mention is compared with every entity
exactly; then each way of choosing a shortlist is asked how many of the best 64, and of the best, it holds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from models.core.kb import KnowledgeBase, read_kb  # noqa: E402
from models.encoders.default_encoder import default_encoder_folder  # noqa: E402
from models.encoders.encoders import load_encoder, normalized  # noqa: E402
from models.retrievers.biencoder import Biencoder, BiencoderSettings, index_source  # noqa: E402
from models.retrievers.scorers import Scorer  # noqa: E402
from models.retrievers.som import SomQueries, SomRetriever, build_som_index, load_som  # noqa: E402
from models.retrievers.token_store import text_means  # noqa: E402
from tests.benchmarks.linker_bc5cdr import DATA, read_pubtator, say  # noqa: E402

Scores = NDArray[np.float32]
BEST = 64


def sample(count: int) -> KnowledgeBase:
    entities = [e for e in read_kb(DATA / "kb" / "mesh_medic.jsonl.gz").entities if "Disease" in e.types]
    if count:
        chosen = np.random.default_rng(0).choice(len(entities), size=min(count, len(entities)), replace=False)
        entities = [entities[row] for row in sorted(chosen)]
    return KnowledgeBase(tuple(entities))


def open_retriever(kb: KnowledgeBase, folder: Path) -> SomRetriever:
    encoder = load_encoder(default_encoder_folder(), device="cpu", max_tokens=64)
    towers = Biencoder(encoder, encoder, BiencoderSettings(Scorer.SOM))
    for step in build_som_index(towers, kb, folder, kb_hash="sample"):
        if step.done % 4096 == 0 or step.done == step.total:
            say(f"  {step.done:,} of {step.total:,} entities encoded")
    source = index_source("sample", encoder.fingerprint)
    return load_som("som", towers, folder, entities=len(kb.entities), source=source)


def shortlists(retriever: SomRetriever, asked: SomQueries) -> dict[str, Scores]:
    """(entities, inputs) scores by which entities could be chosen."""
    store = retriever.tokens
    states = np.asarray(store.stored, dtype=np.float32)
    means, first = text_means(states, store.offsets), states[store.offsets[:-1]]
    mention = text_means(asked.states.numpy(), asked.offsets)
    return {
        "cosine of means": normalized(means) @ mention.T,
        "dot of means": means @ mention.T,
        "dot of [CLS]": first @ asked.states.numpy()[asked.offsets[:-1]].T,
    }


def cost(asked: SomQueries, order: NDArray[np.int64]) -> float:
    """Median milliseconds of the processor to re-rank a shortlist for one mention."""
    spent = []
    for place in range(min(5, order.shape[1])):
        started = time.process_time()
        asked.score(place, np.sort(order[:, place]))
        spent.append(1000 * (time.process_time() - started))
    return float(np.median(spent))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mentions", type=int, default=32)
    parser.add_argument("--entities", type=int, default=0)
    options = parser.parse_args()
    kb = sample(options.entities)
    documents = read_pubtator(DATA / "bc5cdr" / "train.pubtator.txt").documents
    mentions = [(d, m) for d in documents for m in d.mentions if m.types == ("Disease",)][:: 4409 // options.mentions]
    with tempfile.TemporaryDirectory() as name:
        retriever = open_retriever(kb, Path(name))
        asked = retriever.ask(mentions[: options.mentions])
        rows = np.arange(len(kb.entities))
        exact = np.stack([asked.score(place, rows) for place in range(len(asked.rows))], axis=1)
        best = np.argsort(-exact, axis=0, kind="stable")[:BEST]
        for kind, scores in shortlists(retriever, asked).items():
            order = np.argsort(-scores[:, asked.rows], axis=0, kind="stable")
            for size in (256, 512, 1024, 2048, 4096):
                held = [np.isin(best[:, place], order[:size, place]) for place in range(best.shape[1])]
                say(
                    f"{kind}, {size:,} of {len(rows):,}: {100 * np.mean(held):.1f} % of the best {BEST}, "
                    f"{100 * np.mean([one[0] for one in held]):.0f} % of the best; {cost(asked, order[:size]):.0f} ms"
                )


if __name__ == "__main__":
    main()
