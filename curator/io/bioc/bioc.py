"""The common part of BioC XML and BioC JSON: the parts of a document, and their conversion to text and mentions.

The package `bioc` is not used: it reads whole files into memory with an XML parser that resolves entities, has no
source lines, keeps only one of several infons with the same key, and drops every field outside of the DTD (PubTator 3
has many), so that files could not be written back unchanged.

The stored text is the passages separated by one line feed, regardless of the file's offsets; empty passages at the end
add nothing. An annotation's position is relative to the document: by its passage's stated offset or, if that matches
better (in BC5CDR offsets are 5 or 10 too large), by the passage's position in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from curator.domain.documents import Passage
from curator.io.files.attributes import BINARY

Infons = list[tuple[str, str]]


@dataclass(slots=True)
class OffsetText:
    """A text with its own offset: a passage, or a sentence of a passage without text."""

    offset: int | None
    text: str


@dataclass(slots=True)
class BioCPassage:
    infons: Infons
    text: OffsetText
    sentences: list[OffsetText] = field(default_factory=list)


@dataclass(slots=True)
class BioCAnnotation:
    """`passage` and `sentence` are the indexes of those that contain it, -1 for none. `places` are (offset, length);
    None if one of them is not a number. `flags` are the keys of infons that are true or false, not texts; `unread` are
    those with identifiers in a form that is not read."""

    id: str
    infons: Infons
    text: str
    places: tuple[tuple[int, int], ...] | None
    passage: int = -1
    sentence: int = -1
    line: int = 0
    flags: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()

    def said(self) -> Infons:
        """The infons as attributes: `BINARY` for true, without those that are false."""
        kept = (one for one in self.infons if one[0] not in self.flags or one[1] == "true")
        return [(key, BINARY if key in self.flags else value) for key, value in kept]


@dataclass(slots=True)
class BioCRelation:
    """`nodes` are (id of an annotation, role); `passage` and `sentence` are as in annotations."""

    id: str
    infons: Infons
    nodes: list[tuple[str, str]]
    passage: int = -1
    sentence: int = -1


@dataclass(slots=True)
class BioCDocument:
    """`annotations` are in the order of a walk through the file's tree: their index is the mention's record."""

    id: str
    infons: Infons
    passages: list[BioCPassage]
    annotations: list[BioCAnnotation]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """The position of one of the file's texts in the stored text: [start, end); `offset` is stated in the file."""

    passage: int
    sentence: int
    offset: int
    start: int
    end: int


@dataclass(slots=True)
class StoredText:
    """The stored text of a document. `stated` is false if annotations use positions in the text."""

    text: str
    passages: tuple[Passage, ...]
    segments: list[Segment]
    stated: bool = True

    def segment_of(self, annotation: BioCAnnotation) -> Segment | None:
        """The segment of its passage or sentence; if it is in none, the segment of its first position."""
        for one in self.segments:
            if annotation.passage >= 0 and (one.passage, one.sentence) == (annotation.passage, annotation.sentence):
                return one
        at = annotation.places[0][0] if annotation.places else 0
        inside = (one for one in self.segments if one.offset <= at < one.offset + one.end - one.start)
        return next(inside, None)

    def segment_at(self, start: int) -> Segment | None:
        """The innermost segment that contains a position of the stored text."""
        inside = [one for one in self.segments if one.start <= start < one.end]
        return min(inside, key=lambda one: one.end - one.start, default=None)

    def to_file(self, segment: Segment | None, position: int) -> int:
        """A position of the stored text as an offset of the file."""
        return position if segment is None or not self.stated else position - segment.start + segment.offset

    def from_file(self, segment: Segment | None, offset: int, *, stated: bool) -> int:
        return offset if segment is None or not stated else offset - segment.offset + segment.start


def lay_out(document: BioCDocument) -> StoredText:
    """The stored text with its passages and segments; the reader determines the offsets of annotations.

    If no passage states its type, the first of several is the title.
    """
    text, passages, segments = "", list[Passage](), list[Segment]()
    last = len(document.passages) - 1
    untyped = not any(is_typed(one.infons) for one in document.passages)
    while last >= 0 and not passage_text(document.passages[last]):
        last -= 1
    for index, passage in enumerate(document.passages[: last + 1]):
        body = passage_text(passage)
        if index and not _joined(document.passages[index - 1], passage, text, body):
            text += "\n"
        start = len(text)
        text += body
        segments += _segments(index, passage, start, len(text))
        if body:
            kind, label = kind_of(passage.infons, titled=any(one.kind == "title" for one in passages))
            kind = "title" if untyped and not passages and index < last else kind
            passages.append(Passage(kind, start, len(text), label))
    return StoredText(text, tuple(passages), segments)


def passage_text(passage: BioCPassage) -> str:
    """The passage's text, or its sentences at their offsets, with spaces in the gaps."""
    if passage.text.text or not passage.sentences:
        return passage.text.text
    text, base = "", passage.sentences[0].offset or 0
    for number, sentence in enumerate(passage.sentences):
        gap = (sentence.offset or 0) - base - len(text)
        text += " " * (gap if 0 <= gap <= 8 else 1) if number else ""
        text += sentence.text
    return text


def kind_of(infons: Infons, *, titled: bool) -> tuple[str, str]:
    """(kind, label) of a passage by its infons `type`, `section_type` and `label`."""
    found = {key.lower(): value.strip() for key, value in reversed(infons)}
    kind, section, label = found.get("type", ""), found.get("section_type", ""), found.get("label", "")
    if not titled and ("title" in (kind.lower(), section.lower()) or kind.lower() == "front"):
        return "title", label
    if "abstract" in (kind.lower(), section.lower()):
        return "abstract", label or ("" if kind.lower() == "abstract" else kind)
    return "section", label or section or ("" if kind.lower() == "section" else kind)


def is_typed(infons: Infons) -> bool:
    """Whether a passage states its type."""
    return bool(infon(infons, "type", "section_type"))


def infon(infons: Infons, *keys: str) -> str:
    """The value of the first of the keys, in any case, that has a value."""
    found = {key.lower(): value for key, value in reversed(infons)}
    return next((found[key.lower()] for key in keys if found.get(key.lower())), "")


def _joined(before: BioCPassage, passage: BioCPassage, text: str, body: str) -> bool:
    """Whether two passages are adjacent, with white space already between them."""
    known = before.text.offset is not None and passage.text.offset is not None
    if not known or not text or not (text[-1].isspace() or body[:1].isspace()):
        return False
    return passage.text.offset == (before.text.offset or 0) + len(passage_text(before))


def _segments(index: int, passage: BioCPassage, start: int, end: int) -> Sequence[Segment]:
    offset = start if passage.text.offset is None else passage.text.offset
    found = [Segment(index, -1, offset, start, end)]
    at = start
    for number, sentence in enumerate(passage.sentences):
        stated = offset + at - start if sentence.offset is None else sentence.offset
        base = passage.sentences[0].offset if not passage.text.text else offset
        begin = start + stated - (offset if base is None else base)
        begin = begin if start <= begin <= end else at
        found.append(Segment(index, number, stated, begin, min(end, begin + len(sentence.text))))
        at = begin + len(sentence.text)
    return found
