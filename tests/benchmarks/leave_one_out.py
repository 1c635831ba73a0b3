"""How much a project's own decisions help: what ships is fitted on one corpus, the project is another one.

`python -m tests.benchmarks.leave_one_out --out FOLDER [--project ncbi_disease] [--decisions 200 500 1000 2000 4000]`:
combiner and NIL are fitted on the other corpus's train documents, as if the program came with these. Documents of the
project's train part are then decided one after another; after so many decisions its development documents are linked,
by the linker with this memory alone, and by the same after a retraining on these decisions, with any verdict of its
gate. The project's knowledge base has the entities of its types only. `--recipe` names the retrainings; `--shipped`
keeps what ships.

Every run is kept in FOLDER and not repeated. `--summary` prints what is there: means over seeds, with intervals over
documents, against the memory alone and against the recipe `conventions`, which trains no network.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from curator.jobs.index_main import shipped_nil
from models.core.queries import MentionQuery, Variant
from models.linker import tuning
from models.linker.build import build_untrained
from models.linker.bundle import Bundle, new_id, new_staging, publish, reuse, seal
from models.linker.linker import Linker
from models.linker.tuning import Gold, learn_combiner, tune_scored
from models.names.candidates import NAMES, NameCandidates, PreparedLookup
from models.names.names import NamesRetriever
from models.rankers.combiner import Combiner
from models.rankers.nil import NilModel
from models.types import DecidedDocument, DocumentInput, LinkedMention
from tests.benchmarks.linker_bc5cdr import DATA, Corpus, read_pubtator
from training.job.job import run_training

OTHER = {"ncbi_disease": "bc5cdr", "bc5cdr": "ncbi_disease"}
TYPES = {"ncbi_disease": ("Disease",), "bc5cdr": ("Disease", "Chemical")}
RESAMPLES = 1000
ALONE = "memory alone"
Lookup = tuple[tuple[Variant, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Marks:
    """(m,) of one linker: whether the first candidate is right, and whether the answer is, NIL counted."""

    first: np.ndarray
    right: np.ndarray


def train_and_dev(corpus: str) -> tuple[Corpus, Corpus]:
    train, dev = (read_pubtator(DATA / corpus / f"{part}.pubtator.txt") for part in ("train", "dev"))
    return train, dev


def taught(bundle: Path, documents: Sequence[DocumentInput], gold: Gold) -> Linker:
    """A linker of its own with this memory."""
    linker = Linker.load(bundle)
    linker.remember(
        *(DecidedDocument(one, tuple(tuple(sorted(gold[one.key, m.key])) for m in one.mentions)) for one in documents)
    )
    return linker


def marks(linker: Linker, documents: Sequence[DocumentInput], gold: Gold) -> Marks:
    """`documents` are asked under other keys than those of train."""
    first, right = [], []
    asked = (DocumentInput(f"dev-{document.key}", document.text, document.mentions) for document in documents)
    for document, answer in zip(documents, linker.link(asked), strict=True):
        for mention in answer.mentions:
            ids = gold[document.key, mention.key]
            first.append(bool(mention.candidates) and mention.candidates[0].entity_id in ids)
            right.append(_is_right(mention, ids))
    return Marks(np.asarray(first), np.asarray(right))


def _is_right(mention: LinkedMention, ids: frozenset[str]) -> bool:
    if mention.nil.is_nil or not ids:
        return mention.nil.is_nil and not ids
    return bool(mention.candidates) and mention.candidates[0].entity_id in ids


def told(old: np.ndarray, new: np.ndarray, document: np.ndarray) -> str:
    """In per cent, with the 95 % interval of the difference."""
    apart = new.astype(float) - old
    sums, counts = np.bincount(document, apart), np.bincount(document)
    draw = np.random.default_rng(0)
    chosen = draw.integers(len(sums), size=(RESAMPLES, len(sums)))
    low, high = np.percentile(sums[chosen].sum(1) / np.maximum(1, counts[chosen].sum(1)), [2.5, 97.5])
    return f"{old.mean():6.1%} → {new.mean():6.1%} ({100 * apart.mean():+.1f}, {100 * low:+.1f} to {100 * high:+.1f})"


def retrained(
    base: Bundle, recipe: str, decided: Sequence[DocumentInput], answers: Gold, folder: Path, seed: int
) -> tuple[Path, str]:
    """The bundle that a training on these decisions leaves, and its gate's verdict."""
    folder.mkdir(parents=True)
    lines = [
        {
            "key": one.key,
            "split": "train",
            "text": one.text,
            "mentions": [
                {
                    "key": m.key,
                    "spans": m.spans,
                    "types": m.types,
                    "gold": {"ids": sorted(answers[one.key, m.key]), "nil": not answers[one.key, m.key]},
                    "shown": [],
                }
                for m in one.mentions
            ],
        }
        for one in decided
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "documents.jsonl").write_text(text, encoding="utf-8")
    files = {"documents.jsonl": hashlib.sha256(text.encode()).hexdigest()}
    (folder / "snapshot.json").write_text(json.dumps({"kb_hash": base.manifest.kb_hash, "files": files}))
    staging = new_staging(base.path.parent)
    spec = {"snapshot": folder, "base": base.path, "staging": staging, "recipe": recipe, "seed": seed}
    work = {"parameters": {}, "device": "auto", "threads": 0, "max_minutes": None, "work": folder / "work"}
    *_, last = run_training({**{k: str(v) if isinstance(v, Path) else v for k, v in {**spec, **work}.items()}})
    print(last.text, flush=True)
    return staging, str(last.data["result"]["verdict"])


@dataclass(frozen=True, slots=True)
class Shipped:
    """What would come with the program had there been one corpus only; what is fitted later stays near `came`."""

    came: Combiner
    combiner: Combiner
    nil: NilModel


def fitted_on(corpus: str, folder: Path) -> Shipped:
    """Fitted once, and kept in `folder`."""
    kept = folder / f"fitted-on-{corpus}.json"
    if not kept.exists():
        linker = build(folder / "fitting", TYPES[corpus])
        train, _ = train_and_dev(corpus)
        gold = train.resolved(linker)
        elsewhere = taught(linker.bundle.path, train.documents, gold)
        scored = list(elsewhere.score(train.documents))
        came = learn_combiner(
            elsewhere,
            [(m, gold[m.document.key, m.query.key]) for m in scored if gold[m.document.key, m.query.key]],
        )
        assert came is not None
        shipped = tune_scored(elsewhere, scored, gold, near=came)
        parts = {"came": came.to_json(), "combiner": shipped.combiner.to_json(), "nil": shipped.nil.to_json()}
        kept.write_text(json.dumps(parts), encoding="utf-8")
        shutil.rmtree(folder / "fitting")
    raw = json.loads(kept.read_text(encoding="utf-8"))
    came, combiner = Combiner.from_json(raw["came"]), Combiner.from_json(raw["combiner"])
    assert came is not None
    assert combiner is not None
    return Shipped(came, combiner, NilModel.from_json(raw["nil"]))


def build(folder: Path, types: Sequence[str], *, nil: dict[str, Any] | None = None) -> Linker:
    """The untrained linker over the entities of these types, with this NIL model."""
    folder.mkdir(parents=True, exist_ok=True)
    kb = folder / "kb.jsonl"
    with gzip.open(DATA / "kb" / "mesh_medic.jsonl.gz", "rt", encoding="utf-8") as lines:
        chosen = [line for line in lines if set(json.loads(line)["types"]) & set(types)]
    kb.write_text("".join(chosen), encoding="utf-8")
    staging = new_staging(folder)
    for _ in build_untrained(kb, staging, nil=nil):
        pass
    return Linker.load(publish(staging).path)


def with_shipped(base: Bundle, shipped: Shipped) -> Bundle:
    """The bundle as if it had come with these weights."""
    manifest = base.manifest.replace(combiner=shipped.combiner.to_json(), nil=shipped.nil.to_json())
    staging = new_staging(base.path.parent)
    for relative in manifest.files:
        reuse(base, relative, staging)
    seal(staging, manifest.replace(id=new_id("elsewhere")), known=base)
    return publish(staging)


def look_up_once(encoder: str) -> None:
    """Let all linkers of this process that compare names by the encoder with this fingerprint share what they found
    for a wording: only their memories and weights differ. Most of the time of linking is spent on this."""
    find, known = NameCandidates.find, dict[tuple[Lookup, int], PreparedLookup]()

    def shared(self: NameCandidates, queries: Sequence[MentionQuery], *, k: int) -> dict[Lookup, PreparedLookup]:
        stage = self.stages.get(NAMES)
        if not isinstance(stage, NamesRetriever) or stage.encoder.fingerprint != encoder:
            return find(self, queries, k=k)
        wanted = {((query.variants, query.types), k): query for query in queries}
        new = [query for key, query in wanted.items() if key not in known]
        known.update({(lookup, k): prepared for lookup, prepared in find(self, new, k=k).items()})
        return {key[0]: known[key] for key in wanted}

    NameCandidates.find = shared  # type: ignore[method-assign]


def first_decided(train: Corpus, number: int, seed: int) -> list[DocumentInput]:
    """Whole documents until there are so many mentions."""
    documents = list(train.documents)
    random.Random(seed).shuffle(documents)
    found, count = [], 0
    while count < number and documents:
        found.append(documents.pop())
        count += len(found[-1].mentions)
    return found


@dataclass(frozen=True, slots=True)
class Run:
    """One linker of one project, kept in a file of its own: the memory alone, or a retraining with its verdict."""

    project: str
    decisions: int
    seed: int
    recipe: str
    marks: Marks
    verdict: str = ""
    minutes: float = 0.0

    @staticmethod
    def file(folder: Path, project: str, decisions: int, seed: int, recipe: str) -> Path:
        return folder / f"{project}-{decisions}-{seed}-{recipe.replace(' ', '-')}.json"

    def keep(self, folder: Path) -> None:
        marks = {name: "".join(map(str, values.astype(int))) for name, values in asdict(self.marks).items()}
        path = self.file(folder, self.project, self.decisions, self.seed, self.recipe)
        path.write_text(json.dumps({**asdict(self), "marks": marks}), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Run:
        raw = json.loads(path.read_text(encoding="utf-8"))
        own = {name: np.asarray(list(map(int, values)), dtype=bool) for name, values in raw["marks"].items()}
        return cls(**{**raw, "marks": Marks(**own)})


@dataclass(frozen=True, slots=True)
class Asked:
    """The development documents of a project; by mention its document's number, and whether it has an entity."""

    documents: tuple[DocumentInput, ...]
    gold: Gold

    @classmethod
    def of(cls, project: str, linker: Linker, number: int) -> Asked:
        _, dev = train_and_dev(project)
        return cls(dev.first(number).documents, dev.resolved(linker))

    @property
    def document(self) -> np.ndarray:
        return np.concatenate([np.full(len(one.mentions), at) for at, one in enumerate(self.documents)])

    @property
    def linked(self) -> np.ndarray:
        return np.asarray([bool(self.gold[one.key, m.key]) for one in self.documents for m in one.mentions])


def run_project(options: argparse.Namespace, folder: Path) -> None:
    """All runs of a project that are not there yet."""
    project = options.project
    shipped = None if options.shipped else fitted_on(OTHER[project], options.out)
    own = shipped_nil(("lexical", "names")) if options.shipped else None
    linker = build(folder / project, TYPES[project], nil=own)
    look_up_once(linker.recollection.encoder_name)
    base = linker.bundle
    if shipped is not None:
        base, came = with_shipped(linker.bundle, shipped), shipped.came
        tuning.default_combiner = lambda _: came  # what is fitted stays near it
    train, _ = train_and_dev(project)
    answers, asked = train.resolved(linker), Asked.of(project, linker, options.documents)
    for number in options.decisions:
        for seed in range(options.seeds):
            decided = first_decided(train, number, seed)
            for recipe in [ALONE, *options.recipe]:
                if Run.file(options.out, project, number, seed, recipe).exists():
                    continue
                began, verdict, made = time.process_time(), "", base.path
                if recipe != ALONE:
                    place = folder / f"{project}-{number}-{seed}-{recipe}"
                    made, verdict = retrained(base, recipe, decided, answers, place, seed)
                minutes = (time.process_time() - began) / 60
                found = marks(taught(made, decided, answers), asked.documents, asked.gold)
                Run(project, number, seed, recipe, found, verdict, minutes).keep(options.out)
                print(f"{project} {number:,} seed {seed} {recipe}: {verdict}, {minutes:.1f} min", flush=True)
                if made != base.path:
                    shutil.rmtree(made)
            summary([number], project, options.out, asked)


def summary(decisions: Sequence[int], project: str, folder: Path, asked: Asked) -> None:
    """What is kept of a project, seeds averaged mention by mention."""
    runs = [Run.read(path) for path in sorted(folder.glob(f"{project}-*.json"))]
    for number in decisions:
        own = [run for run in runs if run.decisions == number]
        for recipe in sorted({run.recipe for run in own} - {ALONE}):
            for other in (ALONE, "conventions"):
                pairs = [
                    (before, after)
                    for before in own
                    for after in own
                    if (before.recipe, after.recipe) == (other, recipe) and before.seed == after.seed
                ]
                if pairs and recipe != other:
                    say(f"{number:,} decisions, {recipe} after {other}", pairs, asked)


def say(title: str, pairs: Sequence[tuple[Run, Run]], asked: Asked) -> None:
    first, right = (
        [np.mean([getattr(pair[which].marks, name) for pair in pairs], axis=0) for which in (0, 1)]
        for name in ("first", "right")
    )
    linked, document = asked.linked, asked.document
    recall = told(first[0][linked], first[1][linked], document[linked])
    verdicts = ", ".join(after.verdict for _, after in pairs)
    whole = told(right[0], right[1], document)
    print(f"{title} ({len(pairs)} seeds): recall@1 {recall}; right in all {whole}; {verdicts}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder in which runs are kept")
    parser.add_argument("--project", default="ncbi_disease", choices=sorted(OTHER))
    parser.add_argument("--decisions", nargs="+", type=int, default=[200, 500, 1000, 2000, 4000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=200, help="so many development documents are linked")
    parser.add_argument("--recipe", nargs="+", default=["conventions"])
    parser.add_argument("--shipped", action="store_true", help="keep what ships, fitted on both corpora")
    parser.add_argument("--summary", action="store_true", help="print what is kept, run nothing")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        if options.summary:
            linker = build(Path(place), TYPES[options.project])
            summary(
                options.decisions, options.project, options.out, Asked.of(options.project, linker, options.documents)
            )
        else:
            run_project(options, Path(place))


if __name__ == "__main__":
    main()
