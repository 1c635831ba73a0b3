"""Suspicious gold: decisions that are unlikely for a linker that never saw their document. Runs in a child process.

Every decided mention is scored by models fitted on other documents only: the memory holds the train documents except
the mention's own, combiner and NIL are fitted on the other folds (whole documents, by hash), never on test documents.
Trained retrievers and rankers are left out, since they were trained on this gold. NIL decisions are checked if there
are enough to fit NIL on. The list holds gold whose probability is below another answer's, the widest gap first: the
off-diagonal of confident learning, by its normalised margin. Northcutt, Jiang & Chuang (2021), Confident Learning, JAIR
70, 1373-1411.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from models.errors import ModelError, say
from models.linker.answering import ScoredMention
from models.linker.index_repair import load_intact
from models.linker.linker import Linker
from models.linker.tuning import tune_scored
from models.rankers.combiner import default_combiner
from models.rankers.nil import DEFAULT_NIL
from models.types import LinkedMention
from training.data.document_splits import fold_numbers
from training.data.examples import decided_documents
from training.data.gold import GoldMention, resolve_gold
from training.data.progress import Event, Phase
from training.data.snapshot import Snapshot, SnapshotDocument, Split, read_snapshot

FOLDS = 5
MOST = 2000
NIL = "NIL"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Gold (entity ids, none for NIL) and the rival answer, each with its out-of-fold probability."""

    document: str
    mention: str
    surface: str
    gold: tuple[str, ...]
    probability: float
    rival: str
    rival_name: str
    rival_probability: float

    @property
    def gap(self) -> float:
        return self.rival_probability - self.probability


def run_suspicious(raw: Mapping[str, Any]) -> Iterator[Event]:
    """`raw`: {snapshot, bundle, device, threads}. The last event's `data["result"]` holds `rows` (Suspicion as JSON, at
    most 2,000), `found`, `checked`, `folds` and `message`. Raises ModelError with fewer than two decided documents."""
    yield Event(Phase.LOAD, text=say("Opening the linker"))
    snapshot = read_snapshot(Path(raw["snapshot"]), allow_test=True)
    linker = _untrained(load_intact(raw["bundle"], device=str(raw.get("device") or "auto"))[0])
    if snapshot.kb_hash and snapshot.kb_hash != linker.bundle.manifest.kb_hash:
        raise ModelError(
            say("The linker was built for another knowledge base than that of the project. Choose another linker.")
        )
    found, checked, folds = yield from _suspicions(linker, snapshot)
    first = found[:MOST]
    message = say(
        "{found:,} of {checked:,} decisions are less likely than another answer, according to models "
        "fitted on the other {others} of {folds} folds of the documents.",
        found=len(found),
        checked=checked,
        others=folds - 1,
        folds=folds,
    )
    rows = [asdict(one) for one in first]
    result = {"rows": rows, "found": len(found), "checked": checked, "folds": folds, "message": message}
    yield Event(Phase.DONE, 1, 1, text=message, data={"result": result})


def _suspicions(linker: Linker, snapshot: Snapshot) -> Generator[Event, None, tuple[list[Suspicion], int, int]]:
    resolve = linker.stages.kb.resolved.get
    documents = [one for one in snapshot.documents if any(mention.gold for mention in one.mentions)]
    if len(documents) < 2:
        raise ModelError(
            say(
                "The search for suspicious gold needs decisions in at least two documents, since each document "
                "is checked with models fitted on others."
            )
        )
    linker.remember(*decided_documents(snapshot.of_split(Split.TRAIN), resolve))
    scored: dict[str, list[ScoredMention]] = {}
    for done, document in enumerate(documents, start=1):
        scored[document.key] = list(linker.score([document.to_input()]))
        yield Event(Phase.EVALUATE, done, 2 * len(documents), say("Scoring the decisions") if done == 1 else "")
    labels = {(one.document, one.key): one for one in resolve_gold(documents, resolve).mentions}
    found: list[Suspicion] = []
    checked = judged = 0
    folds = folds_of(documents)
    for fold in folds:
        judge = _fitted(linker, _others(documents, fold), scored, labels)
        for document in fold:
            pairs = [(labels[document.key, one.query.key], one) for one in scored[document.key]]
            pairs = [(label, one) for label, one in pairs if judge.nil.calibrated or not label.nil]
            checked += len(pairs)
            found += [s for label, one in pairs if (s := suspicion(label, judge.finish(one))) is not None]
            judged += 1
            yield Event(Phase.EVALUATE, len(documents) + judged, 2 * len(documents))
    return sorted(found, key=lambda one: (-one.gap, one.document, one.mention)), checked, len(folds)


def suspicion(gold: GoldMention, answer: LinkedMention) -> Suspicion | None:
    """The rival answer if it is likelier than the gold, else None. Any entity of a composite mention counts as
    right."""
    right = {NIL} if gold.nil else set(gold.ids)
    chances = {one.entity_id: (one.probability, one.name) for one in answer.candidates}
    chances[NIL] = (answer.nil.score, NIL)
    own = min(1.0, sum(chance for entity, (chance, _) in chances.items() if entity in right))
    rivals = [(chance, entity, name) for entity, (chance, name) in chances.items() if entity not in right]
    chance, rival, name = max(rivals, key=lambda one: (one[0], one[1]))
    if chance <= own:
        return None
    return Suspicion(gold.document, gold.key, gold.raw, gold.ids, own, rival, name, chance)


def folds_of(documents: Sequence[SnapshotDocument]) -> list[list[SnapshotDocument]]:
    """Whole documents in at most five folds of about equal size, by a hash of their keys."""
    count = min(FOLDS, len(documents))
    fold = fold_numbers((document.key for document in documents), count)
    return [[document for document in documents if fold[document.key] == number] for number in range(count)]


def _others(documents: Sequence[SnapshotDocument], fold: Sequence[SnapshotDocument]) -> list[SnapshotDocument]:
    """The data that a fold's models are fitted on: the other folds, without test documents."""
    own = {one.key for one in fold}
    return [one for one in documents if one.key not in own and one.split is not Split.TEST]


def _fitted(
    linker: Linker,
    documents: Sequence[SnapshotDocument],
    scored: Mapping[str, Sequence[ScoredMention]],
    labels: Mapping[tuple[str, str], GoldMention],
) -> Linker:
    """The linker with combiner and NIL fitted on these documents; the models shipped with the program if there are too
    few decisions."""
    known = [mention for document in documents for mention in scored[document.key]]
    gold = {key: frozenset(label.ids) for key, label in labels.items()}
    tuned = tune_scored(linker, known, gold, stages=())
    return linker.with_weights(combiner=tuned.combiner, nil=tuned.nil)


def _untrained(linker: Linker) -> Linker:
    """The same linker without trained stages and without models fitted on the project's decisions."""
    stages = replace(linker.stages, trained=(), ranker=None)
    return Linker(
        linker.bundle,
        stages,
        device=linker.device,
        fusion=linker.fusion,
        nil=DEFAULT_NIL,
        combiner=default_combiner(stages.names.stages),
    )
