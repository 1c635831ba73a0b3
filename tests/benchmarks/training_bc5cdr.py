"""Train each recipe on decisions taken from BC5CDR and measure what it brings; run from the repository root:

    .venv/bin/python tests/benchmarks/training_bc5cdr.py --mentions 2000 --minutes 20
    .venv/bin/python tests/benchmarks/training_bc5cdr.py --recipe pel-pb --mentions 1000 --minutes 6 --entities 6000

The first documents of BC5CDR train give `--mentions` decisions, its last 50 documents are the validation split; all
figures are on those (cross-fitted), never on dev. `--entities N` cuts the knowledge base to all gold entities and N in
all, drawn at random: faster, and easier. The untrained bundle and the entities' vectors are kept in `--work`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from models.linker.build import build_untrained  # noqa: E402
from models.linker.bundle import Bundle, discard_staging, new_staging, open_bundle, publish  # noqa: E402
from training.data.progress import Phase  # noqa: E402
from training.job.job import run_training  # noqa: E402
from training.job.recipes import recipe_ids  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
VALIDATION_DOCUMENTS = 50
Line = dict[str, Any]


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


def snapshot_lines(mentions: int) -> list[Line]:
    documents = read_documents(DATA / "bc5cdr" / "train.pubtator.txt")
    chosen: list[Line] = []
    taken = 0
    for document in documents[:-VALIDATION_DOCUMENTS]:
        if taken >= mentions:
            break
        document["mentions"] = document["mentions"][: mentions - taken]
        taken += len(document["mentions"])
        chosen.append({**document, "split": "train"})
    return chosen + [{**document, "split": "validation"} for document in documents[-VALIDATION_DOCUMENTS:]]


def write_kb(work: Path, lines: Sequence[Line], entities: int) -> Path:
    """The knowledge base, cut to `entities` (0: whole)."""
    target = work / "kb.jsonl"
    with gzip.open(DATA / "kb" / "mesh_medic.jsonl.gz", "rt", encoding="utf-8") as source:
        records = [json.loads(line) for line in source]
    if entities:
        gold = {name for line in lines for mention in line["mentions"] for name in mention["gold"]["ids"]}
        needed = [r for r in records if gold & {r["id"], *(r.get("alt_ids") or ())}]
        known = {record["id"] for record in needed}
        others = [record for record in records if record["id"] not in known]
        random.Random(0).shuffle(others)
        records = needed + others[: max(0, entities - len(needed))]
    target.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return target


def base_bundle(work: Path, lines: Sequence[Line], entities: int) -> Bundle:
    pointer = work / "base.txt"
    if pointer.exists():
        return open_bundle(pointer.read_text())
    staging = new_staging(work / "bundles")
    for _ in build_untrained(write_kb(work, lines, entities), staging, cache=work / "cache"):
        pass
    bundle = publish(staging)
    pointer.write_text(str(bundle.path))
    return bundle


def write_snapshot(work: Path, lines: Sequence[Line], kb_hash: str) -> Path:
    folder = work / "snapshot"
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "documents.jsonl").write_text(text, encoding="utf-8")
    files = {"documents.jsonl": hashlib.sha256(text.encode()).hexdigest()}
    (folder / "snapshot.json").write_text(json.dumps({"kb_hash": kb_hash, "files": files}))
    return folder


def run(recipe: str, spec: dict[str, Any], bundles: Path) -> None:
    staging = new_staging(bundles)
    begun = time.monotonic()
    result: dict[str, Any] = {}
    for event in run_training({**spec, "recipe": recipe, "staging": str(staging)}):
        if event.text:
            print(f"  {time.monotonic() - begun:6.0f} s  {event.phase}: {event.text}", flush=True)
        if event.phase is Phase.TRAIN and "loss" in event.data and event.done % 20 == 0:
            print(
                f"  {time.monotonic() - begun:6.0f} s  {event.done}/{event.total} loss {event.data['loss']:.3f}",
                flush=True,
            )
        result = dict(event.data.get("result", result))
    metrics = result["metrics"]
    alone, old, new = metrics["alone"], metrics["old"], metrics["new"]
    print(f"{recipe}: {result['verdict']} in {time.monotonic() - begun:.0f} s")
    print(f"  alone  r@1 {alone['before_at_1']:.3f} -> {alone['after_at_1']:.3f}", end="")
    print(f"  r@k {alone['before_at_k']:.3f} -> {alone['after_at_k']:.3f}")
    for name, report in (("old", old), ("new", new)):
        unseen = report["slices"].get("unseen surface", {}).get("recall_at_1")
        nil = report["nil"]
        print(f"  {name}    r@1 {report['recall']['1']:.4f}  r@64 {report['recall']['64']:.4f}", end="")
        print(f"  unseen r@1 {unseen:.4f}  NIL f1 {nil['f1']:.3f} auPR {nil['au_pr']:.3f}")
    discard_staging(staging)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", action="append", choices=recipe_ids(), help="may be repeated; all by default")
    parser.add_argument("--mentions", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--entities", type=int, default=0, help="size of the knowledge base; 0 is all of it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parameters", type=json.loads, default={}, help="JSON, for example '{\"epochs\": 2}'")
    parser.add_argument("--work", type=Path, default=Path("/tmp/training_bc5cdr"))
    options = parser.parse_args()
    work = options.work / str(options.entities or "all")
    work.mkdir(parents=True, exist_ok=True)
    lines = snapshot_lines(options.mentions)
    base = base_bundle(work, lines, options.entities)
    spec = {
        "snapshot": str(write_snapshot(work, lines, base.manifest.kb_hash)),
        "base": str(base.path),
        "keeps_part": True,
        "parameters": options.parameters,
        "seed": options.seed,
        "max_minutes": options.minutes,
        "cache": str(work / "cache"),
    }
    for recipe in options.recipe or recipe_ids():
        run(recipe, spec, work / "bundles")


if __name__ == "__main__":
    main()
