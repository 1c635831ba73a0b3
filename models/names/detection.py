"""Mention detection by dictionary: names, remembered mentions and the document's abbreviations, longest match.

It uses Aho–Corasick over normalised words, so that plurals, British spelling, Greek letters and dashes do not matter. A
match consists of whole words. Common English words, generic terms, and symbols in a different case are not mentions:
see ``models.names.detectable``.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ahocorasick
import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase
from models.names.detectable import case_fits, is_usable, is_usable_memory
from models.text.abbreviations import Abbreviation, find_abbreviations
from models.text.normalise import Word, key_of, words_of
from models.text.rewriting import noun_of
from models.types import DetectedMention

# Names of a large knowledge base for detection: twelve bytes each; the names themselves stay on disk.
#
# An automaton holds every name and its owners: about a hundred bytes per name, gigabytes for a million entities. Here a
# name is the hash of its words and its entity's row. The hashes find the keys in a text, for all runs of words at once.
# The entity's record then confirms the name, so hash collisions do no harm.


FROM_NAMES = 750_000
"""As for the lexical index: from this number on, names stay on disk."""
CHUNK = 1 << 16
Keyed = Callable[[str], Iterator[tuple[str, str]]]
"""Maps a name to the forms that are searched for, each with its key."""
Owner = tuple[str, int]  # a name as written, and the row of its entity


@dataclass(frozen=True, slots=True)
class NameKeys:
    """``hashes`` are ascending, ``rows`` are their entities; ``lengths`` marks the numbers of words that keys have.

    Hashes are valid in this process only.
    """

    kb: KnowledgeBase
    keyed: Keyed
    hashes: NDArray[np.int64]
    rows: NDArray[np.int32]
    lengths: NDArray[np.bool_]

    @classmethod
    def build(cls, kb: KnowledgeBase, keyed: Keyed) -> NameKeys:
        """Reads every name once."""
        hashes, rows, lengths = array("q"), array("i"), set[int]()
        owners = (
            row for at in range(0, len(kb.name_entity), CHUNK) for row in kb.name_entity[at : at + CHUNK].tolist()
        )
        for name, row in zip(kb.names, owners, strict=True):
            for _, key in keyed(name):
                if key:
                    hashes.append(hash(key))
                    rows.append(row)
                    lengths.add(key.count(" ") - 1)
        unsorted = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(unsorted, kind="stable")
        known = np.zeros(max(lengths, default=0) + 1, dtype=np.bool_)
        known[list(lengths)] = True
        return cls(kb, keyed, unsorted[order], np.frombuffer(rows, dtype=np.int32)[order], known)

    def get(self, key: str, default: tuple[int, Sequence[Owner]]) -> tuple[int, Sequence[Owner]]:
        """Like an automaton's: the key's length, and the names with this key, each with its entity's row."""
        owners = self._owners(key, int(np.searchsorted(self.hashes, hash(key))))
        return (len(key), owners) if owners else default

    def spans(self, words: Sequence[Word]) -> Iterator[tuple[tuple[int, int], Sequence[Owner]]]:
        """Every key that occurs in the words, with its span in the text and its owners."""
        runs = list(self._runs(words))
        if not runs or not len(self.hashes):
            return
        asked = np.fromiter((hash(key) for key, _, _ in runs), dtype=np.int64, count=len(runs))
        places = np.minimum(np.searchsorted(self.hashes, asked), len(self.hashes) - 1)
        for number in np.nonzero(self.hashes[places] == asked)[0].tolist():
            key, start, end = runs[number]
            owners = self._owners(key, int(places[number]))
            if owners:
                yield (start, end), owners

    def _runs(self, words: Sequence[Word]) -> Iterator[tuple[str, int, int]]:
        """Runs of words whose normalised length is that of some key."""
        sizes = [word.normal.count(" ") + 1 for word in words]
        for first, word in enumerate(words):
            key, size = " ", 0
            for at in range(first, len(words)):
                size += sizes[at]
                if size >= len(self.lengths):
                    break
                key += f"{words[at].normal} "
                if self.lengths[size]:
                    yield key, word.start, words[at].end

    def _owners(self, key: str, place: int) -> list[Owner]:
        found: dict[Owner, None] = {}
        wanted = hash(key)
        while place < len(self.hashes) and int(self.hashes[place]) == wanted:
            row = int(self.rows[place])
            for name in self.kb.entities[row].names:
                found |= {(form, row): None for form, its in self.keyed(name) if its == key}
            place += 1
        return list(found)


@dataclass(frozen=True, slots=True)
class Detector:
    """``names`` maps normalised words to [(name as written, entity row), …], ``remembered`` to [(surface, types), …].

    Their keys come from ``models.text.normalise.key_of``; None if there is nothing to find. Automata hold all names;
    the names of a large knowledge base stay on disk (``NameKeys``).
    """

    kb: KnowledgeBase
    names: Any
    remembered: Any = None

    @classmethod
    def build(cls, kb: KnowledgeBase, extra: Iterable[tuple[str, Sequence[str]]] = ()) -> Detector:
        """Build the detector: a few seconds for 190,000 names. ``extra``: remembered mentions, each with its types."""
        if len(kb.names) >= FROM_NAMES:
            return cls(kb, NameKeys.build(kb, _keyed)).remembering(extra)
        grouped: dict[str, list[Owner]] = {}
        for name, row in zip(kb.names, kb.name_entity.tolist(), strict=True):
            for form, key in _keyed(name):
                grouped.setdefault(key, []).append((form, row))
        return cls(kb, _automaton(grouped)).remembering(extra)

    def remembering(self, extra: Iterable[tuple[str, Sequence[str]]]) -> Detector:
        """The same names with other remembered mentions: fast, so that a decision takes effect at the next call."""
        grouped: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for surface, types in extra:
            if is_usable_memory(surface):
                grouped.setdefault(key_of(surface), []).append((surface, tuple(types)))
        return replace(self, remembered=_automaton(grouped))

    def detect(self, text: str, *, types: Sequence[str] = ()) -> list[DetectedMention]:
        """Non-overlapping matches in text order; of overlapping matches the longest is kept, then the first.

        ``types`` are types of the knowledge base: only entities and remembered mentions of these types count; without
        types, all. ``entity_ids`` is empty for a mention found only in the memory.
        """
        words = words_of(text)
        definitions = find_abbreviations(text)
        found = _merged(self._matches(text, words, frozenset(types)))
        short = _short_forms(definitions, found)
        defined = {item.short for item in definitions}
        kept = [one for span, one in found.items() if _singular(text[slice(*span)], defined) not in defined]
        return _longest([*kept, *_occurrences(text, words, short)], len(text))

    def _matches(self, text: str, words: Sequence[Word], wanted: frozenset[str]) -> Iterator[DetectedMention]:
        for span, owners in _spans(self.names, words):
            quoted = text[slice(*span)]
            yield from self._of_entities(span, (row for name, row in owners if case_fits(name, quoted)), wanted)
        for span, surfaces in _spans(self.remembered, words):
            quoted = text[slice(*span)]
            typed = [types for surface, types in surfaces if case_fits(surface, quoted)]
            chosen = tuple(dict.fromkeys(kind for types in typed for kind in types if not wanted or kind in wanted))
            if chosen or (typed and not wanted):
                yield DetectedMention(*span, chosen, ())
        yield from self._adjectives(words, wanted)

    def _adjectives(self, words: Iterable[Word], wanted: frozenset[str]) -> Iterator[DetectedMention]:
        """Words whose noun is a name: "diabetic" if diabetes is one."""
        for word in words:
            noun = noun_of(word.normal) if self.names is not None else ""
            if noun:
                _, owners = self.names.get(f" {noun} ", (0, ()))
                rows = (row for name, row in owners if case_fits(name, noun))
                yield from self._of_entities((word.start, word.end), rows, wanted)

    def _of_entities(
        self, span: tuple[int, int], rows: Iterable[int], wanted: frozenset[str]
    ) -> Iterator[DetectedMention]:
        entities = [self.kb.entities[row] for row in dict.fromkeys(rows)]
        entities = [entity for entity in entities if not wanted or not wanted.isdisjoint(entity.types)]
        if entities:
            kinds = dict.fromkeys(kind for entity in entities for kind in entity.types if not wanted or kind in wanted)
            yield DetectedMention(*span, tuple(kinds), tuple(entity.id for entity in entities))


def _forms(name: str) -> tuple[str, ...]:
    """The name, and, for an inverted name, its natural order: "Neoplasms, Breast" is also "Breast Neoplasms"."""
    head, comma, modifier = name.partition(", ")
    if comma and "," not in modifier and all(c.isalnum() or c in " '-" for c in modifier):
        return (name, f"{modifier} {head}")
    return (name,)


def _keyed(name: str) -> Iterator[tuple[str, str]]:
    """The forms of a name that are searched for, each with its key."""
    return ((form, key_of(form)) for form in _forms(name) if is_usable(form))


def _automaton(grouped: dict[str, list[Any]]) -> Any:
    """Key → (its length, its owners); None without keys, since an empty automaton cannot search."""
    grouped.pop("", None)
    if not grouped:
        return None
    automaton = ahocorasick.Automaton()
    for key, owners in grouped.items():
        automaton.add_word(key, (len(key), owners))
    automaton.make_automaton()
    return automaton


def _spans(automaton: Any, words: Sequence[Word]) -> Iterator[tuple[tuple[int, int], Any]]:
    """Every key that occurs in the words, with its span in the text and its owners."""
    if automaton is None:
        return
    if isinstance(automaton, NameKeys):
        yield from automaton.spans(words)
        return
    first: dict[int, int] = {}  # blank before a word -> start of the word in the text
    last: dict[int, int] = {}  # blank after it -> its end
    at = 0
    for word in words:
        first[at] = word.start
        at += len(word.normal) + 1
        last[at] = word.end
    joined = f" {' '.join(word.normal for word in words)} "
    for stop, (length, owners) in automaton.iter(joined):
        start = stop + 1 - length
        if start in first and stop in last:  # not inside a word that normalises to two: "TNFα" is "tnf alpha"
            yield (first[start], last[stop]), owners


def _merged(found: Iterable[DetectedMention]) -> dict[tuple[int, int], DetectedMention]:
    """One mention per span, with all types and entities."""
    merged: dict[tuple[int, int], DetectedMention] = {}
    for one in found:
        there = merged.get((one.start, one.end))
        if there is not None:
            types = tuple(dict.fromkeys((*there.types, *one.types)))
            one = replace(there, types=types, entity_ids=tuple(dict.fromkeys((*there.entity_ids, *one.entity_ids))))
        merged[one.start, one.end] = one
    return merged


def _short_forms(
    definitions: Iterable[Abbreviation], found: dict[tuple[int, int], DetectedMention]
) -> dict[str, DetectedMention]:
    """Short form → the mention that its long form is: a match that ends the long form and is at least half of it."""
    known: dict[str, DetectedMention] = {}
    ends: dict[int, list[DetectedMention]] = {}
    for one in found.values():
        ends.setdefault(one.end, []).append(one)
    for item in definitions:
        start, end = item.long_span
        fitting = [one for one in ends.get(end, ()) if 2 * (one.end - max(start, one.start)) >= end - start]
        if fitting:
            known.setdefault(item.short, max(fitting, key=lambda one: one.end - one.start))
    return known


def _singular(quoted: str, defined: Container[str]) -> str:
    """The short form in the document's definition: "ADRs" is "ADR" if only that is defined.

    Definitions hold within the document: after "AD (after dose)", AD is not Alzheimer's disease.
    """
    return quoted if quoted in defined else quoted.removesuffix("s")


def _occurrences(text: str, words: Sequence[Word], known: dict[str, DetectedMention]) -> list[DetectedMention]:
    """Every place where a defined short form, or its plural, occurs in the text."""
    found = []
    lengths = Counter(len(words_of(short)) for short in known)
    for size in lengths:
        for at in range(len(words) - size + 1):
            start, end = words[at].start, words[at + size - 1].end
            one = known.get(_singular(text[start:end], known))
            if one is not None:
                found.append(replace(one, start=start, end=end))
    return found


def _longest(found: Iterable[DetectedMention], length: int) -> list[DetectedMention]:
    taken = bytearray(length)
    kept = []
    for one in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\x01" * (one.end - one.start)
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)
