"""A BioC document as a source document: its text, and each annotation at its position or skipped with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from curator.domain.documents import SourceDocument, SourceMention, Span, slice_spans
from curator.domain.wording import ntr, tr
from curator.io.bioc.bioc import BioCAnnotation, BioCDocument, Segment, StoredText, infon, lay_out
from curator.io.bioc.bioc_ids import InfonStyle, stated, unread
from curator.io.files.anchoring import GAP, NORMALISED, Anchor, Anchors, Stated, quote_parts, same_text
from curator.io.files.idstyle import Besides
from curator.io.files.source import plain_text
from curator.services.ports.files import Problem

MOST_UNREAD = 20
"""The most names of infons in a report."""


@dataclass(slots=True)
class BioCReading:
    """Makes source documents of one file and collects reports about them."""

    style: InfonStyle = field(default_factory=InfonStyle)
    problems: list[Problem] = field(default_factory=list)
    besides: Besides = field(default_factory=Besides)
    unread: Counter[str] = field(default_factory=Counter)
    normalised: int = 0
    first_normalised: str = ""

    def document(self, found: BioCDocument, raw: str) -> SourceDocument:
        layout = fitted(found)
        if not layout.stated:
            self._tell_offsets(found, layout)
        anchors = Anchors(layout.text, layout.passages)
        if words := anchors.learn(_stated(found, layout)):
            self.problems.append(Problem(found.line, "note", tr("document {key}: {words}", key=found.id, words=words)))
        mentions = (self._mention(found, index, layout, anchors) for index in range(len(found.annotations)))
        title = next((layout.text[p.start : p.end] for p in layout.passages if p.kind == "title"), "")
        return SourceDocument(
            found.id,
            " ".join(title.split()),
            layout.text,
            layout.passages,
            tuple(one for one in mentions if one is not None),
            raw,
            found.line,
        )

    def closing(self) -> list[Problem]:
        """Reports about the whole file."""
        problems = self.besides.problems()
        for key, number in self.unread.most_common(MOST_UNREAD):
            text = ntr(
                "infon “{key}” looks like an identifier and was not read ({n} annotation)",
                "infon “{key}” looks like an identifier and was not read ({n:,} annotations)",
                number,
                key=key,
            )
            problems.append(Problem(0, "note", text))
        if not self.normalised:
            return problems
        text = ntr(
            "{n} annotation quotes a normalised text ({first_normalised}); its position is correct and was kept",
            "{n:,} annotations quote a normalised text (first: {first_normalised}); their positions are "
            "correct and were kept",
            self.normalised,
            first_normalised=self.first_normalised,
        )
        return [*problems, Problem(0, "note", text)]

    def _mention(self, found: BioCDocument, index: int, layout: StoredText, anchors: Anchors) -> SourceMention | None:
        one = found.annotations[index]
        spans, repair = place(one, layout, anchors)
        where = tr('document {id}: annotation {id2} "{text}"', id=found.id, id2=one.id or index + 1, text=one.text[:80])
        line = one.line or found.line
        if not spans:
            self.problems.append(Problem(line, "set aside", f"{where}: {repair}"))
            return None
        if repair == tr(NORMALISED):
            self.normalised += 1
            self.first_normalised = self.first_normalised or f"document {found.id}, {one.text[:40]!r}"
        elif repair:
            read = ", ".join(f"{span.start}-{span.end}" for span in spans)
            self.problems.append(
                Problem(
                    line, "repaired", tr("{where}: {repair}; read as {read}", where=where, repair=repair, read=read)
                )
            )
        ids, raw_ids, nil = stated(one.infons, self.style)
        kind = infon(one.infons, "type").strip()
        self.besides.see(raw_ids)
        self.unread.update([*unread(one.infons), *one.unread])
        return SourceMention(spans, slice_spans(layout.text, spans), kind, ids, raw_ids, nil, index)

    def _tell_offsets(self, found: BioCDocument, layout: StoredText) -> None:
        off = [one for one in layout.segments if one.sentence < 0 and one.offset != one.start]
        for segment in off:
            text = tr(
                "document {id}: the offset of a passage is {offset}, but its annotations count from "
                "{start}; {start} was used",
                id=found.id,
                offset=segment.offset,
                start=segment.start,
            )
            self.problems.append(Problem(found.line, "repaired", text))


def fitted(document: BioCDocument) -> StoredText:
    """The layout with the stated offsets or with positions in the text, depending on which matches more annotations."""
    layout = lay_out(document)
    if all(one.offset == one.start for one in layout.segments):
        return layout
    pairs = [(one, layout.segment_of(one)) for one in document.annotations if one.places]
    by_offset = sum(_fits(one, layout, segment, stated=True) for one, segment in pairs)
    by_text = sum(_fits(one, layout, segment, stated=False) for one, segment in pairs)
    layout.stated = by_offset >= by_text
    return layout


def place(one: BioCAnnotation, layout: StoredText, anchors: Anchors) -> tuple[tuple[Span, ...], str]:
    """(spans, how they were repaired or ''); no spans and a reason if the position is unclear."""
    if one.places is None:
        return (), tr("its offset or length is not a number")
    if not one.places:
        return (), tr("it has no location")
    segment = layout.segment_of(one)
    if (proven := _proven(one, layout, segment, anchors)) is not None:
        return (proven.span,), proven.repair
    for stated_first in (layout.stated, not layout.stated):
        if (spans := _spans(one, layout, segment, stated=stated_first)) and _quoted(layout.text, spans, one.text):
            return spans, "" if stated_first == layout.stated else tr(
                "its offsets are counted differently from those of its passage"
            )
    return _anchored(one, layout, segment, anchors)


def _stated(found: BioCDocument, layout: StoredText) -> Iterator[Stated]:
    """The positions meant by annotations with one location, and their quoted texts."""
    for one in found.annotations:
        for offset, length in one.places if one.places and len(one.places) == 1 else ():
            start = layout.from_file(layout.segment_of(one), offset, stated=layout.stated)
            yield start, start + length, plain_text(one.text)


def _proven(one: BioCAnnotation, layout: StoredText, segment: Segment | None, anchors: Anchors) -> Anchor | None:
    """The position of one location by the convention of the document's other annotations."""
    if not one.places or len(one.places) > 1:
        return None
    ((offset, length),) = one.places
    start = layout.from_file(segment, offset, stated=layout.stated)
    found = anchors.proven(start, start + length, plain_text(one.text))
    inside = found is None or segment is None or segment.start <= found.span.start <= found.span.end <= segment.end
    return found if inside else None


def _anchored(
    one: BioCAnnotation, layout: StoredText, segment: Segment | None, anchors: Anchors
) -> tuple[tuple[Span, ...], str]:
    places = sorted(one.places or ())
    starts = [layout.from_file(segment, offset, stated=layout.stated) for offset, _ in places]
    ranges = [(start, start + length) for start, (_, length) in zip(starts, places, strict=True)]
    reason = tr("its locations and its text do not match")
    for quotes in quote_parts(ranges, plain_text(one.text)):
        found = [anchors.find(start, end, quote) for (start, end), quote in zip(ranges, quotes, strict=True)]
        if not all(found):
            start, end = next(place for place, anchor in zip(ranges, found, strict=True) if anchor is None)
            there = layout.text[start:end][:80] if start >= 0 else ""
            reason = tr('the text there is "{found}", and no other position is unambiguous', found=there)
            continue
        spans = sorted(anchor.span for anchor in found if anchor)
        if any(a.end > b.start for a, b in pairwise(spans)):
            return (), tr("its locations overlap")
        return tuple(spans), next((anchor.repair for anchor in found if anchor and anchor.repair), "")
    return (), reason


def _fits(one: BioCAnnotation, layout: StoredText, segment: Segment | None, *, stated: bool) -> bool:
    spans = _spans(one, layout, segment, stated=stated)
    return bool(spans) and _quoted(layout.text, spans, one.text)


def _spans(one: BioCAnnotation, layout: StoredText, segment: Segment | None, *, stated: bool) -> tuple[Span, ...]:
    """The spans of the locations; none if they are outside of the text or overlap."""
    found, last = [], 0
    for offset, length in sorted(one.places or ()):
        start = layout.from_file(segment, offset, stated=stated)
        if length <= 0 or start < last or start + length > len(layout.text):
            return ()
        last = start + length
        found.append(Span(start, last))
    return tuple(found)


def _quoted(text: str, spans: tuple[Span, ...], quote: str) -> bool:
    found = slice_spans(text, spans)
    if same_text(found, quote):
        return True
    return len(spans) > 1 and _squeezed(found) == _squeezed(quote)  # fragments joined by a gap mark or by nothing


def _squeezed(text: str) -> str:
    return "".join(GAP.sub(" ", text).split())
