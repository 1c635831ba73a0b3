"""The cost of encoding contexts once per window, compared with once per mention; run from the repository root:

    .venv/bin/python tests/benchmarks/contexts.py --documents 50

Documents of BC5CDR train, the default encoder. Both read windows of the same length in batches of similar length. The
ratio is of CPU seconds, which other work on the machine disturbs less than clock time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from models.encoders.contexts import encode_contexts, plan_windows  # noqa: E402
from models.encoders.default_encoder import default_encoder_folder  # noqa: E402
from models.encoders.encoders import Encoder, load_encoder  # noqa: E402
from models.types import DocumentInput  # noqa: E402
from tests.benchmarks.linker_bc5cdr import DATA, read_pubtator, say  # noqa: E402


def per_mention(encoder: Encoder, documents: Sequence[DocumentInput], *, tokens: int) -> int:
    """Encode one window for each mention, in batches too; the number of windows."""
    windows = []
    for document in documents:
        for mention in document.mentions:
            plan = plan_windows(encoder.tokenizer, [replace(document, mentions=(mention,))], tokens=tokens)
            windows += list(plan.windows)
    encoder.encode_ids(windows)
    return len(windows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--tokens", type=int, nargs="+", default=[32, 64, 128])
    options = parser.parse_args()
    documents = read_pubtator(DATA / "bc5cdr" / "train.pubtator.txt").documents[: options.documents]
    encoder = load_encoder(default_encoder_folder(), device="cpu")
    encode_contexts(encoder, documents[:2])
    say(f"{len(documents)} documents, {sum(len(d.mentions) for d in documents)} mentions")
    for tokens in options.tokens:
        clock, processor = time.perf_counter(), time.process_time()
        encode_contexts(encoder, documents, tokens=tokens)
        once, spent = time.perf_counter() - clock, time.process_time() - processor
        windows = len(plan_windows(encoder.tokenizer, documents, tokens=tokens).windows)
        processor = time.process_time()
        asked = per_mention(encoder, documents, tokens=tokens)
        alone = time.process_time() - processor
        number, ratio = len(documents), alone / spent
        say(f"{tokens:4d} tokens: {number / once:.1f} documents/s, {number / spent:.1f} for each second of a core")
        say(f"     {windows} windows; once for each of {asked} mentions takes {ratio:.1f} times as long")


if __name__ == "__main__":
    main()
