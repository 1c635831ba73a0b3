"""Facets: properties by which the queue's mentions are filtered and counted.

A mention has exactly one value of each facet; for attributes it has one value for each attribute of the project. A
filter with several values of one facet, or of one attribute, matches any of them; with several facets it must match
all. For a numeric facet, a filter may also have ranges, such as `0.37..0.52`, in addition to the bands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite


class Facet(StrEnum):
    """The facets, in the order of display."""

    STATE = "state"  # UNDECIDED or an outcome's value
    TYPE = "type"
    PROBABILITY = "probability"  # of the suggestion's first candidate, in bands
    MARGIN = "margin"  # its difference to the second's, in bands
    SECOND = "second"  # probability of the second candidate, in bands
    OTHERS = "others"  # highest score of any candidate after the second, in bands
    NIL = "nil"  # whether the suggestion is NIL
    OPINION = "opinion"  # whether a language model agrees with the suggestion
    CANDIDATES = "candidates"  # number of candidates in the suggestion, in bands
    MATCHED = "matched"  # whether the first candidate has the mention's text as a name: "name", "synonym" or NO
    EXACT = "exact"  # rank of the first candidate with this name, in bands; "0": none
    SIMILARITY = "similarity"  # of the first candidate's name to the mention's text, in bands
    ALIKE = "alike"  # highest similarity of any candidate's name after the first, in bands
    RANK = "rank"  # of the linked entity among the candidates, in bands; "0": not among them, NO: not linked
    FLAG = "flag"
    COMMENT = "comment"
    ATTRIBUTE = "attribute"  # `negation=negated` for a value of an attribute, `negation=` for none
    CURATOR = "curator"  # of the current decision; '' while undecided
    SPLIT = "split"
    DOCUMENT = "document"  # the document's state


UNDECIDED = "undecided"
NONE = "none"  # no suggestion, or too few candidates; no second opinion
YES, NO = "yes", "no"
ON_DOCUMENT = "document"  # not the mention but its document is flagged or commented

PROBABILITY_BANDS = (0.0, 0.5, 0.8, 0.95, 0.99)
MARGIN_BANDS = (0.0, 0.1, 0.3, 0.6, 0.9)
SECOND_BANDS = (0.0, 0.05, 0.2, 0.4)
OTHERS_BANDS = (0.0, 0.1, 0.5, 0.9)
SIMILARITY_BANDS = (0.0, 0.5, 0.7, 0.9)
CANDIDATE_BANDS = (0, 1, 2, 10)
RANK_BANDS = (0, 1, 2, 6)
"""The lower ends of bands; each band ends where the next begins, the last at 1."""


def band_key(low: float) -> str:
    """A band's value as a facet: its lower end."""
    return f"{low:g}"


NUMBERS = (
    *(Facet.PROBABILITY, Facet.MARGIN, Facet.SECOND, Facet.OTHERS),
    *(Facet.CANDIDATES, Facet.EXACT, Facet.SIMILARITY, Facet.ALIKE, Facet.RANK),
)
"""Numeric facets, which can be filtered by any range."""
_TO = ".."


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`, both included; None: no limit. One of them is given."""

    low: float | None
    high: float | None

    @classmethod
    def of(cls, key: str) -> Range | None:
        """Parse the form of `key`; None if it is not a range."""
        low, to, high = key.partition(_TO)
        return cls.between(low, high) if to else None

    @classmethod
    def between(cls, low: str, high: str) -> Range | None:
        """A range of two numbers as typed by users, one of which may be missing; they are sorted."""
        try:
            ends = [float(one.strip().replace(",", ".")) if one.strip() else None for one in (low, high)]
        except ValueError:
            return None
        given = [one for one in ends if one is not None]
        if not given or not all(isfinite(one) and one >= 0 for one in given):
            return None
        return cls(min(given), max(given)) if len(given) > 1 else cls(*ends)

    @property
    def key(self) -> str:
        """The range as a value of its facet."""
        return f"{_written(self.low)}{_TO}{_written(self.high)}"


def _written(number: float | None) -> str:
    return "" if number is None else f"{number:.15g}"


def ranges_of(facet: Facet, values: Iterable[str]) -> list[Range]:
    """The ranges among the values of a facet."""
    return [found for one in values if (found := Range.of(one)) is not None] if facet in NUMBERS else []


@dataclass(frozen=True, slots=True)
class Facets:
    """The chosen values by facet, in the facets' order and sorted. Falsy if nothing is chosen."""

    chosen: tuple[tuple[Facet, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, values: Mapping[Facet, Iterable[str]]) -> Facets:
        kept = {facet: tuple(sorted(set(values[facet]))) for facet in Facet if facet in values}
        return cls(tuple((facet, some) for facet, some in kept.items() if some))

    @classmethod
    def from_json(cls, data: Mapping[str, Iterable[str]]) -> Facets:
        """Inverse of `as_json`; facets unknown to this version are left out."""
        known = {facet.value: facet for facet in Facet}
        return cls.of({known[name]: map(str, values) for name, values in data.items() if name in known})

    def as_json(self) -> dict[str, list[str]]:
        return {facet.value: list(values) for facet, values in self.chosen}

    def __bool__(self) -> bool:
        return bool(self.chosen)

    def values(self, facet: Facet) -> tuple[str, ...]:
        return dict(self.chosen).get(facet, ())

    def toggled(self, facet: Facet, value: str) -> Facets:
        """The facets with the value added if it was not chosen, else removed."""
        values = {one: set(some) for one, some in self.chosen}
        values[facet] = values.get(facet, set()) ^ {value}
        return Facets.of(values)

    def only(self, facet: Facet, values: Iterable[str]) -> Facets:
        """The facets with exactly these values of one facet; without values, the facet is removed."""
        return Facets.of({**dict(self.chosen), facet: tuple(values)})

    def allows(self, key: tuple[str, ...]) -> bool:
        """Whether a mention with these values, one for each facet, matches."""
        return all(group.holds(key) for group in _groups(self))


_AT = {facet: at for at, facet in enumerate(Facet)}


BETWEEN = "|"
"""Separates the attribute values of a cell (attribute names do not contain it), and a band from the ranges."""


def attribute_value(name: str, value: str | None) -> str:
    """A value of the facet `ATTRIBUTE`; None for mentions without one."""
    return f"{name}={value or ''}"


def by_attribute(values: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Values of the facet `ATTRIBUTE` by attribute name."""
    found: dict[str, tuple[str, ...]] = {}
    for one in values:
        name = one.partition("=")[0]
        found[name] = (*found.get(name, ()), one)
    return found


@dataclass(frozen=True, slots=True)
class _Group:
    """The values of a facet, of which one must match; for attributes, those of the attribute named `attribute`."""

    facet: Facet
    values: frozenset[str]
    attribute: str = ""

    def holds(self, key: tuple[str, ...]) -> bool:
        return not self.values.isdisjoint(_values(self.facet, key))


def _groups(facets: Facets) -> list[_Group]:
    found = []
    for facet, values in facets.chosen:
        if facet is Facet.ATTRIBUTE:
            found += [_Group(facet, frozenset(some), name) for name, some in by_attribute(values).items()]
        else:
            found.append(_Group(facet, frozenset(values)))
    return found


def _values(facet: Facet, key: tuple[str, ...]) -> Iterable[str]:
    """The values of a facet that the mentions of a cell have."""
    value = key[_AT[facet]]
    if facet is Facet.ATTRIBUTE or facet in NUMBERS:
        return value.split(BETWEEN) if value else ()
    return (value,)


@dataclass(frozen=True, slots=True)
class FacetCube:
    """Numbers of mentions by all facets together (a few thousand cells), from which the counts for every choice are
    calculated."""

    cells: tuple[tuple[tuple[str, ...], int], ...] = ()

    def counts(self, facets: Facets) -> dict[Facet, Counter[str]]:
        """For each facet, and each attribute, the numbers by value, given the choices of all *other* facets."""
        found: dict[Facet, Counter[str]] = {facet: Counter() for facet in Facet}
        groups = _groups(facets)
        plain = [(at, found[facet], facet in NUMBERS) for facet, at in _AT.items() if facet is not Facet.ATTRIBUTE]
        plain_of = {facet: [one for one in plain if one[1] is found[facet]] for facet in Facet}
        for key, number in self.cells:
            missed = [one for one in groups if not one.holds(key)]
            if len(missed) > 1:
                continue
            only = missed[0] if missed else None
            for at, tally, joined in plain if only is None else plain_of[only.facet]:
                value = key[at]
                if joined and BETWEEN in value:
                    tally.update(dict.fromkeys(value.split(BETWEEN), number))
                elif value or not joined:
                    tally[value] += number
            if only is None or only.facet is Facet.ATTRIBUTE:
                for value in _values(Facet.ATTRIBUTE, key):
                    if only is None or value.startswith(f"{only.attribute}="):
                        found[Facet.ATTRIBUTE][value] += number
        return found

    def total(self, facets: Facets) -> int:
        return sum(number for key, number in self.cells if facets.allows(key))


# Parsing the text in the search line. No input is an error. lidocaine hydr all these words; the last one may be
# incomplete "beta-block" exactly these characters, anywhere in a name; the closing quote may be missing type:disease
# only entities of a type; several: type:disease,chemical or type:"cell line" name :: words the words behind :: occur in
# the definition MESH:D008012, D008012 an identifier is looked up as such They combine in any order: `"shock"
# type:disease :: heart`.

_QUOTED = re.compile(r'"([^"]*)("|$)')
_TYPE = re.compile(r'(?:^|(?<=\s))type:(?:"([^"]*)(?:"|$)|(\S*))', re.IGNORECASE)
BEHIND = "::"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`text`: free words; `phrases`: exact characters; `types`: alternatives, as typed; `definition`: words of it.

    `typing`: the last free word may be unfinished; `typing_definition`: that of the definition may be.
    """

    text: str = ""
    phrases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str = ""
    typing: bool = True
    typing_definition: bool = True

    @property
    def empty(self) -> bool:
        return not (self.text or self.phrases or self.types or self.definition)

    @property
    def plain(self) -> bool:
        """Whether it has only free words: an identifier, a name or part of one."""
        return not (self.phrases or self.types or self.definition)


def parse_query(typed: str) -> SearchQuery:
    """Never fails: anything that is not syntax is text, and syntax without content (`type:`, `""`, `::`) is ignored."""
    types: list[str] = []

    def take_type(found: re.Match[str]) -> str:
        quoted, bare = found[1], found[2]
        types.extend([quoted] if quoted is not None else bare.split(","))
        return " "

    rest = _TYPE.sub(take_type, typed)
    name, behind, definition = _cut(rest)
    phrases = tuple(words for found in _QUOTED.finditer(name) if (words := _squeezed(found[1])))
    text = _QUOTED.sub(" ", name)
    return SearchQuery(
        text=_squeezed(text),
        phrases=phrases,
        types=tuple(dict.fromkeys(one for part in types if (one := _squeezed(part)))),
        definition=_squeezed(definition.replace('"', " ")),
        typing=not behind and not typed[-1:].isspace() and not _ends_elsewhere(typed),
        typing_definition=not typed[-1:].isspace(),
    )


def only_words(text: str) -> str:
    """The query for all words of a text, including the last as a complete word, without any syntax."""
    return text.replace('"', " ").replace(":", " ") + " "


def _cut(typed: str) -> tuple[str, str, str]:
    """The text before and after the first :: outside of quotes."""
    inside = [found.span() for found in _QUOTED.finditer(typed)]
    at = typed.find(BEHIND)
    while at >= 0 and any(start < at < end - 1 for start, end in inside):
        at = typed.find(BEHIND, at + 1)
    return (typed, "", "") if at < 0 else (typed[:at], BEHIND, typed[at + len(BEHIND) :])


def _ends_elsewhere(typed: str) -> bool:
    """Whether the query ends with a type or a phrase, so that the free words are complete."""
    return any(found.end() == len(typed) for pattern in (_TYPE, _QUOTED) for found in pattern.finditer(typed))


def _squeezed(text: str) -> str:
    return " ".join(text.split())
