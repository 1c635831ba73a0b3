"""Write ZESHEL: a folder with `mentions/NAME.json` and `documents/WORLD.json`.

* Documents files hold the raw lines of the context documents in their files' order; a document that several mentions
  files share is written once.
* Unchanged mention lines, and lines that were skipped, are written back exactly. A changed decision replaces
  `label_document_id` (and `category`) in its line. Lines of documents that are not exported, of deleted and of rejected
  mentions are left out. New mentions are appended at the end.
* ZESHEL has no NIL: it is written as an empty `label_document_id`, which our reader reads as NIL, and noted. One
  mention has one label: the first entity of a composite link is written, the others are noted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from curator.domain.documents import SourceFile
from curator.domain.wording import UserError, tr
from curator.io.files.atomic import AtomicFiles
from curator.io.files.export import Action, action_for, entity_ids, export_name, is_gold, left_out, unique
from curator.io.files.identifiers import is_nil
from curator.io.files.opening import is_own
from curator.io.files.reading import mention_place
from curator.io.files.source import BOM, Source, join_lines, line_end, split_lines, without_line_end
from curator.io.wiki.zeshel_lines import MENTION_ORDER, LineError, WhitespaceTokens, parse_document, parse_object
from curator.services.ports.files import ExportDocument, ExportMention, Problem

# ZESHEL's mention categories, by the published definition (Logeswaran et al. 2019, section 3.3).

_PHRASE = re.compile(r"\s*\(.*\)\s*")

_tokens = lru_cache(maxsize=1)(WhitespaceTokens)  # of the document whose mentions are written


def category(mention: str, title: str | None) -> str:
    """HIGH_OVERLAP: the title is the mention; MULTIPLE_CATEGORIES: the title is the mention and a phrase in
    parentheses; AMBIGUOUS_SUBSTRING: the mention is a part of the title; LOW_OVERLAP: all others, and mentions with an
    unknown title. The comparison ignores case and collapses white space."""
    if title is None:
        return "LOW_OVERLAP"
    words, name = " ".join(mention.split()).casefold(), " ".join(title.split()).casefold()
    if words == name:
        return "HIGH_OVERLAP"
    if words and name.startswith(words) and _PHRASE.fullmatch(name[len(words) :]):
        return "MULTIPLE_CATEGORIES"
    return "AMBIGUOUS_SUBSTRING" if words and words in name else "LOW_OVERLAP"


class Titles:
    """Titles of entities, read from the documents files next to the imported file, if they still exist."""

    def __init__(self, source: Path | None) -> None:
        self._source = source
        self._worlds: dict[str, dict[str, str]] = {}

    def of(self, world: str, entity_id: str) -> str | None:
        """The title; None if the file no longer exists or does not contain the entity."""
        if self._source is None or not entity_id:
            return None
        if world not in self._worlds:
            self._worlds[world] = self._read(self._source, world)
        return self._worlds[world].get(entity_id)

    def _read(self, source: Path, world: str) -> dict[str, str]:
        for folder, place in ((source.parent.parent, "documents"), (source.parent, "")):
            path = folder / place / f"{world}.json"
            if path.is_file() and path != source and is_own(path, folder):
                try:
                    return _titles(path)
                except UserError:  # damaged since the import: the category stays the general one
                    return {}
        return {}


def _titles(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in Source(path).lines():
        try:
            document = parse_document(line.removeprefix(BOM))
        except LineError:
            continue
        found.setdefault(document.id, document.title)
    return found


_LABEL = re.compile(r'("label_document_id"\s*:\s*)("(?:[^"\\]|\\.)*"|null)')
_CATEGORY = re.compile(r'("category"\s*:\s*)("(?:[^"\\]|\\.)*"|null)')


@dataclass(slots=True)
class _Worlds:
    """Raw document lines by world and place, with each document's id."""

    lines: dict[str, dict[tuple[int, int], str]] = field(default_factory=dict)
    places: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)

    def add(self, world: str, document_id: str, place: tuple[int, int], raw: str, *, again: bool) -> None:
        """`again`: a repeated id is another document, not one shared with another mentions file."""
        if again or self.places.setdefault((world, document_id), place) == place:
            self.lines.setdefault(world, {})[place] = raw


def write_files(
    files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path, problems: list[Problem]
) -> list[Path]:
    """Write into the folder `out`. On a UserError no file is changed."""
    chosen = list(files)
    if not chosen:
        raise UserError(tr("nothing to export: the project has none of the requested documents"))
    names = unique([export_name(file, format_name="zeshel", suffix=".json") for file, _ in chosen])
    worlds = _Worlds()
    mentions = {}
    for number, ((file, documents), name) in enumerate(zip(chosen, names, strict=True)):
        text = _FileWriter(file, number, worlds, problems).mentions(documents)
        if text:
            mentions[out / "mentions" / name] = text
    texts = {out / "documents" / f"{world}.json": _world_text(worlds, world) for world in worlds.lines}
    with AtomicFiles() as atomic:
        for folder in (out, out / "documents", *((out / "mentions",) if mentions else ())):
            atomic.folder(folder)
        for target, text in (mentions | texts).items():
            atomic.open(target).write(text.encode("utf-8"))
    return [*mentions, *texts]


def _world_text(worlds: _Worlds, world: str) -> str:
    lines = worlds.lines[world]
    ordered = [lines[place] for place in sorted(lines)]
    whole = [line if line.endswith("\n") else line + "\n" for line in ordered[:-1]]
    return worlds.heads.get(world, "") + "".join(whole + ordered[-1:])


class _FileWriter:
    """Writes the mentions of one source file and adds its documents to the worlds."""

    def __init__(self, file: SourceFile, number: int, worlds: _Worlds, problems: list[Problem]) -> None:
        self._file = file
        self._number = number
        self._worlds = worlds
        self._problems = problems
        self._written_id = ""
        self._key_order: tuple[str, ...] = MENTION_ORDER
        self._used: set[str] = set()
        self._digests: dict[str, str] = {}  # of each seed, the last one used
        own = file.format == "zeshel" and file.extra
        self._extra: dict[str, Any] = json.loads(file.extra) if own else {}
        stem = export_name(file, format_name="zeshel", suffix=".json").rpartition(".")[0] or file.name or "world"
        self._world: str = self._extra.get("world", re.sub(r"[/\\\s]", "_", stem.partition(".")[0]))
        self._titles = Titles(Path(file.path)) if own else Titles(None)

    def mentions(self, documents: Iterable[ExportDocument]) -> str:
        """The text of the mentions file, '' if there is no mention."""
        content: str = self._extra.get("mentions", "")
        lines: list[str | None] = list(split_lines(content))
        self._key_order = _key_order(lines)
        self._used = {found for line in lines if (found := _value(line, "mention_id"))}
        exported: set[str] = set()
        new: list[str] = []
        for order, item in enumerate(documents):
            again = item.document.external_id in exported and not content
            exported.add(item.document.external_id)
            self._written_id = self._id_for(item, order, again=again)
            self._keep_document(item, order, again=again)
            self._edit(item, lines, new)
        known = self._extra.get("documents", {})
        kept = [line for line in lines if line is not None and _stays(line, known, exported)]
        final = not content or content.endswith("\n")
        text = join_lines([*kept, *new], line_end(content), final=final)
        return text if text.strip() else ""

    def _id_for(self, item: ExportDocument, order: int, *, again: bool) -> str:
        """ZESHEL looks documents up by id: a second document with the same id from another format gets a new one."""
        wanted = item.document.external_id
        if not again or self._extra:
            return wanted
        self._problems.append(
            Problem(
                0,
                "repaired",
                tr("a second document {wanted} was written as {wanted}-{order}", wanted=wanted, order=order),
            )
        )
        return f"{wanted}-{order}"

    def _keep_document(self, item: ExportDocument, order: int, *, again: bool) -> None:
        document = item.document
        world, line = self._extra.get("documents", {}).get(document.external_id, (self._world, order))
        shared = "documents" in self._extra
        place = (0, line) if shared else (self._number, order)
        raw = item.raw if self._extra and item.raw else _document_line(item, self._written_id)
        self._worlds.add(world, self._written_id, place, raw, again=again)
        if not shared and self._file.format == "zeshel":
            self._worlds.heads.setdefault(world, self._file.head)

    def _edit(self, item: ExportDocument, lines: list[str | None], new: list[str]) -> None:
        has_records = "mentions" in self._extra
        for record in item.removed_records if has_records else ():
            lines[record] = None
        for gold in sorted(item.mentions, key=lambda g: g.mention.spans):
            action, record = action_for(gold, item.document.external_id, self._problems), gold.mention.record
            if has_records and record >= 0:
                if action is Action.DROP:
                    lines[record] = None
                elif gold.reshaped:
                    lines[record] = self._moved(lines[record] or "", gold, item, action)
                elif action is Action.WRITE:
                    lines[record] = self._relabelled(lines[record] or "", gold, item)
            elif action is not Action.DROP and (line := self._new_line(gold, item)):
                new.append(line)

    def _relabelled(self, line: str, gold: ExportMention, item: ExportDocument) -> str:
        label = self._label(gold, item)
        if _value(line, "label_document_id") == label:
            return line
        kind = category(gold.mention.text, self._titles.of(self._world_of(item), label))
        changed = _CATEGORY.sub(lambda m: m[1] + json.dumps(kind), line, count=1)
        if not _LABEL.search(changed):
            value = dict(parse_object(changed.removeprefix(BOM)))
            return json.dumps(value | {"label_document_id": label}) + line[len(without_line_end(line)) :]
        return _LABEL.sub(lambda m: m[1] + json.dumps(label), changed, count=1)

    def _moved(self, line: str, gold: ExportMention, item: ExportDocument, action: Action) -> str | None:
        """A source line with its mention's current spans; None if ZESHEL cannot represent them. Types are worlds, so
        another type does not change the line."""
        if action is Action.WRITE:
            line = self._relabelled(line, gold, item)
        value = dict(parse_object(line.removeprefix(BOM)))
        place = self._tokens_of(gold, item)
        if place is None:
            return None
        first, last, text = place
        title = self._titles.of(self._world_of(item), str(value.get("label_document_id") or ""))
        changed = {"start_index": first, "end_index": last, "text": text, "category": category(text, title)}
        return json.dumps(value | changed) + line[len(without_line_end(line)) :]

    def _tokens_of(self, gold: ExportMention, item: ExportDocument) -> tuple[int, int, str] | None:
        """First and last token and their text; None for a mention that ZESHEL cannot represent, which is noted."""
        mention, tokens = gold.mention, _tokens(item.document.text)
        if len(mention.spans) > 1:
            self._leave_out(item, gold, tr("is discontinuous, which ZESHEL does not support: left out"))
            return None
        try:
            first, last = tokens.covering(mention.spans[0])
        except ValueError:
            self._leave_out(item, gold, tr("contains no token: left out"))
            return None
        text = " ".join(tokens.words[first : last + 1])
        if tokens.span(first, last) != mention.spans[0]:
            self._note("repaired", item, gold, tr('was widened to whole tokens: "{text}"', text=text))
        return first, last, text

    def _new_line(self, gold: ExportMention, item: ExportDocument) -> str:
        """A new mention's line; '' for one that ZESHEL cannot represent, which is noted."""
        place = self._tokens_of(gold, item)
        if place is None:
            return ""
        first, last, text = place
        label, world = self._label(gold, item), self._world_of(item)
        value = {
            "category": category(text, self._titles.of(world, label)),
            "text": text,
            "end_index": last,
            "context_document_id": self._written_id,
            "label_document_id": label,
            "mention_id": self._mention_id(f"{self._written_id}|{first}|{last}|{text}"),
            "corpus": world,
            "start_index": first,
        }
        return json.dumps({key: value[key] for key in self._key_order})

    def _label(self, gold: ExportMention, item: ExportDocument) -> str:
        if not is_gold(gold):  # undecided, from another format: as in its source
            return "" if is_nil(gold.mention.raw_ids) else gold.mention.raw_ids
        ids = entity_ids(gold)
        if not ids:
            self._note("note", item, gold, tr("is NIL, which ZESHEL does not support: written with an empty label"))
        if len(ids) > 1:
            self._note("set aside", item, gold, tr("has several entities; only {ids} was written", ids=ids[0]))
        return ids[0] if ids else ""

    def _world_of(self, item: ExportDocument) -> str:
        known = self._extra.get("documents", {}).get(item.document.external_id)
        return str(known[0]) if known else self._world

    def _mention_id(self, seed: str) -> str:
        """16 hexadecimal digits, like published ids, from a hash; the next hash if it is taken."""
        digest = hashlib.sha256(self._digests.get(seed, seed).encode("utf-8")).hexdigest()
        while digest[:16].upper() in self._used:
            digest = hashlib.sha256(digest.encode("ascii")).hexdigest()
        self._digests[seed] = digest
        self._used.add(digest[:16].upper())
        return digest[:16].upper()

    def _leave_out(self, item: ExportDocument, gold: ExportMention, text: str) -> None:
        where = mention_place(item.document.external_id, gold.mention.text)
        self._problems.append(left_out(gold, f"{where} {text}"))

    def _note(self, severity: str, item: ExportDocument, gold: ExportMention, text: str) -> None:
        where = mention_place(item.document.external_id, gold.mention.text)
        self._problems.append(Problem(0, severity, f"{where} {text}"))


def _document_line(item: ExportDocument, document_id: str) -> str:
    document = item.document
    value = {"title": document.title, "text": document.text, "document_id": document_id}
    return json.dumps(value) + "\n"


def _key_order(lines: Sequence[str | None]) -> tuple[str, ...]:
    """The key order of the file's first mention, if it has exactly the known keys."""
    for line in lines:
        try:
            keys = tuple(parse_object((line or "").removeprefix(BOM)))
        except LineError:
            continue
        return keys if set(keys) == set(MENTION_ORDER) else MENTION_ORDER
    return MENTION_ORDER


def _value(line: str | None, key: str) -> str:
    if not line or "{" not in line:  # a file may end with a million blank lines
        return ""
    try:
        return str(parse_object(line.removeprefix(BOM)).get(key) or "")
    except LineError:
        return ""


def _stays(line: str, known: dict[str, Any], exported: set[str]) -> bool:
    """Whether a line stays; mentions of documents that are not exported are left out."""
    document_id = _value(line, "context_document_id").strip()
    return document_id not in known or document_id in exported
