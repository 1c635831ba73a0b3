"""Real wikis: links are mentions, their targets the gold. A recipe learns from some and is judged on others.

    python -m tests.benchmarks.experiments.wikis --left-out titanic --recipe pel-pb-quick     # learns from other wikis
    python -m tests.benchmarks.experiments.wikis --own titanic --decisions 1000 --recipe pel-pb-quick
    python -m tests.benchmarks.experiments.wikis --report

Each run writes a JSON file with the rank of every judged mention's gold entity, by the linker with the decisions in its
memory alone, by the retrained one without its new component, and by the retrained one; it is not repeated.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from curator.io.kb.mediawiki import MediaWikiKbReader
from curator.io.wiki.mediawiki import MediaWikiReader
from models.core.file_io import write_json
from models.linker.bundle import discard_staging, new_staging
from models.linker.linker import Linker
from tests.benchmarks.experiments.measure import Judged, remember, whole
from tests.benchmarks.experiments.worlds import World, base_bundle, write_snapshot
from tests.benchmarks.linker_bc5cdr import DATA
from training.data.document_splits import place
from training.data.gold import fold
from training.evaluation.resampling import DocumentBootstrap, ratio
from training.evaluation.slices import NameClass, name_class
from training.job.fitting import ablated
from training.job.job import run_training

Line = dict[str, Any]
WIKIS = ("friends", "titanic", "theopedia", "electowiki")
HELD_OUT, JUDGED = 0.2, 0.4
"""Of a wiki that learns from its own decisions: the share of decided documents that is held out for weights and gate,
and of all documents that judge."""
HARD = (NameClass.PART.value, NameClass.OTHER.value)


def read_wiki(name: str, folder: Path = DATA / "wikia") -> tuple[list[Line], list[Line]]:
    """Documents with the links to articles of the dump, and entities; the wiki's name is their type and the prefix of
    their identifiers, since several wikis have pages of one title."""
    entities = list(MediaWikiKbReader(folder / f"{name}.xml.gz"))
    target = {alias: entity for entity in entities for alias in (*entity.alt_ids, entity.id)}
    target |= {entity.id: entity for entity in entities}
    documents = []
    for document in MediaWikiReader(folder / f"{name}.xml.gz"):
        mentions = [
            {
                "key": f"{name}:{document.external_id}.{number}",
                "spans": [[span.start, span.end] for span in mention.spans],
                "types": [name],
                "gold": {"ids": [f"{name}:{gold.id}"], "nil": False},
                "class": name_class(fold(mention.text), (gold.name, *gold.synonyms)).value,
                "shown": [],
            }
            for number, mention in enumerate(document.mentions)
            if (gold := target.get(mention.ids[0])) is not None
        ]
        if mentions:
            documents.append({"key": f"{name}:{document.external_id}", "text": document.text, "mentions": mentions})
    records = [
        {
            "id": f"{name}:{entity.id}",
            "name": entity.name,
            "synonyms": list(entity.synonyms),
            "types": [name],
            "definition": entity.definition,
        }
        for entity in entities
    ]
    return documents, records


def unseen(left_out: str, links: int, seed: int) -> World:
    """Two wikis teach, with at most so many links; the smallest of the others is held out for weights and gate, since
    what a training is worth on a wiki that it never saw shows only there; and the one left out is judged."""
    read = {name: read_wiki(name) for name in WIKIS}
    held_out = min((name for name in read if name != left_out), key=lambda name: _links(read[name][0]))
    teaching = (one for name in read if name not in (left_out, held_out) for one in read[name][0])
    entities = [entity for _, own in read.values() for entity in own]
    train, kept = (_some(some, links, seed) for some in (teaching, read[held_out][0]))
    return World(left_out, tuple(train), tuple(kept), tuple(read[left_out][0]), tuple(entities), "", steps=None)


def own(name: str, decisions: int, seed: int) -> World:
    """A project of one wiki: so many decisions teach, documents that are the same for all numbers and seeds judge."""
    documents, entities = read_wiki(name)
    judged = [one for one in documents if place(one["key"], salt="judged") < JUDGED]
    kept = {one["key"] for one in judged}
    teaching = _some((one for one in documents if one["key"] not in kept), decisions, seed)
    held_out = [one for one in teaching if place(one["key"], salt="held out") < HELD_OUT]
    kept = {one["key"] for one in held_out}
    train = [one for one in teaching if one["key"] not in kept]
    return World(name, tuple(train), tuple(held_out), tuple(judged), tuple(entities), "", steps=None)


def _some(documents: Iterable[Line], links: int, seed: int) -> list[Line]:
    """Documents in an order drawn by `seed`, until they have so many links."""
    found: list[Line] = []
    for document in sorted(documents, key=lambda one: place(one["key"], salt=str(seed))):
        if _links(found) >= links:
            break
        found.append(document)
    return found


def _links(documents: Iterable[Line]) -> int:
    return sum(len(one["mentions"]) for one in documents)


def run(world: World, spec: dict[str, Any], work: Path) -> dict[str, Any]:
    """Train, and compare the linker before and after, both with all decisions in memory."""
    work.mkdir(parents=True, exist_ok=True)
    base = base_bundle(world, work)
    staging = new_staging(work / "bundles")
    begun = time.monotonic()
    given = {
        **spec,
        "snapshot": str(write_snapshot(world, work / "snapshot", kb_hash=base.manifest.kb_hash)),
        "base": str(base.path),
        "staging": str(staging),
        "cache": str(work / "cache"),
    }
    try:
        for event in run_training(given):
            if event.text:
                print(f"{time.monotonic() - begun:6.0f} s  {event.text}", flush=True)
        seconds = time.monotonic() - begun
        mentions = [mention for line in world.judged for mention in line["mentions"]]
        found: dict[str, Any] = {"class": [mention["class"] for mention in mentions]}
        for label, path in (("before", base.path), ("without", staging), ("after", staging)):
            linker = Linker.load(path)
            judged = Judged.of(world, linker)
            remember(linker, world)
            if label == "without":
                for stage in linker.combiner.stage_weights:
                    linker = ablated(linker, stage)
            begun = time.monotonic()
            answers = whole(linker, judged)
            found[f"{label}_seconds"] = time.monotonic() - begun
            found |= {f"{label}_{key}": answers[key] for key in ("ranks", "right")}
        return found | {
            "document": judged.document,
            "seconds": seconds,
            "spec": spec,
            "result": event.data["result"],
            "learnt": _links(world.train),
        }
    finally:
        discard_staging(staging)


def lines(run: dict[str, Any]) -> list[str]:
    """Recall@1 and recall@64 of hard and of all mentions, before and after, and by the component alone, with 95 %
    intervals over documents; and how long linking took."""
    classes, document = np.asarray(run["class"]), np.asarray(run["document"])
    texts = []
    for name, chosen in (("hard", np.isin(classes, HARD)), ("all", np.ones(len(classes), dtype=bool))):
        bootstrap = DocumentBootstrap(np.unique(document[chosen], return_inverse=True)[1])
        size = np.ones(int(chosen.sum()))
        for k in (1, 64):
            ranks = {label: np.asarray(run[f"{label}_ranks"])[chosen] <= k for label in ("before", "without", "after")}
            gains = []
            for label in ("before", "without"):
                found = bootstrap.differences({"": ratio(ranks["after"], size)}, {"": ratio(ranks[label], size)})
                one = found[""].difference
                low, high = (f"{100 * bound:+.1f}" if bound is not None else "–" for bound in (one.low, one.high))
                gains.append(f"{100 * (one.value or 0):+.1f}; {low} to {high}")
            texts.append(
                f"{name} ({len(size):,.0f}) recall@{k} {100 * ranks['before'].mean():.1f} → "
                f"{100 * ranks['after'].mean():.1f} ({gains[0]}), by the component itself {gains[1]}"
            )
    return [*texts, f"linked in {run['before_seconds']:.0f} → {run['after_seconds']:.0f} s"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--left-out", choices=WIKIS)
    parser.add_argument("--own", choices=WIKIS)
    parser.add_argument("--recipe", default="pel-pb-quick")
    parser.add_argument("--decisions", type=int, default=4000, help="links that teach, those held out included")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="a parameter of the recipe")
    parser.add_argument("--work", type=Path, default=Path("/tmp/curator-wikis"))
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    folder = options.work / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    if not options.report:
        name = options.left_out or options.own
        parameters = {key: json.loads(value) for key, _, value in (one.partition("=") for one in options.set)}
        kind = "unseen" if options.left_out else "own"
        changed = "".join(f".{key}-{value}" for key, value in sorted(parameters.items()))
        file = folder / f"{kind}.{name}.{options.decisions}.{options.recipe}{changed}.{options.seed}.json"
        if not file.exists():
            world = (unseen if options.left_out else own)(name, options.decisions, options.seed)
            spec = {"recipe": options.recipe, "parameters": parameters, "seed": options.seed, "keeps_part": True}
            work = options.work / f"{kind}-{name}-{options.decisions}-{options.seed}"
            write_json(file, run(world, spec, work))
    for file in sorted(folder.glob("*.json")):
        one = json.loads(file.read_text(encoding="utf-8"))
        print(f"{file.stem}: {one['result']['verdict']}, {one['seconds'] / 60:.1f} min, {one['result']['message']}")
        print("".join(f"  {line}\n" for line in lines(one)))


if __name__ == "__main__":
    main()
