"""What differs between two versions of a text, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

AROUND = 60  # code points of what is the same that are shown beside a difference
MOST_EXACT = 4000  # words that are compared without leaving frequent ones out
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class DiffSide(StrEnum):
    SAME = "same"
    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class DiffPart:
    part: DiffSide
    text: str


def differences(old: str, new: str) -> list[DiffPart]:
    """Both texts as parts in order: what is the same, what only the old one has, what only the new one has."""
    words, others = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, words, others, autojunk=max(len(words), len(others)) > MOST_EXACT)
    found = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found.append(DiffPart(DiffSide.SAME, "".join(words[a:b])))
            continue
        if b > a:
            found.append(DiffPart(DiffSide.OLD, "".join(words[a:b])))
        if d > c:
            found.append(DiffPart(DiffSide.NEW, "".join(others[c:d])))
    return found


def shortened(parts: Iterable[DiffPart], *, around: int = AROUND) -> Iterator[DiffPart]:
    """With long parts that are the same cut down to what stands beside a difference."""
    listed = list(parts)
    for number, one in enumerate(listed):
        if one.part is not DiffSide.SAME or len(one.text) <= 2 * around:
            yield one
            continue
        before = one.text[:around] if number else ""
        after = one.text[-around:] if number + 1 < len(listed) else ""
        yield DiffPart(
            DiffSide.SAME, f"{before} … {after}".strip(" ") if not (before and after) else f"{before} … {after}"
        )


def as_line(parts: Iterable[DiffPart]) -> str:
    """In one line, as wdiff writes it: `[-old-]` and `{+new+}`."""
    marks = {DiffSide.SAME: "{}", DiffSide.OLD: "[-{}-]", DiffSide.NEW: "{{+{}+}}"}
    return "".join(marks[one.part].format(one.text) for one in parts).replace("\n", " ⏎ ")
