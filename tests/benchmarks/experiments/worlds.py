"""The data of the experiments: which decisions teach, which judge, and a knowledge base cut to size."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.core.file_io import atomic_path, write_json
from models.linker.build import build_untrained
from models.linker.bundle import Bundle, new_staging, open_bundle, publish
from tests.benchmarks.linker_bc5cdr import DATA, ROOT, read_documents

Line = dict[str, Any]
MENTIONS, ENTITIES, HELD_OUT, JUDGED = 1500, 6000, 15, 60
"""Mentions of train that teach, entities, last documents of train that are held out, documents of dev that judge."""
FULL, FULL_HELD_OUT = "full", 50
LEFT_OUT, NILS = 0.25, 1000
"""Share of dev's mentions that are NIL in the world `okb`, and how many of them judge, at least."""
KB_TYPES = {"Chemical": "Chemical"}


@dataclass(frozen=True)
class World:
    """`train` and `held_out` make the snapshot; `judged` documents are never seen by training."""

    name: str
    train: tuple[Line, ...]
    held_out: tuple[Line, ...]
    judged: tuple[Line, ...]
    entities: tuple[Line, ...]
    sentence: str
    steps: int | None = 44
    """Of the optimiser, in every run; None: as many as the recipe's epochs make."""
    passes: int = 1
    """Over the mentions, so that there are enough for the steps."""
    many: int = 64
    """The k of recall@k: less where a world has hardly more entities than the papers' 64."""


def bc5cdr() -> World:
    """BC5CDR: the first mentions of train, the first documents of dev, all their gold entities and random others."""
    train, dev, records = _read_bc5cdr()
    chosen, held_out, judged = _first(train[:-HELD_OUT], MENTIONS), train[-HELD_OUT:], dev[:JUDGED]
    entities = _cut(records, _gold([*train, *dev]), ENTITIES)
    sentence = (
        f"BC5CDR: {_count(chosen):,} mentions of the first {len(chosen)} train documents teach, the last {HELD_OUT} "
        f"train documents are held out for weights and gate, {_count(judged):,} mentions of the first {JUDGED} dev "
        f"documents judge; {len(entities):,} entities of {len(records):,}: all gold ones of train and dev, and random "
        "ones."
    )
    return World("bc5cdr", tuple(chosen), tuple(held_out), tuple(judged), tuple(entities), sentence)


def okb() -> World:
    """BC5CDR with an open knowledge base: branches of the tree are taken out, and what was linked to them is NIL."""
    train, dev, records = _read_bc5cdr()
    gone, branches = _branches_out(records, dev, share=LEFT_OUT)
    train, dev = (_without(documents, gone) for documents in (train, dev))
    kept = [record for record in records if record["id"] not in gone]
    chosen, held_out = _first(train[:-HELD_OUT], MENTIONS), train[-HELD_OUT:]
    judged = _with_nils(dev, NILS)
    entities = _cut(kept, _gold([*train, *judged]), ENTITIES)
    sentence = (
        f"BC5CDR without {branches} branches of MeSH's tree, drawn at random ({len(gone):,} entities): "
        f"{_count(chosen):,} mentions of the first {len(chosen)} train documents teach, {_nils(chosen):,} of them NIL; "
        f"the last {HELD_OUT} train documents are held out for weights and gate; {_count(judged):,} of the first "
        f"{len(judged)} dev documents judge, {_nils(judged):,} of these NIL; {len(entities):,} entities of "
        f"{len(kept):,}."
    )
    return World("okb", tuple(chosen), tuple(held_out), tuple(judged), tuple(entities), sentence, passes=2)


def _with_nils(documents: Sequence[Line], number: int) -> list[Line]:
    """The first documents, as many as hold so many NIL mentions."""
    chosen: list[Line] = []
    for document in documents:
        chosen.append(document)
        if _nils(chosen) >= number:
            break
    return chosen


def _branches_out(records: Sequence[Line], judged: Sequence[Line], *, share: float) -> tuple[set[str], int]:
    """Ids (alternate ones too) of branches of two levels such as `C10.228`, drawn until so large a share of the judged
    mentions links to them alone, and the number of branches."""
    members: dict[str, set[str]] = {}
    for record in records:
        for number in record.get("tree_numbers") or ():
            branch = ".".join(number.split(".")[:2])
            members.setdefault(branch, set()).update((record["id"], *(record.get("alt_ids") or ())))
    order = sorted(members)
    random.Random(0).shuffle(order)
    gone: set[str] = set()
    for drawn, branch in enumerate(order, start=1):
        gone |= members[branch]
        if _nils(_without(judged, gone)) >= share * _count(judged):
            return gone, drawn
    raise ValueError(f"all {len(order)} branches together make less than {share:.0%} of the mentions NIL")


def _without(documents: Iterable[Line], gone: set[str]) -> list[Line]:
    """The same documents; links to what is gone are dropped, and a mention without any is NIL."""
    return [
        {**document, "mentions": [_linked_to_what_is_left(mention, gone) for mention in document["mentions"]]}
        for document in documents
    ]


def _linked_to_what_is_left(mention: Line, gone: set[str]) -> Line:
    ids = [name for name in mention["gold"]["ids"] if name not in gone]
    return {**mention, "gold": {"ids": ids, "nil": not ids}}


def _nils(documents: Iterable[Line]) -> int:
    return sum(mention["gold"]["nil"] for document in documents for mention in document["mentions"])


def full() -> World:
    """BC5CDR at full size, for a GPU: nothing is cut."""
    train, dev, records = _read_bc5cdr()
    chosen, held_out = train[:-FULL_HELD_OUT], train[-FULL_HELD_OUT:]
    sentence = (
        f"BC5CDR at full size: {_count(chosen):,} mentions of {len(chosen)} train documents teach, the last "
        f"{FULL_HELD_OUT} are held out for weights and gate, all {_count(dev):,} mentions of dev judge; "
        f"{len(records):,} entities."
    )
    return World(FULL, tuple(chosen), tuple(held_out), tuple(dev), tuple(records), sentence, steps=None)


def _read_bc5cdr() -> tuple[list[Line], list[Line], list[Line]]:
    """Train, dev and the knowledge base."""
    train, dev = (_typed(read_documents(DATA / "bc5cdr" / f"{part}.pubtator.txt")) for part in ("train", "dev"))
    with gzip.open(DATA / "kb" / "mesh_medic.jsonl.gz", "rt", encoding="utf-8") as source:
        return train, dev, [json.loads(line) for line in source]


def wikia() -> World:
    """The demo's worlds in ZESHEL form, zero-shot: worlds of train, validation and test are disjoint."""
    folder = ROOT / "resources/demo/wikia"
    pages: dict[str, Line] = {}
    entities: list[Line] = []
    for file in sorted((folder / "documents").glob("*.json")):
        for row in file.read_text(encoding="utf-8").splitlines():
            page = json.loads(row)
            pages[page["document_id"]] = page
            definition = page["text"].removeprefix(page["title"]).strip()
            entities.append(
                {"id": page["document_id"], "name": page["title"], "types": [file.stem], "definition": definition}
            )
    parts = {name: _zeshel(folder / "mentions" / f"{name}.json", pages) for name in ("train", "val", "test")}
    sentence = (
        f"Demo worlds in ZESHEL form, zero-shot: {_count(parts['train'])} mentions teach, {_count(parts['val'])} of "
        f"another world are held out, {_count(parts['test'])} of a third world judge; {len(entities)} entities in all, "
        "candidates of the mention's own world."
    )
    parted = (tuple(parts[name]) for name in ("train", "val", "test"))
    return World("wikia", *parted, tuple(entities), sentence, steps=22, passes=3, many=4)


WORLDS = {"bc5cdr": bc5cdr, "okb": okb, "wikia": wikia, FULL: full}


def base_bundle(world: World, work: Path) -> Bundle:
    """The untrained linker over the world's entities, built once."""
    pointer = work / "base.txt"
    if pointer.exists():
        return open_bundle(pointer.read_text(encoding="utf-8"))
    kb = work / "kb.jsonl"
    kb.write_text("".join(json.dumps(one) + "\n" for one in world.entities), encoding="utf-8")
    staging = new_staging(work / "bundles")
    for _ in build_untrained(kb, staging):
        pass
    bundle = publish(staging)
    pointer.write_text(str(bundle.path), encoding="utf-8")
    return bundle


def write_snapshot(world: World, folder: Path, *, kb_hash: str) -> Path:
    """What a training job is given."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [{**line, "split": "train"} for line in world.train]
    lines += [{**line, "split": "validation"} for line in world.held_out]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    with atomic_path(folder / "documents.jsonl") as beside:  # another run may read it
        beside.write_text(text, encoding="utf-8")
    files = {"documents.jsonl": hashlib.sha256(text.encode()).hexdigest()}
    write_json(folder / "snapshot.json", {"kb_hash": kb_hash, "files": files})
    return folder


def _typed(documents: Iterable[Line]) -> list[Line]:
    """All types but chemicals are kinds of disease in the knowledge base."""
    for document in documents:
        for mention in document["mentions"]:
            mention["types"] = [KB_TYPES.get(mention["types"][0], "Disease")]
    return list(documents)


def _first(documents: Sequence[Line], mentions: int) -> list[Line]:
    chosen: list[Line] = []
    left = mentions
    for document in documents:
        if left <= 0:
            break
        own = document["mentions"][:left]
        left -= len(own)
        chosen.append({**document, "mentions": own})
    return chosen


def _cut(records: Sequence[Line], gold: set[str], size: int) -> list[Line]:
    needed = [record for record in records if gold & {record["id"], *(record.get("alt_ids") or ())}]
    known = {record["id"] for record in needed}
    others = [record for record in records if record["id"] not in known]
    random.Random(0).shuffle(others)
    return needed + others[: max(0, size - len(needed))]


def _zeshel(path: Path, pages: dict[str, Line]) -> list[Line]:
    """Documents with their mentions; mention offsets count words, as ZESHEL's do."""
    documents: dict[str, Line] = {}
    for number, row in enumerate(path.read_text(encoding="utf-8").splitlines()):
        mention = json.loads(row)
        page = pages[mention["context_document_id"]]
        words = page["text"].split(" ")
        before = sum(len(word) + 1 for word in words[: mention["start_index"]])
        inside = " ".join(words[mention["start_index"] : mention["end_index"] + 1])
        document = documents.setdefault(
            page["document_id"], {"key": page["document_id"], "text": page["text"], "mentions": []}
        )
        document["mentions"].append(
            {
                "key": f"{page['document_id']}.{number}",
                "spans": [[before, before + len(inside)]],
                "types": [mention["corpus"]],
                "gold": {"ids": [mention["label_document_id"]], "nil": False},
                "shown": [],
            }
        )
    return list(documents.values())


def _gold(documents: Iterable[Line]) -> set[str]:
    return {name for document in documents for mention in document["mentions"] for name in mention["gold"]["ids"]}


def _count(documents: Iterable[Line]) -> int:
    return sum(len(document["mentions"]) for document in documents)
