"""Reads a bundle's metrics, written by the job that made it: changed decisions and changes in the undecided queue if it
is promoted, and the project's learning curve over all bundles.

Missing keys, such as in older bundles, give empty results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.wording import localised, percent, tr
from curator.services.training.recipes import FIT
from resources.recipe_files import Recipe

NIL = "NIL"


class DiffKind(StrEnum):
    """BETTER: wrong before, right now. WORSE: right before, wrong now. QUEUE: undecided, another suggestion."""

    BETTER = "better"
    WORSE = "worse"
    QUEUE = "queue"


_DIRECTIONS = {"wrong_to_right": DiffKind.BETTER, "right_to_wrong": DiffKind.WORSE}


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One mention. Answers are entity ids or `NIL`; `gold` is empty for NIL and for undecided mentions. Document and
    mention are ids of the project, None if the metrics contain something else."""

    kind: DiffKind
    document: int | None
    mention: int | None
    surface: str
    gold: tuple[str, ...]
    before: str
    after: str


def diff_rows(metrics: Mapping[str, Any]) -> list[DiffRow]:
    """Rows that became wrong first, then those that became right, then the queue; each in the stored document order."""
    order = list(DiffKind)
    rows = [*_flips(metrics), *_queue(metrics)]
    return sorted(rows, key=lambda row: {DiffKind.WORSE: 0, DiffKind.BETTER: 1}.get(row.kind, order.index(row.kind)))


def count(rows: list[DiffRow], kind: DiffKind) -> int:
    return sum(row.kind is kind for row in rows)


def queue_asked(metrics: Mapping[str, Any]) -> int:
    """The number of undecided mentions that both linkers linked; 0 if not counted."""
    queue = metrics.get("queue")
    asked = queue.get("mentions") if isinstance(queue, Mapping) else None
    return int(asked) if isinstance(asked, int) else 0


def diff_words(rows: list[DiffRow], *, asked: int = 0) -> str:
    """One sentence; `asked` is the number of compared undecided mentions."""
    better, worse, queue = (count(rows, kind) for kind in DiffKind)
    words = tr("{better:,} decisions become right, {worse:,} become wrong", better=better, worse=worse)
    if not queue and not asked:
        return f"{words}."
    of = tr("{part:,} of {whole:,}", part=queue, whole=asked) if asked else localised(queue, ",")
    return tr("{flips}; {of} undecided mentions get a different first suggestion.", flips=words, of=of)


def comparison_of(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    """The statistical comparison of the old and the new linker; empty if there is none."""
    found = metrics.get("comparison")
    return found if isinstance(found, Mapping) else {}


def _flips(metrics: Mapping[str, Any]) -> Iterator[DiffRow]:
    for one in _list(metrics, "flips"):
        kind = _DIRECTIONS.get(str(one.get("direction")))
        if kind is not None:
            gold = tuple(str(entity) for entity in one.get("gold") or ())
            yield _row(kind, one, gold, _answer(one.get("old")), _answer(one.get("new")))


def _queue(metrics: Mapping[str, Any]) -> Iterator[DiffRow]:
    queue = metrics.get("queue")
    for one in _list(queue if isinstance(queue, Mapping) else {"changes": queue}, "changes"):
        yield _row(DiffKind.QUEUE, one, (), _answer(one.get("before")), _answer(one.get("after")))


def _row(kind: DiffKind, raw: Mapping[str, Any], gold: tuple[str, ...], before: str, after: str) -> DiffRow:
    return DiffRow(
        kind, _id(raw.get("document")), _id(raw.get("mention")), str(raw.get("surface") or ""), gold, before, after
    )


def _list(metrics: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = metrics.get(key)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _answer(raw: Any) -> str:
    """An answer: an id, or an object with one; empty is NIL."""
    if isinstance(raw, Mapping):
        raw = raw.get("id")
    return str(raw) if raw else NIL


def _id(raw: Any) -> int | None:
    try:
        return int(raw)
    except (TypeError, ValueError):
        return None


# The project's own learning curve: the effect of each training, by its number of linked decisions, measured by its
# gate. Before a training it gives the result of the last one with the same recipe, or states that it is unknown.

RIGHT = "right in all, NIL included"
"""The figure's name in the comparison of two linkers that a bundle's metrics hold."""
UNKNOWN = "This recipe has not run in this project yet, so its effect here is not known."
MEASURED = {
    "names": "On a public corpus (BC5CDR, 8,686 links in 500 documents) this training raised the correct first "
    "suggestions from 94.8 % to 95.2 %, and from 86.6 % to 88.1 % for strings that are not in the training documents.",
    "conventions": "On two public corpora, with weights fitted on the other one, this training raised correct answers, "
    "NIL included, with 500 links from 86.6 % to 90.2 % (BC5CDR) and from 84.6 % to 85.0 % (NCBI Disease, which may be "
    "chance), with 2,000 links from 87.8 % to 93.4 % and from 86.9 % to 87.8 %.",
    "pel-pb-quick": "On a public wiki, a training on 1,000 of its links raised the correct first suggestions for 387 "
    "links of its other pages whose words are no name from 73.6 % to 78.8 %, 3.4 points of it by the new component.",
}
"""By recipe, the result of a comparison on documents not used for fitting; README.md and
NAMES.md and WIKIS.md in tests/benchmarks/experiments describe it. The dialog and `curator train --preview` show it."""
LAST = (
    "When it last ran, with {links:,} links, correct answers on held-out documents, NIL included, went "
    "from {before} to {after} (difference {low} to {high} points): {verdict}."
)
BY_WEIGHTS = "Refitting the weights alone would have given {without}."
SINCE = "There are {links:,} links now."
VERDICTS = {
    GateVerdict.PROMOTE: "the new linker was put into use",
    GateVerdict.NO_GAIN: "no gain beyond chance",
    GateVerdict.REFUSED: "worse",
    GateVerdict.NOT_GATED: "no check was made",
}


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """One training: its linked decisions (train and validation), the shares of right held-out mentions (including NIL)
    before and after, the 95 % interval of their difference, and the share after only refitting the weights (None if
    nothing else was done, or if not measured)."""

    links: int
    at: datetime
    recipe: str
    before: float
    after: float
    low: float
    high: float
    without: float | None
    verdict: GateVerdict


def learning_points(bundles: Sequence[BundleInfo]) -> list[LearningPoint]:
    """The points by the number of links; bundles without a gate's comparison or number of links are left out."""
    found = [point for bundle in bundles if (point := _point(bundle)) is not None]
    return sorted(found, key=lambda one: (one.links, one.at))


def _point(bundle: BundleInfo) -> LearningPoint | None:
    links = bundle.metrics.get("links")
    before, after = (metric(bundle.metrics.get(which), "accuracy") for which in ("old", "new"))
    if not isinstance(links, int) or before is None or after is None:
        return None
    apart = _inside(bundle.metrics, "comparison", "figures", RIGHT, "difference")
    low, high = metric(apart, "low"), metric(apart, "high")
    return LearningPoint(
        links,
        bundle.created_at,
        bundle.recipe,
        before,
        after,
        after - before if low is None else low,
        after - before if high is None else high,
        metric(bundle.metrics.get("without"), "accuracy"),
        bundle.verdict,
    )


def expectation(bundles: Sequence[BundleInfo], recipe: Recipe, *, links: int) -> str:
    """The expected effect of the recipe, from its last run here, or a statement that it is unknown. `links` is the
    current number of linked decisions."""
    own = [one for one in learning_points(bundles) if one.recipe == recipe.id]
    if not own:
        return " ".join([*([tr(MEASURED[recipe.id])] if recipe.id in MEASURED else []), tr(UNKNOWN)])
    last = max(own, key=lambda one: one.at)
    words = [
        tr(
            LAST,
            links=last.links,
            before=percent(last.before),
            after=percent(last.after),
            low=localised(100 * last.low, "+.1f"),
            high=localised(100 * last.high, "+.1f"),
            verdict=tr(VERDICTS[last.verdict]),
        )
    ]
    if recipe.role != FIT and last.without is not None:
        words.append(tr(BY_WEIGHTS, without=percent(last.without)))
    return " ".join([*words, tr(SINCE, links=links)])


def metric(report: Any, *path: str) -> float | None:
    """A figure of a report in a manifest; None if missing."""
    found = _inside(report, *path)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _inside(report: Any, *path: str) -> Any:
    for name in path:
        report = report.get(name) if isinstance(report, Mapping) else None
    return report
