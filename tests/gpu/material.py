"""The joined material: corpora as snapshot lines, knowledge base, encoder; and invented material for `--small`."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from models.core.kb import KnowledgeBase, read_kb
from models.linker.build import build_untrained
from models.linker.bundle import Bundle, new_staging, open_bundle, publish
from tests.benchmarks.experiments.worlds import World
from tests.benchmarks.linker_bc5cdr import read_pubtator
from tests.gpu.pack import DATA

ROOT = Path(__file__).resolve().parents[2]
HELD_OUT = 50
"""The last train documents of BC5CDR: they choose and judge within train; 450 of 500 teach."""
Line = dict[str, Any]


@dataclass(frozen=True)
class Material:
    """`folder` holds `data/` and `encoder/`; `work` is where bundles and caches are put. `held_out` train documents of
    BC5CDR choose, the others teach; of each corpus at most `documents` a part are read (None: all)."""

    folder: Path
    work: Path
    held_out: int = HELD_OUT
    documents: int | None = None

    @property
    def encoder(self) -> Path:
        return self.folder / "encoder"

    @cached_property
    def kb_file(self) -> Path:
        """The knowledge base as JSON lines, unpacked."""
        target = self.work / "kb.jsonl"
        if not target.is_file():
            self.work.mkdir(parents=True, exist_ok=True)
            partial = target.with_suffix(".part")
            with gzip.open(self.folder / "data/kb/mesh_medic.jsonl.gz", "rb") as source, partial.open("wb") as handle:
                shutil.copyfileobj(source, handle)
            partial.replace(target)
        return target

    @cached_property
    def kb(self) -> KnowledgeBase:
        """Rows are those of every bundle made from it."""
        return read_kb(self.kb_file)

    def lines(self, corpus: str, part: str) -> list[Line]:
        """The documents of one part as a snapshot has them; a mention of no entity of the knowledge base is NIL."""
        found = read_pubtator(self.folder / f"data/{corpus}/{part}.pubtator.txt")
        return [
            {
                "key": f"{corpus}-{part}-{document.key}",
                "text": document.text,
                "mentions": [
                    {
                        "key": f"{corpus}-{part}-{mention.key}",
                        "spans": [list(span) for span in mention.spans],
                        "types": list(mention.types),
                        "gold": self._gold(found.gold[document.key, mention.key]),
                        "shown": [],
                    }
                    for mention in document.mentions
                ],
            }
            for document in found.documents[: self.documents]
        ]

    def _gold(self, raw: str) -> Line:
        names = [name for part in re.split(r"[|+,]", raw) for name in (part.strip(), f"MESH:{part.strip()}")]
        ids = list(dict.fromkeys(self.kb.resolved[name] for name in names if name in self.kb.resolved))
        return {"ids": ids, "nil": not ids}

    @cached_property
    def world(self) -> World:
        """BC5CDR: train documents teach, the last of them are held out, dev judges; the whole knowledge base."""
        train, dev = (self.lines("bc5cdr", part) for part in ("train", "dev"))
        teach, held_out = train[: -self.held_out], train[-self.held_out :]
        sentence = (
            f"BC5CDR: {len(teach)} train documents teach, the last {len(held_out)} are held out, {len(dev)} documents "
            f"of dev judge; {len(self.kb.entities):,} entities, {len(self.kb.names):,} names."
        )
        return World("gpu", tuple(teach), tuple(held_out), tuple(dev), (), sentence, steps=None)

    def bundle(self, name: str, encoder: Path, *, device: str) -> Bundle:
        """An untrained linker whose names are compared by this encoder; built once."""
        pointer = self.work / f"bundle-{name}.txt"
        if pointer.is_file():
            return open_bundle(self.work / "bundles" / pointer.read_text(encoding="utf-8"))
        staging = new_staging(self.work / "bundles")
        for _ in build_untrained(self.kb_file, staging, encoder=encoder, cache=self.work / "cache", device=device):
            pass
        bundle = publish(staging)
        pointer.write_text(bundle.path.name, encoding="utf-8")
        return bundle


def invented(folder: Path) -> Mapping[str, Path]:
    """The demo's documents and knowledge base, and a tiny random network, laid out as a pack is: path → file."""
    from tests.tiny_bert import build_tiny_bert

    demo = ROOT / "resources/demo/pubmed"
    parts = {"train": "train", "dev": "validation"}
    for name in DATA[:-1]:
        target = folder / "data" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(demo / f"{parts[target.name.split('.')[0]]}.pubtator", target)
    kb = folder / "data" / DATA[-1]
    kb.parent.mkdir(parents=True, exist_ok=True)
    records = [json.loads(line) for line in (demo / "kb.jsonl").read_text(encoding="utf-8").splitlines()]
    with gzip.open(kb, "wt", encoding="utf-8") as handle:
        handle.writelines(json.dumps(record) + "\n" for record in records)
    build_tiny_bert(folder / "encoder", hidden=32, layers=2)
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
