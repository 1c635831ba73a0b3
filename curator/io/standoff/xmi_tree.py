"""A UIMA CAS as XMI: its text, and the annotations of entities. Offsets count UTF-16 units.

`dkpro-cassis` reads and writes XMI too, but only together with its type system, in which every type must be declared,
and it writes the whole file from scratch. Here the tree is edited in place, so that everything else in the file stays,
and the parser is the hardened one of the other XML formats. The tests open written files with cassis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree

from curator.domain.id_fields import identifier_key
from curator.domain.wording import UserError, tr
from curator.io.standoff.webanno_tree import ID_FEATURES, TYPE_FEATURES

XMI = "http://www.omg.org/XMI"
CAS = "http:///uima/cas.ecore"
ID = f"{{{XMI}}}id"
INITIAL_VIEW = "_InitialView"
RELATION_ENDS = ("Governor", "Dependent")
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
    parser = etree.XMLParser(
        load_dtd=False, dtd_validation=False, no_network=True, resolve_entities=False, huge_tree=False
    )
    is_1_1 = _XML_1_1.match(data) is not None
    try:
        root = etree.fromstring(_CONTROL.sub(_held, data) if is_1_1 else data, parser)
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
