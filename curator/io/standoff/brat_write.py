"""Write brat: a folder or a zip archive with a `.txt` and an `.ann` for each document.

* Unchanged annotations are written back byte for byte, in the same order.
* A changed decision replaces the `N` lines of its `T`; NIL is `NIL:NIL`, and an id without a prefix gets one that the
  reader removes. The line of a moved or retyped mention is rewritten with the same key.
* The notes, attributes, normalisations and relations of a deleted or rejected mention are removed too, which is noted.
* A relation that a curator deleted is removed with everything about it; new ones are appended as `R` lines.
* New mentions are appended. A span that crosses line breaks is written as fragments, as in brat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from curator.domain.documents import SourceFile
from curator.domain.relations import RelationKind
from curator.domain.wording import tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.anchoring import broken, quoted
from curator.io.files.attributes import BINARY, AttributeNames
from curator.io.files.export import Action, action_for
from curator.io.files.identifiers import NIL, read_id
from curator.io.files.reading import mention_place
from curator.io.files.relations import relations_for
from curator.io.files.source import BOM, line_end, split_lines, without_line_end
from curator.io.standoff.brat_relations import relation_line
from curator.io.standoff.standoff import extra_of, write_documents
from curator.services.ports.files import ExportDocument, ExportMention, Problem

_KEY = re.compile(r"([A-Z#])(\d{1,18})\t")
_ABOUT = re.compile(r"([NAMR#]\S*|\*)\t(\S+)((?: [^\t\r\n]*)?)")
_ATTRIBUTE = re.compile(r"[AM]\S*\t(\S+) (\S+)(?: (\S+))?[ \t]*")
ATTRIBUTES = AttributeNames("brat")
_NIL_REFERENCE = f"{NIL}:{NIL}"


def write_files(
    files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path, problems: list[Problem]
) -> list[Path]:
    """Write into the folder `out`, or the archive if it ends with `.zip`. On a UserError nothing is changed."""
    chosen = [(file, _FileWriter(file, problems), documents) for file, documents in files]
    return write_documents(chosen, out, problems)


class _FileWriter:
    """See `standoff.Documents`."""

    def __init__(self, file: SourceFile, problems: list[Problem]) -> None:
        self._file = file
        self._own = file.format == "brat"
        self._problems = problems
        self._extra: dict[str, Any] = extra_of(file, "brat")

    def pieces(self, item: ExportDocument, name: str) -> Iterator[tuple[str, bytes]]:
        mark = BOM if item.document.external_id in self._extra.get("marked", ()) else ""
        yield f"{name}.txt", (mark + item.document.text).encode("utf-8", "surrogatepass")
        edited = Annotations(item, self._file, self._problems, raw=item.raw if self._own else "")
        edited.apply()
        for ending, text in edited.files(self._extra.get("parts", {}).get(item.document.external_id, [(".ann", -1)])):
            yield name + ending, text.encode("utf-8", "surrogatepass")

    def rest(self) -> Iterator[tuple[str, bytes]]:
        for name, text in self._extra.get("others", {}).items():
            yield name, text.encode("utf-8")


class Annotations:
    """The lines of one document's annotations while they are edited."""

    def __init__(self, item: ExportDocument, file: SourceFile, problems: list[Problem], *, raw: str) -> None:
        self._item = item
        self._file = file
        self._problems = problems
        self._spelling = Spelling(item, file, "brat", usual=_NIL_REFERENCE)
        self._raw = raw
        self._lines: list[str | None] = list(split_lines(raw))
        self._ending = line_end(raw) if raw else "\n"
        self._added: dict[int, list[str]] = {}  # new lines by the line that they follow; -1: at the end
        self._next = {letter: self._highest(letter) + 1 for letter in "TNAR"}
        self._keys: dict[int, str] = {}  # of the mentions that are in the file
        self._about = _lines_about(self._lines)
        self._changed = False

    def apply(self) -> None:
        """Update the lines to the document's current mentions and decisions."""
        gone = {self._key(record) for record in self._item.removed_records}
        for gold in sorted(self._item.mentions, key=lambda g: g.mention.spans):
            action = action_for(gold, self._item.document.external_id, self._problems)
            known = gold.mention.record >= 0 and bool(self._raw)
            if action is Action.DROP:
                gone |= {self._key(gold.mention.record)} if known else set()
                continue
            if known:
                self._keys[gold.mention.id] = self._key(gold.mention.record)
            if not known:
                self._append(gold)
            elif action is not Action.KEEP:
                self._edit(gold, action)
            if known and gold.attributes:
                self._attribute(self._key(gold.mention.record), gold)
        gone |= set(self._item.removed_relations) if self._raw else set()
        if gone:
            self._remove(gone)
        self._relate()

    def files(self, parts: list[tuple[str, int]]) -> Iterator[tuple[str, str]]:
        """The annotation files' endings and texts: `parts` gives endings and numbers of lines; the last file gets all
        remaining lines. A document without annotation files gets one if there are annotations."""
        parts = parts or ([(".ann", -1)] if self._changed else [])
        if not self._changed and len(parts) == 1:
            yield parts[0][0], self._raw
            return
        at = 0
        for number, (ending, size) in enumerate(parts):
            last = number == len(parts) - 1
            to = len(self._lines) if last else at + size
            yield ending, self._text(at, to, last=last)
            at = to

    def _text(self, start: int, end: int, *, last: bool) -> str:
        lines: list[str] = []
        for index in range(start, end):
            line = self._lines[index]
            lines += [line] if line is not None else []
            lines += self._added.get(index, [])
        lines += self._added.get(-1, []) if last else []
        whole = [line if line.endswith("\n") else line + self._ending for line in lines[:-1]]
        return "".join([*whole, *lines[-1:]])

    # --- one mention ---

    def _edit(self, gold: ExportMention, action: Action) -> None:
        record = gold.mention.record
        key, old = self._key(record), self._lines[record] or ""
        if gold.reshaped:
            self._lines[record] = self._entity(key, gold) + old[len(without_line_end(old)) :]
            self._changed = True
        if action is Action.WRITE:
            self._refer(key, gold, record)

    def _relate(self) -> None:
        wanted = relations_for(
            self._item,
            self._problems,
            own=bool(self._raw),
            kinds=(RelationKind.MENTIONS,),
            written=self._keys,
            title="brat",
        )
        for one in wanted:
            line = relation_line(f"R{self._take('R')}", one, self._keys)
            self._added.setdefault(-1, []).append(line + self._ending)
            self._changed = True

    def _append(self, gold: ExportMention) -> None:
        key = self._keys[gold.mention.id] = f"T{self._take('T')}"
        self._added.setdefault(-1, []).append(self._entity(key, gold) + self._ending)
        self._changed = True
        ids = stated_ids(gold, self._item, self._file)
        for reference in [] if ids is None else self._spelling.ids(ids, prefixed=True):
            self._added[-1].append(self._reference(key, reference))
        self._attribute(key, gold)

    def _attribute(self, key: str, gold: ExportMention) -> None:
        """Update the project's attributes to their current values; lines that are already right do not change."""
        places = self._about.get(key, [])
        lines = [self._lines[index] for index in places]
        stated = [(places[at], name, value) for at, name, about, value in attributes_of(lines) if about == key]
        changes = ATTRIBUTES.changes(gold, {name: value for _, name, value in reversed(stated)}, self._problems)
        for index, name, _ in stated:
            if name in changes:
                self._lines[index], self._changed = None, True
        added = [
            f"A{self._take('A')}\t{_word(name)} {key}{'' if value == BINARY else f' {_word(value)}'}{self._ending}"
            for name, value in changes.items()
            if value is not None
        ]
        if added:
            self._added.setdefault(-1, []).extend(added)
            self._changed = True

    def _entity(self, key: str, gold: ExportMention) -> str:
        ranges = broken(gold.mention.spans, self._item.document.text)
        places = ";".join(f"{start} {end}" for start, end in ranges)
        kind = re.sub(r"\s", "_", gold.mention.type) or "Entity"
        if kind != gold.mention.type:
            self._note(
                "repaired", gold, tr("its type {type!r} was written as {kind}", type=gold.mention.type, kind=kind)
            )
        return f"{key}\t{kind} {places}\t{quoted(ranges, self._item.document.text)}"

    def _refer(self, key: str, gold: ExportMention, record: int) -> None:
        """Write the given normalisations: existing ones stay, with their names."""
        wanted = self._spelling.ids(stated_ids(gold, self._item, self._file) or (), prefixed=True)
        there = [i for i in self._about.get(key, []) if (line := self._lines[i]) is not None and _refers(line, key)]
        for index in there:
            reference = _reference_of(self._lines[index] or "")
            same = next((one for one in wanted if read_id(one) == read_id(reference)), None)
            if same is None:
                self._lines[index], self._changed = None, True
            else:
                wanted.remove(same)
        if wanted:
            place = there[-1] if there else record
            self._added.setdefault(place, []).extend(self._reference(key, one) for one in wanted)
            self._changed = True

    def _reference(self, key: str, reference: str) -> str:
        return f"N{self._take('N')}\tReference {key} {reference}\t{self._ending}"

    # --- what goes with a mention ---

    def _remove(self, gone: set[str]) -> None:
        """Remove the lines of these keys, and repeatedly the lines that depend on them."""
        self._changed = True
        while gone:
            needed: set[str] = set()
            for index, line in enumerate(self._lines):
                if line is None:
                    continue
                key = line.partition("\t")[0]
                if key in gone or (key != "*" and _needs(line, gone)):
                    self._noted_removal(key, gone)
                    needed |= {key} - gone
                    self._lines[index] = None
                else:
                    self._lines[index] = _without(line, gone)
            gone = needed

    def _noted_removal(self, key: str, gone: set[str]) -> None:
        if key not in gone and key.startswith(("R", "A", "M", "#")):
            text = tr(
                "document {external_id}: {key} was removed together with the annotation it refers to",
                external_id=self._item.document.external_id,
                key=key,
            )
            self._problems.append(Problem(0, "note", text))

    def _key(self, record: int) -> str:
        return (self._lines[record] or "").removeprefix("\ufeff").partition("\t")[0]

    def _highest(self, letter: str) -> int:
        numbers = (_KEY.match(line or "") for line in self._lines)
        return max((int(one[2]) for one in numbers if one and one[1] == letter), default=0)

    def _take(self, letter: str) -> int:
        number = self._next[letter]
        self._next[letter] = number + 1
        return number

    def _note(self, severity: str, gold: ExportMention, text: str) -> None:
        where = mention_place(self._item.document.external_id, gold.mention.text)
        self._problems.append(Problem(0, severity, f"{where}: {text}"))


def attributes_of(lines: Iterable[str | None]) -> Iterator[tuple[int, str, str, str]]:
    """(line, name, key of its annotation, value) of the attributes; binary attributes have the value `BINARY`."""
    for index, line in enumerate(lines):
        if line is not None and (found := _ATTRIBUTE.fullmatch(without_line_end(line))):
            yield index, found[1], found[2], found[3] or BINARY


def _lines_about(lines: Sequence[str | None]) -> dict[str, list[int]]:
    """The normalisations and attributes of each key. Lines are only removed from it, one by one."""
    found: dict[str, list[int]] = {}
    for index, _, about, _ in attributes_of(lines):
        found.setdefault(about, []).append(index)
    for index, line in enumerate(lines):
        if line is not None and line.startswith("N"):
            for key in line.partition("\t")[2].split(" ", 2)[1:2]:
                found.setdefault(key, []).append(index)
    return {key: sorted(set(places)) for key, places in found.items()}


def _word(text: str) -> str:
    """Brat's form of names and values, without white space."""
    return re.sub(r"\s", "_", text)


def _refers(line: str, key: str) -> bool:
    return line.startswith("N") and line.partition("\t")[2].split(" ", 2)[1:2] == [key]


def _reference_of(line: str) -> str:
    return without_line_end(line).split("\t")[1].split(" ", 2)[-1]


def _needs(line: str, gone: set[str]) -> bool:
    """Whether a note, an attribute, a normalisation or a relation is about one of these."""
    found = _ABOUT.match(line)
    if found is None:
        return False
    return any(word.rpartition(":")[2] in gone for word in found[3].split()[: 2 if line.startswith("R") else 1])


def _without(line: str, gone: set[str]) -> str | None:
    """An event without the removed arguments; an equivalence without them, or None if fewer than two remain."""
    body = without_line_end(line)
    key, tab, rest = body.partition("\t")
    if not (key == "*" or key.startswith("E")) or not tab:
        return line
    words = rest.split(" ")
    kept = [words[0], *(word for word in words[1:] if word.rpartition(":")[2] not in gone)]
    if kept == words:
        return line
    if key == "*" and len(kept) < 3:
        return None
    return f"{key}\t{' '.join(kept)}{line[len(body) :]}"
