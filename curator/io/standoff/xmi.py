"""UIMA XMI (DKPro, INCEpTION, WebAnno, cTAKES): one document per file, with a type system next to it or in the archive.

Mentions are the annotations of entity types; tokens, sentences, parts of speech, relations and further views stay in
the record, which is the file. A type is the feature `value`, or the type's own name; identifiers are in `identifier`.
Annotations of the type `PART` are further parts of a discontinuous mention. `SourceMention.record` counts the
mentions' annotations in the order of the file.

A UIMA CAS as XMI: its text, and the annotations of entities. Offsets count UTF-16 units.

`dkpro-cassis` reads and writes XMI too, but only together with its type system, in which every type must be declared,
and it writes the whole file from scratch. Here the tree is edited in place, so that everything else in the file stays,
and the parser is the hardened one of the other XML formats. The tests open written files with cassis.

Relations of UIMA's annotations, in XMI and in WebAnno TSV: layers that join two annotations of mentions.

Layers that join tokens, such as dependencies, are not relations here: they stay in the record and are not shown.

Write UIMA XMI: one file for each document, with a type system, in a folder or a zip archive; or one file for one.

* An unchanged document is written back as its exact text; otherwise its tree is edited in place.
* A deleted or rejected mention leaves the view, and relations from or to it are removed; its element is removed too
  unless something else refers to it.
* A relation that a curator deleted leaves the file; a new one is an element like existing ones, else of the type
  `NEW_LAYER`, which is added to the type system.
* Decisions are the feature `identifier`, attributes of a mention are other features; missing ones are added to the type
  system.
* A discontinuous mention's annotation is on its first part; each further part is an annotation of our type
  `PART`, which is added to the type system. Programs that do not know this type can still open the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span, Utf16Map
from curator.domain.id_fields import identifier_key
from curator.domain.relations import Relation, SourceEnd, SourceRelation
from curator.domain.wording import UnreadableError, UserError, ntr, tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.attributes import AttributeNames, any_of
from curator.io.files.editing import DocumentEdit
from curator.io.files.export import Action, DocumentWriter, WrittenSource, extra_of, unique, write_documents
from curator.io.files.format import Format
from curator.io.files.reading import FilesReader, are_apart, first_line, plain_passages, stated_mention
from curator.io.files.report import Report
from curator.io.files.source import Files, chosen_files
from curator.io.files.xml_stream import safe_xml
from curator.io.standoff.webanno_tsv import (
    ID_FEATURES,
    LABEL,
    LABELS,
    NAMED_ENTITY,
    NEW_LAYER,
    RELATION_ENDS,
    TYPE_FEATURES,
)
from curator.services.ports.files import Carries, ExportDocument, ExportMention

XMI = "http://www.omg.org/XMI"
CAS = "http:///uima/cas.ecore"
ID = f"{{{XMI}}}id"
INITIAL_VIEW = "_InitialView"
PART = "curator.type.MentionPart"
PART_OF = "mention"
"""UIMA's annotations are contiguous. A discontinuous mention has its annotation on the first part, and one of the type
`PART` on each of the others, whose feature `mention` refers to it."""

MOST_XML = 9_000_000
"""Bytes. Shorter files are never too long for readers of XML, which refuse attributes of more than 10 MB."""
TOO_LONG = (
    "Document {where} has a text of more than 10 MB, which is too long for XMI. Export it in another format, or "
    "without this document. Nothing was changed."
)
_OWN = ("begin", "end", "sofa", "id", "ontologyConceptArr")
_NO_MENTIONS = re.compile(
    r"\.core\.api\.(?!ner\.)|^uima\.|\.webanno\.api\.type\.|ctakes\.typesystem\.type\.(?!textsem\.\w+Mention$)"
    r"|\.SourceDocumentInformation$|\.(Token|Sentence|Paragraph|Section|Segment|Lemma|POS|Chunk|Stem)$"
)
_XML_1_1 = re.compile(rb"""\A(?:\xef\xbb\xbf)?<\?xml\s+version\s*=\s*(["'])1\.1\1""")
_CONTROL = re.compile(rb"&#(?:x0*(1?[0-9a-fA-F])|0*([12]?[0-9]|3[01]));")
_HELD = 0xFDD0
"""XML 1.1 has control characters, which XML 1.0 and libxml2 do not: U+0001 is U+FDD1 in the tree, and so on. These 32
code points belong to no character."""
OF_HELD = {_HELD + code: code for code in range(1, 32)}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Cas:
    """A parsed file: its root, the sofa that is read, the ids in its view (None if it has none), its text, and whether
    it is XML 1.1."""

    root: Any
    sofa: Any
    view: Any
    text: str
    is_1_1: bool = False

    def mentions(self) -> list[Any]:
        """The annotations that hold mentions, in the order of the file."""
        members = set(self.view.get("members", "").split()) if self.view is not None else None
        own = self.sofa.get(ID)
        return [
            one
            for one in self.root
            if one.get("sofa") == own
            and one.get("begin") is not None
            and one.get("end") is not None
            and (members is None or one.get(ID) in members)
            and type_name(one) != PART
            and not _NO_MENTIONS.search(type_name(one))
            and not any(one.get(end) for end in RELATION_ENDS)
        ]

    def parts(self) -> dict[str, list[Any]]:
        """The further parts of discontinuous mentions, by the id of the mention's annotation."""
        members = set(self.view.get("members", "").split()) if self.view is not None else None
        found: dict[str, list[Any]] = {}
        for one in self.root.iter(tag_of(PART)):
            if one.get("sofa") == self.sofa.get(ID) and (members is None or one.get(ID) in members):
                found.setdefault(one.get(PART_OF, ""), []).append(one)
        return found

    def by_id(self) -> dict[str, Any]:
        return {one.get(ID): one for one in self.root}

    def other_views(self) -> int:
        """The number of its other texts."""
        return sum(one.get("sofaString") is not None for one in self.root.iter(f"{{{CAS}}}Sofa")) - 1


def parse_new(data: bytes, where: str) -> Cas:
    """What a writer made. Raises UserError for a text that is too long for readers of XML."""
    try:
        return parse(data, where)
    except UserError as error:
        if len(data) < MOST_XML:
            raise
        raise UserError(tr(TOO_LONG, where=where)) from error


def parse(data: bytes, where: str) -> Cas:
    """Raises UserError for broken XML, declared entities, or a missing text; `where` names the file."""
    is_1_1 = _XML_1_1.match(data) is not None
    try:
        root = etree.fromstring(_CONTROL.sub(_held, data) if is_1_1 else data, safe_xml())
    except etree.XMLSyntaxError as error:
        line = error.lineno or 0
        raise UserError(
            tr("{where}, line {line}: broken XML ({msg}): export it again", where=where, line=line, msg=error.msg)
        ) from error
    if root.getroottree().docinfo.doctype:
        raise UserError(tr("{where} has a document type, which XMI does not allow: export it again", where=where))
    for one in [*root.iter(etree.Comment, etree.ProcessingInstruction)]:
        if one.getparent() is not None:
            one.getparent().remove(one)
    sofas = [one for one in root.iter(f"{{{CAS}}}Sofa") if one.get("sofaString") is not None and one.get(ID)]
    sofa = next((one for one in sofas if one.get("sofaID") == INITIAL_VIEW), sofas[0] if sofas else None)
    if sofa is None:
        raise UserError(
            tr(
                "{where} contains no text (no Sofa with an xmi:id and a sofaString): export it together with its text",
                where=where,
            )
        )
    views = [one for one in root.iter(f"{{{CAS}}}View") if one.get("sofa") == sofa.get(ID)]
    text = sofa.get("sofaString").translate(OF_HELD if is_1_1 else {})
    return Cas(root, sofa, views[0] if views else None, text, is_1_1)


def type_name(element: Any) -> str:
    """`{http:///de/x/type.ecore}NamedEntity` -> `de.x.type.NamedEntity`."""
    name = etree.QName(element)
    package = (name.namespace or "").removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
    named = package.removeprefix("uima.") not in ("", "noNamespace")
    return f"{package}.{name.localname}" if named else str(name.localname)


def tag_of(name: str) -> str:
    """The inverse of `type_name`."""
    package, _, local = name.rpartition(".")
    return f"{{http:///{package.replace('.', '/') or 'uima/noNamespace'}.ecore}}{local}"


def feature(element: Any, names: tuple[str, ...]) -> str | None:
    """The element's attribute of the first of these names that it has, ignoring case."""
    there = {str(key).lower(): str(key) for key in element.attrib}
    return next((there[one] for one in names if one in there), None)


def type_and_ids(element: Any, by_id: dict[str, Any]) -> tuple[str, list[str]]:
    """An annotation's type, and its identifiers as stated (for cTAKES, in its UMLS concepts)."""
    kind, (held, prefix) = _kind(element), id_feature(element)
    ids = str(element.get(held) or "").split() if held else []
    ids = [one if ":" in one or not prefix else f"{prefix}:{one}" for one in ids]
    for key in (element.get("ontologyConceptArr") or "").split():
        concept = by_id.get(key)
        if concept is not None and (code := concept.get("cui") or concept.get("code")):
            ids.append(f"UMLS:{code}" if concept.get("cui") else f"{concept.get('codingScheme', 'CODE')}:{code}")
    return kind, list(dict.fromkeys(ids))


def _kind(element: Any) -> str:
    named = feature(element, TYPE_FEATURES)
    return (element.get(named) if named else "") or type_name(element).rpartition(".")[2]


def id_feature(element: Any) -> tuple[str | None, str]:
    """The feature with identifiers, and their vocabulary if it states one: of a usual name, or else one whose name says
    so, such as `geneId`."""
    if usual := feature(element, ID_FEATURES[:-1]):
        return usual, ""
    other = {feature(element, TYPE_FEATURES), *_OWN, *RELATION_ENDS}
    for key, value in element.attrib.items():
        if key not in other and not key.startswith("{") and any(map(str.isdigit, value)):
            prefix = identifier_key(key, value, _kind(element))
            if prefix is not None:
                return str(key), prefix
    return None, ""


def held_attributes(element: Any) -> dict[str, str]:
    """Features that may be attributes of the mention: neither its type nor its identifiers, nor its offsets."""
    said = {feature(element, TYPE_FEATURES), id_feature(element)[0], *_OWN, *RELATION_ENDS}
    found = {str(key): str(value).strip() for key, value in element.attrib.items() if key not in said}
    return {key: value for key, value in found.items() if value and not key.startswith("{")}


def xml_text(text: str) -> str:
    """The text with U+FFFD for characters that XML cannot hold, of the same length."""
    return _NOT_XML.sub("\ufffd", text)


def dump(cas: Cas) -> bytes:
    data: bytes = etree.tostring(cas.root, xml_declaration=True, encoding="UTF-8") + b"\n"
    if not cas.is_1_1:
        return data
    written = data.decode("utf-8").translate({held: f"&#{code};" for held, code in OF_HELD.items()})
    return written.replace("version='1.0'", "version='1.1'", 1).encode("utf-8")


def _held(found: re.Match[bytes]) -> bytes:
    code = int(found[1], 16) if found[1] else int(found[2])
    return found[0] if code in (0, 9, 10, 13) else f"&#{_HELD + code};".encode()


# XMI: an element with the ids of its governor and its dependent.


def xmi_elements(cas: Cas) -> Iterator[tuple[Any, SourceRelation]]:
    """The relations with their elements."""
    records = {one.get(ID): record for record, one in enumerate(cas.mentions())}
    for one in cas.root:
        ends = [one.get(end, "") for end in RELATION_ENDS]
        if all(end in records for end in ends):
            named = feature(one, LABELS)
            kind = (one.get(named) if named else "") or type_name(one).rpartition(".")[2]
            made = tuple(SourceEnd(role, records[end]) for role, end in zip(RELATION_ENDS, ends, strict=True))
            yield one, SourceRelation(one.get(ID, ""), kind, made)


_PLAIN_TYPES = (".Token", ".Sentence", ".Paragraph", ".DocumentMetaData", ".DocumentAnnotation")
TYPE_SYSTEMS = ("TypeSystem.xml", "typesystem.xml", "dkpro-core-types.xml")


class XmiReader(FilesReader):
    """Yields the documents in the order of their names."""

    format = "xmi"
    none = "{path} contains no XMI document{why}"

    def documents(self) -> Iterator[SourceDocument]:
        systems = [name for name in self.files.names if _is_type_system(self.files, name)]
        for name in self.files.names:
            if name in systems:
                continue
            try:
                document = self._document(name, self.files.unpacked(name))
            except UnreadableError:
                raise
            except UserError as error:
                if len(self.files.names) - len(systems) == 1:
                    raise
                self.problems.set_aside(str(error))
                continue
            yield document
        texts = {name: text for name in systems if (text := self.text(name)) is not None}
        self.extra = json.dumps({"types": texts}, ensure_ascii=False) if texts else ""

    def _cas(self, name: str, data: bytes) -> tuple[Cas, str]:
        """A file's CAS and the record of its document. Raises UserError."""
        cas = parse(data, self.files.shown(name))
        return cas, data.decode("utf-8") if _is_utf_8(data) else dump(cas).decode("utf-8")

    def _document(self, name: str, data: bytes) -> SourceDocument:
        cas, raw = self._cas(name, data)
        by_id, parts, units = cas.by_id(), cas.parts(), Utf16Map(cas.text)
        if others := cas.other_views():
            one = "{name}: {n} other view is kept, but not shown"
            several = "{name}: {n:,} other views are kept, but not shown"
            self.problems.note(ntr(one, several, others, name=name))
        mentions = [
            mention
            for record, one in enumerate(cas.mentions())
            if (mention := self._mention(name, [one, *parts.get(one.get(ID, ""), ())], record, by_id, cas, units))
            is not None
        ]
        for part in [one for key in parts.keys() - {one.get(ID) for one in cas.mentions()} for one in parts[key]]:
            place = f"{part.get('begin')}-{part.get('end')}"
            words = tr("{name}: the mention for the part at {place} is missing", name=name, place=place)
            self.problems.set_aside(words, part.sourceline or 0)
        key = name.removesuffix(".gz").removesuffix(".xmi").removesuffix(".xml").removesuffix(".json")
        title = next((one.get("documentTitle") for one in cas.root if one.get("documentTitle")), "")
        passages = plain_passages(cas.text)
        return SourceDocument(key, title or first_line(cas.text), cas.text, passages, tuple(mentions), raw, 1)

    def _mention(
        self, name: str, pieces: list[Any], record: int, by_id: dict[str, Any], cas: Cas, units: Utf16Map
    ) -> SourceMention | None:
        """The mention of an annotation and its further parts; None if it is skipped with a problem."""
        kind, stated = type_and_ids(pieces[0], by_id)
        spans = []
        for one in pieces:
            span = _span(one, units, len(cas.text))
            if span is None:
                place = f"{one.get('begin')}-{one.get('end')}"
                words = tr("{name}: {kind} at {place} contains no text", name=name, kind=kind, place=place)
                self.problems.set_aside(words, one.sourceline or 0)
                return None
            spans.append(span)
        spans.sort()
        if are_apart(spans):
            return stated_mention(cas.text, spans, kind, stated, record)
        place = ", ".join(f"{one.start}-{one.end}" for one in spans)
        words = tr("{name}: the parts of {kind} at {place} overlap", name=name, kind=kind, place=place)
        self.problems.set_aside(words, pieces[0].sourceline or 0)
        return None


def other_annotations(cas: Cas) -> list[Any]:
    """The annotations that are neither mentions nor relations, without tokens, sentences and the like."""
    known = {one.get(ID) for one in (*cas.mentions(), *(one for one, _ in xmi_elements(cas)))}
    others = (one for one in cas.root if one.get("begin") is not None and one.get(ID) not in known)
    return [one for one in others if type_name(one) != PART and not type_name(one).endswith(_PLAIN_TYPES)]


def _is_type_system(files: Files, name: str) -> bool:
    return name.lower().endswith(".xml") and b"<typeSystemDescription" in files.head(name)


def _span(one: Any, units: Utf16Map, length: int) -> Span | None:
    try:
        start, end = int(one.get("begin", "")[:18]), int(one.get("end", "")[:18])
    except ValueError:
        return None
    if not 0 <= start < end <= units.to_utf16(length):
        return None
    first, last = units.to_code_point(start), units.to_code_point(end)
    return Span(first, last) if first < last else None


def _is_utf_8(data: bytes) -> bool:
    declared = data[:200].partition(b"?>")[0].lower()
    if b"encoding" in declared and b"utf-8" not in declared:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


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
IDENTIFIER = "identifier"
_REFERENCES = {(PART, PART_OF), *((NEW_LAYER, end) for end in RELATION_ENDS)}
"""Features of our types that refer to annotations."""
_BUILT_IN = {"begin", "end", "sofa"}
_PLAIN = ("begin", "end", "sofa", "members", "sofaString", ID)
_NUMBER = re.compile("[0-9]{1,18}")


class _FileWriter(DocumentWriter):
    def __init__(self, file: SourceFile, problems: Report) -> None:
        super().__init__(file, problems)
        self._types: dict[str, str] = extra_of(file, "xmi").get("types", {})
        self._used = {NAMED_ENTITY: _Used({"value": _TEXT, IDENTIFIER: _TEXT})}  # by the name of the type
        self._changed = not self._types
        self.attributed = False  # whether an attribute was written
        self.parted = False  # whether a mention was written in parts

    def pieces(self, item: ExportDocument, name: str) -> Iterator[tuple[str, bytes]]:
        own = self.file.format == "xmi" and bool(item.raw)
        data = item.raw.encode("utf-8") if own else _new_cas(item, self.problems)
        edit = _Edit(item, self.file, self.problems, parse_new(data, name), own=own)
        edit.run()
        self._changed = self._changed or edit.changed
        self.attributed = self.attributed or edit.attributed
        self.parted = self.parted or edit.parted
        _note_used(edit.cas, self._used)
        yield f"{name}.xmi", dump(edit.cas) if edit.changed else data

    def rest(self) -> Iterator[tuple[str, bytes]]:
        """The type systems; in a changed file, with every type and feature that its documents use."""
        systems = {}
        for name, text in self._types.items():
            try:
                systems[name] = etree.fromstring(text.encode("utf-8"), safe_xml())
            except etree.XMLSyntaxError as error:
                said = tr("{name} is broken XML ({error}) and was written back unchanged", name=name, error=error)
                self.problems.note(said)
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


class _Edit(DocumentEdit[Any]):
    """One document while its annotations, elements of the CAS, are edited."""

    title = "UIMA XMI"
    names = AttributeNames(title, any_of(TYPE_FEATURES, ID_FEATURES, _TAKEN), plain=True)

    def __init__(self, item: ExportDocument, file: SourceFile, problems: Report, cas: Cas, *, own: bool) -> None:
        super().__init__(item, file, problems, own=own)
        self.cas = cas
        self.attributed = False
        self.parted = False
        self._spelling = Spelling(item, file, "xmi")
        self._found = cas.mentions()
        self._by_id = cas.by_id()
        self._parts = cas.parts()
        self._there = list(xmi_elements(cas)) if own else []
        self._units = Utf16Map(item.document.text)
        self._next = max((int(key) for key in self._by_id if _NUMBER.fullmatch(key or "")), default=0) + 1
        self._entered: list[str] = []  # ids of elements that belong to the view from now on
        self._left: set[str] = set()

    def run(self) -> None:
        super().run()
        if self.cas.view is not None and (self._entered or self._left):
            members = [*self.cas.view.get("members", "").split(), *self._entered]
            self.cas.view.set("members", " ".join(one for one in members if one not in self._left))

    def part(self, record: int) -> Any:
        return self._found[record]

    def edit(self, part: Any, gold: ExportMention, action: Action) -> bool:
        before = dict(part.attrib)
        if gold.reshaped:
            self._place(part, gold)
            if type_and_ids(part, self._by_id)[0] != gold.mention.type:
                self._say_type(part, gold)
        if action is Action.WRITE:
            self._say_ids(part, stated_ids(gold, self.item, self.file) or ())
        self.changed = self.changed or before != dict(part.attrib)
        return True

    def held(self, part: Any) -> dict[str, str]:
        return held_attributes(part)

    def set_attribute(self, part: Any, name: str, value: str | None) -> None:
        if value is None:
            del part.attrib[name]
        else:
            part.set(name, xml_text(value))
            self.attributed = True

    def add(self, gold: ExportMention) -> Any:
        one = self._new(NAMED_ENTITY, "type")
        self._place(one, gold)
        one.set("value", xml_text(gold.mention.type))
        ids = stated_ids(gold, self.item, self.file)
        if ids is not None:
            self._say_ids(one, ids)
        return one

    def unrelate(self, keys: frozenset[str]) -> None:
        for one, stated in self._there:
            if stated.key in keys:
                self._discard(one)

    def relate(self, relation: Relation) -> None:
        """Like the relations that came with the file, or else as the type that is declared for new ones."""
        like = next((one for one, _ in self._there), None)
        one = self._new(NEW_LAYER if like is None else type_name(like), "custom")
        governor, dependent = (self.parts[mention] for mention in relation.mention_ids)
        for end in (governor, dependent):
            if end.get(ID) is None:  # as in a damaged file
                self._take(end)
        for place in ("begin", "end"):
            one.set(place, dependent.get(place))
        for name, end in zip(RELATION_ENDS, (governor, dependent), strict=True):
            one.set(name, end.get(ID))
        one.set((None if like is None else feature(like, LABELS)) or LABEL, xml_text(relation.type))

    def _new(self, kind: str, prefix: str) -> Any:
        """A new element of this type, before the text."""
        tag = tag_of(kind)
        one = etree.Element(tag, nsmap={prefix: tag[1:].partition("}")[0]})
        self._take(one)
        self.cas.sofa.addprevious(one)
        self.changed = True
        return one

    def _take(self, one: Any) -> None:
        """Give a new element an id, the text, and membership in the view."""
        key = str(self._next)
        self._next += 1
        one.set(ID, key)
        one.set("sofa", self.cas.sofa.get(ID))
        self._entered.append(key)
        self._by_id[key] = one

    def _place(self, one: Any, gold: ExportMention) -> None:
        """Place the annotation on the mention's first part, and further annotations on the other parts."""
        first, *others = gold.mention.spans
        self._lay(one, first)
        key = one.get(ID)
        for part in self._parts.pop(key, ()):
            self._discard(part)
        self._parts[key] = []
        for span in others:
            part = self._new(PART, "curator")
            self._lay(part, span)
            part.set(PART_OF, key)
            self._parts[key].append(part)
            self.parted = True

    def _lay(self, one: Any, span: Span) -> None:
        one.set("begin", str(self._units.to_utf16(span.start)))
        one.set("end", str(self._units.to_utf16(span.end)))

    def _discard(self, one: Any) -> None:
        self._left.add(one.get(ID))
        self.cas.root.remove(one)
        self.changed = True

    def _say_type(self, one: Any, gold: ExportMention) -> None:
        held = feature(one, TYPE_FEATURES)
        if held is None and type_name(one) == NAMED_ENTITY:
            held = "value"
        if held is None:
            words = "its type {type_name} cannot store {type}: it was left unchanged"
            said = tr(words, type_name=type_name(one), type=gold.mention.type)
            self.problems.set_aside(f"{self.where(gold)} {said}")
        else:
            one.set(held, xml_text(gold.mention.type))

    def _say_ids(self, one: Any, ids: tuple[str, ...]) -> None:
        usual = feature(one, ID_FEATURES[:-1])
        for other in (None if usual else id_feature(one)[0], "ontologyConceptArr"):
            if other is not None and one.get(other) is not None:
                del one.attrib[other]
        one.set(usual or IDENTIFIER, " ".join(self._spelling.ids(ids)))

    # --- what goes with a mention ---

    def remove(self, gone: list[Any]) -> None:
        """Remove annotations with their parts and relations; an element that another one may refer to only leaves the
        view. Without a view, each element must be removed."""
        keys = {one.get(ID) for one in gone}
        related: dict[str, list[Any]] = {}
        pointing: dict[str, list[Any]] = {}
        for one in self.cas.root:
            for key in {one.get(end) for end in RELATION_ENDS} & keys:
                related.setdefault(key, []).append(one)
            values = (value for name, value in one.attrib.items() if name not in _PLAIN)
            for key in {key for value in values for key in value.split()} & keys:
                pointing.setdefault(key, []).append(one)
        for one in gone:
            key = one.get(ID)
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
        words = "document {external_id}: a relation {type} was removed together with its mention"
        self.problems.note(tr(words, external_id=self.item.document.external_id, type=type_name(relation)))


# --- new documents and type systems ---


def _new_cas(item: ExportDocument, problems: Report) -> bytes:
    """A CAS with the document's text and no annotation."""
    text = xml_text(item.document.text)
    if text != item.document.text:
        words = tr(
            "document {external_id} contains characters that XML does not allow, written as U+FFFD",
            external_id=item.document.external_id,
        )
        problems.repaired(words)
    root = etree.Element(f"{{{XMI}}}XMI", nsmap={"xmi": XMI, "cas": CAS})
    root.set(f"{{{XMI}}}version", "2.0")
    etree.SubElement(root, f"{{{CAS}}}NULL").set(ID, "0")
    sofa = {"sofaNum": "1", "sofaID": INITIAL_VIEW, "mimeType": "text", "sofaString": text}
    etree.SubElement(root, f"{{{CAS}}}Sofa", {ID: "1", **sofa})
    etree.SubElement(root, f"{{{CAS}}}View", {"sofa": "1", "members": ""})
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8")) + b"\n"


@dataclass(slots=True)
class _Used:
    """What documents use of a type: its features with their ranges, and whether it is placed in a text."""

    features: dict[str, str]
    supertype: str = _ANNOTATION


def _note_used(cas: Cas, used: dict[str, _Used]) -> None:
    """Add the types and features of a document's elements, without UIMA's own types."""
    for one in cas.root:
        name = type_name(one)
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
            if imports and name not in (NAMED_ENTITY, PART, NEW_LAYER):
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


class XmiFormat(Format):
    name = "xmi"
    title = "UIMA XMI"
    refusal = "{path} is not UIMA XMI: no file with an `xmi:XMI` element; choose another format"
    reader = XmiReader
    document_endings = (".xmi",)
    carries = Carries(
        mentions=True, discontinuous=True, several_ids=True, nil=True, relations=True, attributes=True, own_fields=True
    )
    takes_folders = True

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        start = head.lstrip()
        return start.startswith(b"<") and b"http://www.omg.org/XMI" in start and b":XMI" in start

    def sniff_files(self, files: Files) -> bool:
        return bool(self._members(files))

    def _members(self, files: Files) -> list[str]:
        names = files.with_suffix(".xmi", ".xml")
        return [name for name in names if self.sniff(files.path, files.head(name))]

    def reads(self, files: Files) -> Sequence[str]:
        systems = (name for name in files.with_suffix(".xml") if _is_type_system(files, name))
        return list(dict.fromkeys([*self._members(files), *systems]))

    def around(self, path: Path) -> Files:
        systems = [name for name in TYPE_SYSTEMS if (path.parent / name).is_file()][:1]
        return chosen_files(path.parent, [path.name, *systems], path=path)

    def holds_more(self, raw: str) -> bool:
        """Whether there are annotations of other types than tokens and sentences, and than relations."""
        return bool(other_annotations(parse(raw.encode("utf-8"), "")))

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        listed = parse(raw.encode("utf-8"), "").mentions() if raw else ()
        return {record: found for record, one in enumerate(listed) if (found := held_attributes(one))}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG002
        """Their keys are the ids of their elements."""
        return [relation for _, relation in xmi_elements(parse(raw.encode("utf-8"), ""))]

    def written(self, files: Sequence[WrittenSource], out: Path) -> list[Path]:
        chosen = [(_FileWriter(file, self.problems), documents) for file, documents in files]
        paths = write_documents(chosen, out, self.problems, suffixes=self.document_endings)
        if paths == [out] and out.suffix.lower() == ".xmi":
            if any(writer.parted for writer, _ in chosen):
                self.problems.note(tr(NO_TYPES, name=out.name))
            if any(writer.attributed for writer, _ in chosen):
                self.problems.note(tr(NO_FEATURES, name=out.name))
        return paths
