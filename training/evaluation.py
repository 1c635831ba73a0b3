"""The one evaluation, used by the training job, its gate and `curator evaluate`.

Conventions. Only decided mentions count. A mention is NIL if none of its gold ids is in the knowledge base.
Recall is over in-KB mentions: *any-match* counts a composite mention as found if one of its entities is among the first
k, *all-match* if all of them are among the first max(k, number of its entities). A mention without an answer, or
whose entity was not retrieved, is an error (unnormalised). Candidates count in the order the linker gave them: it
sorts by score and breaks ties by entity id, so equal scores never gain by chance. Everything is micro-averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from models.types import LinkedMention
from training.gold import GoldMention, GoldSet

KS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class NilFigures:
    """NIL as the positive class, over all decided mentions; `au_pr` is the average precision of the NIL score.

    None where a figure is not defined (nothing flagged, no NIL mention, or nothing else).
    """

    flagged: int
    precision: float | None
    recall: float | None
    f1: float | None
    au_pr: float | None


@dataclass(frozen=True, slots=True)
class SliceFigures:
    """A part of the mentions: how many, how many in the knowledge base, and recall there (None without any)."""

    mentions: int
    in_kb: int
    recall_at_1: float | None
    recall_at_k: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """The figures. `recall` and `recall_all` map k to any- and all-match recall; `accuracy` counts a NIL mention as
    right when it is flagged NIL, any other when it is not flagged and its first candidate is gold."""

    mentions: int
    in_kb: int
    nil_mentions: int
    composites: int
    unanswered: int
    alternate_ids: int
    unknown_ids: int
    k: int
    recall: Mapping[int, float] = field(default_factory=dict)
    recall_all: Mapping[int, float] = field(default_factory=dict)
    accuracy: float | None = None
    nil: NilFigures = field(default_factory=lambda: NilFigures(0, None, None, None, None))
    slices: Mapping[str, SliceFigures] = field(default_factory=dict)

    @property
    def recall_at_1(self) -> float:
        """Any-match recall at 1; 0 where no mention is in the knowledge base."""
        return self.recall.get(1, 0.0)

    @property
    def recall_at_k(self) -> float:
        return self.recall.get(self.k, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; the keys of `recall` become strings."""
        raw = asdict(self)
        for name in ("recall", "recall_all"):
            raw[name] = {str(k): value for k, value in raw[name].items()}
        return raw


class Direction(StrEnum):
    """How a decision changes between two linkers."""

    WRONG_TO_RIGHT = "wrong_to_right"
    RIGHT_TO_WRONG = "right_to_wrong"


@dataclass(frozen=True, slots=True)
class Flip:
    """A gold decision on which two linkers differ. An answer is "NIL" or the id of the first candidate."""

    document: str
    mention: str
    surface: str
    gold: tuple[str, ...]
    old: str
    new: str
    direction: Direction


def evaluate(
    linked: Iterable[LinkedMention], gold: GoldSet, *, k: int = 64, seen: frozenset[str] | None = None
) -> Report:
    """Figures of `linked` against `gold`; answers to undecided mentions are ignored.

    `seen` are the folded surfaces of the training set; with it the report has the slices "seen surface" and "unseen
    surface". Other slices: "single", "composite", and "type: T" for every allowed type of the mentions.
    """
    answers = {answer.key: answer for answer in linked}
    pairs = [(mention, answers.get(mention.key)) for mention in gold.mentions]
    ks = [*(value for value in KS if value < k), k]
    in_kb = [pair for pair in pairs if not pair[0].nil]
    return Report(
        mentions=len(pairs),
        in_kb=len(in_kb),
        nil_mentions=len(pairs) - len(in_kb),
        composites=sum(mention.composite for mention, _ in pairs),
        unanswered=sum(answer is None for _, answer in pairs),
        alternate_ids=gold.alternate_ids,
        unknown_ids=gold.unknown_ids,
        k=k,
        recall={value: _recall(in_kb, value, _any_match) or 0.0 for value in ks},
        recall_all={value: _recall(in_kb, value, _all_match) or 0.0 for value in ks},
        accuracy=_share(is_right(mention, answer) for mention, answer in pairs),
        nil=_nil_figures(pairs),
        slices=_slices(pairs, k, seen),
    )


def is_right(gold: GoldMention, answer: LinkedMention | None) -> bool:
    """Whether the linker's decision, NIL flag included, is the curator's."""
    if answer is None:
        return False
    if gold.nil or answer.nil.is_nil:
        return gold.nil and answer.nil.is_nil
    return _any_match(gold, answer, 1)


def flips(
    old: Iterable[LinkedMention], new: Iterable[LinkedMention], gold: GoldSet, *, flags: bool = True
) -> tuple[Flip, ...]:
    """The gold decisions that one of two linkers gets right and the other wrong, in document order.

    With `flags` a linker's NIL flag counts as its answer; without, linked mentions are judged by the first candidate
    alone and NIL mentions are left out (this is what recall@1 sees).
    """
    before, after = ({answer.key: answer for answer in answers} for answers in (old, new))
    found = []
    for mention in gold.mentions:
        one, other = before.get(mention.key), after.get(mention.key)
        if mention.nil and not flags:
            continue
        judge = is_right if flags else _top_is_right
        was, now = judge(mention, one), judge(mention, other)
        if was != now:
            direction = Direction.RIGHT_TO_WRONG if was else Direction.WRONG_TO_RIGHT
            answers = (_answer(one, flags=flags), _answer(other, flags=flags))
            found.append(Flip(mention.document, mention.key, mention.surface, mention.ids, *answers, direction))
    return tuple(found)


Pair = tuple[GoldMention, LinkedMention | None]
Match = Callable[[GoldMention, LinkedMention | None, int], bool]


def _any_match(gold: GoldMention, answer: LinkedMention | None, k: int) -> bool:
    return answer is not None and any(candidate.entity_id in gold.ids for candidate in answer.candidates[:k])


def _all_match(gold: GoldMention, answer: LinkedMention | None, k: int) -> bool:
    if answer is None:
        return False
    first = {candidate.entity_id for candidate in answer.candidates[: max(k, len(gold.ids))]}
    return first.issuperset(gold.ids)


def _top_is_right(gold: GoldMention, answer: LinkedMention | None) -> bool:
    return _any_match(gold, answer, 1)


def _answer(answer: LinkedMention | None, *, flags: bool) -> str:
    if answer is None or not answer.candidates or (flags and answer.nil.is_nil):
        return "NIL"
    return answer.candidates[0].entity_id


def _recall(pairs: Sequence[Pair], k: int, match: Match) -> float | None:
    return _share(match(mention, answer, k) for mention, answer in pairs)


def _share(flags: Iterable[bool]) -> float | None:
    values = list(flags)
    return sum(values) / len(values) if values else None


def _nil_figures(pairs: Sequence[Pair]) -> NilFigures:
    """A mention without an answer is not flagged and has the lowest score."""
    truth = np.array([mention.nil for mention, _ in pairs], dtype=bool)
    flagged = np.array([answer is not None and answer.nil.is_nil for _, answer in pairs], dtype=bool)
    score = np.array([0.0 if answer is None else answer.nil.score for _, answer in pairs])
    hits = int((truth & flagged).sum())
    precision = hits / int(flagged.sum()) if flagged.any() else None
    recall = hits / int(truth.sum()) if truth.any() else None
    f1 = 2 * hits / int(truth.sum() + flagged.sum()) if truth.any() else None
    both = bool(truth.any()) and not bool(truth.all())
    return NilFigures(
        flagged=int(flagged.sum()),
        precision=precision,
        recall=recall,
        f1=f1,
        au_pr=float(average_precision_score(truth, score)) if both else None,
    )


def _slices(pairs: Sequence[Pair], k: int, seen: frozenset[str] | None) -> dict[str, SliceFigures]:
    parts: dict[str, list[Pair]] = {}
    for pair in pairs:
        for name in _slice_names(pair[0], seen):
            parts.setdefault(name, []).append(pair)
    return {name: _slice(parts[name], k) for name in sorted(parts)}


def _slice_names(mention: GoldMention, seen: frozenset[str] | None) -> list[str]:
    names = ["composite" if mention.composite else "single"]
    names += [f"type: {kind}" for kind in mention.types or ("any",)]
    if seen is not None:
        names.append("seen surface" if mention.surface in seen else "unseen surface")
    return names


def _slice(pairs: Sequence[Pair], k: int) -> SliceFigures:
    in_kb = [pair for pair in pairs if not pair[0].nil]
    return SliceFigures(
        mentions=len(pairs),
        in_kb=len(in_kb),
        recall_at_1=_recall(in_kb, 1, _any_match),
        recall_at_k=_recall(in_kb, k, _any_match),
    )
