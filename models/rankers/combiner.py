"""The combiner: a log-linear model that reranks the first candidates and gives them probabilities.

P(entity | mention, not NIL) is proportional to exp(w · f), over the first ``HEAD`` candidates in the order of the fused
scores (a conditional logit). The features come from the stages, the memory and the wording, mostly relative to the
mention's best candidate. The few coefficients are stored as JSON. After ``HEAD`` the fused order is kept.

A trained stage has its own coefficients (``models.rankers.stage_weights``), which are fitted on decisions that the
stage did not learn from. Without a trained stage the linker does not change. A language model's second opinion is such
a stage too; a linker that was fitted without opinions gives them no weight.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelError, say
from models.names.candidates import DEFINITION, LEXICAL, NAMES, PREFERRED
from models.rankers.conditional_logit import ConditionalLogit
from models.rankers.conventions import CONVENTIONS, RELATIONS, Conventions
from models.rankers.stage_weights import (
    OPINION,
    STAGE_FEATURES,
    favourites,
    stage_columns,
    weights_from_json,
    weights_to_json,
    with_stage,
)
from models.retrievers.fusion import DOCUMENT
from models.retrievers.recalled import NOTHING, Recalled
from models.text.normalise import normalise, sorted_key

FLOATS = NDArray[np.float32]
FLOATS64 = NDArray[np.float64]
HEAD = 20
FEATURES = (
    "fused",
    "fused_gap",
    "bare_gap",
    "lexical",
    "lexical_gap",
    "names",
    "names_gap",
    "preferred",
    "preferred_gap",
    "document",
    "definition",
    "share",
    "votes",
    "near",
    "near_gap",
    "popular",
    "covers",
    "covered",
    "exact",
    "spelled",
    "new_names_gap",
    "new_preferred",
    "new_popular",
    "taught_definition",
    *CONVENTIONS,
)
"""``fused`` with memory, ``bare`` without; ``_gap``: the difference to the mention's best; ``share``, ``votes``,
``near``, ``popular``: from the memory; ``covers``, ``covered``: the share of the mention's words that the matched name
has, and the reverse; ``spelled``: of candidates that the text is a name of, those that have it with its capitals and
punctuation; ``new_``: the same for strings that are new to the memory; ``taught_``: scaled with the number of
decided documents, since a definition indicates how common an entity is until decisions show it better. The last are
``CONVENTIONS``, scaled the same way, since there is no convention without decisions."""
NOBODY: Mapping[str, FLOATS64] = MappingProxyType({})
HALF_AFTER = 50
"""The number of decided documents at which ``taught_`` features have half their weight."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadFeatures:
    """The head of one mention: positions in its candidate table, best fused score first, and (h, features)."""

    order: NDArray[np.intp]
    matrix: FLOATS64
    stages: Mapping[str, FLOATS64] = field(default_factory=dict)
    """By trained stage: (h, features), see ``models.rankers.stage_weights``."""

    @property
    def exact(self) -> int:
        """The number of candidates that the mention's text is a name of."""
        return _exact(self.matrix)

    def named(self, place: int) -> dict[str, float]:
        """The features of one row by name."""
        return dict(zip(FEATURES, map(float, self.matrix[place]), strict=True))


@dataclass(frozen=True, slots=True)
class Combiner:
    """Coefficients on the raw features; ``fitted_on`` counts linked mentions. ``stage_weights`` holds those of trained
    stages by name; other stages have no influence."""

    coefficients: tuple[float, ...]
    fitted_on: int = 0
    stage_weights: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def logits(self, features: FLOATS64, stages: Mapping[str, FLOATS64] = NOBODY) -> FLOATS64:
        """(h,); ``stages`` as in ``HeadFeatures``."""
        logits = features @ np.asarray(self.coefficients)
        for stage, own in self.stage_weights.items():
            if stage in stages:
                logits = with_stage(logits, stages[stage], own)
        return np.asarray(logits)

    def probabilities(self, features: FLOATS64, stages: Mapping[str, FLOATS64] = NOBODY) -> FLOATS64:
        """(h,) that sum to 1."""
        logits = self.logits(features, stages)
        weights = np.exp(logits - logits.max(initial=0.0))
        return np.asarray(weights / max(1e-300, float(weights.sum())))

    @property
    def relates(self) -> bool:
        """Whether a relation that definitions state has a coefficient."""
        return any(self.coefficients[FEATURES.index(name)] for name in RELATIONS)

    def ablated(self) -> Combiner:
        """The same without coefficients for trained stages."""
        return replace(self, stage_weights={})

    def with_stage_weights(self, stage: str, coefficients: tuple[float, ...] | None) -> Combiner:
        """The same with other coefficients for a stage; with None the stage has no influence."""
        others = {name: own for name, own in self.stage_weights.items() if name != stage}
        return replace(self, stage_weights=others if coefficients is None else {**others, stage: coefficients})

    def to_json(self) -> dict[str, Any]:
        base = {"coefficients": list(self.coefficients), "features": list(FEATURES), "fitted_on": self.fitted_on}
        return {**base, **weights_to_json(self.stage_weights, STAGE_FEATURES)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Combiner | None:
        """None for empty JSON and for another version's features; raises ModelError if it is not a combiner."""
        if not raw:
            return None
        try:
            coefficients = tuple(float(value) for value in raw["coefficients"])
            if len(raw["features"]) != len(coefficients):
                raise ValueError("features without coefficients")
            if tuple(raw["features"]) != FEATURES:
                return None
            return cls(coefficients, int(raw.get("fitted_on", 0)), weights_from_json(raw, STAGE_FEATURES))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                say("The linker's combiner is damaged ({error}). Roll back to another linker.", error=error)
            ) from error

    def sentence(self) -> str:
        """E.g. "The first 20 candidates are ordered by a model fitted on 8,120 mentions."."""
        if self.fitted_on:
            return say(
                "The first {head} candidates are ordered by a model fitted on {number:,} mentions.",
                head=HEAD,
                number=self.fitted_on,
            )
        return say("The first {head} candidates are ordered by a model that comes with the program.", head=HEAD)

    def weights_sentence(self, stage: str) -> str:
        """The stage's weights in words."""
        if stage not in self.stage_weights:
            return say("“{stage}” is not used: it does not make held-out decisions more likely.", stage=stage)
        _, lead, first, new, unnamed, _, settled = self.stage_weights[stage]
        return say(
            "Weights of “{stage}”: {lead:.3g} per unit of its score, {first:.2g} for its first candidate, {new:.3g} "
            "more per unit for strings that the memory does not know, and {unnamed:.3g} more for those that are no "
            "candidate's name; {settled:.3g} per unit for those that are the name of exactly one candidate.",
            stage=stage,
            lead=lead,
            first=first,
            new=new,
            unnamed=unnamed,
            settled=settled,
        )


# Fitted on the train documents of BC5CDR and NCBI Disease, each mention once with the memory of the other documents and
# once without (see tests/benchmarks/combiner_fit.py), but for ``spelled``, of which these have few cases: on four
# wikis 589 of 607 such texts mean an entity with a name spelled like them (see tests/benchmarks/experiments/WIKIS.md),
# and any value from 2 to 8 orders them alike. A project with enough decisions fits its own.
DEFAULT_COMBINER = Combiner((
    1.160, 0.237, 0.748, 1.583, 1.448, 1.153, 1.049, 1.296, 1.150, 1.508, 2.273, 3.650, 1.807,
    0.941, 0.126, 0.465, 0.119, -0.175, 1.225, 3.0, 7.699, 0.907, -0.108, -0.348,
    -1.489, 1.189, 0.928, 0.344, -3.228, 0.0, 0.0, 0.0,
))  # fmt: skip
LEXICAL_COMBINER = Combiner((
    0.687, 0.076, 1.408, 3.81, 3.299, 0.0, 0.0, 0.565, 0.479, 1.627, 2.391, 3.328, 2.179, 0.0, 0.0,
    0.903, 0.462, -0.025, 1.689, 3.0, 0.0, 0.969, -0.347, -0.781,
    *(0.0 for _ in CONVENTIONS),
))  # fmt: skip
"""For linkers that compare only spelling. The other combiner relies on meaning, and ranked a part of a preferred name
above a whole synonym. This one is right for 2.0 points more of BC5CDR's train mentions and 0.7 points more of NCBI's,
on documents that it was not fitted on, without a memory."""


def default_combiner(stages: Collection[str]) -> Combiner:
    """The combiner shipped with the program for a linker with these stages over names."""
    return DEFAULT_COMBINER if NAMES in stages else LEXICAL_COMBINER


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """A mention's text, all ``names``, the indexes of the ``matched`` names (c,) of its candidates, and those of all
    their names: row r has those from ``starts[r]`` to ``starts[r + 1]``."""

    text: str
    names: Sequence[str]
    matched: NDArray[np.int64]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    def spelled(self, candidate: int) -> bool:
        """Whether a name of the candidate is spelled like the text, but for the first letter: titles and sentences
        begin with a capital."""
        row = self.rows[candidate]
        return any(_alike(self.text, self.names[at]) for at in range(self.starts[row], self.starts[row + 1]))


def head_features(
    scores: Mapping[str, FLOATS],
    order: Sequence[int],
    fused: FLOATS,
    bare: FLOATS,
    ids: Sequence[str],
    wording: Wording,
    habits: Conventions,
    *,
    recalled: Recalled = NOTHING,
    leads: Mapping[str, FLOATS64] = NOBODY,
) -> HeadFeatures:
    """Features of the first candidates in ``order``; ``scores``, ``fused`` (with the memory), ``bare`` (without it) are
    (c,), and so are the ``leads`` of each trained stage in use: 0 for its favourite, less for the others. The head
    includes a stage's favourites at any position in ``order``."""
    head = np.asarray(_head(order, leads), dtype=np.intp)
    names = [ids[at] for at in head]
    columns: dict[str, NDArray[np.floating]] = {
        "fused": fused[head],
        "fused_gap": _gap(fused, head),
        "bare_gap": _gap(bare, head),
    }
    for stage in (LEXICAL, NAMES, PREFERRED):
        values = scores.get(stage, np.zeros(len(fused), dtype=np.float32))
        columns |= {stage: values[head], f"{stage}_gap": _gap(values, head)}
    for stage in (DOCUMENT, DEFINITION):
        columns[stage] = scores[stage][head] if stage in scores else np.zeros(len(head))
    columns |= _memory_columns(names, recalled) | _word_columns(wording, head)
    new = float(recalled.total == 0)
    for name in ("names_gap", "preferred", "popular"):
        columns[f"new_{name}"] = new * columns[name]
    known = recalled.documents / (recalled.documents + HALF_AFTER)
    columns |= {name: known * values for name, values in habits.columns(head).items()}
    columns["taught_definition"] = known * columns[DEFINITION]
    matrix = np.stack([np.asarray(columns[name], dtype=np.float64) for name in FEATURES], axis=1)
    exact = _exact(matrix)
    stages = {stage: stage_columns(stage, own, head, new=bool(new), exact=exact) for stage, own in leads.items()}
    return HeadFeatures(head, matrix, stages)


def _exact(matrix: FLOATS64) -> int:
    return int(matrix[:, FEATURES.index("exact")].sum())


def _head(order: Sequence[int], leads: Mapping[str, FLOATS64]) -> list[int]:
    """The first candidates in fused order, then the favourites of trained stages, also in fused order."""
    first = list(order[:HEAD])
    most = {OPINION: 1}  # an opinion names one candidate, the others are equal
    wanted = {int(at) for stage, own in leads.items() for at in favourites(own)[: most.get(stage)]} - set(first)
    return first + [at for at in order[HEAD:] if at in wanted]


def _gap(values: FLOATS, order: NDArray[np.intp]) -> FLOATS64:
    return np.asarray(values[order] - values.max(initial=-np.inf), dtype=np.float64) if len(values) else np.zeros(0)


def _memory_columns(ids: Sequence[str], recalled: Recalled) -> dict[str, NDArray[np.floating]]:
    best = max(recalled.nearest.values(), default=0.0)
    near = np.asarray([recalled.nearest.get(one, 0.0) for one in ids])
    return {
        "share": np.asarray([recalled.share.get(one, 0.0) for one in ids]),
        "votes": np.log1p([recalled.votes[one].documents if one in recalled.votes else 0 for one in ids]),
        "near": near,
        "near_gap": near - best,
        "popular": np.log1p([recalled.popular.get(one, 0) for one in ids]),
    }


def _word_columns(wording: Wording, order: NDArray[np.intp]) -> dict[str, NDArray[np.floating]]:
    own, key = words_in(wording.text), sorted_key(wording.text)
    matched = [wording.names[at] for at in wording.matched[order].tolist()]
    words = [words_in(name) for name in matched]
    both = [len(own & other) for other in words]
    exact = np.asarray([sorted_key(name) == key for name in matched])
    spelled = np.zeros(len(order))
    if exact.sum() > 1:
        spelled[exact] = [wording.spelled(at) for at in order[exact].tolist()]
    return {
        "covers": np.asarray([common / max(1, len(own)) for common in both]),
        "covered": np.asarray([common / max(1, len(other)) for common, other in zip(both, words, strict=True)]),
        "exact": exact,
        "spelled": spelled,
    }


def _alike(text: str, name: str) -> bool:
    return text[1:] == name[1:] and text[:1].casefold() == name[:1].casefold()


@lru_cache(maxsize=50_000)
def words_in(text: str) -> frozenset[str]:
    """The normalised words of a name."""
    return frozenset(normalise(text).split())


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """The head of a linked mention: (h, features) and which rows are gold (any-match)."""

    matrix: FLOATS64
    gold: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))


PULL = 100.0
"""Chosen on train documents with four draws each. The combiner was fitted on one of BC5CDR and NCBI Disease, then on
200 to 4,000 mentions of the other. Recall@1 on further mentions was up to 0.4 points above the first fit alone, and at
worst 0.1 below. Without the first fit it was up to 0.8 points below until there were 4,000."""


def fit_combiner(mentions: Sequence[Labelled], *, ridge: float = 1e-3, near: Combiner | None = None) -> Combiner | None:
    """Maximum likelihood with an L2 penalty on standardised coefficients, by L-BFGS.

    The penalty per mention is ``ridge`` on the coefficients. With ``near`` it is ``PULL`` for all mentions together on
    the distance from its coefficients: the fewer mentions, the closer they stay. The likelihood of a mention is the
    probability of all its gold candidates together. Mentions whose gold is not in the head are left out. Returns None
    if none is left.
    """
    from scipy.optimize import minimize

    usable = [mention for mention in mentions if mention.gold.any() and not mention.gold.all()]
    if not usable:
        return None
    spread = np.concatenate([mention.matrix for mention in usable]).std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    centre = np.zeros(len(FEATURES)) if near is None else np.asarray(near.coefficients) * scale
    choices = [(mention.matrix / scale, mention.gold) for mention in usable]
    problem = ConditionalLogit.of(choices, ridge=ridge if near is None else PULL / len(usable), centre=centre)
    found = minimize(problem, centre, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return Combiner(tuple(float(value) for value in found.x / scale), len(usable))
