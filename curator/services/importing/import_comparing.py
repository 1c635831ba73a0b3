"""Compares a document of a file with the project: new, already here, or changed under the same id.

A file is a newer version of an imported file with the same path, or the same name and format: their documents match by
id and occurrence. A document of any other file is the same only if it has the same id and the same or nearly the same
text, since identifiers such as `1` occur in many files. Pages of different wikis, whose links have other types, never
match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from pathlib import Path

from curator.domain.documents import (
    Mention,
    MentionOrigin,
    MentionShape,
    Present,
    SourceDocument,
    SourceMention,
    Span,
    text_hash,
)
from curator.domain.entities import WIKI
from curator.domain.id_fields import id_in
from curator.domain.wording import ntr, tr, well_formed
from curator.services.ports.files import DocumentFormat, DocumentReader, Problem
from curator.services.ports.storage import UnitOfWork

ALIKE = 0.6
"""The least share of common words, in order, for two texts to be versions of one text."""
LONG_ENOUGH = 20
"""The least number of words: short texts are similar by chance, and `1` is an identifier in many files."""
HAS_NUL = "document {name} has a NUL character, which is not allowed in a text: correct the file and import it again"
Shape = tuple[tuple[Span, ...], str]


class ImportStatus(StrEnum):
    NEW = "new"
    SAME = "same"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Compared:
    """A document of a file, and the matching document of the project (None if it is new)."""

    source: SourceDocument
    status: ImportStatus = ImportStatus.NEW
    document_id: int = 0
    bare_in: int = 0  # the file of a document with this exact text and no mentions


class Comparer:
    """Compares the documents of one file, in order. Create a new one for each reading."""

    def __init__(self, path: Path, format_name: str) -> None:
        self._path, self._name, self._format = well_formed(str(path.resolve())), well_formed(path.name), format_name
        self._seen: Counter[str] = Counter()

    def compare(self, unit: UnitOfWork, documents: Sequence[SourceDocument]) -> list[Compared]:
        present = unit.imports.present([one.external_id for one in documents])
        found = []
        for one in documents:
            occurrence = self._seen[one.external_id]
            self._seen[one.external_id] += 1
            found.append(self._compared(unit, one, present.get(one.external_id, []), occurrence))
        return found

    def _compared(
        self, unit: UnitOfWork, source: SourceDocument, present: Sequence[Present], occurrence: int
    ) -> Compared:
        if self._format == WIKI:
            present = [one for one in present if one.format != WIKI or _may_be_of_one_wiki(unit, one, source)]
        sha256 = text_hash(source.text) if present else ""
        own = [one for one in present if self._is_version(one) and one.occurrence == occurrence]
        same = [one for one in own or present if one.text_sha256 == sha256]
        if same:
            match = same[0]
            known = stated_shapes(unit, match.document_id) if source.mentions else {}
            if not _differ(known, source, same_format=match.format == self._format):
                return Compared(source, ImportStatus.SAME, match.document_id)
            bare_in = 0 if known else match.file_id
            return Compared(source, ImportStatus.CHANGED, match.document_id, bare_in)
        near = own or [one for one in present if alike(unit.documents.get(one.document_id).text, source.text)]
        return Compared(source, ImportStatus.CHANGED, near[-1].document_id) if near else Compared(source)

    def _is_version(self, one: Present) -> bool:
        return one.path == self._path or (one.name == self._name and one.format == self._format)


def _may_be_of_one_wiki(unit: UnitOfWork, present: Present, source: SourceDocument) -> bool:
    """Whether two pages with one title may be of the same wiki: the type of all links is the wiki's name."""
    known = unit.mentions.of_document(present.document_id, deleted=True)
    types = {one.type for one in known if one.origin is MentionOrigin.SOURCE}
    own = {one.type for one in source.mentions}
    return not (types and own) or not types.isdisjoint(own)


def alike(old: str, new: str) -> bool:
    """Whether two texts are versions of one."""
    words, others = old.split(), new.split()
    if min(len(words), len(others)) < LONG_ENOUGH:
        return words == others
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
        return False
    return matcher.ratio() >= ALIKE


def _differ(known: Mapping[Shape, Mention], source: SourceDocument, *, same_format: bool) -> bool:
    """Whether the file has a mention that the document never had, or another identifier for a mention.

    Identifiers are compared within one format only: formats write them differently.
    """
    for one in source.mentions:
        mention = known.get(shape_of(one))
        if mention is None:
            return True
        if same_format and mention.origin is MentionOrigin.SOURCE and mention.raw_ids.strip() != one.raw_ids.strip():
            return True
    return False


def stated_shapes(unit: UnitOfWork, document_id: int) -> dict[Shape, Mention]:
    """The document's mentions by their current spans and by their spans in the file, including deleted ones."""
    mentions = unit.mentions.of_document(document_id, deleted=True)
    first = unit.mentions.first_shapes(document_id)
    found = {(one.spans, one.type): one for one in mentions}
    found |= {(first[one.id].spans, first[one.id].type): one for one in mentions if one.id in first}
    return found


def storable(reader: DocumentReader, form: DocumentFormat) -> Iterator[SourceDocument]:
    """The documents that can be stored, with identifiers that can: identifiers of plain texts are file names. Those
    with a NUL character are set aside in the reader's report, which also names fields that look like identifiers."""
    fields = UnreadFields(form)
    for one in reader:
        fields.look(one)
        if _has_nul(one):
            line = one.line + one.raw.count("\n", 0, max(one.raw.find("\0"), 0))
            reader.problems.append(
                Problem(line, "set aside", tr(HAS_NUL, name=one.external_id.replace("\0", "\ufffd")))
            )
            continue
        name = well_formed(one.external_id)
        yield one if name == one.external_id else replace(one, external_id=name)
    reader.problems.extend(fields.problems(reader.problems))


def _has_nul(one: SourceDocument) -> bool:
    texts = (one.external_id, one.title, one.text, one.raw, *(p.label for p in one.passages))
    return any("\0" in text for text in texts) or any(
        "\0" in text for mention in one.mentions for text in (mention.type, mention.raw_ids)
    )


def fingerprint(source: SourceDocument) -> str:
    """A hash of a file's text and annotations: equal if a curator would see the same."""
    mentions = "\n".join(f"{shape_of(one)!r} {one.raw_ids!r}" for one in source.mentions)
    return text_hash(f"{source.text}\0{mentions}")


def shape_of(one: SourceMention | MentionShape) -> Shape:
    return one.spans, one.type


# Identifiers in fields that are not read as identifiers: they are named in the report of an import.

MOST_NAMED = 20


class UnreadFields:
    """Counts, over the documents of one file, the mentions without an identifier that have one in another field."""

    def __init__(self, form: DocumentFormat) -> None:
        self._form = form
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def look(self, source: SourceDocument) -> None:
        records = {one.record for one in source.mentions if not one.ids and one.record >= 0}
        if not records or not source.raw:
            return
        for record, name, value in self._fields(source.raw):
            if record in records and (example := id_in(name, value)):
                self._counts[name] += 1
                self._examples.setdefault(name, example)

    def problems(self, known: list[Problem]) -> list[Problem]:
        """A note for each field, the most frequent first, without those that `known` names."""
        named = [one for one in self._counts.most_common(MOST_NAMED) if not any(f"“{one[0]}”" in p.text for p in known)]
        return [
            Problem(
                0,
                "note",
                ntr(
                    "the field “{name}” looks like an identifier, such as {example}, and was not read as one "
                    "({n} mention)",
                    "the field “{name}” looks like an identifier, such as {example}, and was not read as one "
                    "({n:,} mentions)",
                    number,
                    name=name,
                    example=self._examples[name][:80],
                ),
            )
            for name, number in named
        ]

    def _fields(self, raw: str) -> Iterator[tuple[int, str, str]]:
        for records in (self._form.attributes_in(raw), self._form.fields_in(raw)):
            for record, fields in records.items():
                yield from ((record, name, value) for name, value in fields.items())
