"""Write UIMA XMI: one file for each document, with a type system, in a folder or a zip archive; or one file for one.

* An unchanged document is written back as its exact text; otherwise its tree is edited in place.
* A deleted or rejected mention leaves the view, and relations from or to it are removed; its element is removed too
  unless something else refers to it.
* A relation that a curator deleted leaves the file; a new one is an element like existing ones, else of the type
  `cas_relations.NEW_LAYER`, which is added to the type system.
* Decisions are the feature `identifier`, attributes of a mention are other features; missing ones are added to the type
  system.
* A discontinuous mention's annotation is on its first part; each further part is an annotation of our type
  `xmi_tree.PART`, which is added to the type system. Programs that do not know this type can still open the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from curator.domain.documents import SourceFile, Span, Utf16Map
from curator.domain.wording import tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.attributes import AttributeNames, any_of
from curator.io.files.export import Action, action_for, unique
from curator.io.files.reading import mention_place
from curator.io.standoff import xmi_tree as tree
from curator.io.standoff.cas_relations import NEW_LAYER, relate_xmi
from curator.io.standoff.standoff import extra_of, write_documents
from curator.io.standoff.webanno_tree import ID_FEATURES, NAMED_ENTITY, TYPE_FEATURES
from curator.services.ports.files import ExportDocument, ExportMention, Problem

TYPE_SYSTEM = "TypeSystem.xml"
NO_TYPES = (
    "{name} comes without a type system, which other UIMA programs need for the parts of discontinuous "
    "mentions: export to a folder or a .zip archive to get it."
)
NO_FEATURES = (
    "{name} comes without a type system, which other UIMA programs need for attributes of mentions: export to a folder "
    "or a .zip archive to get it."
)
_SPECIFIER = "http://uima.apache.org/resourceSpecifier"
_TEXT, _TEXTS, _ANNOTATION = "uima.cas.String", "uima.cas.StringArray", "uima.tcas.Annotation"
_DOCUMENT = "uima.tcas.DocumentAnnotation"
_TAKEN = ("begin", "end", "sofa", "id", "ontologyconceptarr", "governor", "dependent")
ATTRIBUTES = AttributeNames("UIMA XMI", any_of(TYPE_FEATURES, ID_FEATURES, _TAKEN), plain=True)
IDENTIFIER = "identifier"
_REFERENCES = {(tree.PART, tree.PART_OF), *((NEW_LAYER, end) for end in tree.RELATION_ENDS)}
"""Features of our types that refer to annotations."""
_BUILT_IN = {"begin", "end", "sofa"}
_PLAIN = ("begin", "end", "sofa", "members", "sofaString", tree.ID)
_NUMBER = re.compile("[0-9]{1,18}")


def write_files(
    files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path, problems: list[Problem]
) -> list[Path]:
    """On a UserError nothing is changed."""
    chosen = [(file, _FileWriter(file, problems), documents) for file, documents in files]
    paths = write_documents(chosen, out, problems, suffixes=(".xmi",))
    if paths == [out] and out.suffix.lower() == ".xmi":
        if any(writer.parted for _, writer, _ in chosen):
            problems.append(Problem(0, "note", tr(NO_TYPES, name=out.name)))
        if any(writer.attributed for _, writer, _ in chosen):
            problems.append(Problem(0, "note", tr(NO_FEATURES, name=out.name)))
    return paths


class _FileWriter:
    """See `standoff.Documents`."""

    def __init__(self, file: SourceFile, problems: list[Problem]) -> None:
        self._file = file
        self._own = file.format == "xmi"
        self._problems = problems
        self._types: dict[str, str] = extra_of(file, "xmi").get("types", {})
        self._used = {NAMED_ENTITY: _Used({"value": _TEXT, IDENTIFIER: _TEXT})}  # by the name of the type
        self._changed = not self._types
        self.attributed = False  # whether an attribute was written
        self.parted = False  # whether a mention was written in parts

    def pieces(self, item: ExportDocument, name: str) -> Iterator[tuple[str, bytes]]:
        own = self._own and bool(item.raw)
        data = item.raw.encode("utf-8") if own else _new_cas(item, self._problems)
        edit = _Edit(item, self._file, self._problems, tree.parse_new(data, name), own=own)
        changed = edit.apply()
        self._changed = self._changed or changed
        self.attributed = self.attributed or edit.attributed
        self.parted = self.parted or edit.parted
        _note_used(edit.cas, self._used)
        yield f"{name}.xmi", tree.dump(edit.cas) if changed else data

    def rest(self) -> Iterator[tuple[str, bytes]]:
        """The type systems; in a changed file, with every type and feature that its documents use."""
        systems = {}
        for name, text in self._types.items():
            try:
                systems[name] = etree.fromstring(text.encode("utf-8"), _parser())
            except etree.XMLSyntaxError as error:
                said = tr("{name} is broken XML ({error}) and was written back unchanged", name=name, error=error)
                self._problems.append(Problem(0, "note", said))
        if not systems:
            new = etree.Element(f"{{{_SPECIFIER}}}typeSystemDescription", nsmap={None: _SPECIFIER})
            systems[self._new_name()] = new
        changed = _declare(list(systems.values()), self._used) if self._changed else []
        for name, text in self._types.items():
            if systems.get(name) not in changed:
                yield name, text.encode()
        for name, system in systems.items():
            if system in changed:
                yield (
                    name,
                    etree.tostring(
                        system, xml_declaration=True, encoding="UTF-8", pretty_print=name not in self._types
                    ),
                )

    def _new_name(self) -> str:
        if not self._types:
            return TYPE_SYSTEM
        return unique([*self._types, f"Curator{TYPE_SYSTEM}"])[-1]


class _Edit:
    """One document while its annotations are edited."""

    def __init__(
        self, item: ExportDocument, file: SourceFile, problems: list[Problem], cas: tree.Cas, *, own: bool
    ) -> None:
        self.cas = cas
        self.attributed = False
        self.parted = False
        self._elements: dict[int, Any] = {}  # by the id of the mention
        self._item = item
        self._file = file
        self._problems = problems
        self._own = own
        self._spelling = Spelling(item, file, "xmi")
        self._found = cas.mentions()
        self._by_id = cas.by_id()
        self._parts = cas.parts()
        self._units = Utf16Map(item.document.text)
        self._next = max((int(key) for key in self._by_id if _NUMBER.fullmatch(key or "")), default=0) + 1
        self._changed = False
        self._entered: list[str] = []  # ids of elements that belong to the view from now on
        self._left: set[str] = set()

    def apply(self) -> bool:
        """Update the annotations to the current mentions and decisions; returns whether anything changed."""
        gone = [self._found[record] for record in self._item.removed_records] if self._own else []
        for gold in sorted(self._item.mentions, key=lambda one: one.mention.spans):
            action = action_for(gold, self._item.document.external_id, self._problems)
            known = self._found[gold.mention.record] if self._own and gold.mention.record >= 0 else None
            if action is Action.DROP:
                gone += [known] if known is not None else []
                continue
            if known is None:
                known = self._append(gold)
            elif action is not Action.KEEP:
                self._edit(known, gold, action)
            self._elements[gold.mention.id] = known
            self._attribute(known, gold)
        self._remove(gone)
        self._update_view()
        changed = relate_xmi(
            self.cas,
            self._item,
            self._elements,
            self._problems,
            own=self._own,
            take=self._take,
            discard=self._discard,
        )
        self._update_view()
        self._changed = self._changed or changed
        return self._changed

    def _edit(self, one: Any, gold: ExportMention, action: Action) -> None:
        before = dict(one.attrib)
        if gold.reshaped:
            self._place(one, gold)
            if tree.type_and_ids(one, self._by_id)[0] != gold.mention.type:
                self._say_type(one, gold)
        if action is Action.WRITE:
            self._say_ids(one, stated_ids(gold, self._item, self._file) or ())
        self._changed = self._changed or before != dict(one.attrib)

    def _attribute(self, one: Any, gold: ExportMention) -> None:
        """Update the project's attributes to their current values."""
        for name, value in ATTRIBUTES.changes(gold, tree.held_attributes(one), self._problems).items():
            self._changed = True
            if value is None:
                del one.attrib[name]
            else:
                one.set(name, tree.xml_text(value))
                self.attributed = True

    def _append(self, gold: ExportMention) -> Any:
        one = etree.Element(tree.tag_of(NAMED_ENTITY), nsmap={"type": tree.tag_of(NAMED_ENTITY)[1:].partition("}")[0]})
        self._take(one)
        self.cas.sofa.addprevious(one)
        self._place(one, gold)
        one.set("value", tree.xml_text(gold.mention.type))
        ids = stated_ids(gold, self._item, self._file)
        if ids is not None:
            self._say_ids(one, ids)
        self._changed = True
        return one

    def _take(self, one: Any) -> str:
        """Give a new element an id, the text, and membership in the view."""
        key = str(self._next)
        self._next += 1
        one.set(tree.ID, key)
        one.set("sofa", self.cas.sofa.get(tree.ID))
        self._entered.append(key)
        self._by_id[key] = one
        return key

    def _place(self, one: Any, gold: ExportMention) -> None:
        """Place the annotation on the mention's first part, and further annotations on the other parts."""
        first, *others = gold.mention.spans
        self._lay(one, first)
        key = one.get(tree.ID)
        for part in self._parts.pop(key, ()):
            self._discard(part)
        self._parts[key] = []
        for span in others:
            part = etree.Element(
                tree.tag_of(tree.PART), nsmap={"curator": tree.tag_of(tree.PART)[1:].partition("}")[0]}
            )
            self._take(part)
            self._lay(part, span)
            part.set(tree.PART_OF, key)
            self.cas.sofa.addprevious(part)
            self._parts[key].append(part)
            self.parted = self._changed = True

    def _lay(self, one: Any, span: Span) -> None:
        one.set("begin", str(self._units.to_utf16(span.start)))
        one.set("end", str(self._units.to_utf16(span.end)))

    def _discard(self, one: Any) -> None:
        self._left.add(one.get(tree.ID))
        self.cas.root.remove(one)
        self._changed = True

    def _say_type(self, one: Any, gold: ExportMention) -> None:
        held = tree.feature(one, TYPE_FEATURES)
        if held is None and tree.type_name(one) == NAMED_ENTITY:
            held = "value"
        if held is None:
            text = tr(
                "its type {type_name} cannot store {type}: it was left unchanged",
                type_name=tree.type_name(one),
                type=gold.mention.type,
            )
            self._note("set aside", gold, text)
        else:
            one.set(held, tree.xml_text(gold.mention.type))

    def _say_ids(self, one: Any, ids: tuple[str, ...]) -> None:
        usual = tree.feature(one, ID_FEATURES[:-1])
        for other in (None if usual else tree.id_feature(one)[0], "ontologyConceptArr"):
            if other is not None and one.get(other) is not None:
                del one.attrib[other]
        one.set(usual or IDENTIFIER, " ".join(self._spelling.ids(ids)))

    # --- what goes with a mention ---

    def _remove(self, gone: list[Any]) -> None:
        """Remove annotations with their parts and relations; an element that another one may refer to only leaves the
        view. Without a view, each element must be removed."""
        keys = {one.get(tree.ID) for one in gone}
        elements = list(self.cas.root) if gone else []
        related: dict[str, list[Any]] = {}
        pointing: dict[str, list[Any]] = {}
        for one in elements:
            for key in {one.get(end) for end in tree.RELATION_ENDS} & keys:
                related.setdefault(key, []).append(one)
            values = (value for name, value in one.attrib.items() if name not in _PLAIN)
            for key in {key for value in values for key in value.split()} & keys:
                pointing.setdefault(key, []).append(one)
        for one in gone:
            self._changed = True
            key = one.get(tree.ID)
            self._left.add(key)
            for part in self._parts.pop(key, ()):
                self._discard(part)
            for relation in related.get(key, ()):
                if relation.getparent() is not None:
                    self._discard(relation)
                    self._noted(relation)
            held = self.cas.view is not None and any(other.getparent() is not None for other in pointing.get(key, ()))
            if not held and one.getparent() is not None:
                self.cas.root.remove(one)

    def _noted(self, relation: Any) -> None:
        said = tr(
            "document {external_id}: a relation {type} was removed together with its mention",
            external_id=self._item.document.external_id,
            type=tree.type_name(relation),
        )
        self._problems.append(Problem(0, "note", said))

    def _update_view(self) -> None:
        if self.cas.view is not None and (self._entered or self._left):
            members = [*self.cas.view.get("members", "").split(), *self._entered]
            self.cas.view.set("members", " ".join(one for one in members if one not in self._left))
        self._entered, self._left = [], set()

    def _note(self, severity: str, gold: ExportMention, text: str) -> None:
        where = mention_place(self._item.document.external_id, gold.mention.text)
        self._problems.append(Problem(0, severity, f"{where} {text}"))


# --- new documents and type systems ---


def _new_cas(item: ExportDocument, problems: list[Problem]) -> bytes:
    """A CAS with the document's text and no annotation."""
    text = tree.xml_text(item.document.text)
    if text != item.document.text:
        words = tr(
            "document {external_id} contains characters that XML does not allow, written as U+FFFD",
            external_id=item.document.external_id,
        )
        problems.append(Problem(0, "repaired", words))
    root = etree.Element(f"{{{tree.XMI}}}XMI", nsmap={"xmi": tree.XMI, "cas": tree.CAS})
    root.set(f"{{{tree.XMI}}}version", "2.0")
    etree.SubElement(root, f"{{{tree.CAS}}}NULL").set(tree.ID, "0")
    sofa = {"sofaNum": "1", "sofaID": tree.INITIAL_VIEW, "mimeType": "text", "sofaString": text}
    etree.SubElement(root, f"{{{tree.CAS}}}Sofa", {tree.ID: "1", **sofa})
    etree.SubElement(root, f"{{{tree.CAS}}}View", {"sofa": "1", "members": ""})
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8")) + b"\n"


@dataclass(slots=True)
class _Used:
    """What documents use of a type: its features with their ranges, and whether it is placed in a text."""

    features: dict[str, str]
    supertype: str = _ANNOTATION


def _note_used(cas: tree.Cas, used: dict[str, _Used]) -> None:
    """Add the types and features of a document's elements, without UIMA's own types."""
    for one in cas.root:
        name = tree.type_name(one)
        if name.startswith("uima."):
            continue
        placed = one.get("begin") is not None
        found = used.setdefault(name, _Used({}, _ANNOTATION if placed else "uima.cas.TOP"))
        for feature in one.attrib:
            if not feature.startswith("{") and feature not in _BUILT_IN:
                found.features.setdefault(feature, _ANNOTATION if (name, feature) in _REFERENCES else _TEXT)
        for child in one:
            found.features[str(child.tag)] = _TEXTS


def _declare(systems: list[Any], used: Mapping[str, _Used]) -> list[Any]:
    """Declare types and features that no type system declares: of unknown types in the first one. Returns the changed
    type systems. Types are not complete if a system imports others."""
    space = {"u": _SPECIFIER}
    types = {
        (one.findtext("u:name", "", space) or "").strip(): one
        for system in systems
        for one in system.iter(f"{{{_SPECIFIER}}}typeDescription")
    }
    imports = any(system.find(".//u:import", space) is not None for system in systems)
    changed = []
    for name, one in used.items():
        if name not in types:
            if imports and name not in (NAMED_ENTITY, tree.PART, NEW_LAYER):
                continue
            types[name] = _describe(systems[0], "type", name=name, description="", supertypeName=one.supertype)
            changed.append(systems[0])
        held, above, seen = set[str](), name, set[str]()
        while above in types and above not in seen:
            seen.add(above)
            named = types[above].findall("u:features/u:featureDescription/u:name", space)
            held |= {(feature.text or "").strip() for feature in named}
            above = (types[above].findtext("u:supertypeName", "", space) or "").strip()
        if _DOCUMENT in (above, *seen):
            held.add("language")
        for feature, kind in one.features.items() if above.startswith("uima.") or not imports else ():
            if feature not in held:
                _describe(types[name], "feature", name=feature, description="", rangeTypeName=kind)
                changed.append(types[name].getroottree().getroot())
    return changed


def _describe(owner: Any, what: str, **values: str) -> Any:
    """Add the description of a type or feature with these values."""
    space = f"{{{_SPECIFIER}}}"
    group = owner.find(f"{space}{what}s")
    group = etree.SubElement(owner, f"{space}{what}s") if group is None else group
    made = etree.SubElement(group, f"{space}{what}Description")
    for key, value in values.items():
        etree.SubElement(made, f"{space}{key}").text = value
    return made


def _parser() -> Any:
    return etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False, huge_tree=False)
