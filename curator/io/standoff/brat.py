"""brat: a folder or a zip archive of `NAME.txt` with `NAME.ann`, or with BioNLP's `NAME.a1` and `NAME.a2`.

The text is the file's, including line ends, since offsets count its code points. Entities (`T`) are mentions, triggers
of events are not. Normalisations (`N`) are their identifiers, with the database's name before the first colon.
Everything else (relations, events, attributes, notes) stays in the record and is written back. `SourceMention.record`
is the line of the `T` in the record, which is the concatenated text of the annotation files.

Relations of brat: `R` lines with two arguments, events (`E`) and equivalences (`*`).

Write brat: a folder or a zip archive with a `.txt` and an `.ann` for each document.

* Unchanged annotations are written back byte for byte, in the same order.
* A changed decision replaces the `N` lines of its `T`; NIL is `NIL:NIL`, and an id without a prefix gets one that the
  reader removes. The line of a moved or retyped mention is rewritten with the same key.
* The notes, attributes, normalisations and relations of a deleted or rejected mention are removed too, which is noted.
* A relation that a curator deleted is removed with everything about it; new ones are appended as `R` lines.
* New mentions are appended. A span that crosses line breaks is written as fragments, as in brat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from curator.domain.documents import SourceDocument, SourceFile, SourceMention
from curator.domain.relations import Relation, SourceEnd, SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.anchoring import Range, broken, quoted, same_text
from curator.io.files.attributes import BINARY, AttributeNames
from curator.io.files.editing import DocumentEdit
from curator.io.files.export import Action, DocumentWriter, WrittenSource, extra_of, write_documents
from curator.io.files.format import Format
from curator.io.files.idstyle import NIL, read_id
from curator.io.files.reading import FilesReader, Placing, Reader, first_line, plain_passages, stated_mention
from curator.io.files.relations import roles_of, unique_keys
from curator.io.files.report import Report
from curator.io.files.source import (
    BOM,
    Files,
    Source,
    chosen_files,
    holds_many,
    line_end,
    member_of,
    open_files,
    split_lines,
    without_line_end,
)
from curator.services.ports.files import Carries, ExportDocument, ExportMention

_RELATION = re.compile(r"(R\S*)\t(\S+)((?: \S+:\S+)+)\s*")
_EVENT = re.compile(r"(E\S*)\t([^\s:]+):(T\S+)((?: [^\s:]+:\S+)*)\s*")
_EQUAL = re.compile(r"\*\t(\S+)((?: T\S+)+)\s*")
_TEXT = re.compile(r"(T\S+)\t\S+ [^\t]*(?:\t(.*))?", re.DOTALL)
_ROLE = re.compile(r"[\s:]")
TRIGGER = "trigger"


def relations_of(raw: str) -> list[SourceRelation]:
    """The relations of a document's annotations, in their order."""
    lines = [without_line_end(line).removeprefix(BOM) for line in split_lines(raw)]
    texts, records = dict[str, str](), dict[str, int]()
    for record, line in enumerate(lines):
        if entity := _TEXT.fullmatch(line):
            records.setdefault(entity[1], record)
            texts.setdefault(entity[1], entity[2] or "")
    triggers = {found[3] for line in lines if (found := _EVENT.fullmatch(line))}
    for one in triggers:
        records.pop(one, None)
    made = [one for line in lines if (one := _relation(line, records, texts)) is not None]
    keys = unique_keys([one.key for one in made])
    return [SourceRelation(key, one.type, one.ends, one.fixed) for key, one in zip(keys, made, strict=True)]


def _relation(line: str, records: Mapping[str, int], texts: Mapping[str, str]) -> SourceRelation | None:
    if found := _RELATION.fullmatch(line):
        ends = _ends(found[3].split(), records)
        plain = len(ends) == 2 and all(one.record >= 0 for one in ends)
        return SourceRelation(found[1], found[2], ends, fixed=not plain)
    if found := _EVENT.fullmatch(line):
        trigger = SourceEnd(TRIGGER, name=texts.get(found[3], found[3]))
        return SourceRelation(found[1], found[2], (trigger, *_ends(found[4].split(), records)), fixed=True)
    if found := _EQUAL.fullmatch(line):
        ends = _ends([f":{one}" for one in found[2].split()], records)
        return SourceRelation(" ".join([found[1], *found[2].split()]), found[1], ends, fixed=True)
    return None


def _ends(words: Sequence[str], records: Mapping[str, int]) -> tuple[SourceEnd, ...]:
    """The ends from `Role:Key` words."""
    pairs = [word.partition(":") for word in words]
    return tuple(
        SourceEnd(role, records[key]) if key in records else SourceEnd(role, name=key) for role, _, key in pairs
    )


def relation_line(key: str, relation: Relation, lines: Mapping[int, _Line]) -> str:
    """The line of a curator's relation, without its end. `lines` are those of the mentions."""
    ends = zip(roles_of(relation), relation.mention_ids, strict=True)
    words = " ".join(f"{_ROLE.sub('_', role)}:{lines[mention].key}" for role, mention in ends)
    return f"{key}\t{_word(relation.type)} {words}\t"


ENDINGS = (".ann", ".a1", ".a2")

_ENTITY = re.compile(r"(T[^\s]+)\t(\S+) (-?\d+ -?\d+(?:;-?\d+ -?\d+)*)(?:\t(.*))?", re.DOTALL)
_REFERENCE = re.compile(r"N[^\s]+\t\S+ (T[^\s]+) ([^\s:]+):(.*?)(?:\t.*)?", re.DOTALL)
_TRIGGER = re.compile(r"E[^\s]+\t[^\s:]+:(T[^\s]+)")
_OTHER_LINE = re.compile(r"^(?:[AMW#][\w.-]*)\t", re.MULTILINE)  # neither entity, normalisation nor relation
_NOTE = re.compile(r"#[\w.-]*\t(\S+) (T[\w.-]*)\t(.*)")
_LINE = re.compile(rb"([TREAMNW][\w.-]*|#[\w.-]*|\*)\t\S")
_CORPUS = re.compile(rb"\s*(?:[^\s|]{1,40}\|[ta]\||PMID ?- )")
"""The beginnings of PubTator and MEDLINE files."""
_FIRST = re.compile(rb"\s*T[\w.-]+\t\S+ -?\d+ -?\d+")


@dataclass(slots=True)
class _Annotations:
    """The lines of a document's annotation files, and their data about each `T`."""

    lines: list[str]
    references: dict[str, list[str]] = field(default_factory=dict)
    triggers: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, raw: str) -> _Annotations:
        found = cls(split_lines(raw))
        for line in map(_bare, found.lines):
            if reference := _REFERENCE.fullmatch(line):
                found.references.setdefault(reference[1], []).append(f"{reference[2]}:{reference[3]}")
            elif trigger := _TRIGGER.match(line):
                found.triggers.add(trigger[1])
        return found

    def stated(self) -> Iterator[tuple[list[Range], str]]:
        """The offsets and quoted texts of mentions with a quote."""
        for line in self.lines:
            entity = _ENTITY.fullmatch(_bare(line))
            if entity is not None and entity[1] not in self.triggers and entity[4] is not None:
                yield _ranges(entity[3]), entity[4]


class BratReader(FilesReader):
    """Yields the documents in the order of their names, which are also their ids."""

    format = "brat"
    none = "{path} contains no readable brat document: no .txt with its .ann"

    def documents(self) -> Iterator[SourceDocument]:
        self._marked = list[str]()  # texts with a byte-order mark that offsets do not count
        self._parts: dict[str, list[tuple[str, int]]] = {}
        names = _documents(self.files)
        used = [one for parts in names.values() for one in parts]
        for name in self.files.with_suffix(*ENDINGS):
            if name not in used:
                used.append(name)
                self.problems.set_aside(tr("{name}: the text {stem}.txt is missing", name=name, stem=_stem(name)))
        others = self.others(used)
        for stem, members in names.items():
            if (document := self._document(stem, members)) is not None:
                yield document
        content = {"parts": self._parts, "others": others, "marked": self._marked}
        self.extra = json.dumps({key: value for key, value in content.items() if value}, ensure_ascii=False)

    def _document(self, stem: str, members: list[str]) -> SourceDocument | None:
        text = self.text(members[0])
        contents = [(name, self.text(name)) for name in members[1:]]
        if text is None:
            return None
        raw, kept = "", []
        for name, content in contents:
            content = content or ""
            raw += "\n" if raw and not raw.endswith("\n") else ""  # the next file's lines begin on a line of their own
            raw += content
            kept.append((name[len(stem) :], len(split_lines(content))))
        if [ending for ending, _ in kept] != [".ann"]:
            self._parts[stem] = kept
        found = _Annotations.of(raw)
        if text.startswith(BOM) and not _counts_mark(text, found):
            text = text.removeprefix(BOM)
            self._marked.append(stem)
        placing = Placing(text, (), self.problems, stem)
        placing.learn(found.stated())
        mentions = [
            mention
            for record, line in enumerate(found.lines)
            if line.removeprefix(BOM).startswith("T") and (mention := self._mention(stem, record, found, placing))
        ]
        title = first_line(text).removeprefix(BOM)
        return SourceDocument(stem, title, text, plain_passages(text), tuple(mentions), raw, 1)

    def _mention(self, stem: str, record: int, found: _Annotations, placing: Placing) -> SourceMention | None:
        """The mention of a `T`; None for triggers, and for lines skipped with a problem."""
        line = _bare(found.lines[record])
        entity = _ENTITY.fullmatch(line)
        if entity is None:
            words = "{stem}.ann: not in the form `T1<tab>Type start end<tab>text`: {line}"
            self.problems.set_aside(tr(words, stem=stem, line=line[:80]), record + 1)
            return None
        key, kind, ranges, quote = entity[1], entity[2], _ranges(entity[3]), entity[4]
        if key in found.triggers:
            return None
        where = tr('{stem}.ann: "{quote}" at {entity}', stem=stem, quote=(quote or "")[:80], entity=entity[3])
        spans = placing.find(ranges, quoted(ranges, placing.text) if quote is None else quote, where, record + 1)
        stated = found.references.get(key, [])
        return stated_mention(placing.text, spans, kind, stated, record) if spans else None


def _documents(files: Files) -> dict[str, list[str]]:
    """The files of each document, the text first, by the text's name without its ending. Texts without annotations are
    documents if other texts have annotations, unless they are a corpus of another format."""
    names = {_stem(name): [name] for name in files.with_suffix(".txt")}
    for ending in ENDINGS:
        for name in files.with_suffix(ending):
            if _stem(name) in names:
                names[_stem(name)].append(name)
    annotated = {stem.rpartition("/")[0] for stem, found in names.items() if len(found) > 1}
    bare = {stem for stem, found in names.items() if len(found) == 1 and stem.rpartition("/")[0] in annotated}
    others = {stem for stem in bare if _CORPUS.match(files.head(names[stem][0]))}
    return {stem: found for stem, found in names.items() if len(found) > 1 or stem in bare - others}


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _bare(line: str) -> str:
    """The line without its end and without a byte-order mark."""
    return without_line_end(line).removeprefix(BOM)


def _ranges(text: str) -> list[Range]:
    pairs = [part.split(" ") for part in text.split(";")]
    return [(int(start[:18]), int(end[:18])) for start, end in pairs]


def _counts_mark(text: str, found: _Annotations) -> bool:
    """Whether offsets count the text's byte-order mark: at least as many quotes match this way."""
    stated = list(found.stated())
    with_it, without = (
        sum(same_text(quoted(ranges, one), quote) for ranges, quote in stated) for one in (text, text.removeprefix(BOM))
    )
    return with_it >= without


_KEY = re.compile(r"([A-Z#])(\d{1,18})\t")
_ABOUT = re.compile(r"([NAMR#]\S*|\*)\t(\S+)((?: [^\t\r\n]*)?)")
_ATTRIBUTE = re.compile(r"[AM]\S*\t(\S+) (\S+)(?: (\S+))?[ \t]*")
_NIL_REFERENCE = f"{NIL}:{NIL}"


class _FileWriter(DocumentWriter):
    @cached_property
    def _extra(self) -> dict[str, Any]:
        return extra_of(self.file, "brat")

    def pieces(self, item: ExportDocument, name: str) -> Iterator[tuple[str, bytes]]:
        mark = BOM if item.document.external_id in self._extra.get("marked", ()) else ""
        yield f"{name}.txt", (mark + item.document.text).encode("utf-8", "surrogatepass")
        edit = _Edit(item, self.file, self.problems)
        edit.run()
        for ending, text in edit.files(self._extra.get("parts", {}).get(item.document.external_id, [(".ann", -1)])):
            yield name + ending, text.encode("utf-8", "surrogatepass")

    def rest(self) -> Iterator[tuple[str, bytes]]:
        return ((name, text.encode("utf-8")) for name, text in self._extra.get("others", {}).items())


class _Line(NamedTuple):
    """The line of a mention: its key, and its place in the record, -1 for a new one."""

    key: str
    record: int = -1


class _Edit(DocumentEdit[_Line]):
    """The lines of one document's annotations while they are edited."""

    title = "brat"
    names = AttributeNames("brat")

    def __init__(self, item: ExportDocument, file: SourceFile, problems: Report) -> None:
        super().__init__(item, file, problems, own=file.format == "brat" and bool(item.raw))
        self._raw = item.raw if self.own else ""
        self._spelling = Spelling(item, file, "brat", usual=_NIL_REFERENCE)
        self._lines: list[str | None] = list(split_lines(self._raw))
        self._ending = line_end(self._raw) if self._raw else "\n"
        self._added: dict[int, list[str]] = {}  # new lines by the line that they follow; -1: at the end
        self._next = {letter: self._highest(letter) + 1 for letter in "TNAR"}
        self._about = _lines_about(self._lines)

    def files(self, parts: list[tuple[str, int]]) -> Iterator[tuple[str, str]]:
        """The annotation files' endings and texts: `parts` gives endings and numbers of lines; the last file gets all
        remaining lines. A document without annotation files gets one if there are annotations."""
        parts = parts or ([(".ann", -1)] if self.changed else [])
        if not self.changed and len(parts) == 1:
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

    def part(self, record: int) -> _Line:
        return _Line((self._lines[record] or "").removeprefix(BOM).partition("\t")[0], record)

    def edit(self, part: _Line, gold: ExportMention, action: Action) -> bool:
        old = self._lines[part.record] or ""
        if gold.reshaped:
            self._lines[part.record] = self._entity(part.key, gold) + old[len(without_line_end(old)) :]
            self.changed = True
        if action is Action.WRITE:
            self._refer(part, gold)
        return True

    def add(self, gold: ExportMention) -> _Line:
        key = f"T{self._take('T')}"
        self._append(self._entity(key, gold))
        ids = stated_ids(gold, self.item, self.file)
        for reference in [] if ids is None else self._spelling.ids(ids, prefixed=True):
            self._append(self._reference(key, reference))
        return _Line(key)

    def held(self, part: _Line) -> dict[str, str]:
        return {name: value for _, name, value in reversed(self._attributes(part))}

    def set_attribute(self, part: _Line, name: str, value: str | None) -> None:
        for index, there, _ in self._attributes(part):
            if there == name:
                self._lines[index] = None
        if value is not None:
            said = "" if value == BINARY else f" {_word(value)}"
            self._append(f"A{self._take('A')}\t{_word(name)} {part.key}{said}")

    def _attributes(self, part: _Line) -> list[tuple[int, str, str]]:
        """(line, name, value) of a mention's attributes in the record."""
        places = self._about.get(part.key, [])
        found = attributes_of([self._lines[index] for index in places])
        return [(places[at], name, value) for at, name, about, value in found if about == part.key]

    def relate(self, relation: Relation) -> None:
        self._append(relation_line(f"R{self._take('R')}", relation, self.parts))

    def _append(self, line: str) -> None:
        self._added.setdefault(-1, []).append(line + self._ending)
        self.changed = True

    def _entity(self, key: str, gold: ExportMention) -> str:
        ranges = broken(gold.mention.spans, self.item.document.text)
        places = ";".join(f"{start} {end}" for start, end in ranges)
        kind = _word(gold.mention.type) or "Entity"
        if kind != gold.mention.type:
            words = tr("its type {type!r} was written as {kind}", type=gold.mention.type, kind=kind)
            self.problems.repaired(f"{self.where(gold)}: {words}")
        return f"{key}\t{kind} {places}\t{quoted(ranges, self.item.document.text)}"

    def _refer(self, part: _Line, gold: ExportMention) -> None:
        """Write the given normalisations: existing ones stay, with their names."""
        wanted = self._spelling.ids(stated_ids(gold, self.item, self.file) or (), prefixed=True)
        places = self._about.get(part.key, [])
        there = [i for i in places if (line := self._lines[i]) is not None and _refers(line, part.key)]
        for index in there:
            reference = without_line_end(self._lines[index] or "").split("\t")[1].split(" ", 2)[-1]
            same = next((one for one in wanted if read_id(one) == read_id(reference)), None)
            if same is None:
                self._lines[index], self.changed = None, True
            else:
                wanted.remove(same)
        if wanted:
            new = [self._reference(part.key, one) + self._ending for one in wanted]
            self._added.setdefault(there[-1] if there else part.record, []).extend(new)
            self.changed = True

    def _reference(self, key: str, reference: str) -> str:
        return f"N{self._take('N')}\tReference {key} {reference}\t"

    # --- what goes with a mention ---

    def remove(self, gone: list[_Line]) -> None:
        self._remove({one.key for one in gone})

    def unrelate(self, keys: frozenset[str]) -> None:
        self.changed = True
        self._remove({*keys})

    def _remove(self, gone: set[str]) -> None:
        """Remove the lines of these keys, and repeatedly the lines that depend on them."""
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
            words = "document {external_id}: {key} was removed together with the annotation it refers to"
            self.problems.note(tr(words, external_id=self.item.document.external_id, key=key))

    def _highest(self, letter: str) -> int:
        numbers = (_KEY.match(line or "") for line in self._lines)
        return max((int(one[2]) for one in numbers if one and one[1] == letter), default=0)

    def _take(self, letter: str) -> int:
        number = self._next[letter]
        self._next[letter] = number + 1
        return number


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


class BratFormat(Format):
    name = "brat"
    title = "brat standoff (folder or zip)"
    refusal = "{path} is not brat: no .txt with an .ann file of the same name; choose another format"
    reader = BratReader
    carries = Carries(
        mentions=True, discontinuous=True, several_ids=True, nil=True, relations=True, attributes=True, own_fields=True
    )
    takes_folders = True

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a file of a document, the text or annotations."""
        if path.name.lower().endswith(ENDINGS):
            return _FIRST.match(head) is not None and bool(self.around(path).with_suffix(".txt"))
        return path.suffix.lower() == ".txt" and self.sniff_files(self.around(path))

    def sniff_files(self, files: Files) -> bool:
        """Whether most annotation files of texts have this form: a single one is not enough."""
        texts = {_stem(name) for name in files.with_suffix(".txt")}
        annotated = [name for name in files.with_suffix(*ENDINGS) if _stem(name) in texts]
        heads = [files.head(name).lstrip() for name in annotated[:20]]
        known = sum(_LINE.match(head) is not None for head in heads if head)
        return bool(annotated) and known * 2 >= sum(map(bool, heads))

    def reads(self, files: Files) -> Sequence[str]:
        """Including annotations without a text, which the reader reports."""
        read = [name for members in _documents(files).values() for name in members]
        return list(dict.fromkeys([*read, *files.with_suffix(*ENDINGS)]))

    def main_file(self, path: Path) -> Path:
        """The text file, which also represents its annotation files."""
        texts = self.around(path).with_suffix(".txt")
        return path.with_name(texts[0]) if texts else path

    def lacks(self, path: Path, head: bytes) -> str:
        if not path.name.lower().endswith(ENDINGS) or _FIRST.match(head) is None:
            return ""
        words = "{path} contains brat annotations, but its text {text} is missing"
        return tr(words, path=path, text=f"{path.stem}.txt")

    def open(self, path: Path) -> Reader:
        if not holds_many(path):
            Source(path).head()
        files = open_files(path) if holds_many(path) else self.around(path)
        if not self.sniff_files(files):
            raise UserError(tr(self.refusal, path=path))
        return BratReader(files)

    def around(self, path: Path) -> Files:
        """The text and the annotations of the file `path`, which may be in an archive."""
        endings = (".txt", *ENDINGS)
        if (inside := member_of(path)) is not None:
            archive, name = inside
            return open_files(archive).beside(path, [_stem(name) + ending for ending in endings])
        beside = [path.with_suffix(ending) for ending in endings]
        names = [one.name for one in beside if one.is_file()]
        return chosen_files(path.parent, names or [path.name], path=path)

    def holds_more(self, raw: str) -> bool:
        return _OTHER_LINE.search(raw) is not None

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        keys = {_bare(line).partition("\t")[0]: at for at, line in enumerate(split_lines(raw)) if "\t" in line}
        found: dict[int, dict[str, str]] = {}
        for _, name, key, value in attributes_of(split_lines(raw)):
            if key.startswith("T") and key in keys:
                found.setdefault(keys[key], {}).setdefault(name, value)
        return found

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """The notes."""
        lines = [_bare(line) for line in split_lines(raw)]
        keys = {line.partition("\t")[0]: at for at, line in enumerate(lines) if line.startswith("T")}
        notes = (found.groups() for line in lines if (found := _NOTE.fullmatch(line)) and found[2] in keys)
        by_mention: dict[int, dict[str, str]] = {}
        for name, mention, text in notes:
            fields = by_mention.setdefault(keys[mention], {})
            fields[name] = f"{fields.get(name, '')} {text}"
        return by_mention

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG002
        return relations_of(raw)

    def written(self, files: Sequence[WrittenSource], out: Path) -> list[Path]:
        return write_documents([(_FileWriter(file, self.problems), one) for file, one in files], out, self.problems)
