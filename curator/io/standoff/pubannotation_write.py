"""Write PubAnnotation: one JSON file for each source file, a list of documents unless the source had a single one or
lines.

* An unchanged document is written back as its exact text.
* A decision is an attribute `identifier` for each entity, `NIL` for none; a denotation with `Type:ID` keeps this form
  if there is one entity.
* An attribute of a mention is an attribute of its denotation, with its name as predicate and its value as object.
* A relation that a curator deleted is removed; new ones are between denotations of one project.
* The attributes, relations and modifications of a deleted or rejected denotation are removed too; removed relations are
  noted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from curator.domain.documents import SourceFile
from curator.domain.relations import RelationKind
from curator.domain.wording import tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.attributes import AttributeNames, any_of, said_value
from curator.io.files.export import Action, FreeNames, WrittenSource, action_for, write_streams
from curator.io.files.identifiers import read_id
from curator.io.files.json_layout import rewritten
from curator.io.files.reading import mention_place
from curator.io.files.relations import relations_for, unwritten
from curator.io.files.source import plain_text
from curator.io.standoff import pubannotation_tree as tree
from curator.io.standoff.standoff import extra_of
from curator.services.ports.files import ExportDocument, ExportMention, Problem

ENDINGS = (".json",)
_DEPENDENT = ("attributes", "relations", "modifications")
ATTRIBUTES = AttributeNames("PubAnnotation", any_of(tree.ID_PREDICATES))
_PUBMED = ("pubtator", "pubmed-xml", "medline")


def write_files(
    files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path, problems: list[Problem]
) -> list[Path]:
    """See `export.write_streams`."""

    def pieces(sources: Sequence[WrittenSource]) -> Iterator[bytes]:
        return (plain_text(piece).encode("utf-8") for piece in _file_text(sources, problems))

    return write_streams(files, out, pieces, format_name="pubannotation", suffix=".json", endings=ENDINGS)


def _file_text(sources: Sequence[WrittenSource], problems: list[Problem]) -> Iterator[str]:
    first = sources[0][0]
    own = first.format == "pubannotation" and len(sources) == 1
    known = extra_of(first, "pubannotation").get("between") if own else ""
    own = own and ("[" in first.head) == ("]" in first.tail)  # mixed lists and single objects are written as a list
    if known and str(known).strip() != ("," if "[" in first.head else ""):
        own, known = False, ""
    head, tail = (first.head, first.tail) if own and first.extra else ("[\n", "\n]\n")
    between = known or (",\n" if "[" in head else "\n")
    begun = False
    for file, documents in sources:
        edited = file.format == "pubannotation"
        for item in documents:
            yield between if begun else head
            begun = True
            if edited and item.raw:
                yield item.raw if item.is_bare else _Edit(item, file, problems).text()
            else:
                yield new_document(item, file, problems)
    yield tail


def new_document(item: ExportDocument, file: SourceFile, problems: list[Problem]) -> str:
    """A document that came from another format."""
    document = item.document
    value: dict[str, Any] = {
        "sourcedb": "PubMed" if file.format in _PUBMED else file.name or "Curator",
        "sourceid": document.external_id,
        "text": document.text,
        "denotations": [],
    }
    blocks = [
        {"id": f"B{number}", "span": {"begin": one.start, "end": one.end}, "obj": one.kind}
        for number, one in enumerate(document.passages, 1)
        if one.end > one.start
    ]
    if blocks:
        value["blocks"] = blocks
    edit = _Edit(item, file, problems, value)
    edit.apply()
    return json.dumps(value, ensure_ascii=False)


class _Edit:
    """One document while its denotations are edited."""

    def __init__(
        self,
        item: ExportDocument,
        file: SourceFile,
        problems: list[Problem],
        value: dict[str, Any] | None = None,
    ) -> None:
        self._item = item
        self._file = file
        self._problems = problems
        self._spelling = Spelling(item, file, "pubannotation")
        self._has_records = value is None
        self.value: dict[str, Any] = json.loads(item.raw) if value is None else value
        self._found = tree.denotations(self.value)
        self._home = next((one.home for one in self._found if one.home.value is self.value), tree.Home(self.value))
        self._named = {
            str(one.get("prefix")): str(one.get("uri")) for one in tree.objects(self.value.get("namespaces"))
        }
        homes = [self.value, *tree.objects(self.value.get("tracks"))]
        lists = ("denotations", "blocks", *_DEPENDENT)
        self._taken = FreeNames(
            str(key)
            for home in homes
            for name in lists
            for one in tree.objects(home.get(name))
            for key in tree.names(one, "id")
        )
        self._changed = False
        self._written: dict[int, tree.Denotation] = {}  # by the id of the mention

    def text(self) -> str:
        self.apply()
        if not self._changed:
            return self._item.raw
        return rewritten(self._item.raw, self.value)

    def apply(self) -> None:
        gone = [self._found[record] for record in self._item.removed_records]
        for gold in sorted(self._item.mentions, key=lambda one: one.mention.spans):
            action = action_for(gold, self._item.document.external_id, self._problems)
            known = gold.mention.record >= 0 and self._has_records
            found = self._found[gold.mention.record] if known else None
            if action is Action.DROP:
                gone += [found] if found else []
                continue
            if found is not None:
                self._written[gold.mention.id] = found
            if found is None:
                found = self._append(gold)
            elif action is not Action.KEEP:
                self._edit(found, gold, action)
            self._attribute(found, gold)
        for home in {id(one.home): one.home for one in [*self._found, *self._written.values()]}.values():
            home.settle()
            self._remove(home.value, [one.value for one in gone if one.home is home])
        self._relate()

    def _relate(self) -> None:
        """Remove the relations that a curator deleted, and write new ones."""
        stated = tree.relations(self.value) if self._has_records and self._item.removed_relations else []
        keys = frozenset(self._item.removed_relations)
        gone = {id(one) for key, one, _ in stated if key in keys}
        for home in {id(home): home for _, one, home in stated if id(one) in gone}.values():
            home["relations"] = [one for one in home["relations"] if id(one) not in gone]
            self._changed = True
        own, kinds = self._has_records, (RelationKind.MENTIONS,)
        wanted = relations_for(
            self._item, self._problems, own=own, kinds=kinds, written=self._written, title="PubAnnotation"
        )
        for made in wanted:
            first, second = (self._written[one] for one in made.mention_ids)
            if first.home is not second.home:
                unwritten(self._item, self._problems, made, "PubAnnotation")
                continue
            for end in (first, second):
                end.value.setdefault("id", self._key("T"))
            value = {"id": self._key("R"), "pred": made.type, "subj": first.value["id"], "obj": second.value["id"]}
            first.home.value.setdefault("relations", []).append(value)
            self._changed = True

    def _edit(self, found: tree.Denotation, gold: ExportMention, action: Action) -> None:
        before = repr([found.value, found.attributes()])
        kind, stated = tree.type_and_ids(found, self._named)
        typed = bool(stated) and not found.attributes() and not tree.is_address(str(found.value["obj"]), self._named)
        if gold.reshaped:
            found.value["span"] = _span(gold)
            kind = gold.mention.type
        if action is Action.WRITE:
            self._say(found, kind, stated_ids(gold, self._item, self._file) or (), typed=typed)
        elif gold.reshaped and (typed or not stated or found.attributes()):
            found.value["obj"] = ":".join([kind, *stated]) if typed else kind
        self._changed = self._changed or repr([found.value, found.attributes()]) != before

    def _append(self, gold: ExportMention) -> tree.Denotation:
        value: dict[str, Any] = {"id": self._key("T"), "span": _span(gold), "obj": gold.mention.type}
        self.value.setdefault("denotations", []).append(value)
        self._changed = True
        made = self._written[gold.mention.id] = tree.Denotation(value, self._home)
        ids = stated_ids(gold, self._item, self._file)
        if ids is not None:
            self._say(made, gold.mention.type, ids, typed=False)
        elif tree.type_and_ids(made, self._named)[1]:
            self._note(gold, tr("its type looks like an identifier and will be read as one"))
        return made

    def _attribute(self, found: tree.Denotation, gold: ExportMention) -> None:
        """Update the project's attributes to their current values."""
        for name, value in ATTRIBUTES.changes(gold, found.held(), self._problems).items():
            old = [one for one in found.others() if plain_text(said_value(one.get("pred"))) == name]
            found.home.discard(found.value.get("id"), old if value is None else old[1:])
            if old and value is not None:
                old[0]["obj"] = value
            elif value is not None:
                key = found.value.setdefault("id", self._key("T"))
                found.home.add(key, {"id": self._key("A"), "subj": key, "pred": name, "obj": value})
            self._changed = True

    def _say(self, found: tree.Denotation, kind: str, ids: tuple[str, ...], *, typed: bool) -> None:
        """Write the identifiers: in the object if it held one and there is one, else as attributes."""
        wanted = self._spelling.ids(ids)
        if typed and len(ids) == 1:
            whole = {"obj": f"{kind}:{wanted[0]}"}
            if tree.type_and_ids(tree.Denotation(whole, tree.Home({})), self._named) == (kind, wanted):
                found.value.update(whole)
                return
        found.value["obj"] = kind
        key = found.value.setdefault("id", self._key("T"))
        old = found.attributes()
        kept = [one for one in old if read_id(str(one.get("obj"))) in ids]
        there = {read_id(str(one.get("obj"))) for one in kept}
        found.home.discard(key, [one for one in old if one not in kept])
        for one in wanted:
            if read_id(one) not in there:
                found.home.add(key, {"id": self._key("A"), "subj": key, "pred": tree.IDENTIFIER, "obj": one})

    def _remove(self, home: dict[str, Any], gone: list[dict[str, Any]]) -> None:
        """Remove denotations with all that is about them, and about that."""
        if not gone:
            return
        self._changed = True
        lists = [name for name in _DEPENDENT if isinstance(home.get(name), list)]
        about: dict[str | int, dict[str, list[dict[str, Any]]]] = {}
        for name in lists:
            for one in tree.objects(home[name]):
                for key in tree.names(one, "subj", "obj"):
                    about.setdefault(key, {}).setdefault(name, []).append(one)
        removed = {id(one) for one in gone}
        for denotation in gone:
            keys = list(tree.names(denotation, "id"))
            while keys:
                found = {name: [one for key in keys for one in about.get(key, {}).get(name, ())] for name in lists}
                keys = []
                for name, several in found.items():
                    new = list({id(one): one for one in several if id(one) not in removed}.values())
                    removed |= {id(one) for one in new}
                    keys += [key for one in new for key in tree.names(one, "id")]
                    if name != "attributes":
                        self._noted(new)
        for name in ("denotations", *lists):
            home[name] = [one for one in home[name] if id(one) not in removed]

    def _noted(self, about: list[dict[str, Any]]) -> None:
        for one in about:
            removed = one.get("id", one.get("pred"))
            text = tr(
                "document {document}: {removed} was removed together with the denotation it refers to",
                document=self._item.document.external_id,
                removed=removed,
            )
            self._problems.append(Problem(0, "note", text))

    def _key(self, letter: str) -> str:
        return self._taken.take(f"{letter}1", lambda number: f"{letter}{number}")

    def _note(self, gold: ExportMention, text: str) -> None:
        where = mention_place(self._item.document.external_id, gold.mention.text)
        self._problems.append(Problem(0, "note", f"{where}: {text}"))


def _span(gold: ExportMention) -> object:
    spans = [{"begin": one.start, "end": one.end} for one in gold.mention.spans]
    return spans[0] if len(spans) == 1 else spans
