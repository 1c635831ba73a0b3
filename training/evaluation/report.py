"""The figures of one linker on the decisions of some documents, without intervals. The gate compares them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from models.types import LinkedMention
from training.data.gold import GoldSet
from training.evaluation.curves import average_precision
from training.evaluation.outcomes import BOOLS, Outcomes, is_right, outcomes
from training.evaluation.resampling import Figure, f1, macro, number, ratio
from training.evaluation.slices import SliceFacts, slice_names

__all__ = ["KS", "NilFigures", "Report", "SliceFigures", "evaluate", "is_right", "members", "report_of"]

KS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class NilFigures:
    """NIL as the positive class, over all decided mentions; `au_pr` is the average precision of the NIL score.

    A figure that is not defined is None (nothing flagged, no NIL mention, or only NIL mentions).
    """

    flagged: int
    precision: float | None
    recall: float | None
    f1: float | None
    au_pr: float | None


@dataclass(frozen=True, slots=True)
class SliceFigures:
    """A subset of the mentions: their number, the number in the knowledge base, and recall over these (None if there
    are none).

    `accuracy` and `nil_f1` are over all of its mentions.
    """

    mentions: int
    in_kb: int
    recall_at_1: float | None
    recall_at_k: float | None
    accuracy: float | None = None
    nil_f1: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The figures. `recall` and `recall_all` map k to any- and all-match recall; `accuracy` counts a NIL mention as
    right when it is flagged NIL, any other when it is not flagged and its first candidate is gold. `macro_recall` is
    the mean of any-match recall over the types of the mentions."""

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
    macro_recall: Mapping[int, float] = field(default_factory=dict)

    @property
    def recall_at_1(self) -> float:
        """Any-match recall at 1; 0 if no mention is in the knowledge base."""
        return self.recall.get(1, 0.0)

    @property
    def recall_at_k(self) -> float:
        return self.recall.get(self.k, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; the keys of `recall` become strings."""
        raw = asdict(self)
        for name in ("recall", "recall_all", "macro_recall"):
            raw[name] = {str(k): value for k, value in raw[name].items()}
        return raw


def evaluate(
    linked: Iterable[LinkedMention],
    gold: GoldSet,
    *,
    k: int = 64,
    seen: Mapping[str, frozenset[str]] | None = None,
    facts: SliceFacts | None = None,
) -> Report:
    """Figures of `linked` against `gold`; answers to undecided mentions are ignored.

    `seen` are the folded surfaces of the training set with their documents (see ``SliceFacts``), for the slices "seen
    surface" and "unseen surface"; `facts`, which replace `seen`, give all slices. The slices "single", "composite" and
    "type: T" are always included.
    """
    return report_of(outcomes(linked, gold), gold, k=k, facts=facts or SliceFacts(surfaces=seen))


def report_of(found: Outcomes, gold: GoldSet, *, k: int, facts: SliceFacts) -> Report:
    ks = [*(value for value in KS if value < k), k]
    return Report(
        mentions=len(found),
        in_kb=int(found.in_kb.sum()),
        nil_mentions=int(found.nil.sum()),
        composites=int(found.composite.sum()),
        unanswered=int((~found.answered).sum()),
        alternate_ids=gold.alternate_ids,
        unknown_ids=gold.unknown_ids,
        k=k,
        recall={value: _share(found.found_any(value), found.in_kb) or 0.0 for value in ks},
        recall_all={value: _share(found.found_all(value), found.in_kb) or 0.0 for value in ks},
        accuracy=_share(found.right, np.ones(len(found), dtype=bool)),
        nil=_nil_figures(found),
        slices={name: _slice(found, part, k) for name, part in members(gold, facts).items()},
        macro_recall={value: _macro(found, value) or 0.0 for value in ks},
    )


def members(gold: GoldSet, facts: SliceFacts) -> dict[str, BOOLS]:
    """The mentions of every slice, (m,) each, by the slice's name."""
    parts: dict[str, BOOLS] = {}
    for at, mention in enumerate(gold.mentions):
        for name in slice_names(mention, facts):
            parts.setdefault(name, np.zeros(len(gold.mentions), dtype=bool))[at] = True
    return dict(sorted(parts.items()))


def _slice(found: Outcomes, part: BOOLS, k: int) -> SliceFigures:
    in_kb = part & found.in_kb
    return SliceFigures(
        mentions=int(part.sum()),
        in_kb=int(in_kb.sum()),
        recall_at_1=_share(found.found_any(1), in_kb),
        recall_at_k=_share(found.found_any(k), in_kb),
        accuracy=_share(found.right, part),
        nil_f1=_value(f1(found.nil & part, found.flagged & part), len(found)),
    )


def _nil_figures(found: Outcomes) -> NilFigures:
    """A mention without an answer is not flagged and has the lowest score."""
    return NilFigures(
        flagged=int(found.flagged.sum()),
        precision=_share(found.nil, found.flagged),
        recall=_share(found.flagged, found.nil),
        f1=_value(f1(found.nil, found.flagged), len(found)),
        au_pr=_value(average_precision(found.nil_score, found.nil), len(found)),
    )


def _macro(found: Outcomes, k: int) -> float | None:
    return _value(macro(found.found_any(k), found.in_kb, found.group, len(found.groups)), len(found))


def _share(hits: BOOLS, among: BOOLS) -> float | None:
    """The share of `among` that is also in `hits`; None if `among` is empty."""
    return _value(ratio(hits & among, among), len(among))


def _value(figure: Figure, mentions: int) -> float | None:
    return number(float(figure(np.ones((1, mentions)))[0])) if mentions else None
