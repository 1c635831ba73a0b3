"""The evaluation and the replay job: a bundle on the decided mentions of a split. Run in a child process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from models.core.device import choose_device
from models.core.kb import KnowledgeBase
from models.errors import ModelError, english, nsay, say
from models.linker.bundle import now
from models.linker.index_repair import load_intact
from models.linker.linker import Linker
from models.types import DecidedDocument, DocumentInput, LinkedDocument, LinkedMention, MentionInput
from training.data.examples import decided_documents
from training.data.gold import GoldSet, resolve_gold
from training.data.progress import Event, Phase
from training.data.snapshot import Snapshot, SnapshotDocument, Split, read_snapshot
from training.data.spec import EvaluationSpec, ReplaySpec
from training.evaluation.errors import errors_json, linking_errors
from training.evaluation.flips import Flip, flips
from training.evaluation.headline import compare, curves, headline, slice_estimates
from training.evaluation.outcomes import Outcomes, outcomes
from training.evaluation.page import evaluation_page
from training.evaluation.page_map import map_of
from training.evaluation.page_replay import replay_page
from training.evaluation.replay import ReplayCurves, SimulatedDecision, curves_of, simulate
from training.evaluation.report import members, report_of
from training.evaluation.resampling import DocumentBootstrap
from training.evaluation.slices import SliceFacts, slice_facts
from training.evaluation.teaching import learner, teach
from training.job.fitting import FITTED_ON
from training.job.ranker_rule import without_time_limit

Documents = Sequence[SnapshotDocument]
BATCH = 16
FOUND = (
    "{mentions:,} decided mentions, {in_kb:,} in the knowledge base: recall@1 {first:.1f} %, recall@{k} {recall:.1f} %."
)
FOUND_BETWEEN = (
    "{mentions:,} decided mentions, {in_kb:,} in the knowledge base: recall@1 {first:.1f} % (95 % "
    "interval {low:.1f} to {high:.1f}), recall@{k} {recall:.1f} %."
)
REPLAYED = (
    "{decisions:,} decisions in {documents:,} documents, without a memory: of the last {last:,}, {one_key:.1f} % took "
    "one key."
)
REPLAYED_LEARNING = (
    "{decisions:,} decisions in {documents:,} documents, learning from each document: of the last {last:,}, "
    "{one_key:.1f} % took one key."
)


Elsewhere = Callable[
    [Path, Sequence[DecidedDocument], Sequence[DocumentInput], int], Generator[int, None, Sequence[LinkedDocument]]
]
"""Links documents in other processes: takes bundle, memory, documents and number of candidates; yields the number of
documents done."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The input of one evaluation."""

    asked: EvaluationSpec
    snapshot: Snapshot
    documents: Documents
    train: Documents
    gold: GoldSet
    facts: SliceFacts
    elsewhere: Elsewhere | None


def run_evaluation(spec: EvaluationSpec | Mapping[str, Any], *, elsewhere: Elsewhere | None = None) -> Iterator[Event]:
    """Link the documents of the split and calculate the figures; the last event has phase DONE and the figures in
    `data["result"]`.

    The result is the JSON of `training.evaluation.Report` with `bundle`, `split`, `kb_hash`, `data_hash`, `memory`,
    `figures` (by name: value, low, high of the 95 % interval), intervals of the slices, `curves`, the bundle's
    embedding `map` or None, `whole_kb` and `against` if requested, the `errors` as `errors_json` writes them, and
    `html`: the report as one page. The snapshot may also hold `train` documents, which fill the memory and define what
    was "seen", and `validation` documents, which define the types with a tuned NIL threshold. Raises ModelError if the
    split holds no decided mention, or if snapshot and bundle have different knowledge bases.
    """
    asked = spec if isinstance(spec, EvaluationSpec) else EvaluationSpec.from_json(spec)
    _use_threads(asked.threads)
    yield Event(Phase.LOAD, 0, 2, text=say("Reading the decisions"))
    snapshot = read_snapshot(asked.snapshot, allow_test=True)
    yield Event(Phase.LOAD, 1, 2, text=say("Opening the linker"))
    linker = _open(asked.bundle, snapshot, asked.device)
    yield Event(Phase.LOAD, 2, 2)
    work = _work(asked, snapshot, linker.stages.kb, elsewhere)
    passes = 1 + asked.whole_kb + (asked.against is not None)
    remembered = yield from _teach(linker, work)
    answers = yield from _link(linker, work.documents, work, done=0, passes=passes)
    yield Event(Phase.EVALUATE, text=say("Counting results and resampling documents"))
    found = outcomes(answers, work.gold)
    result = _figures(work, found, linker) | {"memory": {"used": remembered > 0, "decisions": remembered}}
    kb = linker.stages.kb
    result["errors"] = errors_json(linking_errors(answers, work.gold, work.documents, kb, work.facts), kb)
    if asked.whole_kb:
        result["whole_kb"] = yield from _whole_kb(linker, work, passes)
    if asked.against is not None:
        result["against"] = yield from _against(linker, found, answers, work, passes)
    yield Event(Phase.EVALUATE, text=say("Writing the report"))
    result["map"] = map_of(linker.bundle)
    result["learnt_here"] = _learnt_here(linker, work)
    result["message"] = _sentence(result)
    result["html"] = evaluation_page(result)
    yield Event(Phase.DONE, 1, 1, text=result["message"], data={"result": result})


def run_replay(spec: ReplaySpec | Mapping[str, Any]) -> Iterator[Event]:
    """A simulated curator over the decisions of one split, then of another; see `training.evaluation.replay`.

    The last event's `data["result"]` holds `replay` (the JSON of ReplayCurves), `bundle`, `split`, `then`, `kb_hash`,
    `message` and `html`. Raises ModelError as `run_evaluation` does.
    """
    asked = spec if isinstance(spec, ReplaySpec) else ReplaySpec.from_json(spec)
    _use_threads(asked.threads)
    yield Event(Phase.LOAD, 0, 2, text=say("Reading the decisions"))
    snapshot = read_snapshot(asked.snapshot, allow_test=True)
    yield Event(Phase.LOAD, 1, 2, text=say("Opening the linker"))
    linker = _open(asked.bundle, snapshot, asked.device)
    yield Event(Phase.LOAD, 2, 2)
    curves_found = yield from _replay(asked, snapshot, linker)
    result = {
        "bundle": linker.bundle.manifest.id,
        "split": asked.split.value,
        "then": asked.then.value if asked.then else None,
        "made": now(),
        "kb_hash": linker.bundle.manifest.kb_hash,
        "data_hash": snapshot.data_hash,
        "replay": curves_found.to_json(),
        "message": _replay_sentence(curves_found),
    }
    result["html"] = replay_page(result)
    yield Event(Phase.DONE, 1, 1, text=str(result["message"]), data={"result": result})


def _replay(asked: ReplaySpec, snapshot: Snapshot, linker: Linker) -> Generator[Event, None, ReplayCurves]:
    resolve = linker.stages.kb.resolved.get
    simulated = learner(linker, memory=asked.memory)
    decided: list[list[SimulatedDecision]] = []
    starts: dict[str, int] = {}
    splits = [asked.split, *([asked.then] if asked.then else [])]
    total = sum(len(snapshot.of_split(split)) for split in splits)
    for split in splits:
        so_far = sum(map(len, decided))
        left = None if asked.limit is None else asked.limit - so_far
        documents = snapshot.of_split(split)
        if not documents:
            raise ModelError(_nothing(split))
        starts[split.value] = so_far
        for one in simulate(documents, simulated, resolve, k=asked.k, limit=left):
            decided.append(one)
            more = sum(not decision.one_key for decision in one)
            text = say("{more} of {number} decisions needed more than one key", more=more, number=len(one))
            yield Event(Phase.EVALUATE, len(decided), total, text=text)
    return curves_of(decided, remembers=simulated.remembers, starts=starts)


def _use_threads(threads: int) -> None:
    if threads > 0:
        torch.set_num_threads(threads)


def _open(bundle: Path, snapshot: Snapshot, device: str) -> Linker:
    linker = without_time_limit(load_intact(bundle, device=choose_device(device))[0])
    if snapshot.kb_hash and snapshot.kb_hash != linker.bundle.manifest.kb_hash:
        raise ModelError(
            say("The linker was built for another knowledge base than that of the project. Choose another linker.")
        )
    return linker


def _work(asked: EvaluationSpec, snapshot: Snapshot, kb: KnowledgeBase, elsewhere: Elsewhere | None) -> Work:
    """The input; decisions of the evaluated split are never added to the memory or counted as "seen"."""
    documents, resolve = snapshot.of_split(asked.split), kb.resolved.get
    gold = resolve_gold(documents, resolve)
    if not gold.mentions:
        raise ModelError(_nothing(asked.split))
    train = snapshot.of_split(Split.TRAIN) if asked.split is not Split.TRAIN else ()
    tuned = snapshot.of_split(Split.VALIDATION) if asked.split is not Split.VALIDATION else ()
    facts = slice_facts(
        documents,
        kb,
        train=resolve_gold(train, resolve) if train else None,
        tuned=resolve_gold(tuned, resolve) if tuned else None,
    )
    return Work(asked, snapshot, documents, train, gold, facts, elsewhere)


def _teach(linker: Linker, work: Work) -> Generator[Event, None, int]:
    """Put the train decisions into the memory; returns how many it holds."""
    documents = work.train if work.asked.memory else ()
    remembered = 0
    for start in range(0, len(documents), BATCH):
        part = documents[start : start + BATCH]
        remembered = teach(linker, part)
        yield Event(
            Phase.PREPARE,
            start + len(part),
            len(documents),
            text="" if start else say("Adding train decisions to the memory"),
        )
    return remembered


def _link(
    linker: Linker, documents: Documents, work: Work, *, done: int, passes: int, typed: bool = True
) -> Generator[Event, None, list[LinkedMention]]:
    """Link all documents once; `typed`: with the mentions' types."""
    linked: list[LinkedMention] = []
    total = passes * len(documents)
    inputs = [document.to_input() if typed else _untyped(document.to_input()) for document in documents]
    if work.elsewhere is not None:
        train = work.train if work.asked.memory else ()
        decided = decided_documents(train, linker.stages.kb.resolved.get)
        steps = work.elsewhere(linker.bundle.path, decided, inputs, work.asked.k)
        answers = yield from _followed(steps, done * len(documents), total)
        return [mention for answer in answers for mention in answer.mentions]
    for number, answer in enumerate(linker.link(inputs, k=work.asked.k), start=1):
        linked.extend(answer.mentions)
        yield Event(Phase.EVALUATE, done * len(documents) + number, total)
    return linked


def _followed(
    steps: Generator[int, None, Sequence[LinkedDocument]], before: int, total: int
) -> Generator[Event, None, Sequence[LinkedDocument]]:
    while True:
        try:
            yield Event(Phase.EVALUATE, before + next(steps), total)
        except StopIteration as end:
            answers: Sequence[LinkedDocument] = end.value
            return answers


def _untyped(document: DocumentInput) -> DocumentInput:
    return replace(document, mentions=tuple(MentionInput(one.key, one.spans) for one in document.mentions))


def _bootstrap(work: Work, found: Outcomes) -> DocumentBootstrap:
    return DocumentBootstrap(found.document, resamples=work.asked.resamples, seed=work.asked.seed)


def _figures(work: Work, found: Outcomes, linker: Linker) -> dict[str, Any]:
    k, manifest, bootstrap = work.asked.k, linker.bundle.manifest, _bootstrap(work, found)
    report = report_of(found, work.gold, k=k, facts=work.facts).to_json()
    intervals = slice_estimates(found, members(work.gold, work.facts), bootstrap, k=k)
    for name, figures in report["slices"].items():
        figures["intervals"] = {what: [one.low, one.high] for what, one in intervals[name].items()}
    return report | {
        "bundle": manifest.id,
        "split": work.asked.split.value,
        "made": now(),
        "documents": bootstrap.documents,
        "kb_hash": manifest.kb_hash,
        "data_hash": work.snapshot.data_hash,
        "types": list(found.groups),
        "resamples": work.asked.resamples,
        "seed": work.asked.seed,
        "linker": [english(one) for one in linker.describe()],
        "figures": {name: asdict(one) for name, one in bootstrap.estimates(headline(found, k=k)).items()},
        "curves": curves(found),
    }


def _whole_kb(linker: Linker, work: Work, passes: int) -> Generator[Event, None, dict[str, Any]]:
    """The ranking figures without the mentions' types: against all worlds, for ZESHEL."""
    answers = yield from _link(linker, work.documents, work, done=1, passes=passes, typed=False)
    found = outcomes(answers, work.gold)
    wanted = {name: one for name, one in headline(found, k=work.asked.k).items() if name.startswith("recall@")}
    return {name: asdict(one) for name, one in _bootstrap(work, found).estimates(wanted).items()}


def _against(
    linker: Linker, found: Outcomes, answers: list[LinkedMention], work: Work, passes: int
) -> Generator[Event, None, dict[str, Any]]:
    """The other bundle on the same mentions, with the same memory."""
    assert work.asked.against is not None
    other = _open(work.asked.against, work.snapshot, work.asked.device)
    yield from _teach(other, work)
    others = yield from _link(other, work.documents, work, done=passes - 1, passes=passes)
    comparison = compare(found, outcomes(others, work.gold), _bootstrap(work, found), k=work.asked.k)
    changed = flips(others, answers, work.gold)
    return {
        "bundle": other.bundle.manifest.id,
        **comparison.to_json(),
        "flips": [_flip(one, work.documents) for one in changed],
        "names": _names(changed, linker.stages.kb),
    }


def _flip(flip: Flip, documents: Documents) -> dict[str, Any]:
    """A flip as JSON with the document's name; `old` is the other bundle's answer, `new` this bundle's."""
    name = next(one.name for one in documents if one.key == flip.document)
    return {**asdict(flip), "direction": flip.direction.value, "document_name": name or flip.document}


def _names(changed: Sequence[Flip], kb: KnowledgeBase) -> dict[str, str]:
    ids = dict.fromkeys(one for flip in changed for one in (*flip.gold, flip.old, flip.new))
    return {one: kb.entities[kb.rows[one]].name for one in ids if one in kb.rows}


def _nothing(split: Split) -> str:
    return say(
        "No mention in the split {split} is decided yet, so there is nothing to compare with.",
        split=split,
    )


def _learnt_here(linker: Linker, work: Work) -> int:
    """The number of evaluated documents that the bundle was trained on or its weights were fitted on."""
    facts = linker.bundle.manifest.training
    parts = facts.get("documents", {}).values()
    known = {key for keys in (*parts, facts.get(FITTED_ON, ())) for key in keys}
    return sum(document.key in known for document in work.documents)


def _sentence(result: Mapping[str, Any]) -> str:
    said = _counted(result)
    if not result["learnt_here"]:
        return said
    return nsay(
        "{said} This linker was trained on {n:,} of these documents, or its weights were fitted to it, "
        "so the results look better than they are. Only test documents show how good the linker is.",
        "{said} This linker was trained on {n:,} of these documents, or its weights were fitted to "
        "them, so the results look better than they are. Only test documents show how good the linker "
        "is.",
        result["learnt_here"],
        said=said,
    )


def _counted(result: Mapping[str, Any]) -> str:
    k, recall = result["k"], result["recall"]
    first = result["figures"]["recall@1"]
    low = first["low"]
    return say(
        FOUND if low is None else FOUND_BETWEEN,
        mentions=result["mentions"],
        in_kb=result["in_kb"],
        first=100 * recall["1"],
        low=100 * (low or 0.0),
        high=100 * (first["high"] or 0.0),
        k=k,
        recall=100 * recall[str(k)],
    )


def _replay_sentence(found: ReplayCurves) -> str:
    return say(
        REPLAYED_LEARNING if found.remembers else REPLAYED,
        decisions=found.decisions,
        documents=found.documents,
        last=found.last.decisions,
        one_key=100 * (1 - found.last.more_keys),
    )
