"""The contents of the folder before a scenario: created by the program once, and copied later."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path

from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.core.keys import set_active_bundle
from curator.settings.file import load, save
from curator.storage import project as storage
from tests.durability.disk import Tree, read_tree, write_tree
from tests.durability.world import INPUTS, Place, curator

Prepare = Callable[[Place], None]
ROUND = "round-1"
TAB = "\t"
FORMATS = {
    "bioc-json": "gold.json",
    "bioc-xml": "gold.xml",
    "blink": "blink.jsonl",
    "brat": "gold.zip",
    "decisions": "gold.jsonl",
    "docbin": "gold.spacy",
    "pubannotation": "pub.json",
    "table": "gold.csv",
    "webannotation": "web.json",
    "webanno-tsv": "webanno.zip",
    "xmi": "xmi.zip",
    "zeshel": "wikia",
}
"""Of which the imports are interrupted, with a name for the file of each."""
_made: dict[str, Tree] = {}


def once(prepare: Prepare) -> Prepare:
    """Make the folder by the program the first time, and from a copy of it later."""

    @wraps(prepare)
    def made(place: Place) -> None:
        if prepare.__name__ in _made:
            write_tree(_made[prepare.__name__], place.root)
        else:
            prepare(place)
            _made[prepare.__name__] = read_tree(place.root)

    return made


BURST = 100
TAB = "\t"
NOTED = frozenset({"meta"})
FILES = frozenset({"files"})
ROUND = "round-1"


def write_inputs(place: Place) -> None:
    """A few documents, many short ones, and a knowledge base in two versions."""
    records = (INPUTS / "validation.pubtator").read_text(encoding="utf-8").strip().split("\n\n")[:4]
    (place.inputs / "gold.pubtator").write_text("\n\n".join(records[:3]) + "\n\n", encoding="utf-8")
    (place.inputs / "more.pubtator").write_text("\n\n".join(records[3:]) + "\n\n", encoding="utf-8")
    entity = records[0].splitlines()[2].split(TAB)[5]
    many = (
        f"{n}|t|A short title\n{n}|a|The text has asthma.\n{n}\t27\t33\tasthma\tDisease\t{entity}" for n in range(70)
    )
    (place.inputs / "many.pubtator").write_text("\n\n".join(many) + "\n\n", encoding="utf-8")
    used = {f"MESH:{line.split(TAB)[5]}" for record in records for line in record.splitlines()[2:]}
    lines = (INPUTS / "kb.jsonl").read_text(encoding="utf-8").splitlines()
    entities = [line for n, line in enumerate(lines) if n < 40 or str(json.loads(line)["id"]) in used]
    (place.inputs / "kb.jsonl").write_text("\n".join(entities) + "\n", encoding="utf-8")
    changed = [json.loads(line) for line in entities[:-1]]
    changed[0]["name"] += " (new)"
    linked = {f"MESH:{line.split(TAB)[5]}" for record in records[:3] for line in record.splitlines()[2:]}
    gone = next(one for one in reversed(changed) if str(one["id"]) in linked)
    gone["alt_ids"] = [gone["id"]]  # what the decisions that link to it are mapped by
    gone["id"] = f"{gone['id']}9"
    text = "".join(json.dumps(one) + "\n" for one in changed)
    (place.inputs / "kb-2.jsonl").write_text(text, encoding="utf-8")
    for seed in {Path(one).parts[0] for one in KBS.values()}:
        shutil.copytree(SEEDS / seed, place.inputs / seed, dirs_exist_ok=True)


def nothing(place: Place) -> None:
    """An empty folder."""


@once
def empty(place: Place) -> None:
    curator("new", place.project)


@once
def with_kb(place: Place) -> None:
    empty(place)
    curator("kb", "import", place.project, place.inputs / "kb.jsonl")


@once
def base(place: Place) -> None:
    """A knowledge base, gold, and a few mentions without a decision."""
    with_kb(place)
    curator("import", "--gold", place.project, place.inputs / "gold.pubtator")
    curator("import", place.project, place.inputs / "more.pubtator")


@once
def decided(place: Place) -> None:
    base(place)
    curator("decide", place.project, undecided(place)[0], "--nil", "not-in-kb", "--curator", "ada")


@once
def undone(place: Place) -> None:
    decided(place)
    curator("undo", place.project)


@once
def with_newer_kb(place: Place) -> None:
    base(place)
    curator("kb", "import", place.project, place.inputs / "kb-2.jsonl")


@once
def with_round(place: Place) -> None:
    base(place)
    curator("rounds", "new", place.project, ROUND, "--documents", 2)


@once
def with_round_file(place: Place) -> None:
    """A round's file, and a project that does not have the round."""
    with_round(place)
    file = place.root / "round.jsonl"
    curator("rounds", "export", place.project, ROUND, file)
    content = file.read_bytes()
    place.clear()
    base(place)
    file.write_bytes(content)


def killed(place: Place) -> None:
    """A project that a killed process left: its lock names somebody, and its last decisions are in the log alone."""
    decided(place)
    kept = place.base / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    with storage.open_project(place.project) as store:
        with store.write() as unit:
            unit.meta.set("guidelines", "written before the end")
        store.settle()
        shutil.copytree(place.project, kept, ignore=shutil.ignore_patterns("*-shm"))
    shutil.rmtree(place.project)
    kept.rename(place.project)
    (place.project / "project.lock").write_text(json.dumps({"pid": 4_000_000, "host": "elsewhere"}), encoding="utf-8")


def undecided(place: Place) -> list[int]:
    """Mentions without a decision."""
    with storage.open_project(place.project, read_only=True) as store, store.read() as unit:
        ids = [one.id for document in unit.documents.ids() for one in unit.mentions.of_document(document)]
        done = unit.decisions.current(ids)
    return [one for one in ids if one not in done]


def with_formats(place: Place) -> None:
    """The gold in several formats among the inputs, and an empty project with the knowledge base."""
    base(place)
    for name, file in FORMATS.items():
        if not (place.inputs / file).exists():
            curator("export", place.project, place.inputs / file, "--format", name)
    place.clear()
    with_kb(place)


FOLDER = "folder"
SEEDS = Path(__file__).parents[1] / "fuzz" / "seeds"
KBS = {
    "ctd": "kb-ctd/diseases.tsv",
    "mediawiki": "kb-mediawiki/dump.xml",
    "medic": "kb-medic/medic.txt",
    "mesh-ascii": "kb-mesh-ascii/mesh.bin",
    "mesh-xml": "kb-mesh-xml/descriptors.xml",
    "obo": "kb-obo/x.obo",
    "obographs": "kb-obographs/graph.json",
    "owl": "kb-owl/x.owl",
    "skos": "kb-skos/x.ttl",
    "table": "kb-table/t.csv",
    "umls": "kb-umls/META",
    "workbook": "kb-table/t.xlsx",
    "zeshel": "kb-zeshel/documents",
}
"""A knowledge base in each other format, among the seeds."""
READ_ONLY = ("medline", "pubmed-xml", "mediawiki", "table/documents.csv", "huggingface/rows.jsonl")


def with_folder(place: Place) -> None:
    """A folder of files among the inputs, of formats that are read only."""
    folder = place.inputs / FOLDER
    if not folder.exists():
        folder.mkdir()
        (folder / "plain.txt").write_text("A text.\n\nIt has asthma.\n", encoding="utf-8")
        for seed in READ_ONLY:
            found = SEEDS / seed
            for path in (found,) if found.is_file() else sorted(found.iterdir()):
                shutil.copy(path, folder)
    with_kb(place)


@once
def with_linkers(place: Place) -> None:
    """Two linkers, the newer one in use, after which a third was removed from the disk."""
    base(place)
    for number in (1, 2):
        write_linker(place.project / "bundles" / f"linker-{number}", kb_hash="k")
    with storage.open_project(place.project) as store, store.write() as unit:
        set_active_bundle(unit.meta, "linker-2", ["linker-1", "linker-2"])


def write_linker(folder: Path, *, kb_hash: str, name: str = "", stages: Sequence[str] = ("names",)) -> None:
    """The least that counts as a bundle, with the manifest last, and synced as a real one is."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "weights.bin").write_bytes(bytes(range(256)) * 40)
    manifest = {
        "id": name or folder.name,
        "kind": "trained",
        "created": "2026-01-01T00:00:00+00:00",
        "kb_hash": kb_hash,
        "retrievers": [{"name": one} for one in stages],
        "files": {"weights.bin": {"size": 10240}},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    for path in (folder / "weights.bin", folder / "manifest.json", folder):
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


@once
def suggested(place: Place) -> None:
    """Many mentions with sure suggestions."""
    with_linkers(place)
    curator("import", place.project, place.inputs / "many.pubtator")
    entity = str(json.loads((place.inputs / "kb.jsonl").read_text(encoding="utf-8").splitlines()[0])["id"])
    mentions = undecided(place)
    with storage.open_project(place.project) as store, store.write() as unit:
        found = (Candidate(entity, "x", ("Disease",), "x", 0.5, probability=0.999),)
        nil, stamp = NilEstimate(0.001, is_nil=False, calibrated=True), Stamp("linker-2", 0)
        unit.suggestions.save([Suggestion(one, found, nil, stamp) for one in mentions])


def settings_saved(place: Place) -> None:
    save(load().settings)
