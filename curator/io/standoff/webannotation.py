"""W3C Web Annotation (JSON-LD): a collection with its pages, a page, a list, single annotations; a folder or a zip.

The annotated texts must be included: in the collection's `documents` (as written by this program), as `value` of a
target's source, or as text files named by the targets' addresses, in the folder or next to the file. A
`TextPositionSelector` counts code points; a `TextQuoteSelector` checks it, or finds the position if there is no other
selector. Several targets in one text are the fragments of one mention. `SourceMention.record` is the annotation's index
in its document's record, which is a list; the rest of the collection is kept for the whole source.

The content of a W3C Web Annotation: its target's text and position, its type and its identifiers.

Write W3C Web Annotations: one collection for each source file, with the annotated texts.

* Unchanged annotations are kept; a decision replaces the bodies with identifiers, and adds who decided and when
  (`creator`, `created`). NIL is a textual body.
* New annotations quote the text (`TextQuoteSelector`) and count code points (`TextPositionSelector`). A discontinuous
  mention has one target for each fragment.
* An attribute of a mention is a textual body with the purpose of classifying and the attribute's name in a separate
  term.
* Deleted and rejected mentions' annotations are left out; so are replies to them, which is noted.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError, ntr, tr
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.attributes import AttributeNames, json_text
from curator.io.files.editing import DocumentEdit
from curator.io.files.export import Action, FreeNames, WrittenSource, extra_of, is_gold
from curator.io.files.field_meanings import identifiers_in, other_texts
from curator.io.files.format import Format
from curator.io.files.idstyle import NIL, read_id, written_address
from curator.io.files.json_stream import JsonStream
from curator.io.files.opening import own_file
from curator.io.files.reading import FilesReader, Placing, are_apart, first_line, plain_passages, stated_mention
from curator.io.files.report import Report
from curator.io.files.source import Files, holds_many, open_files, plain_text
from curator.services.ports.files import Carries, ExportDocument, ExportMention

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
NOT_MENTIONS = frozenset(
    {"commenting", "replying", "editing", "questioning", "moderating", "assessing", "bookmarking", "describing"}
)
NAMES_ENTITY = frozenset({"identifying", "linking"})
NAMES_TYPE = frozenset({"tagging", "classifying"})

ATTRIBUTE = "attribute"
"""The key of an attribute's name in a classifying body; its value is in `value`."""

DEEPEST_SELECTOR = 20
"""Levels of nested selectors that are read."""
_FRAGMENT = re.compile(r"char=(\d+)(?:,(\d+))?")


def many(value: object) -> list[Any]:
    """A JSON-LD value, single or list, as a list."""
    return [] if value is None else value if isinstance(value, list) else [value]


def objects(value: object) -> list[dict[str, Any]]:
    return [one for one in many(value) if isinstance(one, dict)]


def is_a(value: object, kind: str) -> bool:
    return isinstance(value, dict) and kind in many(value.get("type", value.get("@type")))


def key_of(value: object) -> str:
    """The address of a resource, given as such or as an object."""
    if isinstance(value, dict):
        value = value.get("id", value.get("@id"))
    return value if isinstance(value, str) else ""


def motivations(annotation: dict[str, Any]) -> set[str]:
    return {one.removeprefix("oa:") for one in many(annotation.get("motivation")) if isinstance(one, str)}


# --- targets ---


def targets(annotation: dict[str, Any]) -> list[tuple[str, Any]]:
    """(address of the text, selectors) of each target; those of a list or a composite are a mention's fragments."""
    found = []
    for target in many(annotation.get("target")):
        members = objects(target.get("items")) if isinstance(target, dict) and "items" in target else [target]
        for one in members:
            if isinstance(one, str):
                address, _, fragment = one.partition("#")
                found.append((address, {"type": "FragmentSelector", "value": fragment} if fragment else None))
            elif isinstance(one, dict):
                found.append((key_of(one.get("source")) or key_of(one), one.get("selector")))
    return found


Place = tuple[int | None, int | None, str | None, str, str]


def place(selector: object) -> Place:
    """(start, end, exact, prefix, suffix) of the selectors of one target that are not refined; None for missing
    values."""
    return _place([one for one in _alternatives(selector) if not one.get("refinedBy")])


def _place(selectors: Sequence[dict[str, Any]]) -> Place:
    start = end = exact = None
    prefix = suffix = ""
    for one in selectors:
        if is_a(one, "TextPositionSelector") and type(one.get("start")) is int and type(one.get("end")) is int:
            start, end = one["start"], one["end"]
        elif is_a(one, "TextQuoteSelector") and isinstance(one.get("exact"), str):
            exact, prefix, suffix = one["exact"], str(one.get("prefix") or ""), str(one.get("suffix") or "")
        elif is_a(one, "FragmentSelector") and (found := _FRAGMENT.search(str(one.get("value")))):
            start = int(found[1][:18]) if start is None else start
            end = int((found[2] or found[1])[:18]) if end is None else end
    return start, end, exact, prefix, suffix


def selected(selector: object, text: str, depth: int = 0) -> tuple[int, int] | None:
    """The place in the text that refined selectors and ranges select; None if none of them selects one.

    A selector in `refinedBy` selects within the text that the refined one selects. A range ends before its
    `endSelector`.
    """
    for one in _alternatives(selector) if depth < DEEPEST_SELECTOR else ():
        if is_a(one, "RangeSelector"):
            ends = [selected(one.get(name), text, depth + 1) for name in ("startSelector", "endSelector")]
            found = (ends[0][0], ends[1][0]) if ends[0] and ends[1] else None
        else:
            found = _found(_place([one]), text)
        if found is not None and one.get("refinedBy"):
            within = selected(one["refinedBy"], text[found[0] : found[1]], depth + 1)
            found = (found[0] + within[0], found[0] + within[1]) if within else None
        if found is not None and 0 <= found[0] < found[1] <= len(text):
            return found
    return None


def _found(stated: Place, text: str) -> tuple[int, int] | None:
    start, end, exact, prefix, suffix = stated
    if exact is None:
        return (start, end) if start is not None and end is not None else None
    if text.count(prefix + exact + suffix) != 1:
        return None
    at = text.index(prefix + exact + suffix) + len(prefix)
    return at, at + len(exact)


def _alternatives(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The selectors of a list or a choice: each selects the same."""
    for one in objects(value):
        if "items" in one and depth < DEEPEST_SELECTOR:
            yield from _alternatives(one["items"], depth + 1)
        else:
            yield one


# --- bodies ---


def role(body: object, annotation: dict[str, Any]) -> str:
    """ "type", "id", "attribute" or '' of one body: by its purpose, else by what it is and the annotation's
    motivation."""
    if isinstance(body, dict) and all(isinstance(body.get(key), str) for key in (ATTRIBUTE, "value")):
        return ATTRIBUTE
    purposes = many(body.get("purpose")) if isinstance(body, dict) else []
    named = {str(one) for one in purposes} or motivations(annotation)
    if named & NAMES_ENTITY:
        return "id" if body_ids(body) else ""
    textual = isinstance(body, dict) and isinstance(body.get("value"), str)
    if named & NAMES_TYPE:
        return "type" if textual else "id" if body_ids(body) else ""
    return "" if textual or purposes or not body_ids(body) else "id"


def body_ids(body: object) -> list[str]:
    """The addresses that a body refers to, or its text."""
    if not isinstance(body, dict):
        return [body] if isinstance(body, str) and body else []
    stated = (body.get(key) for key in ("source", "value", "id", "@id"))
    return next((ids for one in stated if (ids := identifiers_in(one))), [])


def named_by(body: object, annotation: dict[str, Any]) -> str:
    """The purpose of a body, or the motivation of its annotation."""
    purposes = many(body.get("purpose")) if isinstance(body, dict) else []
    return str([*purposes, *sorted(motivations(annotation)), "body"][0])


def type_and_ids(annotation: dict[str, Any]) -> tuple[str, list[str]]:
    """The annotation's type, and its identifiers as stated."""
    kind, ids = "", []
    for body in bodies(annotation):
        what = role(body, annotation)
        if what == "type":
            kind = kind or str(body["value"])
        elif what == "id":
            ids += body_ids(body)
    return kind, ids


def bodies(annotation: dict[str, Any]) -> list[Any]:
    """A plain text (`bodyValue`) counts as a textual body."""
    found = many(annotation.get("body"))
    if isinstance(annotation.get("bodyValue"), str):
        found = [*found, {"type": "TextualBody", "value": annotation["bodyValue"]}]
    return found


def held_attributes(annotation: dict[str, Any]) -> dict[str, str]:
    """Names and values of the attributes; the first of a repeated name."""
    found: dict[str, str] = {}
    for body in bodies(annotation):
        if role(body, annotation) == ATTRIBUTE and body[ATTRIBUTE].strip() and body["value"].strip():
            found.setdefault(plain_text(body[ATTRIBUTE].strip()), plain_text(body["value"].strip()))
    return found


def put_attributes(annotation: dict[str, Any], changes: Mapping[str, str | None]) -> None:
    """Change, add or, for None, remove the bodies of these attributes."""
    made, left = list[Any](), dict(changes)
    for body in bodies(annotation):
        name = plain_text(body[ATTRIBUTE].strip()) if role(body, annotation) == ATTRIBUTE else ""
        if name not in changes:
            made.append(body)
        elif (value := left.pop(name, None)) is not None:
            made.append({**body, "value": value})
    annotation.pop("bodyValue", None)
    new = (
        {"type": "TextualBody", "purpose": "classifying", ATTRIBUTE: name, "value": value}
        for name, value in left.items()
        if value is not None
    )
    annotation["body"] = [*made, *new]


def new_bodies(kind: str, ids: list[str]) -> list[dict[str, Any]]:
    """Bodies for a type and identifiers; a NIL body for an empty identifier."""
    found: list[dict[str, Any]] = [{"type": "TextualBody", "purpose": "tagging", "value": kind}]
    for one in ids:
        if read_id(one):
            found.append({"type": "SpecificResource", "purpose": "identifying", "source": one})
        else:
            found.append({"type": "TextualBody", "purpose": "identifying", "value": one})
    return found


ADDRESS = "urn:curator:document:"
_KNOWN = frozenset({"@context", "id", "type", "motivation", "body", "bodyValue", "target", "creator", "created"})
DEEPEST = 100
ENDINGS, TEXTS = (".jsonld", ".json"), (".txt", ".text")


class WebAnnotationReader(FilesReader):
    """Yields the texts in the order in which they occur in the files."""

    format = "webannotation"
    none = "{path}: the texts of its annotations are missing: put them next to the file"

    def documents(self) -> Iterator[SourceDocument]:
        self._texts: dict[str, tuple[str, str]] = {}  # with their titles, by their addresses
        self._envelope: dict[str, Any] = {}
        self._pages, self._wanted = set[str](), set[str]()
        annotations: dict[str, list[dict[str, Any]]] = {}
        others: list[dict[str, Any]] = []
        for one in self._annotations():
            address = self._home(one)
            if address is None:
                others.append(one)
            else:
                annotations.setdefault(address, []).append(one)
        if others:
            words = ntr(
                "{n} annotation does not refer to a text in the file: kept, but not shown",
                "{n:,} annotations do not refer to a text in the file: kept, but not shown",
                len(others),
            )
            self.problems.note(words)
        for address in self._texts:
            yield self._document(address, annotations.get(address, []))
        kept = {_document_id(one): one for one in self._texts}
        extra = {"envelope": self._envelope, "others": others, "addresses": kept}
        self.extra = plain_text(json.dumps(extra, ensure_ascii=False))

    def _annotations(self) -> Iterator[dict[str, Any]]:
        """The annotations of all files; texts within the files and the rest of the collection are kept."""
        for name in self.files.with_suffix(*ENDINGS) or self.files.names:
            for _, _, value, _ in JsonStream(self.files.source(name), (), whole=True):
                for document in objects(value.get("documents")):
                    text, title = document.get("value"), document.get("title")
                    if isinstance(text, str) and key_of(document):
                        self._texts[key_of(document)] = plain_text(text), plain_text(str(title or ""))
                yield from self._unwrapped(value)
        if missing := sorted(self._wanted - self._pages):
            words = "the page {missing} was not found: import its folder, or save all pages"
            self.problems.set_aside(tr(words, missing=missing[0]))

    def _unwrapped(self, value: dict[str, Any], depth: int = 0) -> Iterator[dict[str, Any]]:
        if depth > DEEPEST:
            words = "{path}: pages are nested more than {deepest} deep: save each page by itself"
            raise UserError(tr(words, path=self.path, deepest=DEEPEST))
        if is_a(value, "AnnotationCollection"):
            for key, part in value.items():
                if key not in ("first", "last", "items", "documents", "total"):
                    self._envelope.setdefault(key, part)
            parts = [*objects(value.get("first")), *objects(value.get("items"))]
            self._wanted |= {value["first"]} if isinstance(value.get("first"), str) else set()
        elif is_a(value, "AnnotationPage") or "items" in value:
            self._pages.add(key_of(value))
            self._wanted |= {value["next"]} if isinstance(value.get("next"), str) else set()
            parts = [*objects(value.get("items")), *objects(value.get("next"))]
        else:
            yield value
            return
        for part in parts:
            yield from self._unwrapped(part, depth + 1)

    def _home(self, annotation: dict[str, Any]) -> str | None:
        """The address of the only text of an annotation; None if there is none, or several."""
        for target in objects(annotation.get("target")):
            source = target.get("source")
            if isinstance(source, dict) and isinstance(source.get("value"), str) and key_of(source):
                self._texts.setdefault(key_of(source), (plain_text(source["value"]), ""))
        addresses = {address for address, selector in targets(annotation) if selector is not None}
        if len(addresses) != 1:
            return None
        (address,) = addresses
        if address not in self._texts and (text := self._beside(address)) is not None:
            self._texts[address] = text, ""
        return address if address in self._texts else None

    def _beside(self, address: str) -> str | None:
        """The text of a file that an address names, by its whole path or by its last part. Nothing is downloaded.
        Raises UserError for a link that leads out of the folder."""
        wanted = PurePosixPath(unquote(urlsplit(address).path).lstrip("/"))
        if wanted.suffix.lower() not in TEXTS or ".." in wanted.parts:
            return None
        for name in self.files.names:
            if name == str(wanted) or PurePosixPath(name).name == wanted.name:
                return self.text(name)
        file = self.path.parent / wanted.name
        if self.path.is_file() and not holds_many(self.path) and file.is_file():
            return open_files(own_file(file, file.parent)).text(file.name)
        return None

    def _document(self, address: str, annotations: list[dict[str, Any]]) -> SourceDocument:
        text, title = self._texts[address]
        key = _document_id(address)
        placing = Placing(text, (), self.problems, key)
        placing.learn(_stated(annotations))
        mentions = [
            mention
            for record, one in enumerate(annotations)
            if (mention := self._mention(one, record, placing, key)) is not None
        ]
        raw = plain_text(json.dumps(annotations, ensure_ascii=False))
        return SourceDocument(key, title or first_line(text), text, plain_passages(text), tuple(mentions), raw)

    def _mention(self, annotation: dict[str, Any], record: int, placing: Placing, key: str) -> SourceMention | None:
        kind, stated = type_and_ids(annotation)
        if not kind and not stated and motivations(annotation) & NOT_MENTIONS:
            return None
        spans: list[Span] = []
        where = f"document {key}: {key_of(annotation) or f'annotation {record}'}"
        for _, selector in targets(annotation):
            found = self._spans(selector, placing, where)
            if not found:
                return None
            spans += found
        spans.sort()
        if not spans or not are_apart(spans):
            words = "document {key}: the targets of {key_of} overlap"
            self.problems.set_aside(tr(words, key=key, key_of=key_of(annotation)))
            return None
        return stated_mention(placing.text, spans, plain_text(kind), [plain_text(one) for one in stated], record)

    def _spans(self, selector: object, placing: Placing, where: str) -> Sequence[Span]:
        """The span of one target; none if it is skipped with a problem."""
        text = placing.text
        start, end, exact, prefix, suffix = place(selector)
        if exact is None:
            found = (start, end) if start is not None and end is not None else selected(selector, text)
            if not (spans := placing.inside([found] if found else [])):
                words = "{where}: no position in the text ({selector})"
                self.problems.set_aside(tr(words, where=where, selector=json.dumps(selector)[:80]))
            return spans
        at = text.find(prefix + exact + suffix)
        if start is None and at >= 0 and exact and text.find(prefix + exact + suffix, at + 1) < 0:
            return [Span(at + len(prefix), at + len(prefix) + len(exact))]
        if start is not None and end is not None:
            return placing.find([(start, end)], exact, tr('{where}: "{exact}"', where=where, exact=exact[:80]))
        anchor = placing.anchors.find(start or 0, end or 0, exact) if text.count(exact) == 1 else None
        if anchor is None:
            words = '{where}: the position of "{exact}" is ambiguous, or it does not occur in the text'
            self.problems.set_aside(tr(words, where=where, exact=exact[:80]))
        return [anchor.span] if anchor else []


def _stated(annotations: Iterable[dict[str, Any]]) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """The offsets and quoted texts of targets."""
    for one in annotations:
        for _, selector in targets(one):
            start, end, exact, _, _ = place(selector)
            if start is not None and end is not None and exact is not None:
                yield [(start, end)], exact


def _document_id(address: str) -> str:
    """A document's id from the address of its text: without our prefix, or the file's path without its ending."""
    if address.startswith(ADDRESS):
        return unquote(address[len(ADDRESS) :])
    parts = urlsplit(address)
    if not parts.scheme and parts.path.lower().endswith(TEXTS):
        return plain_text(unquote(parts.path).rpartition(".")[0])
    return plain_text(address)


AROUND = 32  # characters of context on either side of a quotation
OWN_TERMS = {
    "documents": {"@id": "urn:curator:documents", "@container": "@set"},
    "title": "http://purl.org/dc/terms/title",
    ATTRIBUTE: "urn:curator:attribute",
}


def _collection(sources: Sequence[WrittenSource], problems: Report) -> dict[str, Any]:
    """One collection; its other fields are those of the first source."""
    envelope = extra_of(sources[0][0], "webannotation").get("envelope", {})
    envelope = {key: value for key, value in envelope.items() if key not in ("@context", "type")}
    texts: list[dict[str, Any]] = []
    items: list[dict[str, Any]] = []
    taken = FreeNames()
    for file, documents in sources:
        extra = extra_of(file, "webannotation")
        items += extra.get("others", ())
        for item in documents:
            address = _address(item, extra.get("addresses", {}), taken)
            document = item.document
            text = {"id": address, "type": "Text", "format": "text/plain", "value": document.text}
            texts.append(text | {"title": document.title} if document.title else text)
            items += _Edit(item, file, problems, address).annotations()
    page = {"type": "AnnotationPage", "startIndex": 0, "items": items}
    return {
        "@context": [CONTEXT, OWN_TERMS],
        "type": "AnnotationCollection",
        **envelope,
        "total": len(items),
        "documents": texts,
        "first": page,
    }


def _address(item: ExportDocument, known: dict[str, str], taken: FreeNames) -> str:
    """The address of a text, unique even for repeated ids."""
    key = item.document.external_id
    address = known.get(key) or "urn:curator:document:" + quote(key, safe="")
    return taken.take(address, lambda number: f"{address}%20({number})")


class _Edit(DocumentEdit[dict[str, Any]]):
    """The annotations of one document while they are edited."""

    title = "Web Annotation"
    names = AttributeNames(title)
    kinds = ()

    def __init__(self, item: ExportDocument, file: SourceFile, problems: Report, address: str) -> None:
        super().__init__(item, file, problems, own=file.format == "webannotation" and bool(item.raw))
        self._address = address
        self._found: list[dict[str, Any]] = json.loads(item.raw) if self.own else []
        self._new: list[dict[str, Any]] = []
        self._gone: list[dict[str, Any]] = []

    def annotations(self) -> Iterator[dict[str, Any]]:
        self.run()
        removed, gone = {id(one) for one in self._gone}, {key_of(one) for one in self._gone} - {""}
        for one in self._found:
            if id(one) not in removed and not self._replies(one, gone):
                yield one
        yield from self._new

    def part(self, record: int) -> dict[str, Any]:
        return self._found[record]

    def remove(self, gone: list[dict[str, Any]]) -> None:
        self._gone += gone

    def _replies(self, annotation: dict[str, Any], gone: set[str]) -> bool:
        found = {address for address, _ in targets(annotation)} & gone
        if found:
            words = "{key_of} was removed together with {found}, which it refers to"
            self.problems.note(tr(words, key_of=key_of(annotation), found=min(found)))
        return bool(found)

    def add(self, gold: ExportMention) -> dict[str, Any]:
        ids = stated_ids(gold, self.item, self.file)
        written = [] if ids is None else [written_address(one) for one in ids] or [NIL]
        value: dict[str, Any] = {
            "type": "Annotation",
            "motivation": "identifying" if written else "tagging",
            "body": new_bodies(gold.mention.type, written),
            "target": self._target(gold),
        }
        self._new.append(value | _provenance(gold))
        return self._new[-1]

    def edit(self, part: dict[str, Any], gold: ExportMention, action: Action) -> bool:
        kind, stated = type_and_ids(part)
        if gold.reshaped:
            part["target"] = self._target(gold)
            kind = gold.mention.type
        if action is Action.WRITE:
            stated = [written_address(one) for one in stated_ids(gold, self.item, self.file) or ()] or [NIL]
            part |= _provenance(gold)
        if action is Action.WRITE or kind != type_and_ids(part)[0]:
            others = [one for one in bodies(part) if role(one, part) in ("", ATTRIBUTE)]
            part.pop("bodyValue", None)
            part["body"] = [*new_bodies(kind, stated), *others]
        return True

    def held(self, part: dict[str, Any]) -> dict[str, str]:
        return held_attributes(part)

    def set_attribute(self, part: dict[str, Any], name: str, value: str | None) -> None:
        put_attributes(part, {name: value})

    def _target(self, gold: ExportMention) -> object:
        text = self.item.document.text
        found = [
            {
                "source": self._address,
                "selector": [
                    {"type": "TextPositionSelector", "start": span.start, "end": span.end},
                    {
                        "type": "TextQuoteSelector",
                        "exact": text[span.start : span.end],
                        "prefix": text[max(span.start - AROUND, 0) : span.start],
                        "suffix": text[span.end : span.end + AROUND],
                    },
                ],
            }
            for span in gold.mention.spans
        ]
        return found[0] if len(found) == 1 else found


def _provenance(gold: ExportMention) -> dict[str, Any]:
    """Who decided and when."""
    if gold.decision is None or not is_gold(gold):
        return {}
    return {"creator": {"type": "Person", "name": gold.decision.curator}, "created": gold.decision.at.isoformat()}


class WebAnnotationFormat(Format):
    name = "webannotation"
    title = "W3C Web Annotation (JSON-LD)"
    refusal = f"{{path}} is not a Web Annotation file: no JSON with the context {CONTEXT}; choose another format"
    reader = WebAnnotationReader
    endings = ENDINGS
    suffix = ".jsonld"
    carries = Carries(mentions=True, discontinuous=True, several_ids=True, nil=True, attributes=True, own_fields=True)
    carries_people = True
    takes_folders = True

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        start = head.lstrip()
        return start[:1] in (b"{", b"[") and b"//www.w3.org/ns/anno" in head

    def sniff_files(self, files: Files) -> bool:
        names = files.with_suffix(*ENDINGS)
        return bool(names) and all(self.sniff(files.path, files.head(name, 1 << 16)) for name in names[:20])

    def reads(self, files: Files) -> Sequence[str]:
        """Including texts that may be annotated."""
        return files.with_suffix(*ENDINGS, *TEXTS)

    def holds_more(self, raw: str) -> bool:
        found = [one for one in json.loads(raw) if isinstance(one, dict)]
        return any(one.keys() - _KNOWN or not all(role(body, one) for body in bodies(one)) for one in found)

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        listed = enumerate(json.loads(raw) if raw else ())
        held = ((record, held_attributes(one)) for record, one in listed if isinstance(one, dict))
        return {record: found for record, found in held if found}

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """Unknown keys, and bodies that are neither types nor identifiers nor attributes."""
        found = {}
        for record, one in enumerate(json.loads(raw)):
            others: defaultdict[str, str] = defaultdict(str)
            for body in bodies(one):
                if not role(body, one):
                    others[named_by(body, one)] += f" {json_text(body)}"
            found[record] = {**others, **other_texts(one, _KNOWN)}
        return found

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[str]:
        yield plain_text(json.dumps(_collection(sources, self.problems), ensure_ascii=False, indent=1) + "\n")
