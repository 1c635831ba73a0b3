"""WebAnno TSV 3 (WebAnno, INCEpTION): one document per file; a folder or a zip archive of them is one source.

Mentions are the annotations of entity layers (named entities and custom layers); parts of speech, lemmas, relations,
chains and slots stay in the record, which is the file. A type is the feature `value`, or the layer's name; identifiers
are in `identifier`. `SourceMention.record` counts the mentions' annotations in the order of their first tokens.

A WebAnno TSV 3 file as sentences, units (tokens and parts of them) and the annotations of its span layers.

Offsets count UTF-16 units. The white space between sentences is not in the file, only its length; it is read as line
feeds. Cells are kept escaped; `|` stacks annotations, `[n]` marks cells of several units that are one annotation.

Relations of UIMA's annotations, in XMI and in WebAnno TSV: layers that join two annotations of mentions.

Layers that join tokens, such as dependencies, are not relations here: they stay in the record and are not shown.

Write WebAnno TSV 3: one file for each document, in a folder or a zip archive; or one file for one document.

* An unchanged document is written back as its exact text. Otherwise only the cells of the mentions' layers are
  rewritten; numbers of annotations stay, since relations and slots refer to them. Relations that a curator added or
  deleted change their own layer's cells; a file without such a layer gets one.
* An attribute of a mention is a feature of its layer, which is added if missing.
* A mention that begins or ends within a token gets a part of the token (`1-3.1`). Fragments cannot be represented.
* A document of another format gets new tokens and sentences, with tokens split where mentions begin and end, so that
  neither text nor mentions are lost.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span, Utf16Map
from curator.domain.relations import Relation, SourceEnd, SourceRelation
from curator.domain.wording import ntr, tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.attributes import AttributeNames, any_of, held_name
from curator.io.files.editing import DocumentEdit
from curator.io.files.export import Action, DocumentWriter, WrittenSource, write_documents
from curator.io.files.format import Format
from curator.io.files.reading import FilesReader, first_line, stated_mention
from curator.io.files.relations import unique_keys, unwritten
from curator.io.files.report import Report
from curator.io.files.source import BOM, Files
from curator.services.ports.files import Carries, ExportDocument, ExportMention

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


LABELS = (*TYPE_FEATURES, "relationtype", "role", "name")
RELATION_ENDS = ("Governor", "Dependent")
NEW_LAYER = "webanno.custom.Relation"
"""The layer of new relations in a file without relations between mentions."""
LABEL = "label"
_BETWEEN = re.compile(r"([\d.-]+)(?:\[(\d+)_(\d+)\])?")


# WebAnno TSV: a cell at the dependent's token holds the address of its governor.


def relations_of(raw: str) -> list[SourceRelation]:
    """The relations of a file, in the order of their tokens."""
    return [relation for *_, relation in webanno_cells(parse(raw))]


def webanno_cells(
    tree: WebAnnoTree,
) -> list[tuple[TokenUnit, Layer, list[str], SourceRelation]]:
    """The relations with their unit, layer and cells."""
    found = annotations_of(tree)
    made = []
    for layer in tree.layers:
        records = _records([(at, one) for at, one in enumerate(found) if one.layer.name == layer.base])
        for unit in tree.units() if layer.kind == "RL" and records else ():
            for cells, _ in stacked(unit, layer):
                between = _BETWEEN.fullmatch(cells[-1])
                if between is None:
                    continue
                first = records.get((between[1], int(between[2] or 0)))
                second = records.get((unit.address, int(between[3] or 0)))
                if first is not None and second is not None:
                    ends = (SourceEnd(RELATION_ENDS[0], first), SourceEnd(RELATION_ENDS[1], second))
                    name = f"{layer.name.rpartition('.')[2]} {cells[-1]} {unit.address}"
                    made.append((unit, layer, cells, SourceRelation(name, _label(layer, cells), ends)))
    keys = unique_keys([one.key for *_, one in made])
    return [
        (unit, layer, cells, SourceRelation(key, one.type, one.ends))
        for key, (unit, layer, cells, one) in zip(keys, made, strict=True)
    ]


def relate(
    tree: WebAnnoTree,
    item: ExportDocument,
    written: Mapping[int, WebAnnoAnnotation],
    wanted: Sequence[Relation],
    problems: Report,
) -> None:
    """Write `wanted` into the cells, which already contain the mentions."""
    for made in wanted:
        first, second = (written[mention] for mention in made.mention_ids)
        if first.layer.name != second.layer.name:
            unwritten(item, problems, made, "WebAnno TSV")
            continue
        layer = _layer_for(tree, first.layer.name)
        numbers = f"[{first.number}_{second.number}]" if first.number or second.number else ""
        cells = [NULL] * (len(layer.features) - 1) + [first.units[0].address + numbers]
        place = layer.feature(LABELS)
        if place is None and len(layer.features) > 1:
            place = 0
        if place is not None:
            cells[place] = escape(made.type)
        unit = second.units[0]
        for column, cell in zip(layer.columns, cells, strict=True):
            before = unit.cells[column]
            unit.cells[column] = cell if before == EMPTY else f"{before}|{cell}"


def unrelate(tree: WebAnnoTree, removed: frozenset[str]) -> None:
    """Remove the relations with these keys from the cells."""
    gone = [(unit, layer, cells) for unit, layer, cells, one in webanno_cells(tree) if one.key in removed]
    for unit, layer, cells in gone:
        kept = list(stacked(unit, layer))
        kept.remove(next(one for one in kept if one[0] == cells))
        for place, column in enumerate(layer.columns):
            words = [one[place] + (f"[{number}]" if number else "") for one, number in kept]
            unit.cells[column] = "|".join(words) or EMPTY


def _layer_for(tree: WebAnnoTree, base: str) -> Layer:
    """The layer of relations between annotations of the layer `base`; a new one if there is none."""
    for layer in tree.layers:
        if layer.kind == "RL" and layer.base == base:
            return layer
    layer = Layer("RL", NEW_LAYER, (LABEL, f"BT_{base}"), tree.width)
    for unit in tree.units():
        unit.cells += [EMPTY] * len(layer.features)
    tree.layers.append(layer)
    return layer


def _records(base: Iterable[tuple[int, WebAnnoAnnotation]]) -> dict[tuple[str, int], int]:
    """Annotations by the address of their first unit, with their number, and with 0 for the first one there."""
    found: dict[tuple[str, int], int] = {}
    for record, one in base:
        for number in (0, one.number):
            found.setdefault((one.units[0].address, number), record)
    return found


def _label(layer: Layer, cells: Sequence[str]) -> str:
    place = layer.feature(LABELS)
    empty = (EMPTY, NULL, "")
    values = [cells[place]] if place is not None else list(cells[:-1])
    said = next((one for one in values if one not in empty), "")
    return unescape(said) or layer.name.rpartition(".")[2]


LONGEST_GAP = 1 << 20  # characters between two sentences; more is a broken offset


@dataclass(frozen=True, slots=True)
class Text:
    """A document's text, the start of each sentence, and the unit of the file's offsets."""

    text: str
    starts: tuple[int, ...]
    map: Utf16Map | None

    def offset(self, stated: int) -> int:
        """The code point at a stated offset; -1 if it is outside of the text."""
        if self.map is None:
            return stated if stated <= len(self.text) else -1
        return self.map.to_code_point(stated) if stated <= self.map.to_utf16(len(self.text)) else -1

    def span(self, first: TokenUnit, last: TokenUnit) -> Span | None:
        """The span from one unit to another; None if the text does not match the units."""
        start, end = self.offset(first.start), self.offset(last.end)
        if not 0 <= start < end or not (self.holds(first) and self.holds(last)):
            return None
        return Span(start, end)

    def holds(self, unit: TokenUnit) -> bool:
        """Whether the unit's form is at its offsets."""
        start, end = self.offset(unit.start), self.offset(unit.end)
        there = self.text[start:end] if 0 <= start <= end else ""
        return bool(there) and there in (unit.form, unescape(unit.form))


def assembled(tree: WebAnnoTree) -> Text:
    """The document's text. Offsets count UTF-16 units unless they match the tokens only as code points."""
    wide, plain = _assembled(tree, wide=True), _assembled(tree, wide=False)
    if wide.text == plain.text and wide.text.isascii():
        return wide
    return max(wide, plain, key=lambda text: sum(text.holds(unit) for unit in tree.units()))


def _assembled(tree: WebAnnoTree, *, wide: bool) -> Text:
    parts, starts, at, length = list[str](), list[int](), 0, 0
    for sentence in tree.sentences:
        gap = min(max(_start(sentence, wide=wide) - at, 0), LONGEST_GAP)
        parts += ["\n" * gap, sentence.text]
        starts.append(length + gap)
        length += gap + len(sentence.text)
        at += gap + _size(sentence.text, wide=wide)
    text = "".join(parts)
    return Text(text, tuple(starts), Utf16Map(text) if wide else None)


def _start(sentence: Sentence, *, wide: bool) -> int:
    """The start of a sentence, from its first token's offset."""
    if not sentence.units:
        return 0
    first = sentence.units[0]
    before = sentence.text.partition(first.form)[0] if first.form and first.form in sentence.text else ""
    return first.start - _size(before, wide=wide)


def _size(text: str, *, wide: bool) -> int:
    return len(text) + (sum(ch > "\uffff" for ch in text) if wide and not text.isascii() else 0)


class WebAnnoReader(FilesReader):
    """Yields the documents in the order of their names."""

    format = "webanno-tsv"
    none = "{path} contains no readable WebAnno TSV 3 document"

    def documents(self) -> Iterator[SourceDocument]:
        for name in self.files.names:
            content = self.text(name)
            if content is None:
                continue
            if not content.removeprefix(BOM).startswith(FORMAT):
                self.problems.set_aside(tr("{name} does not begin with {format}", name=name, format=FORMAT), 1)
                continue
            yield self._document(name, content)

    def _document(self, name: str, content: str) -> SourceDocument:
        tree = parse(content)
        text = assembled(tree)
        for index in tree.odd[:50]:
            words = tr("{name}: this is not the line of a token: {lines}", name=name, lines=tree.lines[index][:80])
            self.problems.set_aside(words, index + 1)
        if wrong := [unit for unit in tree.units() if not text.holds(unit)]:
            one = "{name}: {n} token is not at its offsets"
            several = "{name}: {n:,} tokens are not at their offsets"
            self.problems.note(ntr(one, several, len(wrong), name=name), wrong[0].line + 1)
        if text.map is None:
            words = tr("{name}: the offsets count code points, not UTF-16 units", name=name)
            self.problems.repaired(words, 1)
        mentions = [
            mention
            for record, one in enumerate(annotations_of(tree))
            if (mention := self._mention(name, one, record, text)) is not None
        ]
        passages = tuple(
            Passage("section", start, start + len(sentence.text))
            for start, sentence in zip(text.starts, tree.sentences, strict=True)
            if sentence.text
        )
        key = name.removesuffix(".tsv")
        return SourceDocument(key, first_line(text.text), text.text, passages, tuple(mentions), content, 1)

    def _mention(self, name: str, one: WebAnnoAnnotation, record: int, text: Text) -> SourceMention | None:
        kind, stated = type_and_ids(one)
        if (span := text.span(one.units[0], one.units[-1])) is not None:
            return stated_mention(text.text, [span], kind, stated, record)
        quote = " ".join(unit.form for unit in one.units)[:80]
        words = tr('{name}: {kind} "{words}" was not found at its offsets', name=name, kind=kind, words=quote)
        self.problems.set_aside(words, one.units[0].line + 1)
        return None


# WebAnno TSV of a document that came from another format: its tokens and sentences, still without annotations.


def declaration(layer: Layer) -> str:
    return f"#T_{layer.kind}=" + "|".join([layer.name, *layer.features])


def new_text(item: ExportDocument, problems: Report) -> str:
    """A file with the document's tokens and sentences, without annotations."""
    text = item.document.text
    layer = Layer("SP", NAMED_ENTITY, ("identifier", "value"), 0)
    cuts = {at for gold in item.mentions for span in gold.mention.spans for at in (span.start, span.end)}
    tokens = split_tokens(text, cuts)
    if text and not tokens:
        problems.note(
            tr("document {external_id} has no words: its text was left out", external_id=item.document.external_id)
        )
    units, lines = Utf16Map(text), [f"{FORMAT}.3", declaration(layer), ""]
    for number, (sentence, within) in enumerate(split_sentences(text, tokens), 1):
        lines += ["", "#Text=" + escape_text(text[sentence.start : sentence.end])]
        for place, token in enumerate(within, 1):
            offsets = f"{units.to_utf16(token.start)}-{units.to_utf16(token.end)}"
            lines.append(f"{number}-{place}\t{offsets}\t{text[token.start : token.end]}\t_\t_\t")
    return "\n".join([*lines, ""])


class _FileWriter(DocumentWriter):
    def pieces(self, item: ExportDocument, name: str) -> Iterator[tuple[str, bytes]]:
        own = self.file.format == "webanno-tsv" and bool(item.raw)
        raw = item.raw if own else new_text(item, self.problems)
        yield f"{name}.tsv", _Edit(item, self.file, self.problems, raw, own=own).text().encode("utf-8", "surrogatepass")


class _Tokens:
    """The tokens of a document by offset. A damaged file has several at one place: the first of them counts."""

    def __init__(self, found: WebAnnoTree) -> None:
        whole = [(sentence, unit) for sentence in found.sentences for unit in sentence.units if not unit.part]
        self._tokens: list[tuple[Sentence, TokenUnit]] = []
        for sentence, unit in sorted(whole, key=lambda one: one[1].start):
            if not self._tokens or unit.start >= self._tokens[-1][1].end:
                self._tokens.append((sentence, unit))

    def between(self, start: int, end: int) -> list[tuple[Sentence, TokenUnit]]:
        first = bisect_right(self._tokens, start, key=lambda one: one[1].end)
        return self._tokens[first : bisect_left(self._tokens, end, key=lambda one: one[1].start)]


class _Edit(DocumentEdit[WebAnnoAnnotation]):
    """One document while its annotations are edited."""

    title = "WebAnno TSV"
    names = AttributeNames(title, any_of(TYPE_FEATURES, ID_FEATURES), plain=True)

    def __init__(self, item: ExportDocument, file: SourceFile, problems: Report, raw: str, *, own: bool) -> None:
        super().__init__(item, file, problems, own=own)
        self._raw = raw
        self._spelling = Spelling(item, file, "webanno-tsv")
        self._tree = parse(raw)
        self._found = annotations_of(self._tree)
        self._gone: list[WebAnnoAnnotation] = []
        self._map = Utf16Map(item.document.text)
        self._made: list[WebAnnoAnnotation] = []  # of new mentions
        self._related: list[Relation] = []
        self._removed = frozenset[str]()
        self._tokens: _Tokens | None = None
        self._heights = Counter((id(unit), one.layer.name) for one in self._found for unit in one.units)

    def text(self) -> str:
        self.run()
        if not (self.changed or self._related or self._removed):
            return self._raw
        unrelate(self._tree, self._removed)
        if self.changed:
            gone = {id(one) for one in self._gone}
            self._render([*(one for one in self._found if id(one) not in gone), *self._made])
        relate(self._tree, self.item, self.parts, self._related, self.problems)
        return self._written()

    # --- one mention ---

    def part(self, record: int) -> WebAnnoAnnotation:
        return self._found[record]

    def remove(self, gone: list[WebAnnoAnnotation]) -> None:
        self._gone += gone

    def unrelate(self, keys: frozenset[str]) -> None:
        self._removed = keys

    def relate(self, relation: Relation) -> None:
        self._related.append(relation)

    def add(self, gold: ExportMention) -> WebAnnoAnnotation | None:
        layer = self._layer(gold.mention.type)
        units = self._free_units(gold, layer)
        if not units:
            return None
        one = WebAnnoAnnotation(layer, [NULL] * max(len(layer.features), 1), units)
        self._made.append(one)
        self.changed = True
        self._say_type(one, gold)
        ids = stated_ids(gold, self.item, self.file)
        if ids is not None:
            self._say_ids(one, ids, gold)
        return one

    def edit(self, part: WebAnnoAnnotation, gold: ExportMention, action: Action) -> bool:
        before = (list(part.cells), [id(unit) for unit in part.units])
        if gold.reshaped:
            self._heights.subtract((id(unit), part.layer.name) for unit in part.units)
            units = self._free_units(gold, part.layer)
            if not units:
                return False  # its units lead to its relations
            part.units = units
            if type_and_ids(part)[0] != gold.mention.type:
                self._say_type(part, gold)
        if action is Action.WRITE:
            self._say_ids(part, stated_ids(gold, self.item, self.file) or (), gold)
        self.changed = self.changed or before != (part.cells, [id(unit) for unit in part.units])
        return True

    def held(self, part: WebAnnoAnnotation) -> dict[str, str]:
        return held_attributes(part)

    def set_attribute(self, part: WebAnnoAnnotation, name: str, value: str | None) -> None:
        places = attribute_places(part.layer)  # also of attributes of which no annotation has a value
        there = held_name(places, name)
        place = self._widen(part, name) if there is None else places[there]
        part.cells[place] = NULL if value is None else escape(value)

    def _say_type(self, one: WebAnnoAnnotation, gold: ExportMention) -> None:
        place = one.layer.feature(TYPE_FEATURES)
        if place is not None:
            one.cells[place] = escape(gold.mention.type)
        elif one.layer.name.rpartition(".")[2] != gold.mention.type:
            words = tr("its layer {name} cannot store the type {type}", name=one.layer.name, type=gold.mention.type)
            self.problems.set_aside(f"{self.where(gold)} {words}")

    def _say_ids(self, one: WebAnnoAnnotation, ids: Sequence[str], gold: ExportMention) -> None:
        place = one.layer.feature(ID_FEATURES)
        if place is None:
            place = self._widen(one, "identifier")
        text = " ".join(self._spelling.ids(ids))
        if one.layer.features and unescape(one.cells[place]) != text:
            one.cells[place] = escape(text)
        if not one.layer.features:
            words = tr("its layer {name} cannot store identifiers", name=one.layer.name)
            self.problems.set_aside(f"{self.where(gold)} {words}")

    def _widen(self, one: WebAnnoAnnotation, feature: str) -> int:
        """Add a feature to a layer, with an empty cell in every unit and annotation; returns its position."""
        old = one.layer
        new = Layer(old.kind, old.name, (*old.features, feature), old.first)
        at = old.first + len(old.features)
        if old.features:
            for unit in self._tree.units():
                levels = len(stacked(unit, old)) or 1
                unit.cells.insert(at, "|".join([EMPTY] * levels))
        shift = 1 if old.features else 0
        layers = {id(old): new}
        for index, layer in enumerate(self._tree.layers):
            moved = Layer(layer.kind, layer.name, layer.features, layer.first + shift * (layer.first > old.first))
            layers.setdefault(id(layer), moved)
            self._tree.layers[index] = layers[id(layer)]
        for other in (*self._found, *self._made):
            if other.layer is old:
                other.cells += [NULL] * shift
            other.layer = layers.get(id(other.layer), other.layer)
        return len(new.features) - 1

    def _layer(self, kind: str) -> Layer:
        """The layer for a new mention: one named like its type, else the first that takes a type, else a new one."""
        mine = [one for one in self._tree.layers if one.holds_mentions]
        named = [one for one in mine if one.name.rpartition(".")[2] == kind and one.feature(TYPE_FEATURES) is None]
        able = [one for one in mine if one.feature(TYPE_FEATURES) is not None]
        if found := [*named, *able]:
            return found[0]
        layer = Layer("SP", NAMED_ENTITY, ("identifier", "value"), self._tree.width)
        for unit in self._tree.units():
            unit.cells += [EMPTY] * 2
        self._tree.layers.append(layer)
        return layer

    def _free_units(self, gold: ExportMention, layer: Layer) -> list[TokenUnit]:
        """The units of a mention, which now holds them; none, with a problem, if one of them has no room for it."""
        units = self._units(gold)
        if any(self._heights[id(unit), layer.name] >= MOST_STACKED for unit in units):
            self._leave_out(gold, tr("is on a token that already has {n:,} mentions: left out", n=MOST_STACKED))
            return []
        self._heights.update((id(unit), layer.name) for unit in units)
        return units

    def _units(self, gold: ExportMention) -> list[TokenUnit]:
        """The tokens under a mention, parts of them where it begins or ends within one; none, with a problem, for a
        mention that TSV cannot represent."""
        if len(gold.mention.spans) > 1:
            self._leave_out(gold, tr("is discontinuous, which WebAnno TSV does not support: left out"))
            return []
        span = gold.mention.spans[0]
        start, end = self._map.to_utf16(span.start), self._map.to_utf16(span.end)
        tokens = self._tokens = self._tokens or _Tokens(self._tree)
        units = []
        for sentence, unit in tokens.between(start, end):
            inside = start <= unit.start and unit.end <= end
            units.append(unit if inside else self._part(sentence, unit, max(start, unit.start), min(end, unit.end)))
        if not units:
            self._leave_out(gold, tr("contains no token: left out"))
        elif (units[0].start, units[-1].end) != (start, end):
            self.problems.repaired(f"{self.where(gold)} {tr('lost the white space at its ends')}")
        return units

    def _part(self, sentence: Sentence, unit: TokenUnit, start: int, end: int) -> TokenUnit:
        parts = [one for one in sentence.units if one.token == unit.token and one.part]
        for one in parts:
            if (one.start, one.end) == (start, end):
                return one
        text = self.item.document.text[self._map.to_code_point(start) : self._map.to_code_point(end)]
        number = max((one.part for one in parts), default=0) + 1
        part = TokenUnit(-1, unit.sentence, unit.token, number, start, end, text, [EMPTY] * self._tree.width)
        sentence.units.insert(sentence.units.index(unit) + len(parts) + 1, part)
        return part

    # --- the whole ---

    def _render(self, found: list[WebAnnoAnnotation]) -> None:
        """Write the cells of the mentions' layers."""
        heights = Counter((id(unit), one.layer.name) for one in found for unit in one.units)
        highest = max((one.number for one in self._found), default=0)
        others = [layer for layer in self._tree.layers if not layer.holds_mentions]
        for unit in self._tree.units():
            highest = max([highest, *(number for layer in others for _, number in stacked(unit, layer))])
        written: dict[tuple[int, int], list[str]] = {}  # by unit and column
        for one in found:
            tall = any(heights[id(unit), one.layer.name] > 1 for unit in one.units)
            if not one.number and (tall or len(one.units) > 1):
                highest += 1
                one.number = highest
            suffix = f"[{one.number}]" if one.number else ""
            cells = [(NULL if cell == EMPTY else cell) + suffix for cell in one.cells]
            for unit in one.units:
                for column, cell in zip(one.layer.columns, cells, strict=True):
                    written.setdefault((id(unit), column), []).append(cell)
        columns = [column for layer in self._tree.layers if layer.holds_mentions for column in layer.columns]
        for unit in self._tree.units():
            for column in columns:
                unit.cells[column] = "|".join(written.get((id(unit), column), ()))
            unit.cells[:] = [cell or EMPTY for cell in unit.cells]
        self._drop_relations()

    def _drop_relations(self) -> None:
        """Remove relations of a removed annotation if no other annotation of its layer is there."""
        gone: dict[str, set[str]] = {}  # addresses by the name of the layer
        for one in self._gone:
            first = one.units[0]
            if all(first.cells[column] == EMPTY for column in one.layer.columns):
                gone.setdefault(one.layer.name, set()).add(first.address)
        for layer in self._tree.layers:
            if layer.kind == "RL" and layer.base in gone:
                for unit in self._tree.units():
                    self._without(unit, layer, gone[layer.base])

    def _without(self, unit: TokenUnit, layer: Layer, addresses: set[str]) -> None:
        there = stacked(unit, layer)
        kept = [
            (cells, number)
            for cells, number in there
            if unit.address not in addresses and cells[-1].partition("[")[0] not in addresses
        ]
        if len(kept) == len(there):
            return
        words = "document {external_id}: a relation at {address} was removed together with its mention"
        self.problems.note(tr(words, external_id=self.item.document.external_id, address=unit.address))
        for place, column in enumerate(layer.columns):
            unit.cells[column] = (
                "|".join(cells[place] + (f"[{number}]" if number else "") for cells, number in kept) or EMPTY
            )

    def _written(self) -> str:
        lines = list(self._tree.lines)
        ending = "\r\n" if "\r\n" in self._raw else "\n"
        heads = [index for index, line in enumerate(lines) if line.startswith("#T_")]
        declared = [declaration(one) for one in self._tree.layers]
        behind: dict[int, list[str]] = {}
        for index, line in zip(heads, declared, strict=False):
            lines[index] = line
        behind[heads[-1] if heads else 0] = declared[len(heads) :]
        for sentence in self._tree.sentences:
            last = sentence.line
            for unit in sentence.units:
                row = "\t".join([unit.address, f"{unit.start}-{unit.end}", unit.form, *unit.cells]) + "\t"
                if unit.line >= 0:
                    last = unit.line
                    lines[last] = row
                else:
                    behind.setdefault(last, []).append(row)
        whole = [one for index, line in enumerate(lines) for one in (line, *behind.get(index, ()))]
        return ("\ufeff" if self._raw.startswith("\ufeff") else "") + ending.join(whole)

    def _leave_out(self, gold: ExportMention, text: str) -> None:
        self.problems.left_out(gold, f"{self.where(gold)} {text}")


class WebAnnoFormat(Format):
    name = "webanno-tsv"
    title = "WebAnno TSV 3"
    refusal = f"{{path}} is not WebAnno TSV: no file begins with `{FORMAT}`; choose another format"
    reader = WebAnnoReader
    document_endings = (".tsv",)
    carries = Carries(mentions=True, several_ids=True, nil=True, relations=True, attributes=True, own_fields=True)
    takes_folders = True

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return head.startswith(FORMAT.encode())

    def reads(self, files: Files) -> Sequence[str]:
        return [name for name in files.with_suffix(".tsv") if self.sniff(files.path, files.head(name, 64))]

    def holds_more(self, raw: str) -> bool:
        """Whether a layer of chains or parts of speech, or another feature of a mention or relation, has a value."""
        tree = parse(raw)
        related = {layer.name for _, layer, _, _ in webanno_cells(tree)}
        columns = [
            column
            for layer in tree.layers
            for place, column in enumerate(layer.columns)
            if not (layer.holds_mentions and place in (layer.feature(ID_FEATURES), layer.feature(TYPE_FEATURES)))
            and layer.name not in related
        ]
        cells = (part for unit in tree.units() for column in columns for part in unit.cells[column].split("|"))
        return any(cell.partition("[")[0] not in (EMPTY, NULL) for cell in cells)

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        listed = annotations_of(parse(raw))
        return {record: found for record, one in enumerate(listed) if (found := held_attributes(one))}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG002
        return relations_of(raw)

    def written(self, files: Sequence[WrittenSource], out: Path) -> list[Path]:
        chosen = [(_FileWriter(file, self.problems), documents) for file, documents in files]
        return write_documents(chosen, out, self.problems, suffixes=self.document_endings)
