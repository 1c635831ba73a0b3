"""A WebAnno TSV 3 file as sentences, units (tokens and parts of them) and the annotations of its span layers.

Offsets count UTF-16 units. The white space between sentences is not in the file, only its length; it is read as line
feeds. Cells are kept escaped; `|` stacks annotations, `[n]` marks cells of several units that are one annotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from curator.domain.documents import Span

FORMAT = "#FORMAT=WebAnno TSV 3"
NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
EMPTY = "_"
NULL = "*"
ID_FEATURES = ("identifier", "iri", "uri", "conceptid", "entityid", "concept", "id")
TYPE_FEATURES = ("value", "label", "category", "type", "class", "kind")

MOST_STACKED = 1000
"""Annotations of one layer on one token; a line with more is damaged: a megabyte of bars would be a million of them."""

_LINGUISTIC = re.compile(
    r"\.core\.api\.(lexmorph|segmentation|syntax|transform|metadata|anomaly|coref|semantics|structure|phonetics)\."
)
_UNIT = re.compile(r"(\d+)-(\d+)(?:\.(\d+))?")
_OFFSETS = re.compile(r"(\d+)-(\d+)")
_NUMBER = re.compile(r"(?<!\\)\[(\d+)\]$")
_WORD = re.compile(r"\w+|[^\w\s]")
_STACKED = re.compile(r"(?<!\\)\|")
_TEXT_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "0": "\0", "\\": "\\"}
_RESERVED = re.compile(r"[\\\[\]|_;*]|->")


@dataclass(frozen=True, slots=True)
class Layer:
    """`kind` is SP, RL or CH; `first` is the column (from 0, after the token) where its features begin."""

    kind: str
    name: str
    features: tuple[str, ...]
    first: int

    @property
    def columns(self) -> range:
        return range(self.first, self.first + max(len(self.features), 1))

    @property
    def holds_mentions(self) -> bool:
        return self.kind == "SP" and not _LINGUISTIC.search(self.name)

    @property
    def base(self) -> str:
        """The layer that a relation layer joins."""
        last = self.features[-1] if self.features else ""
        return last.removeprefix("BT_") if last.startswith("BT_") else ""

    def feature(self, names: tuple[str, ...]) -> int | None:
        """The index of its first feature with one of these names."""
        wanted = [one.lower().rpartition(":")[2] for one in self.features]
        return next((wanted.index(one) for one in names if one in wanted), None)


@dataclass(slots=True, eq=False)
class TokenUnit:
    """A token or a part of one. `line` is its line in the file; offsets are as stated in the file."""

    line: int
    sentence: int
    token: int
    part: int
    start: int
    end: int
    form: str
    cells: list[str]

    @property
    def address(self) -> str:
        return f"{self.sentence}-{self.token}" + (f".{self.part}" if self.part else "")


@dataclass(slots=True, eq=False)
class WebAnnoAnnotation:
    """An annotation of a span layer: its cells (escaped, one per feature), its units, its number or 0."""

    layer: Layer
    cells: list[str]
    units: list[TokenUnit]
    number: int = 0


@dataclass(slots=True)
class Sentence:
    line: int
    text: str
    units: list[TokenUnit] = field(default_factory=list)


@dataclass(slots=True)
class WebAnnoTree:
    """The lines of a file (without their ends), its layers and sentences, and unknown lines."""

    lines: list[str]
    layers: list[Layer] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)

    @property
    def width(self) -> int:
        """The number of columns after the token."""
        return self.layers[-1].columns.stop if self.layers else 0

    def units(self) -> Iterator[TokenUnit]:
        for sentence in self.sentences:
            yield from sentence.units


def parse(text: str) -> WebAnnoTree:
    """Never fails; unknown lines are in `odd`."""
    tree = WebAnnoTree([line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")])
    texts: list[str] = []
    for index, line in enumerate(tree.lines):
        if line.startswith("#Text="):
            if not texts:
                tree.sentences.append(Sentence(index, ""))
            texts.append(unescape_text(line[6:]))
            continue
        if texts:
            tree.sentences[-1].text, texts = "\n".join(texts), []
        if line.startswith("#T_") and not tree.sentences:
            tree.layers.append(_layer(line, tree.width))
        elif line and not line.startswith("#"):
            unit = _unit(line, index, tree.width)
            if unit is None or not tree.sentences:
                tree.odd.append(index)
            else:
                tree.sentences[-1].units.append(unit)
    if texts:
        tree.sentences[-1].text = "\n".join(texts)
    return tree


def _layer(line: str, first: int) -> Layer:
    head, _, rest = line[3:].partition("=")
    name, *features = rest.split("|")
    return Layer(head, name, tuple(one for one in features if one), first)


def _unit(line: str, index: int, width: int) -> TokenUnit | None:
    columns = line.split("\t")
    address = _UNIT.fullmatch(columns[0])
    offsets = _OFFSETS.fullmatch(columns[1]) if len(columns) > 2 else None
    if address is None or offsets is None or len(columns[0]) + len(columns[1]) > 60:
        return None
    if line.count("|") >= MOST_STACKED and any(cell.count("|") >= MOST_STACKED for cell in columns[3:]):
        return None
    cells = (columns[3 : 3 + width] + [EMPTY] * width)[:width]
    sentence, token, part = (int(one or 0) for one in address.groups())
    return TokenUnit(index, sentence, token, part, int(offsets[1]), int(offsets[2]), columns[2], cells)


def annotations_of(tree: WebAnnoTree) -> list[WebAnnoAnnotation]:
    """The annotations of the layers with mentions, in the order of their first units."""
    found: list[WebAnnoAnnotation] = []
    for layer in tree.layers:
        if not layer.holds_mentions:
            continue
        known: dict[int, WebAnnoAnnotation] = {}
        for unit in tree.units():
            for cells, number in stacked(unit, layer):
                if number and number in known:
                    known[number].units.append(unit)
                    continue
                one = WebAnnoAnnotation(layer, cells, [unit], number)
                known |= {number: one} if number else {}
                found.append(one)
    places = {id(unit): place for place, unit in enumerate(tree.units())}
    return sorted(found, key=lambda one: places[id(one.units[0])])


def stacked(unit: TokenUnit, layer: Layer) -> list[tuple[list[str], int]]:
    """(cells, number or 0) of each annotation of a layer on a unit."""
    cells = unit.cells[layer.first : layer.columns.stop]
    found: list[tuple[list[str], int]] = []
    if all(cell == EMPTY for cell in cells):
        return found
    columns = [_levels(cell) for cell in cells]
    for level in range(max(map(len, columns))):
        here = [column[level] if level < len(column) else (EMPTY, 0) for column in columns]
        cells = [cell for cell, _ in here]
        if any(cell != EMPTY for cell in cells):
            found.append((cells, max(number for _, number in here)))
    return found


def _levels(text: str) -> list[tuple[str, int]]:
    """(cell, number or 0) of each annotation in a column."""
    found = []
    for cell in _STACKED.split(text) if "|" in text else (text,):
        number = _NUMBER.search(cell) if cell.endswith("]") else None
        found.append((cell[: number.start()], int(number[1][:9])) if number else (cell, 0))
    return found


def type_and_ids(one: WebAnnoAnnotation) -> tuple[str, list[str]]:
    """An annotation's type, and its identifiers as stated."""
    kind = _value(one, TYPE_FEATURES) or one.layer.name.rpartition(".")[2]
    return kind, _value(one, ID_FEATURES).split()


def attribute_places(layer: Layer) -> dict[str, int]:
    """Features that may be attributes, by name: those that are neither types nor identifiers nor references to
    annotations."""
    said = (layer.feature(TYPE_FEATURES), layer.feature(ID_FEATURES))
    return {
        name: place
        for place, name in enumerate(layer.features)
        if place not in said and not name.startswith("ROLE_") and not set(name) & set(".:")
    }


def held_attributes(one: WebAnnoAnnotation) -> dict[str, str]:
    """Names and values."""
    cells = {name: one.cells[place] for name, place in attribute_places(one.layer).items()}
    return {name: words for name, cell in cells.items() if (words := _words(cell))}


def _value(one: WebAnnoAnnotation, names: tuple[str, ...]) -> str:
    place = one.layer.feature(names)
    return "" if place is None else _words(one.cells[place])


def _words(cell: str) -> str:
    return "" if cell in (EMPTY, NULL, "") else unescape(cell).strip()


# --- a text without tokens ---


def split_tokens(text: str, cuts: set[int]) -> list[Span]:
    """Words and signs, split where a mention begins or ends."""
    found = []
    for match in _WORD.finditer(text):
        start = match.start()
        for at in range(match.start() + 1, match.end() + 1):
            if at == match.end() or at in cuts:
                found.append(Span(start, at))
                start = at
    return found


def split_sentences(text: str, tokens: list[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """Lines with words, each with its tokens; lines without any belong to the line before, the first ones to the next.

    One line feed is between two sentences, since the gap is read as line feeds.
    """
    start, within = 0, list[Span]()
    for token in tokens:
        cut = text.rfind("\n", within[-1].end, token.start) if within else -1
        if cut >= 0:
            yield Span(start, cut), within
            start, within = cut + 1, []
        within.append(token)
    if within:
        yield Span(start, len(text)), within


# --- escapes ---


def unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), text, flags=re.S)


def escape(text: str) -> str:
    """A feature's value as a cell; NULL for an empty one."""
    plain = re.sub(r"[\n\r\t]", " ", text)
    return _RESERVED.sub(lambda found: "\\" + found[0], plain) or NULL


def unescape_text(text: str) -> str:
    """A sentence's text. A backslash before any other character is literal, as in older versions."""
    return re.sub(r"\\([nrtbf0\\])", lambda found: _TEXT_ESCAPES[found[1]], text)


def escape_text(text: str) -> str:
    escapes = {value: "\\" + key for key, value in _TEXT_ESCAPES.items()}
    return "".join(escapes.get(ch, ch) for ch in text)
