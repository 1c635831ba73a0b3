"""Mention detection by dictionary: names and synonyms of the knowledge base in a text, longest match.

Aho–Corasick over lower-cased names. A name counts where it stands as whole words; short all-capital names
only in capitals ("AIDS" is not "aids"), since as words they mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ahocorasick

from models.kb import KnowledgeBase
from models.types import DetectedMention

MIN_LETTERS = 3
SHORT = 5
_COMMON = """
a about after all also an and any are as at be been before both but by can case cases could did do does due each few
for from group had has have her him his how if in into is it its last lead like male map may men more most no nor not
of off on one only or other our out over per rat rest same she set so some such test than that the their them then
there these they this those to two up use used was we were what when which while who will with without would yes you
food water air disease diseases syndrome disorder disorders patient patients women woman man human humans mice mouse
rats animal animals role time risk control state states light fat base sage impact ear face pace cat dog large act
clock gene genes protein proteins acid acids drug drugs cell cells
"""
COMMON_WORDS = frozenset(_COMMON.split())


@dataclass(frozen=True, slots=True)
class Detector:
    """``automaton`` maps a lower-cased name to [(name as written, entity row), …]."""

    kb: KnowledgeBase
    automaton: Any

    @classmethod
    def build(cls, kb: KnowledgeBase) -> Detector:
        """About a second for 190,000 names."""
        automaton = ahocorasick.Automaton()
        grouped: dict[str, list[tuple[str, int]]] = {}
        for name, row in zip(kb.names, kb.name_entity.tolist(), strict=True):
            for form in _forms(name):
                if _usable(form):
                    grouped.setdefault(_lower(form), []).append((form, row))
        for key, owners in grouped.items():
            automaton.add_word(key, (len(key), owners))
        if grouped:
            automaton.make_automaton()
        return cls(kb, automaton)

    def detect(self, text: str, *, types: Sequence[str] = ()) -> list[DetectedMention]:
        """Non-overlapping matches in text order; of overlapping ones the longest, then the first."""
        wanted = set(types)
        found = [] if not len(self.automaton) else self._matches(text, wanted)
        found.sort(key=lambda match: (match.start - match.end, match.start))
        taken = [False] * len(text)
        kept = []
        for match in found:
            if not any(taken[match.start : match.end]):
                taken[match.start : match.end] = [True] * (match.end - match.start)
                kept.append(match)
        return sorted(kept, key=lambda match: match.start)

    def _matches(self, text: str, wanted: set[str]) -> list[DetectedMention]:
        found = []
        for last, (length, owners) in self.automaton.iter(_lower(text)):
            start, end = last + 1 - length, last + 1
            if not _whole_words(text, start, end):
                continue
            quoted = text[start:end]
            rows = dict.fromkeys(row for name, row in owners if _case_fits(name, quoted))
            entities = [self.kb.entities[row] for row in rows]
            entities = [entity for entity in entities if not wanted or not wanted.isdisjoint(entity.types)]
            if entities:
                kinds = tuple(dict.fromkeys(kind for entity in entities for kind in entity.types))
                found.append(DetectedMention(start, end, kinds, tuple(entity.id for entity in entities)))
        return found


def _lower(text: str) -> str:
    """Lower case, character for character, so that offsets stay: "İ" has no single lower-case character."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _forms(name: str) -> tuple[str, ...]:
    """The name, and an inverted one put right: "Neoplasms, Breast" is also "Breast Neoplasms"."""
    head, comma, modifier = name.partition(", ")
    if comma and "," not in modifier and re.fullmatch(r"[\w '-]+", modifier):
        return (name, f"{modifier} {head}")
    return (name,)


def _usable(name: str) -> bool:
    letters = sum(character.isalpha() for character in name)
    return letters >= MIN_LETTERS - (not name.islower()) and name.lower() not in COMMON_WORDS


def _case_fits(name: str, quoted: str) -> bool:
    """Short names must be quoted in their case; a first capital may differ in ordinary words."""
    if len(name) > SHORT or not any(character.isupper() for character in name[1:]):
        return True
    return name == quoted


def _whole_words(text: str, start: int, end: int) -> bool:
    before = start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_")
    after = end == len(text) or not (text[end].isalnum() or text[end] == "_")
    return before and after
