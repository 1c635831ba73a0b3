"""The gain of a retraining on unseen documents: two bundles of a project on a corpus's development part.

`python -m tests.benchmarks.two_bundles OLD NEW [--corpus bc5cdr]`: both linkers remember all train documents of the
corpus and link its development documents. Per cent before and after, with the 95 % interval of the difference over
documents. The bundles' own project must have been trained on train documents only.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from models.linker.linker import Linker
from models.types import DocumentInput, MentionInput
from tests.benchmarks.leave_one_out import marks, taught, told, train_and_dev


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--corpus", choices=["bc5cdr", "ncbi_disease"], default="bc5cdr")
    options = parser.parse_args()
    train, dev = train_and_dev(options.corpus)
    linker = Linker.load(options.old)
    answers, gold = train.resolved(linker), dev.resolved(linker)
    pairs = [(document, mention) for document in dev.documents for mention in document.mentions]
    number = {document.key: place for place, document in enumerate(dev.documents)}
    place = np.asarray([number[document.key] for document, _ in pairs])
    seen = {string_of(document, mention) for document in train.documents for mention in document.mentions}
    new_strings = np.asarray([string_of(*pair) not in seen for pair in pairs])
    linked = np.asarray([bool(gold[document.key, mention.key]) for document, mention in pairs])
    old, new = (
        marks(taught(bundle, train.documents, answers), dev.documents, gold) for bundle in (options.old, options.new)
    )
    for name, which, before, after in (
        ("recall@1", linked, old.first, new.first),
        ("recall@1, strings that train never saw", linked & new_strings, old.first, new.first),
        ("right in all", np.ones(len(pairs), dtype=bool), old.right, new.right),
    ):
        print(f"{name} (n {which.sum():,}): {told(before[which], after[which], place[which])}", flush=True)


def string_of(document: DocumentInput, mention: MentionInput) -> str:
    """From its first to its last letter, in small letters."""
    return document.text[mention.spans[0][0] : mention.spans[-1][1]].casefold()


if __name__ == "__main__":
    main()
