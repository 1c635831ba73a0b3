"""The outcome of every decided mention, as arrays, from which figures, intervals and curves are calculated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.types import LinkedMention
from training.data.gold import GoldMention, GoldSet

FLOATS = NDArray[np.float64]
INTS = NDArray[np.int64]
BOOLS = NDArray[np.bool_]
MISSED = 2**31
"""The rank of an entity that is not among the candidates: beyond every k."""
ANY_TYPE = "any"


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Arrays over the decided mentions, (m,) each, in the order of the gold.

    `document` numbers the documents from 0. `any_rank` is the rank, from 1, of the first candidate that is gold;
    `all_rank` the rank at which the last of the gold entities is found; `size` the number of gold entities (0 for NIL).
    `nil_score` is 0 without an answer. `probability` is the linker's probability that its first candidate is right, NaN
    without candidates. `group` numbers the types of `groups`: mentions with the same set of allowed types form a group.
    """

    document: INTS
    nil: BOOLS
    composite: BOOLS
    size: INTS
    any_rank: INTS
    all_rank: INTS
    flagged: BOOLS
    nil_score: FLOATS
    right: BOOLS
    first_right: BOOLS
    probability: FLOATS
    answered: BOOLS
    group: INTS
    groups: tuple[str, ...]

    @property
    def in_kb(self) -> BOOLS:
        return ~self.nil

    def __len__(self) -> int:
        return len(self.document)

    def found_any(self, k: int) -> BOOLS:
        """Any-match among the first `k`; never for a NIL mention."""
        return self.any_rank <= k

    def found_all(self, k: int) -> BOOLS:
        """All-match among the first max(`k`, number of gold entities); never for a NIL mention."""
        return self.all_rank <= np.maximum(k, self.size)

    def confidence(self) -> FLOATS:
        """The linker's confidence in its decision: the NIL score if it flags NIL, else the first candidate's
        probability; 0 if there is neither."""
        return np.where(self.flagged, self.nil_score, np.nan_to_num(self.probability))


def outcomes(linked: Iterable[LinkedMention], gold: GoldSet) -> Outcomes:
    """Outcomes of `linked` against `gold`; answers to undecided mentions are ignored.

    Raises ValueError if two gold mentions have the same key.
    """
    by_key = {answer.key: answer for answer in linked}
    mentions = gold.mentions
    if len({mention.key for mention in mentions}) < len(mentions):
        raise ValueError("mention keys must be unique over all documents")
    answers = [by_key.get(mention.key) for mention in mentions]
    pairs = list(zip(mentions, answers, strict=True))
    documents = {name: number for number, name in enumerate(dict.fromkeys(one.document for one in mentions))}
    kinds = [group_name(one.types) for one in mentions]
    groups = tuple(sorted(set(kinds)))
    ranks = np.asarray([_ranks(one, answer) for one, answer in pairs], dtype=np.int64).reshape(len(pairs), 2)
    return Outcomes(
        document=np.asarray([documents[one.document] for one in mentions], dtype=np.int64),
        nil=np.asarray([one.nil for one in mentions], dtype=bool),
        composite=np.asarray([one.composite for one in mentions], dtype=bool),
        size=np.asarray([len(one.ids) for one in mentions], dtype=np.int64),
        any_rank=ranks[:, 0],
        all_rank=ranks[:, 1],
        flagged=np.asarray([answer is not None and answer.nil.is_nil for answer in answers], dtype=bool),
        nil_score=np.asarray([0.0 if answer is None else answer.nil.score for answer in answers]),
        right=np.asarray([is_right(one, answer) for one, answer in pairs], dtype=bool),
        first_right=np.asarray([first_is_right(one, answer) for one, answer in pairs], dtype=bool),
        probability=first_probabilities(answers),
        answered=np.asarray([answer is not None for answer in answers], dtype=bool),
        group=np.asarray([groups.index(kind) for kind in kinds], dtype=np.int64),
        groups=groups,
    )


def group_name(types: Sequence[str]) -> str:
    """The macro-average group of a mention with these allowed types."""
    return " or ".join(sorted(types)) or ANY_TYPE


def is_right(gold: GoldMention, answer: LinkedMention | None) -> bool:
    """Whether the linker's decision, including the NIL flag, equals the curator's."""
    if answer is None:
        return False
    if gold.nil or answer.nil.is_nil:
        return gold.nil and answer.nil.is_nil
    return first_is_right(gold, answer)


def first_is_right(gold: GoldMention, answer: LinkedMention | None) -> bool:
    """Whether the first candidate is one of the gold entities, regardless of the NIL flag."""
    return answer is not None and bool(answer.candidates) and answer.candidates[0].entity_id in gold.ids


def first_probabilities(answers: Sequence[LinkedMention | None]) -> FLOATS:
    """(m,) the linker's probability that its first candidate is right; NaN without a candidate."""
    return np.asarray(
        [answer.candidates[0].probability if answer and answer.candidates else np.nan for answer in answers],
        dtype=np.float64,
    )


def _ranks(gold: GoldMention, answer: LinkedMention | None) -> tuple[int, int]:
    """The ranks of the first and the last gold entity among the candidates."""
    if answer is None or gold.nil:
        return MISSED, MISSED
    wanted = set(gold.ids)
    found = [rank for rank, candidate in enumerate(answer.candidates, start=1) if candidate.entity_id in wanted]
    return (found[0] if found else MISSED), (found[-1] if len(found) == len(wanted) else MISSED)
