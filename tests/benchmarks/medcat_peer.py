"""MedCAT with our names and mentions, as a peer of `peers`; alone, from the repository's root:

    .venv/bin/python -m tests.benchmarks.medcat_peer [FOLDER]

MedCAT is installed in a virtual environment of its own in the folder, by default that of the other benchmarks, since
its packages are not those of the program. Its published models need a licence, so its
concept database is made from our names with its own `CDBMaker`, with its defaults (tokens by regular expressions), but
short names and those in lower case are found too, since every string is a mention. Untrained, it finds a concept
only if the string, or a part of it, is one of its names. All concepts of that name are its candidates, those of the
longest part first. Strings and gold are those of `lexical_peers`; time is that of one processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.core.kb import KnowledgeBase, read_kb
from tests.benchmarks.lexical_engines import Rows
from tests.benchmarks.lexical_peers import read_mentions
from tests.benchmarks.linker_start import KB
from tests.benchmarks.replay_project import kept
from tests.benchmarks.targets import measured

VERSION = "2.9.0"
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
cdb = CDBMaker(config).prepare_csvs([pandas.DataFrame(given["names"], columns=["cui", "name", "name_status"])])
cat = CAT(cdb, Vocab(), config)
found = []
began = time.process_time()
for text in given["texts"]:
    entities = sorted(cat(text).ner_ents, key=lambda one: one.base.start_char_index - one.base.end_char_index)
    found.append(list(dict.fromkeys(cui for one in entities for cui in one.link_candidates))[:64])
json.dump({"took": time.process_time() - began, "found": found}, open(sys.argv[2], "w"))
"""


def interpreter(folder: Path) -> Path | None:
    """Of MedCAT's virtual environment, which is created if it is missing; None if it cannot be installed."""
    python = folder / f"medcat-{VERSION}" / "bin" / "python"
    if not (python.parent / "medcat").exists():
        print(f"Installing MedCAT {VERSION} into {python.parents[1]}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        install = [python, "-m", "pip", "install", "--quiet", f"medcat=={VERSION}"]
        if subprocess.run(install, check=False).returncode:
            return None
        (python.parent / "medcat").touch()
    return python


def ask(python: Path, kb: KnowledgeBase, texts: Sequence[str]) -> tuple[float, dict[str, Rows]]:
    """Seconds of processor time, and the rows of the entities found for each string."""
    names = [
        (str(row), name, "A" if place else "P")
        for row, entity in enumerate(kb.entities)
        for place, name in enumerate(entity.names)
    ]
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder) / "question.json", Path(folder) / "answer.json"
        question.write_text(json.dumps({"names": names, "texts": texts}), encoding="utf-8")
        own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run([python, "-c", CHILD, question, answer], cwd=folder, env=own, check=True)
        found = json.loads(answer.read_text(encoding="utf-8"))
    rows = (np.asarray([int(one) for one in some], dtype=np.int64) for some in found["found"])
    return float(found["took"]), dict(zip(texts, rows, strict=True))


def main() -> None:
    python = interpreter(Path(sys.argv[1]) if sys.argv[1:] else kept())
    if python is None:
        raise SystemExit("MedCAT could not be installed.")
    kb = read_kb(KB)
    asked = read_mentions(kb, "dev")
    texts = list(dict.fromkeys(one.text for one in asked))
    took, rows = ask(python, kb, texts)
    measured("MedCAT, strings in a second of processor time", len(texts) / took, "/s", more=True)
    for k in (1, 64):
        hits = [not one.gold.isdisjoint(rows[one.text][:k].tolist()) for one in asked]
        measured(f"MedCAT, recall@{k} over all names", 100 * float(np.mean(hits)), "%", more=True)


if __name__ == "__main__":
    main()
