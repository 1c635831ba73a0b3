"""Decisions on which two linkers differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from models.types import LinkedMention
from training.data.gold import GoldSet
from training.evaluation.outcomes import first_is_right, is_right


class FlipKind(StrEnum):
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
    direction: FlipKind


def flips(
    old: Iterable[LinkedMention], new: Iterable[LinkedMention], gold: GoldSet, *, flags: bool = True
) -> tuple[Flip, ...]:
    """The gold decisions that one of two linkers gets right and the other wrong, in document order.

    With `flags` a linker's NIL flag counts as its answer; without, linked mentions are judged by the first candidate
    alone and NIL mentions are left out (as in recall@1).
    """
    before, after = ({answer.key: answer for answer in answers} for answers in (old, new))
    judge = is_right if flags else first_is_right
    found = []
    for mention in gold.mentions:
        one, other = before.get(mention.key), after.get(mention.key)
        if mention.nil and not flags:
            continue
        was, now = judge(mention, one), judge(mention, other)
        if was != now:
            direction = FlipKind.RIGHT_TO_WRONG if was else FlipKind.WRONG_TO_RIGHT
            answers = (_answer(one, flags=flags), _answer(other, flags=flags))
            found.append(Flip(mention.document, mention.key, mention.surface, mention.ids, *answers, direction))
    return tuple(found)


def _answer(answer: LinkedMention | None, *, flags: bool) -> str:
    if answer is None or not answer.candidates or (flags and answer.nil.is_nil):
        return "NIL"
    return answer.candidates[0].entity_id
