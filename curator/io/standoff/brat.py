"""brat: a folder or a zip archive of `NAME.txt` with `NAME.ann`, or with BioNLP's `NAME.a1` and `NAME.a2`.

The text is the file's, including line ends, since offsets count its code points. Entities (`T`) are mentions, triggers
of events are not. Normalisations (`N`) are their identifiers, with the database's name before the first colon.
Everything else (relations, events, attributes, notes) stays in the record and is written back. `SourceMention.record`
is the line of the `T` in the record, which is the concatenated text of the annotation files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.documents import SourceDocument, SourceFile, SourceMention
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.files.anchoring import Anchors, Range, find_place, learn, quoted, same_text
from curator.io.files.archives import Files, chosen_files, holds_many, member_of, open_files
from curator.io.files.idstyle import read_ids
from curator.io.files.source import BOM, Source, split_lines, without_line_end
from curator.io.standoff.brat_relations import relations_of
from curator.io.standoff.brat_write import attributes_of, write_files
from curator.io.standoff.standoff import FilesReader, first_line, plain_passages
from curator.services.ports.files import Carries, ExportDocument, Problem

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
