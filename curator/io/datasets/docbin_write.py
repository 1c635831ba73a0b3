"""Write a DocBin: tokens split at the mentions' ends, mentions as entities if they do not overlap, and all mentions as
spans.

In `doc.ents` mentions cannot overlap, so of overlapping mentions the longest are entities. `doc.spans["curator"]` holds
all. Mentions of several fragments are in neither, since spaCy has no such spans.
"""

from __future__ import annotations

import re
import struct
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from curator.domain.documents import Mention, SourceFile
from curator.domain.wording import ntr, tr
from curator.io.bioc.source_ids import stated_ids
from curator.io.datasets.docbin_tokens import BEGIN, ENT_IOB, ENT_KB_ID, ENT_TYPE, GROUP, INSIDE, ORTH, SPAN, string_id
from curator.io.files.export import Action, action_for, is_gold, left_out
from curator.io.tables.document_table_write import ids_cell
from curator.services.ports.files import ExportDocument, ExportMention, Problem

OUTSIDE = 2
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
Token = tuple[int, int, bool]
"""Start, end, and whether a space follows that belongs to it."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A mention with its tokens."""

    start: int
    end: int
    mention: Mention
    kb_id: str


class Packer:
    """Collects the documents that go into one file. `packed` is the file's content."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems
        self._numbers = array("Q")
        self._spaces = bytearray()
        self._lengths: list[int] = []
        self._strings: dict[str, int] = {"": 0}
        self._user: list[bytes] = []
        self._groups: list[bytes] = []
        self._hidden = 0

    def add(self, item: ExportDocument, file: SourceFile) -> None:
        import msgpack

        text, name = item.document.text, item.document.external_id
        chosen = [gold for gold in item.mentions if self._is_carried(gold, name)]
        places = [gold.mention.spans[0] for gold in chosen]
        tokens = list(tokens_of(text, {one.start for one in places}, {one.end for one in places}))
        starts = {start: number for number, (start, _, _) in enumerate(tokens)}
        ends = {end: number + 1 for number, (_, end, _) in enumerate(tokens)}
        placed = [
            _Placed(starts[span.start], ends[span.end], gold.mention, self._kb_id(gold, item, file))
            for gold in chosen
            for span in gold.mention.spans
        ]
        rows = [[self._id(text[start:end]), OUTSIDE, 0, 0] for start, end, _ in tokens]
        self._mark(rows, placed)
        for row in rows:
            self._numbers.extend(row)
        self._spaces.extend(space for _, _, space in tokens)
        self._lengths.append(len(tokens))
        self._user.append(msgpack.packb({"id": name, "title": item.document.title}))
        spans = [self._span(one) for one in placed]
        group = msgpack.packb({"name": GROUP, "attrs": {}, "spans": spans})
        self._groups.append(msgpack.packb({group: [GROUP]}) if spans else b"")

    def packed(self) -> bytes:
        import msgpack

        if self._hidden:
            text = ntr(
                '{n} mention overlaps others: it is in doc.spans["{group}"] and not in doc.ents',
                '{n:,} mentions overlap others: they are in doc.spans["{group}"] and not in doc.ents',
                self._hidden,
                group=GROUP,
            )
            self._problems.append(Problem(0, "note", text))
        content = {
            "version": "0.1",
            "attrs": [ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID],
            "tokens": self._numbers.tobytes(),
            "spaces": bytes(self._spaces),
            "lengths": struct.pack(f"<{len(self._lengths)}i", *self._lengths),
            "strings": sorted(self._strings),
            "cats": [{} for _ in self._lengths],
            "flags": [{"has_unknown_spaces": False} for _ in self._lengths],
            "span_groups": self._groups,
            "user_data": self._user,
        }
        return zlib.compress(msgpack.packb(content))

    def _id(self, text: str) -> int:
        if text not in self._strings:
            self._strings[text] = string_id(text)
        return self._strings[text]

    def _is_carried(self, gold: ExportMention, document: str) -> bool:
        if action_for(gold, document, self._problems) is Action.DROP:
            return False
        if len(gold.mention.spans) > 1:
            text = tr(
                'document {document}: "{text}" is discontinuous, which spaCy does not support: left out',
                document=document,
                text=gold.mention.text,
            )
            self._problems.append(left_out(gold, text))
            return False
        return True

    def _mark(self, rows: list[list[int]], placed: Sequence[_Placed]) -> None:
        """Mark the longest mentions that do not overlap as entities."""
        taken: set[int] = set()
        for one in sorted(placed, key=lambda one: (one.start - one.end, one.start)):
            if not taken.isdisjoint(range(one.start, one.end)):
                self._hidden += 1
                continue
            taken.update(range(one.start, one.end))
            kind, kb_id = self._id(one.mention.type), self._id(one.kb_id)
            for number in range(one.start, one.end):
                rows[number][1:] = [BEGIN if number == one.start else INSIDE, kind, kb_id]

    def _span(self, one: _Placed) -> bytes:
        span = one.mention.spans[0]
        kb_id, label = self._id(one.kb_id), self._id(one.mention.type)
        return SPAN.pack(0, kb_id, label, one.start, one.end, span.start, span.end)

    def _kb_id(self, gold: ExportMention, item: ExportDocument, file: SourceFile) -> str:
        if file.format == "docbin" and not is_gold(gold):
            return gold.mention.raw_ids
        ids = stated_ids(gold, item, file)
        return "" if ids is None else ids_cell(ids)


def tokens_of(text: str, starts: set[int], ends: set[int]) -> Iterator[Token]:
    """Words, signs and white space, split where mentions begin and end.

    A space after a token belongs to it, unless a mention begins or ends with that space.
    """
    cuts = sorted(starts | ends)
    pieces = [part for found in _PIECES.finditer(text) for part in _cut(found.start(), found.end(), cuts)]
    taken = -1  # the position of a space that belongs to the previous token
    for number, (start, end) in enumerate(pieces):
        start += start == taken
        if start == end:
            continue
        follows = text[end : end + 1] == " " and number + 1 < len(pieces) and not text[start:end].isspace()
        owns = follows and end not in starts and end + 1 not in ends
        taken = end if owns else -1
        yield start, end, owns


def _cut(start: int, end: int, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    inner = cuts[bisect_right(cuts, start) : bisect_left(cuts, end)]
    bounds = [start, *inner, end]
    yield from pairwise(bounds)
