"""Write WebAnno TSV 3: one file for each document, in a folder or a zip archive; or one file for one document.

* An unchanged document is written back as its exact text. Otherwise only the cells of the mentions' layers are
  rewritten; numbers of annotations stay, since relations and slots refer to them. Relations that a curator added or
  deleted change their own layer's cells; a file without such a layer gets one.
* An attribute of a mention is a feature of its layer, which is added if missing.
* A mention that begins or ends within a token gets a part of the token (`1-3.1`). Fragments cannot be represented.
* A document of another format gets new tokens and sentences, with tokens split where mentions begin and end, so that
  neither text nor mentions are lost.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from curator.domain.documents import SourceFile, Utf16Map
from curator.domain.relations import RelationKind
from curator.domain.wording import tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.attributes import AttributeNames, any_of, held_name
from curator.io.files.export import Action, action_for, left_out
from curator.io.files.reading import mention_place
from curator.io.files.relations import relations_for
from curator.io.standoff import webanno_tree as tree
from curator.io.standoff.cas_relations import relate_webanno, unrelate_webanno
from curator.io.standoff.standoff import write_documents
from curator.services.ports.files import ExportDocument, ExportMention, Problem

# WebAnno TSV of a document that came from another format: its tokens and sentences, still without annotations.

ATTRIBUTES = AttributeNames("WebAnno TSV", any_of(tree.TYPE_FEATURES, tree.ID_FEATURES), plain=True)


def held_place(layer: tree.Layer, name: str) -> int | None:
    """The position of an attribute in a layer that has it, even if no annotation has a value."""
    places = tree.attribute_places(layer)
    there = held_name(places, name)
    return None if there is None else places[there]


def declaration(layer: tree.Layer) -> str:
    return f"#T_{layer.kind}=" + "|".join([layer.name, *layer.features])


def new_text(item: ExportDocument, problems: list[Problem]) -> str:
    """A file with the document's tokens and sentences, without annotations."""
    text = item.document.text
    layer = tree.Layer("SP", tree.NAMED_ENTITY, ("identifier", "value"), 0)
    cuts = {at for gold in item.mentions for span in gold.mention.spans for at in (span.start, span.end)}
    tokens = tree.split_tokens(text, cuts)
    if text and not tokens:
        problems.append(
            Problem(
                0,
                "note",
                tr("document {external_id} has no words: its text was left out", external_id=item.document.external_id),
            )
        )
    units, lines = Utf16Map(text), [f"{tree.FORMAT}.3", declaration(layer), ""]
    for number, (sentence, within) in enumerate(tree.split_sentences(text, tokens), 1):
        lines += ["", "#Text=" + tree.escape_text(text[sentence.start : sentence.end])]
        for place, token in enumerate(within, 1):
            offsets = f"{units.to_utf16(token.start)}-{units.to_utf16(token.end)}"
            lines.append(f"{number}-{place}\t{offsets}\t{text[token.start : token.end]}\t_\t_\t")
    return "\n".join([*lines, ""])


def write_files(
    files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path, problems: list[Problem]
) -> list[Path]:
    """On a UserError nothing is changed."""
    chosen = [(file, _FileWriter(file, problems), documents) for file, documents in files]
    return write_documents(chosen, out, problems, suffixes=(".tsv",))


@dataclass(frozen=True, slots=True)
class _FileWriter:
    """See `standoff.Documents`."""

    file: SourceFile
    problems: list[Problem]

    def pieces(self, item: ExportDocument, name: str) -> Iterator[tuple[str, bytes]]:
        own = self.file.format == "webanno-tsv" and bool(item.raw)
        raw = item.raw if own else new_text(item, self.problems)
        yield f"{name}.tsv", _Edit(item, self.file, self.problems, raw, own=own).text().encode("utf-8", "surrogatepass")

    def rest(self) -> Iterator[tuple[str, bytes]]:
        return iter(())


class _Tokens:
    """The tokens of a document by offset. A damaged file has several at one place: the first of them counts."""

    def __init__(self, found: tree.WebAnnoTree) -> None:
        whole = [(sentence, unit) for sentence in found.sentences for unit in sentence.units if not unit.part]
        self._tokens: list[tuple[tree.Sentence, tree.TokenUnit]] = []
        for sentence, unit in sorted(whole, key=lambda one: one[1].start):
            if not self._tokens or unit.start >= self._tokens[-1][1].end:
                self._tokens.append((sentence, unit))

    def between(self, start: int, end: int) -> list[tuple[tree.Sentence, tree.TokenUnit]]:
        first = bisect_right(self._tokens, start, key=lambda one: one[1].end)
        return self._tokens[first : bisect_left(self._tokens, end, key=lambda one: one[1].start)]


class _Edit:
    """One document while its annotations are edited."""

    def __init__(self, item: ExportDocument, file: SourceFile, problems: list[Problem], raw: str, *, own: bool) -> None:
        self._item = item
        self._file = file
        self._problems = problems
        self._raw = raw
        self._own = own
        self._spelling = Spelling(item, file, "webanno-tsv")
        self._tree = tree.parse(raw)
        self._found = tree.annotations_of(self._tree)
        self._dropped: list[tree.WebAnnoAnnotation] = []
        self._map = Utf16Map(item.document.text)
        self._changed = False
        self._made: list[tree.WebAnnoAnnotation] = []  # of new mentions
        self._written_as: dict[int, tree.WebAnnoAnnotation] = {}  # by the id of the mention
        self._tokens: _Tokens | None = None
        self._heights = Counter((id(unit), one.layer.name) for one in self._found for unit in one.units)

    def text(self) -> str:
        gone = {id(self._found[record]) for record in self._item.removed_records} if self._own else set()
        new: list[tree.WebAnnoAnnotation] = []
        for gold in sorted(self._item.mentions, key=lambda one: one.mention.spans):
            action = action_for(gold, self._item.document.external_id, self._problems)
            known = self._found[gold.mention.record] if self._own and gold.mention.record >= 0 else None
            if action is Action.DROP:
                gone |= {id(known)} if known else set()
                continue
            if known is None:
                made = self._new(gold)
                new += made
                known = made[0] if made else None
            elif action is not Action.KEEP and not self._edit(known, gold, action):
                gone.add(id(known))
                known = None
            if known is not None:
                self._written_as[gold.mention.id] = known
                self._attribute(known, gold)
        self._dropped = [one for one in self._found if id(one) in gone]
        related = relations_for(
            self._item,
            self._problems,
            own=self._own,
            kinds=(RelationKind.MENTIONS,),
            written=self._written_as,
            title="WebAnno TSV",
        )
        removed = self._item.removed_relations if self._own else ()
        if not (self._changed or new or gone or related or removed):
            return self._raw
        kept = [one for one in self._found if id(one) not in gone]
        unrelate_webanno(self._tree, removed)
        if self._changed or new or gone:
            self._render([*kept, *new])
        relate_webanno(self._tree, self._item, self._written_as, related, self._problems)
        return self._written()

    # --- one mention ---

    def _new(self, gold: ExportMention) -> list[tree.WebAnnoAnnotation]:
        layer = self._layer(gold.mention.type)
        units = self._free_units(gold, layer)
        if not units:
            return []
        one = tree.WebAnnoAnnotation(layer, [tree.NULL] * max(len(layer.features), 1), units)
        self._made.append(one)
        self._say_type(one, gold)
        ids = stated_ids(gold, self._item, self._file)
        if ids is not None:
            self._say_ids(one, ids, gold)
        return [one]

    def _edit(self, one: tree.WebAnnoAnnotation, gold: ExportMention, action: Action) -> bool:
        """Update an annotation; False if it can no longer be represented."""
        before = (list(one.cells), [id(unit) for unit in one.units])
        if gold.reshaped:
            self._heights.subtract((id(unit), one.layer.name) for unit in one.units)
            units = self._free_units(gold, one.layer)
            if not units:
                return False  # its units lead to its relations
            one.units = units
            if tree.type_and_ids(one)[0] != gold.mention.type:
                self._say_type(one, gold)
        if action is Action.WRITE:
            self._say_ids(one, stated_ids(gold, self._item, self._file) or (), gold)
        self._changed = self._changed or before != (one.cells, [id(unit) for unit in one.units])
        return True

    def _say_type(self, one: tree.WebAnnoAnnotation, gold: ExportMention) -> None:
        place = one.layer.feature(tree.TYPE_FEATURES)
        if place is not None:
            one.cells[place] = tree.escape(gold.mention.type)
        elif one.layer.name.rpartition(".")[2] != gold.mention.type:
            self._note(
                "set aside",
                gold,
                tr("its layer {name} cannot store the type {type}", name=one.layer.name, type=gold.mention.type),
            )

    def _say_ids(self, one: tree.WebAnnoAnnotation, ids: Sequence[str], gold: ExportMention) -> None:
        place = one.layer.feature(tree.ID_FEATURES)
        if place is None:
            place = self._widen(one, "identifier")
        text = " ".join(self._spelling.ids(ids))
        if one.layer.features and tree.unescape(one.cells[place]) != text:
            one.cells[place] = tree.escape(text)
        if not one.layer.features:
            self._note("set aside", gold, tr("its layer {name} cannot store identifiers", name=one.layer.name))

    def _attribute(self, one: tree.WebAnnoAnnotation, gold: ExportMention) -> None:
        """Update the project's attributes to their current values, each in a feature of the layer."""
        for name, value in ATTRIBUTES.changes(gold, tree.held_attributes(one), self._problems).items():
            place = held_place(one.layer, name)
            if place is None:
                place = self._widen(one, name)
            one.cells[place] = tree.NULL if value is None else tree.escape(value)
            self._changed = True

    def _widen(self, one: tree.WebAnnoAnnotation, feature: str) -> int:
        """Add a feature to a layer, with an empty cell in every unit and annotation; returns its position."""
        old = one.layer
        new = tree.Layer(old.kind, old.name, (*old.features, feature), old.first)
        at = old.first + len(old.features)
        if old.features:
            for unit in self._tree.units():
                levels = len(tree.stacked(unit, old)) or 1
                unit.cells.insert(at, "|".join([tree.EMPTY] * levels))
        shift = 1 if old.features else 0
        layers = {id(old): new}
        for index, layer in enumerate(self._tree.layers):
            moved = tree.Layer(layer.kind, layer.name, layer.features, layer.first + shift * (layer.first > old.first))
            layers.setdefault(id(layer), moved)
            self._tree.layers[index] = layers[id(layer)]
        for other in (*self._found, *self._made):
            if other.layer is old:
                other.cells += [tree.NULL] * shift
            other.layer = layers.get(id(other.layer), other.layer)
        return len(new.features) - 1

    def _layer(self, kind: str) -> tree.Layer:
        """The layer for a new mention: one named like its type, else the first that takes a type, else a new one."""
        mine = [one for one in self._tree.layers if one.holds_mentions]
        named = [one for one in mine if one.name.rpartition(".")[2] == kind and one.feature(tree.TYPE_FEATURES) is None]
        able = [one for one in mine if one.feature(tree.TYPE_FEATURES) is not None]
        if found := [*named, *able]:
            return found[0]
        layer = tree.Layer("SP", tree.NAMED_ENTITY, ("identifier", "value"), self._tree.width)
        for unit in self._tree.units():
            unit.cells += [tree.EMPTY] * 2
        self._tree.layers.append(layer)
        return layer

    def _free_units(self, gold: ExportMention, layer: tree.Layer) -> list[tree.TokenUnit]:
        """The units of a mention, which now holds them; none, with a problem, if one of them has no room for it."""
        units = self._units(gold)
        if any(self._heights[id(unit), layer.name] >= tree.MOST_STACKED for unit in units):
            self._leave_out(gold, tr("is on a token that already has {n:,} mentions: left out", n=tree.MOST_STACKED))
            return []
        self._heights.update((id(unit), layer.name) for unit in units)
        return units

    def _units(self, gold: ExportMention) -> list[tree.TokenUnit]:
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
            self._note("repaired", gold, tr("lost the white space at its ends"))
        return units

    def _part(self, sentence: tree.Sentence, unit: tree.TokenUnit, start: int, end: int) -> tree.TokenUnit:
        parts = [one for one in sentence.units if one.token == unit.token and one.part]
        for one in parts:
            if (one.start, one.end) == (start, end):
                return one
        text = self._item.document.text[self._map.to_code_point(start) : self._map.to_code_point(end)]
        number = max((one.part for one in parts), default=0) + 1
        part = tree.TokenUnit(-1, unit.sentence, unit.token, number, start, end, text, [tree.EMPTY] * self._tree.width)
        sentence.units.insert(sentence.units.index(unit) + len(parts) + 1, part)
        return part

    # --- the whole ---

    def _render(self, found: list[tree.WebAnnoAnnotation]) -> None:
        """Write the cells of the mentions' layers."""
        heights = Counter((id(unit), one.layer.name) for one in found for unit in one.units)
        highest = max((one.number for one in self._found), default=0)
        others = [layer for layer in self._tree.layers if not layer.holds_mentions]
        for unit in self._tree.units():
            highest = max([highest, *(number for layer in others for _, number in tree.stacked(unit, layer))])
        written: dict[tuple[int, int], list[str]] = {}  # by unit and column
        for one in found:
            tall = any(heights[id(unit), one.layer.name] > 1 for unit in one.units)
            if not one.number and (tall or len(one.units) > 1):
                highest += 1
                one.number = highest
            suffix = f"[{one.number}]" if one.number else ""
            cells = [(tree.NULL if cell == tree.EMPTY else cell) + suffix for cell in one.cells]
            for unit in one.units:
                for column, cell in zip(one.layer.columns, cells, strict=True):
                    written.setdefault((id(unit), column), []).append(cell)
        columns = [column for layer in self._tree.layers if layer.holds_mentions for column in layer.columns]
        for unit in self._tree.units():
            for column in columns:
                unit.cells[column] = "|".join(written.get((id(unit), column), ()))
            unit.cells[:] = [cell or tree.EMPTY for cell in unit.cells]
        self._drop_relations()

    def _drop_relations(self) -> None:
        """Remove relations of a removed annotation if no other annotation of its layer is there."""
        gone: dict[str, set[str]] = {}  # addresses by the name of the layer
        for one in self._dropped:
            first = one.units[0]
            if all(first.cells[column] == tree.EMPTY for column in one.layer.columns):
                gone.setdefault(one.layer.name, set()).add(first.address)
        for layer in self._tree.layers:
            if layer.kind == "RL" and layer.base in gone:
                for unit in self._tree.units():
                    self._without(unit, layer, gone[layer.base])

    def _without(self, unit: tree.TokenUnit, layer: tree.Layer, addresses: set[str]) -> None:
        there = tree.stacked(unit, layer)
        kept = [
            (cells, number)
            for cells, number in there
            if unit.address not in addresses and cells[-1].partition("[")[0] not in addresses
        ]
        if len(kept) == len(there):
            return
        text = tr(
            "document {external_id}: a relation at {address} was removed together with its mention",
            external_id=self._item.document.external_id,
            address=unit.address,
        )
        self._problems.append(Problem(0, "note", text))
        for place, column in enumerate(layer.columns):
            unit.cells[column] = (
                "|".join(cells[place] + (f"[{number}]" if number else "") for cells, number in kept) or tree.EMPTY
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
        where = mention_place(self._item.document.external_id, gold.mention.text)
        self._problems.append(left_out(gold, f"{where} {text}"))

    def _note(self, severity: str, gold: ExportMention, text: str) -> None:
        where = mention_place(self._item.document.external_id, gold.mention.text)
        self._problems.append(Problem(0, severity, f"{where} {text}"))
