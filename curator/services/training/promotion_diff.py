"""What changes when a bundle is promoted: the gold decisions that flip and what becomes of the undecided queue.

Read from a bundle's metrics, which a training job wrote: keys that are absent, or that an older job did not write, give
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from curator.domain.wording import tr

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
    mention are ids of the project, None where the metrics hold something else."""

    kind: DiffKind
    document: int | None
    mention: int | None
    surface: str
    gold: tuple[str, ...]
    before: str
    after: str


def diff_rows(metrics: Mapping[str, Any]) -> list[DiffRow]:
    """What went wrong first, then what went right, then the queue; each in document order as written."""
    order = list(DiffKind)
    rows = [*_flips(metrics), *_queue(metrics)]
    return sorted(rows, key=lambda row: {DiffKind.WORSE: 0, DiffKind.BETTER: 1}.get(row.kind, order.index(row.kind)))


def count(rows: list[DiffRow], kind: DiffKind) -> int:
    return sum(row.kind is kind for row in rows)


def queue_asked(metrics: Mapping[str, Any]) -> int:
    """How many undecided mentions both linkers were asked about; 0 where that was not counted."""
    queue = metrics.get("queue")
    asked = queue.get("mentions") if isinstance(queue, Mapping) else None
    return int(asked) if isinstance(asked, int) else 0


def diff_words(rows: list[DiffRow], *, asked: int = 0) -> str:
    """One sentence; `asked` is how many undecided mentions were looked at."""
    better, worse, queue = (count(rows, kind) for kind in DiffKind)
    words = tr("{better:,} decisions become right, {worse:,} become wrong", better=better, worse=worse)
    if not queue and not asked:
        return f"{words}."
    of = tr("{part:,} of {whole:,}", part=queue, whole=asked) if asked else f"{queue:,}"
    return tr("{flips}; {of} undecided mentions get another first suggestion.", flips=words, of=of)


def comparison_of(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    """The statistical comparison of the old and the new linker; empty where none was made."""
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
    """An id, or an object that names one; nothing is NIL."""
    if isinstance(raw, Mapping):
        raw = raw.get("id")
    return str(raw) if raw else NIL


def _id(raw: Any) -> int | None:
    try:
        return int(raw)
    except (TypeError, ValueError):
        return None
