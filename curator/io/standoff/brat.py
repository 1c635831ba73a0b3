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

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curator.domain.documents import SourceDocument, SourceFile, SourceMention
from curator.domain.relations import Relation, RelationKind, SourceEnd, SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.anchoring import Anchors, Range, broken, find_place, learn, quoted, same_text
from curator.io.files.archives import Files, chosen_files, holds_many, member_of, open_files
from curator.io.files.attributes import BINARY, AttributeNames
from curator.io.files.export import Action, action_for
from curator.io.files.idstyle import NIL, read_id, read_ids
from curator.io.files.reading import mention_place
from curator.io.files.relations import relations_for, roles_of, unique_keys
from curator.io.files.source import BOM, Source, line_end, split_lines, without_line_end
from curator.io.standoff.standoff import FilesReader, extra_of, first_line, plain_passages, write_documents
from curator.services.ports.files import Carries, ExportDocument, ExportMention, Problem

_RELATION = re.compile(r"(R\S*)\t(\S+)((?: \S+:\S+)+)\s*")
_EVENT = re.compile(r"(E\S*)\t([^\s:]+):(T\S+)((?: [^\s:]+:\S+)*)\s*")
_EQUAL = re.compile(r"\*\t(\S+)((?: T\S+)+)\s*")
_TEXT = re.compile(r"(T\S+)\t\S+ [^\t]*(?:\t(.*))?", re.DOTALL)
_ROLE = re.compile(r"[\s:]")
TRIGGER = "trigger"


def relations_of(raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG001 as every format's
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


def relation_line(key: str, relation: Relation, keys: Mapping[int, str]) -> str:
    """The line of a curator's relation, without its end. `keys` are those of the mentions."""
    ends = zip(roles_of(relation), relation.mention_ids, strict=True)
    words = " ".join(f"{_ROLE.sub('_', role)}:{keys[mention]}" for role, mention in ends)
    return f"{key}\t{relation_type(relation)} {words}\t"


def relation_type(relation: Relation) -> str:
    """The type in a form that brat allows."""
    return re.sub(r"\s", "_", relation.type)


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

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        self._marked = list[str]()  # texts with a byte-order mark that offsets do not count
        names = _documents(self._files)
        used = [one for parts in names.values() for one in parts]
        for name in self._files.with_suffix(*ENDINGS):
            if name not in used:
                used.append(name)
                self._problem(0, "set aside", tr("{name}: the text {stem}.txt is missing", name=name, stem=_stem(name)))
        others = self._others(self._files.names, used)
        found = 0
        parts: dict[str, list[tuple[str, int]]] = {}
        for stem, members in names.items():
            document = self._document(stem, members, parts)
            if document is not None:
                found += 1
                yield document
        if not found:
            raise UserError(
                tr("{path} contains no readable brat document: no .txt with its .ann", path=self._files.path)
            )
        self.extra = _dump(parts, others, self._marked)

    def _document(
        self, stem: str, members: list[str], parts: dict[str, list[tuple[str, int]]]
    ) -> SourceDocument | None:
        text = self._text(members[0])
        contents = [(name, self._text(name)) for name in members[1:]]
        if text is None:
            return None
        raw, kept = "", []
        for name, content in contents:
            content = content or ""
            raw += "\n" if raw and not raw.endswith("\n") else ""  # the next file's lines begin on a line of their own
            raw += content
            kept.append((name[len(stem) :], len(split_lines(content))))
        if [ending for ending, _ in kept] != [".ann"]:
            parts[stem] = kept
        found = _Annotations.of(raw)
        if text.startswith(BOM) and not _counts_mark(text, found):
            text = text.removeprefix(BOM)
            self._marked.append(stem)
        anchors = Anchors(text, ())
        if words := learn(anchors, found.stated()):
            self._problem(0, "note", tr("document {key}: {words}", key=stem, words=words))
        mentions = [
            mention
            for record, line in enumerate(found.lines)
            if line.removeprefix(BOM).startswith("T") and (mention := self._mention(stem, record, found, anchors, text))
        ]
        title = first_line(text).removeprefix(BOM)
        return SourceDocument(stem, title, text, plain_passages(text), tuple(mentions), raw, 1)

    def _mention(
        self, stem: str, record: int, found: _Annotations, anchors: Anchors, text: str
    ) -> SourceMention | None:
        """The mention of a `T`; None for triggers, and for lines skipped with a problem."""
        line = _bare(found.lines[record])
        entity = _ENTITY.fullmatch(line)
        if entity is None:
            self._problem(
                record + 1,
                "set aside",
                tr("{stem}.ann: not in the form `T1<tab>Type start end<tab>text`: {line}", stem=stem, line=line[:80]),
            )
            return None
        key, kind, ranges, quote = entity[1], entity[2], _ranges(entity[3]), entity[4]
        if key in found.triggers:
            return None
        where = tr('{stem}.ann: "{quote}" at {entity}', stem=stem, quote=(quote or "")[:80], entity=entity[3])
        place = find_place(anchors, ranges, quoted(ranges, text) if quote is None else quote, text)
        if place is None:
            there = quoted([(s, e) for s, e in ranges if s >= 0], text)[:80]
            self._problem(
                record + 1,
                "set aside",
                tr(
                    '{where}: the text there is "{there}", and no other position is unambiguous',
                    where=where,
                    there=there,
                ),
            )
            return None
        if place.repair:
            self._problem(
                record + 1,
                "repaired",
                tr("{where}: {repair}; read as {words}", where=where, repair=place.repair, words=place.words),
            )
        stated = found.references.get(key, [])
        ids = read_ids(stated)
        words = " ".join(text[span.start : span.end] for span in place.spans)
        return SourceMention(place.spans, words, kind, ids, "|".join(stated), bool(stated) and not ids, record)


class BratFormat:
    """Reads and writes brat. `problems` lists data that the last `write` left out."""

    name = "brat"
    title = "brat standoff (folder or zip)"
    can_read = True
    can_write = True
    carries = Carries(
        mentions=True,
        discontinuous=True,
        several_ids=True,
        nil=True,
        relations=True,
        attributes=True,
        own_fields=True,
    )
    carries_people = False

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a file of a document, the text or annotations."""
        if path.name.lower().endswith(ENDINGS):
            return _FIRST.match(head) is not None and bool(_pair(path).with_suffix(".txt"))
        return path.suffix.lower() == ".txt" and self.sniff_files(_pair(path))

    def sniff_files(self, files: Files) -> bool:
        """Whether most annotation files of texts have this form: a single one is not enough."""
        texts = {_stem(name) for name in files.with_suffix(".txt")}
        annotated = [name for name in files.with_suffix(*ENDINGS) if _stem(name) in texts]
        heads = [files.head(name).lstrip() for name in annotated[:20]]
        known = sum(_LINE.match(head) is not None for head in heads if head)
        return bool(annotated) and known * 2 >= sum(map(bool, heads))

    def reads(self, files: Files) -> Sequence[str]:
        """The files to read, including annotations without a text, which the reader reports."""
        read = [name for members in _documents(files).values() for name in members]
        return list(dict.fromkeys([*read, *files.with_suffix(*ENDINGS)]))

    def main_file(self, path: Path) -> Path:
        """The text file, which also represents its annotation files."""
        texts = _pair(path).with_suffix(".txt")
        return path.with_name(texts[0]) if texts else path

    def lacks(self, path: Path, head: bytes) -> str:
        """Why annotations cannot be read; '' for any other file."""
        if not path.name.lower().endswith(ENDINGS) or _FIRST.match(head) is None:
            return ""
        return tr(
            "{path} contains brat annotations, but its text {text} is missing", path=path, text=f"{path.stem}.txt"
        )

    def open(self, path: Path) -> BratReader:
        """Raises UserError for a missing, unsafe or foreign source."""
        if not holds_many(path):
            Source(path).head()
        files = open_files(path) if holds_many(path) else _pair(path)
        if not self.sniff_files(files):
            raise UserError(
                tr("{path} is not brat: no .txt with an .ann file of the same name; choose another format", path=path)
            )
        return BratReader(files)

    def holds_more(self, raw: str) -> bool:
        return _OTHER_LINE.search(raw) is not None

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`. A binary attribute has the value "yes"."""
        keys = {_bare(line).partition("\t")[0]: at for at, line in enumerate(split_lines(raw)) if "\t" in line}
        found: dict[int, dict[str, str]] = {}
        for _, name, key, value in attributes_of(split_lines(raw)):
            if key.startswith("T") and key in keys:
                found.setdefault(keys[key], {}).setdefault(name, value)
        return found

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsFields`: notes."""
        lines = [_bare(line) for line in split_lines(raw)]
        keys = {line.partition("\t")[0]: at for at, line in enumerate(lines) if line.startswith("T")}
        notes = (found.groups() for line in lines if (found := _NOTE.fullmatch(line)) and found[2] in keys)
        by_mention: dict[int, dict[str, str]] = {}
        for name, mention, text in notes:
            fields = by_mention.setdefault(keys[mention], {})
            fields[name] = f"{fields.get(name, '')} {text}"
        return by_mention

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        return relations_of(raw, extra)

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `brat_write.write_files`."""
        self.problems = []
        return write_files(files, out, self.problems)


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


def _pair(path: Path) -> Files:
    """The text and the annotations of the file `path`, which may be in an archive."""
    endings = (".txt", *ENDINGS)
    if (inside := member_of(path)) is not None:
        archive, name = inside
        return open_files(archive).beside(path, [_stem(name) + ending for ending in endings])
    beside = [path.with_suffix(ending) for ending in endings]
    names = [one.name for one in beside if one.is_file()]
    return chosen_files(path.parent, names or [path.name], path=path)


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


def _dump(parts: dict[str, list[tuple[str, int]]], others: dict[str, str], marked: list[str]) -> str:
    import json

    content = {"parts": parts, "others": others, "marked": marked}
    return json.dumps({key: value for key, value in content.items() if value}, ensure_ascii=False)


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
