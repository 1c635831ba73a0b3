"""How the combiner and NIL use a trained stage: coefficients fitted on decisions that the stage did not learn from.

A trained stage (a retriever, a ranker) gives each candidate a lead: 0 for its favourite, less for the others, in its
own unit. Its features, with coefficients of at least 0, are added to the existing logits, which are scaled as a
whole. All are fitted by maximum likelihood with a ridge penalty. They are kept only if the decisions in other documents
become more likely, beyond chance. Without a trained stage, the linker does not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.rankers.conditional_logit import ConditionalLogit

FLOATS64 = NDArray[np.float64]
STAGE_FEATURES = ("scale", "lead", "first", "new_lead", "unnamed_lead", "settled_scale", "settled_lead")
"""The scale of the existing logits; the difference to the stage's favourite; whether the candidate is the favourite;
the lead for strings that are new to the memory; the lead for strings that are no candidate's name. The last two are
scale and lead for a settled text: the name of exactly one candidate."""
OPEN = 5
"""How many of ``STAGE_FEATURES`` are for texts that are not settled."""
NIL_STAGE_FEATURES = ("scale", "agrees", "lead", "rise", "base")
"""The scale of NIL's own logit; whether the untrained first candidate is also the stage's favourite; the favourite's
lead; the rise of the best logit when the stage is used; and a constant 1. The three in the middle count against NIL,
the constant counts for it."""
FAVOURITES = 5
"""The number of each stage's favourites that are always in the head."""
RIDGE = 1e-3
NO_WEIGHT = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
NO_NIL_WEIGHT = (1.0, 0.0, 0.0, 0.0, 0.0)
"""Coefficients of a stage without influence, on candidates and on NIL."""
SCALES = (0.2, 5.0)
FOLDS = 5
FEWEST_DOCUMENTS, FEWEST_OF_A_TYPE = 5, 20
TIE = 1e-9
OPINION = "opinion"
"""The name of the stage that holds a language model's answers for some of the mentions."""


def stage_columns(stage: str, lead: FLOATS64, head: NDArray[np.intp], *, new: bool, exact: int) -> FLOATS64:
    """(h, 4), or (h, 1) for a settled text: the features of the candidates at ``head``; ``lead`` is (c,), its highest
    value 0 or below. ``new``: the memory does not know the string; ``exact``: of how many candidates it is a name.
    Opinions count the same for all texts."""
    own = np.asarray(lead, dtype=np.float64)[head]
    if exact == 1 and stage != OPINION:
        return own[:, None]
    first = (own >= float(lead.max(initial=-np.inf)) - TIE).astype(np.float64)
    return np.stack([own, first, own * float(new), own * float(not exact)], axis=1)


def rise_of(logits: FLOATS64, columns: FLOATS64, coefficients: Sequence[float]) -> float:
    """The rise of the best of (h,) logits when a stage is used: small if its favourite is unlikely otherwise. It
    distinguishes mentions with misleading names from mentions that no entity fits."""
    silent = np.zeros_like(columns)
    return float(with_stage(logits, columns, coefficients).max() - with_stage(logits, silent, coefficients).max())


def with_stage(logits: FLOATS64, columns: FLOATS64, coefficients: Sequence[float]) -> FLOATS64:
    """(h,): the logits with a stage, by ``stage_columns`` and the coefficients of ``STAGE_FEATURES``."""
    settled = columns.shape[1] == 1
    return weighted_logits(logits, columns, coefficients[OPEN:] if settled else coefficients[:OPEN])


def opinion_lead(entity_ids: Sequence[str], opinion: str) -> FLOATS64 | None:
    """(c,): 0 for the entity of the opinion, -1 for the others; 0 for all if the opinion is '' (none of them). None if
    the entity is not a candidate."""
    if not opinion:
        return np.zeros(len(entity_ids))
    if opinion not in entity_ids:
        return None
    return np.asarray([float(one == opinion) - 1.0 for one in entity_ids])


def favourites(lead: FLOATS64) -> NDArray[np.intp]:
    """The positions of a stage's first candidates, given their (c,) ``lead``; empty if it has no preference (a lead of
    0 for all)."""
    if not len(lead) or float(lead.max()) - float(lead.min()) <= TIE:
        return np.zeros(0, dtype=np.intp)
    return np.argsort(-lead, kind="stable")[:FAVOURITES].astype(np.intp)


def nil_columns(lead: FLOATS64, first: int, rise: float) -> FLOATS64:
    """(4,) of ``NIL_STAGE_FEATURES`` with the signs of NIL's logit: evidence against NIL is negative."""
    best_two = np.sort(lead)[-2:]
    ahead = float(best_two[-1] - best_two[0]) if len(best_two) == 2 else 0.0
    agrees = ahead > TIE and float(lead[first]) >= float(best_two[-1]) - TIE
    return np.asarray([-float(agrees), -ahead * agrees, -rise, 1.0])


def as_choice(logit: float, columns: FLOATS64, *, nil: bool, document: str) -> StageChoice:
    """NIL or not as a choice between two rows of (4,) ``columns``, fitted like a choice between candidates."""
    return StageChoice(
        np.asarray([logit, 0.0]), np.stack([columns, np.zeros(len(columns))]), np.asarray([nil, not nil]), document
    )


def weights_to_json(weights: Mapping[str, tuple[float, ...]], names: Sequence[str]) -> dict[str, Any]:
    """The coefficients as JSON; empty if there are none."""
    own = {stage: list(coefficients) for stage, coefficients in weights.items()}
    return {"heard_features": list(names), "heard": own} if own else {}


def weights_from_json(raw: Mapping[str, Any], names: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Coefficients by stage; without those of another version's features. Raises ValueError if their number is
    wrong."""
    if list(raw.get("heard_features", ())) != list(names):
        return {}
    weights = {str(stage): tuple(float(value) for value in own) for stage, own in raw["heard"].items()}
    if any(len(own) != len(names) for own in weights.values()):
        raise ValueError("heard features without coefficients")
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class StageChoice:
    """The head of a linked mention: the combiner's logits (h,) without the stage, the stage's features (h, k), the gold
    rows, the document, and the types that restrict the candidates."""

    logits: FLOATS64
    columns: FLOATS64
    gold: NDArray[np.bool_]
    document: str
    types: tuple[str, ...] = ()


def fit_stage_weights(mentions: Sequence[StageChoice]) -> tuple[float, ...] | None:
    """Coefficients of a scale and of the mentions' features, or None if the stage should have no influence.

    A stage is used if it makes the gold of left-out documents likelier by more than the standard error of this gain
    over documents (five folds, each document in one). The gain is relative to the same logits with a fitted scale, so
    that correcting an over- or underconfident linker does not count for the stage. All types count the same, with
    few mentions or many: the best weight differs between them, and the next one is not known. Mentions whose gold
    is not in the head are left out.
    """
    usable = [one for one in mentions if one.gold.any() and not one.gold.all()]
    documents = sorted({one.document for one in usable})
    if len(documents) < FEWEST_DOCUMENTS:
        return None
    gains = np.concatenate(list(_gains_left_out(usable, documents)))
    if gains.mean() <= gains.std() / np.sqrt(len(gains)):
        return None
    found = _fitted(usable)
    return tuple(map(float, found)) if found[1:].any() else None


def fit_both(mentions: Sequence[StageChoice]) -> tuple[float, ...] | None:
    """Coefficients of ``STAGE_FEATURES``: those of settled texts are fitted on these alone, since names are seldom
    wrong there, and so are the others. None if the stage should have no influence on either."""
    parts: tuple[list[StageChoice], list[StageChoice]] = ([], [])
    for one in mentions:
        parts[one.columns.shape[1] == 1].append(one)
    others, settled = map(fit_stage_weights, parts)
    if others is None and settled is None:
        return None
    return (*(others or NO_WEIGHT[:OPEN]), *(settled or NO_WEIGHT[OPEN:]))


def _gains_left_out(usable: Sequence[StageChoice], documents: Sequence[str]) -> Iterator[FLOATS64]:
    """For each fold (d,): the gain in log-likelihood of its documents, with coefficients fitted on the others."""
    fold_of = {document: at % FOLDS for at, document in enumerate(documents)}
    shares = dict(zip(map(id, usable), _shares(usable), strict=True))
    for fold in range(FOLDS):
        inside = [one for one in usable if fold_of[one.document] == fold]
        others = [one for one in usable if fold_of[one.document] != fold]
        if not inside or not others:
            continue
        with_it, without = _fitted(others), _fitted(others, scale_only=True)
        sums: dict[str, float] = {}
        for one in inside:
            gain = likelihood(weighted_logits(one.logits, one.columns, with_it), one.gold)
            gain -= likelihood(weighted_logits(one.logits, one.columns, without), one.gold)
            sums[one.document] = sums.get(one.document, 0.0) + gain * shares[id(one)]
        yield np.asarray(list(sums.values()))


def _shares(mentions: Sequence[StageChoice]) -> FLOATS64:
    """(m,) with a mean of 1: the same sum for all types that have at least ``FEWEST_OF_A_TYPE`` mentions."""
    number = Counter(one.types for one in mentions)
    shares = np.asarray([1 / max(number[one.types], FEWEST_OF_A_TYPE) for one in mentions])
    return np.asarray(shares / shares.mean())


def weighted_logits(logits: FLOATS64, columns: FLOATS64, coefficients: Sequence[float] | FLOATS64) -> FLOATS64:
    """(h,): the scaled logits without the stage plus the stage's features."""
    return np.asarray(coefficients[0] * logits + columns @ np.asarray(coefficients[1:]))


def likelihood(logits: FLOATS64, gold: NDArray[np.bool_]) -> float:
    """The logarithm of the probability of all gold rows together, from (h,) logits."""
    top = float(logits.max())
    weights = np.exp(logits - top)
    return float(np.log(max(1e-300, float(weights[gold].sum()))) - np.log(float(weights.sum())))


def _fitted(mentions: Sequence[StageChoice], *, scale_only: bool = False) -> FLOATS64:
    """Coefficients of maximum likelihood, none negative, with a ridge on the scale's distance from 1 and on
    standardised coefficients; with ``scale_only`` only the scale."""
    from scipy.optimize import minimize

    columns = np.concatenate([one.columns for one in mentions])
    spread = columns.std(axis=0)
    scale = np.where(spread > TIE, spread, 1.0)
    start = np.asarray([1.0, *np.zeros(columns.shape[1])])

    choices = [(np.column_stack([one.logits, one.columns / scale]), one.gold) for one in mentions]
    loss = ConditionalLogit.of(choices, ridge=RIDGE, centre=start, shares=_shares(mentions))
    bounds = [SCALES, *([(0.0, 0.0 if scale_only else None)] * columns.shape[1])]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    return np.asarray([found.x[0], *(found.x[1:] / scale)])
