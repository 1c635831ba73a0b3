"""MedCAT with our names and mentions, as a peer of `lexical_peers`; from the repository's root:

    python3 -m venv /tmp/medcat && /tmp/medcat/bin/pip install medcat==2.9.0
    .venv/bin/python -m tests.benchmarks.medcat_peer /tmp/medcat/bin/python

MedCAT is installed apart, since its packages are not those of the program. Its published models need a licence, so its
concept database is made from our names with its own `CDBMaker`, with its defaults (tokens by regular expressions), but
short names and those in lower case are found too, since every string is a mention. Untrained, it finds a concept
only if the string, or a part of it, is one of its names. All concepts of that name are its candidates, those of the
longest part first. Strings and gold are those of `lexical_peers`; time is that of one processor.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.core.kb import read_kb
from tests.benchmarks.lexical_peers import read_mentions
from tests.benchmarks.linker_start import KB
from tests.benchmarks.targets import measured

CHILD = """
import json, logging, sys, time
import pandas
from medcat.cat import CAT
from medcat.config import Config
from medcat.model_creation.cdb_maker import CDBMaker
from medcat.vocab import Vocab
given = json.load(open(sys.argv[1]))
config = Config()
config.cdb_maker.multi_separator = chr(31)  # names contain the usual one
config.components.ner.min_name_len, config.components.ner.upper_case_limit_len = 1, 0  # all given strings are mentions
logging.disable(logging.CRITICAL)
began = time.process_time()
cdb = CDBMaker(config).prepare_csvs([pandas.DataFrame(given["names"], columns=["cui", "name", "name_status"])])
cat = CAT(cdb, Vocab(), config)
built = time.process_time() - began
found = []
began = time.process_time()
for text in given["texts"]:
    entities = sorted(cat(text).ner_ents, key=lambda one: one.base.start_char_index - one.base.end_char_index)
    found.append(list(dict.fromkeys(cui for one in entities for cui in one.link_candidates))[:64])
json.dump({"built": built, "took": time.process_time() - began, "found": found}, open(sys.argv[2], "w"))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="the interpreter that MedCAT is installed for")
    parser.add_argument("--split", default="dev")
    given = parser.parse_args(arguments)
    kb = read_kb(KB)
    asked = read_mentions(kb, given.split)
    texts = list(dict.fromkeys(one.text for one in asked))
    names = [
        (str(row), name, "A" if place else "P")
        for row, entity in enumerate(kb.entities)
        for place, name in enumerate(entity.names)
    ]
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder) / "question.json", Path(folder) / "answer.json"
        question.write_text(json.dumps({"names": names, "texts": texts}), encoding="utf-8")
        subprocess.run([given.python, "-c", CHILD, question, answer], cwd=folder, check=True)
        found = json.loads(answer.read_text(encoding="utf-8"))
    rows = {text: [int(one) for one in own] for text, own in zip(texts, found["found"], strict=True)}
    recall = [100 * float(np.mean([not one.gold.isdisjoint(rows[one.text][:k]) for one in asked])) for k in (1, 64)]
    note = f"{len(names):,} names in {found['built']:.0f} s, {len(asked):,} mentions, {len(texts):,} strings"
    measured("MedCAT, strings in a second of processor time", len(texts) / found["took"], "/s", more=True, note=note)
    measured("MedCAT, recall@1 over all names", recall[0], "%", more=True)
    measured("MedCAT, recall@64 over all names", recall[1], "%", more=True)


if __name__ == "__main__":
    main()
