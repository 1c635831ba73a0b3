"""UIMA CAS JSON 0.4, as dkpro-cassis and UIMA's Java library write it: one document per file. Read only.

A file has its types (`%TYPES`), its feature structures (`%FEATURE_STRUCTURES`) with their ids and references, and its
views (`%VIEWS`). It becomes the tree of an XMI file, which is also the document's record, and is read like one: see
`xmi`. Offsets count UTF-16 units unless `%OFFSET_ENCODING` states another encoding.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from lxml import etree

from curator.domain.documents import SourceDocument, Utf16Map
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.files.field_meanings import Unread, identifiers_in, is_empty
from curator.io.files.format import ReadOnly
from curator.io.files.source import Files, plain_text
from curator.io.standoff import xmi as tree
from curator.io.standoff.xmi import XmiFormat, XmiReader, other_annotations
from curator.services.ports.files import Carries

Json = dict[str, Any]
_KEYS = (b'"%TYPES"', b'"%FEATURE_STRUCTURES"', b'"%VIEWS"')
_NOT_NAMED = re.compile(r"[^\w.-]", re.ASCII)
_HELD = {code: held for held, code in tree.OF_HELD.items() if code not in (9, 10, 13)}
_XMI = XmiFormat()
MOST_TYPES = 20
"""The most types in a report."""


class CasJsonReader(XmiReader):
    """Yields the documents in the order of their names."""

    format = "cas-json"
    none = "{path} contains no UIMA CAS JSON document{why}"

    def documents(self) -> Iterator[SourceDocument]:
        self._unread, self._odd = Counter[str](), Unread()
        yield from super().documents()
        self.problems.notes(self._odd.sentences())
        if self._unread:
            types = ", ".join(f"{name} ({number:,})" for name, number in self._unread.most_common(MOST_TYPES))
            self.problems.note(tr("annotations of other types are not read: {types}", types=types))

    def _cas(self, name: str, data: bytes) -> tuple[tree.Cas, str]:
        where = self.files.shown(name)
        try:
            found = json.loads(data)
        except RecursionError as error:
            raise UserError(
                tr("{where}: broken JSON (it is nested too deeply): export it again", where=where)
            ) from error
        except ValueError as error:
            line = getattr(error, "lineno", 0)
            raise UserError(
                tr("{where}, line {line}: broken JSON ({error}): export it again", where=where, line=line, error=error)
            ) from error
        cas = cas_of_json(found if isinstance(found, dict) else {}, where)
        self._unread.update(map(tree.type_name, other_annotations(cas)))
        self._odd.mention_fields.update(
            key
            for _, one in _structures(found.get("%FEATURE_STRUCTURES"))
            for key, value in one.items()
            if key[:1] not in "%@^" and _is_odd(value)
        )
        return cas, tree.dump(cas).decode("utf-8")


class CasJsonFormat(ReadOnly):
    """Reads CAS JSON: a file, or a folder or zip archive of files. Records are XMI."""

    name = "cas-json"
    title = "UIMA CAS JSON"
    refusal = "{path} is not UIMA CAS JSON: it has no `%FEATURE_STRUCTURES`; choose another format"
    reader = CasJsonReader
    carries = Carries(mentions=True, discontinuous=True, several_ids=True, nil=True, relations=True, attributes=True)
    takes_folders = True

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        start = head.lstrip()
        return start.startswith(b"{") and any(key in start for key in _KEYS)

    def reads(self, files: Files) -> Sequence[str]:
        return [name for name in files.with_suffix(".json") if self.sniff(files.path, files.head(name))]

    def holds_more(self, raw: str) -> bool:
        return _XMI.holds_more(raw)

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        return _XMI.attributes_in(raw)

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        return _XMI.relations(raw, extra)


def cas_of_json(found: Json, where: str) -> tree.Cas:
    """The CAS as XMI's tree. Raises UserError for one without a text, and for an unknown encoding of offsets."""
    structures = dict(_structures(found.get("%FEATURE_STRUCTURES")))
    sofas = [(key, one) for key, one in structures.items() if one.get("%TYPE") == "uima.cas.Sofa"]
    texts = {key: plain_text(one["sofaString"]) for key, one in sofas if isinstance(one.get("sofaString"), str)}
    chosen = next((key for key in texts if structures[key].get("sofaID") == tree.INITIAL_VIEW), next(iter(texts), ""))
    if not chosen:
        raise UserError(
            tr("{where} contains no text (no Sofa with a sofaString): export it together with its text", where=where)
        )
    offsets = {key: _units(text, _encoding(found, where)) for key, text in texts.items()}
    root = etree.Element(f"{{{tree.XMI}}}XMI", nsmap={"xmi": tree.XMI, "cas": tree.CAS})
    for key, one in structures.items():
        made = etree.SubElement(root, tree.tag_of(_type(one)))
        made.set(tree.ID, key)
        for name, value in _features(one, structures):
            made.set(_named(name), _attribute(value))
        place = offsets.get(made.get("sofa", ""), int)
        for name in ("begin", "end"):
            if type(one.get(name)) is int:
                made.set(name, str(place(one[name])))
    views = found.get("%VIEWS")
    for one in views.values() if isinstance(views, dict) else ():
        if isinstance(one, dict) and isinstance(one.get("%MEMBERS"), list):
            sofa = _reference(one.get("%SOFA"))
            etree.SubElement(root, f"{{{tree.CAS}}}View", sofa=sofa, members=" ".join(map(_reference, one["%MEMBERS"])))
    view = next((one for one in root.iter(f"{{{tree.CAS}}}View") if one.get("sofa") == chosen), None)
    sofa = next(one for one in root.iter(f"{{{tree.CAS}}}Sofa") if one.get(tree.ID) == chosen)
    return tree.Cas(root, sofa, view, texts[chosen], is_1_1=True)


def _structures(found: object) -> Iterator[tuple[str, Json]]:
    """The feature structures by their ids: of a list, or of an object whose keys are the ids."""
    if isinstance(found, dict):
        yield from ((key, one) for key, one in found.items() if isinstance(one, dict))
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and (key := _reference(one.get("%ID"))):
            yield key, one


def _type(one: Json) -> str:
    name = _reference(one.get("%TYPE")) or "uima.cas.TOP"
    package, dot, local = name.removesuffix("[]").rpartition(".")
    return _NOT_NAMED.sub("_", package) + dot + _named(local)


def _named(name: str) -> str:
    """The name in a form that XML allows."""
    word = _NOT_NAMED.sub("_", name)
    return word if word[:1].isalpha() else f"_{word}"


def _features(one: Json, structures: Mapping[str, Json]) -> Iterator[tuple[str, object]]:
    """Names and values; a reference to an array is the array's values, as in XMI."""
    for key, value in one.items():
        if key == "%ELEMENTS":
            yield "elements", value
        elif key.startswith("@"):
            held = structures.get(_reference(value), {})
            yield key[1:], held["%ELEMENTS"] if isinstance(held.get("%ELEMENTS"), list) else _reference(value)
        elif not key.startswith("%"):
            yield key.removeprefix("#"), value


def _is_odd(value: object) -> bool:
    """Whether it has an object, for which CAS has references, or a list in a list, and is no identifier."""
    return isinstance(value, list | dict) and not (_is_plain(value) or is_empty(value) or identifiers_in(value))


def _is_plain(value: object) -> bool:
    return isinstance(value, list) and not any(isinstance(one, dict | list) for one in value)


def _attribute(value: object) -> str:
    if isinstance(value, list | dict):
        return " ".join(map(_attribute, value if _is_plain(value) else identifiers_in(value)))
    text = json.dumps(value) if isinstance(value, bool | float) else "" if value is None else str(value)
    return tree.xml_text(plain_text(text).translate(_HELD))


def _reference(value: object) -> str:
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""


def _encoding(found: Json, where: str) -> str:
    header = found.get("%HEADER")
    stated = (header if isinstance(header, dict) else {}).get("%OFFSET_ENCODING", found.get("%OFFSET_ENCODING"))
    name = str(stated or "UTF-16").upper().replace("_", "-")
    if name not in ("UTF-8", "UTF-16", "UTF-32"):
        raise UserError(
            tr("{where}: offsets in {encoding} cannot be read: export it again", where=where, encoding=name)
        )
    return name


def _units(text: str, encoding: str) -> Callable[[int], int]:
    """From an offset in this encoding to UTF-16 units; -1 for one that is not in the text or within a character."""
    if encoding == "UTF-16":
        return lambda at: at
    width = (lambda ch: len(ch.encode("utf-8"))) if encoding == "UTF-8" else (lambda _: 1)
    starts = {at: number for number, at in enumerate(accumulate(map(width, text), initial=0))}
    units = Utf16Map(text)
    return lambda at: units.to_utf16(starts[at]) if at in starts else -1
