"""What the combiner hears of a trained stage, and how much: coefficients fitted on decisions that the stage did not
learn.

A trained stage (a retriever, a ranker) gives each candidate a lead: 0 for its favourite, less for the others, in its
own unit. Three features are made of it, ``HEARD``, whose coefficients are at least 0 and are added to the combiner's
logits, which stay as they are: whoever has no trained stage has the linker that was there before. They are fitted by
maximum likelihood with a ridge, given those logits, and kept only where documents that they were not fitted on become
likelier, beyond chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOATS64 = NDArray[np.float64]
HEARD = ("lead", "first", "new_lead")
"""How far behind its favourite; whether this is it; the lead where the memory never saw the string."""
FAVOURITES = 5
"""Of each stage, that are in the head wherever the fused order has them."""
RIDGE = 1e-3
FOLDS = 5
FEWEST_DOCUMENTS = 5
TIE = 1e-9


def heard_columns(lead: FLOATS64, head: NDArray[np.intp], *, new: bool) -> FLOATS64:
    """(h, 3): the features of the candidates at ``head``; ``lead`` is (c,), its highest value 0 or below."""
    own = np.asarray(lead, dtype=np.float64)[head]
    first = (own >= float(lead.max(initial=-np.inf)) - TIE).astype(np.float64)
    return np.stack([own, first, own * float(new)], axis=1)


def favourites(lead: FLOATS64) -> NDArray[np.intp]:
    """The positions of a stage's first candidates; none where it said nothing, which is a lead of 0 for all."""
    if not len(lead) or float(lead.max()) - float(lead.min()) <= TIE:
        return np.zeros(0, dtype=np.intp)
    return np.argsort(-lead, kind="stable")[:FAVOURITES].astype(np.intp)


def heard_from_json(raw: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Coefficients by stage; none of another version's features. ValueError where their number is wrong."""
    if tuple(raw.get("heard_features", ())) != HEARD:
        return {}
    heard = {str(stage): tuple(float(value) for value in own) for stage, own in raw["heard"].items()}
    if any(len(own) != len(HEARD) for own in heard.values()):
        raise ValueError("heard features without coefficients")
    return heard


@dataclass(frozen=True, slots=True, eq=False)
class HeardMention:
    """The head of a linked mention: (h,) the combiner's logits without the stage, (h, 3) what the stage says, which
    rows are gold, and its document."""

    logits: FLOATS64
    columns: FLOATS64
    gold: NDArray[np.bool_]
    document: str


def fit_hearing(mentions: Sequence[HeardMention]) -> tuple[float, ...] | None:
    """Coefficients of ``HEARD``, or None where the stage should not be heard.

    Heard are stages under which the gold of documents left out is likelier by more than the standard error of that gain
    over documents (five folds; each document in one). Mentions whose gold is not in the head teach nothing.
    """
    usable = [one for one in mentions if one.gold.any() and not one.gold.all()]
    documents = sorted({one.document for one in usable})
    if len(documents) < FEWEST_DOCUMENTS:
        return None
    gains = np.concatenate(list(_gains_left_out(usable, documents)))
    if gains.mean() <= gains.std() / np.sqrt(len(gains)):
        return None
    found = _fitted(usable)
    return tuple(float(value) for value in found) if found.any() else None


def _gains_left_out(usable: Sequence[HeardMention], documents: Sequence[str]) -> Iterator[FLOATS64]:
    """For each fold (d,): the gain in log-likelihood of its documents under coefficients of the others."""
    fold_of = {document: at % FOLDS for at, document in enumerate(documents)}
    for fold in range(FOLDS):
        inside = [one for one in usable if fold_of[one.document] == fold]
        others = [one for one in usable if fold_of[one.document] != fold]
        if not inside or not others:
            continue
        coefficients = _fitted(others)
        sums: dict[str, float] = {}
        for one in inside:
            gain = likelihood(one.logits + one.columns @ coefficients, one.gold) - likelihood(one.logits, one.gold)
            sums[one.document] = sums.get(one.document, 0.0) + gain
        yield np.asarray(list(sums.values()))


def likelihood(logits: FLOATS64, gold: NDArray[np.bool_]) -> float:
    """The logarithm of the probability of all gold rows together."""
    top = float(logits.max())
    weights = np.exp(logits - top)
    return float(np.log(max(1e-300, float(weights[gold].sum()))) - np.log(float(weights.sum())))


def _fitted(mentions: Sequence[HeardMention]) -> FLOATS64:
    """(3,) of maximum likelihood with a ridge on standardised coefficients, none below 0."""
    from scipy.optimize import minimize

    columns = np.concatenate([one.columns for one in mentions])
    spread = columns.std(axis=0)
    scale = np.where(spread > TIE, spread, 1.0)

    def loss(weights: FLOATS64) -> tuple[float, FLOATS64]:
        total, gradient = 0.0, np.zeros(len(HEARD))
        for one in mentions:
            own = one.columns / scale
            logits = one.logits + own @ weights
            every, right = _shares(logits), _shares(np.where(one.gold, logits, -np.inf))
            total -= likelihood(logits, one.gold)
            gradient += own.T @ (every - right)
        count = len(mentions)
        return total / count + RIDGE * float(weights @ weights), gradient / count + 2 * RIDGE * weights

    bounds = [(0.0, None)] * len(HEARD)
    found = minimize(loss, np.zeros(len(HEARD)), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    return np.asarray(found.x / scale)


def _shares(logits: FLOATS64) -> FLOATS64:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())
