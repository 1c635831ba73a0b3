"""Vectors of mentions in their contexts. Each sentence or window is encoded once, for all its mentions.

A window is the sentence of a mention if it has at most ``tokens`` tokens. In a longer sentence, it holds as many
neighbouring mentions as fit, and the remaining room is shared between both sides. A mention is never cut: a sentence
end inside a mention does not count. Two cases cannot be avoided: a discontinuous mention wider than a window is encoded
fragment by fragment, and a fragment longer than a window in several windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.encoders.encoders import Encoder, normalized
from models.encoders.inputs import InputSettings, mention_tokens
from models.encoders.packed import pool_packed
from models.encoders.pooling import MentionVector
from models.text.sentences import sentence_starts
from models.types import DocumentInput, MentionInput

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
Range = tuple[int, int]
WINDOW_TOKENS = 64


@dataclass(frozen=True, slots=True, eq=False)
class ContextVectors:
    """One row for each mention, documents and their mentions in the order given.

    ``mentions`` (m, d): the mean of the states of the mention's own tokens. ``windows`` (m, d): the encoder's pooled
    vector of its window (the mean if it has several). Both have length 1, or are zero for a mention without tokens.
    ``starts`` (documents + 1): the index of each document's first mention.
    """

    mentions: FLOATS
    windows: FLOATS
    starts: tuple[int, ...]

    def of_document(self, number: int) -> slice:
        """The rows of the mentions of one document."""
        return slice(self.starts[number], self.starts[number + 1])


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Tokens ``start`` to ``stop`` of window ``window`` ([CLS] is token 0) belong to mention ``mention``."""

    mention: int
    window: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """The text to encode: distinct windows as token ids, including special tokens, and the positions of mentions."""

    windows: tuple[tuple[int, ...], ...]
    places: tuple[TokenRange, ...]
    starts: tuple[int, ...]


def encode_contexts(
    encoder: Encoder, documents: Sequence[DocumentInput], *, tokens: int = WINDOW_TOKENS
) -> ContextVectors:
    """Context vectors of all mentions; equal windows are encoded once, batches hold windows of similar length.

    ``tokens`` is the length of a window, including special tokens, at most the encoder's limit.
    """
    plan = plan_windows(encoder.tokenizer, documents, tokens=min(tokens, encoder.max_tokens))
    sums = torch.zeros((plan.starts[-1], encoder.dimension), device=encoder.device.torch)
    pooled = torch.zeros((len(plan.windows), encoder.dimension), device=encoder.device.torch)
    index = _PlaceIndex.of(plan)
    lengths = [len(ids) for ids in plan.windows]

    def add(rows: list[int], states: torch.Tensor) -> None:
        pooled[rows] = pool_packed(states, [lengths[row] for row in rows], encoder.pooling)
        owner, token = (torch.from_numpy(part).to(states.device) for part in index.tokens(rows, lengths))
        sums.index_add_(0, owner, states[token])

    encoder.each(plan.windows, add)
    return ContextVectors(
        normalized(sums.cpu().numpy()), _window_vectors(plan, normalized(pooled.cpu().numpy())), plan.starts
    )


def plan_windows(tokenizer: Any, documents: Sequence[DocumentInput], *, tokens: int) -> WindowPlan:
    """Divide the documents into windows; documents without mentions are not tokenised."""
    room = max(1, tokens - 2)
    numbers: dict[tuple[int, ...], int] = {}
    places: list[TokenRange] = []
    starts = np.cumsum([0, *(len(document.mentions) for document in documents)]).tolist()
    chosen = [number for number, document in enumerate(documents) if document.mentions]
    read = _tokenise(tokenizer, [documents[number].text for number in chosen])
    for number, text in zip(chosen, read, strict=True):
        for window, inside in _document_windows(documents[number], text, room=room):
            ids = (int(tokenizer.cls_token_id), *text.ids[window[0] : window[1]], int(tokenizer.sep_token_id))
            row = numbers.setdefault(ids, len(numbers))
            for mention, (start, stop) in inside:
                places.append(TokenRange(starts[number] + mention, row, 1 + start - window[0], 1 + stop - window[0]))
    return WindowPlan(tuple(numbers), tuple(places), tuple(starts))


@dataclass(frozen=True, slots=True, eq=False)
class _Tokens:
    """A tokenised text; ``starts`` and ``ends`` are code-point offsets, neither descending."""

    ids: Sequence[int]
    starts: INTS
    ends: INTS

    def range(self, span: Range) -> Range:
        """The tokens that overlap a span of the text; empty if there are none."""
        if span[0] >= span[1]:
            return (0, 0)
        first = int(np.searchsorted(self.ends, span[0], side="right"))
        return first, max(first, int(np.searchsorted(self.starts, span[1], side="left")))


@dataclass(frozen=True, slots=True)
class _Unit:
    """Tokens that belong in one window, and the fragments of one mention among them."""

    mention: int
    extent: Range
    fragments: tuple[Range, ...]


def _tokenise(tokenizer: Any, texts: Sequence[str]) -> Iterator[_Tokens]:
    if not texts:
        return
    encoded = tokenizer(
        [text.encode("utf-8", "replace").decode() for text in texts],  # half a surrogate pair becomes one "?"
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    for ids, mapping in zip(encoded.input_ids, encoded.offset_mapping, strict=True):
        offsets = np.asarray(mapping, dtype=np.int64).reshape(-1, 2)
        starts, ends = np.maximum.accumulate(offsets, axis=0).T
        yield _Tokens(ids, starts, ends)


def _document_windows(
    document: DocumentInput, text: _Tokens, *, room: int
) -> Iterator[tuple[Range, list[tuple[int, Range]]]]:
    """Windows as token ranges, each with the fragments of mentions in it."""
    units = sorted(_units(document, text, room=room), key=lambda unit: (unit.extent, unit.mention))
    for sentence, inside in _by_sentence(_sentences(document.text, text, units), units):
        for group in _groups(inside, room=len(text.ids) if sentence[1] - sentence[0] <= room else room):
            extent = (group[0].extent[0], max(unit.extent[1] for unit in group))
            fragments = [(unit.mention, fragment) for unit in group for fragment in unit.fragments]
            yield _widened(extent, sentence, room=room), fragments


def _units(document: DocumentInput, text: _Tokens, *, room: int) -> Iterator[_Unit]:
    """Each mention as a whole if it fits, else its fragments, else pieces of these."""
    for number, mention in enumerate(document.mentions):
        ranges = tuple(span for span in map(text.range, mention.spans) if span[0] < span[1])
        if not ranges:
            continue
        extent = (min(start for start, _ in ranges), max(stop for _, stop in ranges))
        if extent[1] - extent[0] <= room:
            yield _Unit(number, extent, ranges)
            continue
        for start, stop in ranges:
            for at in range(start, stop, room):
                piece = (at, min(at + room, stop))
                yield _Unit(number, piece, (piece,))


def _sentences(text: str, tokens: _Tokens, units: Sequence[_Unit]) -> list[Range]:
    """Token ranges of sentences; a border inside a unit is ignored."""
    borders = {int(np.searchsorted(tokens.ends, start, side="right")) for start in sentence_starts(text)}
    inside: set[int] = set()
    for unit in units:
        inside.update(range(unit.extent[0] + 1, unit.extent[1]))
    kept = sorted((borders - inside) | {0, len(tokens.ids)})
    return list(pairwise(kept))


def _by_sentence(sentences: Sequence[Range], units: Iterable[_Unit]) -> Iterator[tuple[Range, list[_Unit]]]:
    """Sentences that hold units; ``units`` are sorted, and no unit crosses a border."""
    waiting = list(units)
    at = 0
    for sentence in sentences:
        first = at
        while at < len(waiting) and waiting[at].extent[0] < sentence[1]:
            at += 1
        if at > first:
            yield sentence, waiting[first:at]


def _groups(units: Sequence[_Unit], *, room: int) -> Iterator[list[_Unit]]:
    """Groups of neighbouring units that fit into one window, filled from the left."""
    group: list[_Unit] = []
    for unit in units:
        stop = max([unit.extent[1], *(other.extent[1] for other in group)])
        if group and stop - group[0].extent[0] > room:
            yield group
            group = []
        group.append(unit)
    if group:
        yield group


def _widened(extent: Range, sentence: Range, *, room: int) -> Range:
    """The extent with context from its sentence on both sides; tokens unused on one side go to the other."""
    spare = max(0, room - (extent[1] - extent[0]))
    before, after = extent[0] - sentence[0], sentence[1] - extent[1]
    left = min(before, max(spare // 2, spare - after))
    right = min(after, spare - left)
    return extent[0] - left, extent[1] + right


@dataclass(frozen=True, slots=True, eq=False)
class _PlaceIndex:
    """The token ranges of a plan, indexed by window."""

    by_window: tuple[tuple[TokenRange, ...], ...]

    @classmethod
    def of(cls, plan: WindowPlan) -> _PlaceIndex:
        lists: list[list[TokenRange]] = [[] for _ in plan.windows]
        for place in plan.places:
            lists[place.window].append(place)
        return cls(tuple(map(tuple, lists)))

    def tokens(self, windows: Sequence[int], lengths: Sequence[int]) -> tuple[INTS, INTS]:
        """Mention and position of every mention token in the given windows, whose tokens are concatenated."""
        starts = accumulate((lengths[window] for window in windows), initial=0)
        found = [
            (place.mention, start + position)
            for start, window in zip(starts, windows, strict=False)
            for place in self.by_window[window]
            for position in range(place.start, place.stop)
        ]
        owner, tokens = np.asarray(found, dtype=np.int64).reshape(-1, 2).T.copy()
        return owner, tokens


def _window_vectors(plan: WindowPlan, pooled: FLOATS) -> FLOATS:
    """(m, d): the vector of each mention's window, normalised again if it has several."""
    vectors = np.zeros((plan.starts[-1], pooled.shape[1]), dtype=np.float32)
    for mention, window in dict.fromkeys((place.mention, place.window) for place in plan.places):
        vectors[mention] += pooled[window]
    return normalized(vectors)


# Vectors of mentions between their markers, read in their context.

Mentions = Sequence[tuple[DocumentInput, MentionInput]]


def encode_marked_mentions(
    encoder: Encoder, mentions: Mentions, *, settings: InputSettings, which: MentionVector = MentionVector.MARKERS
) -> FLOATS:
    """(m, d) of the MARKERS or the SPAN, not normalised; equal inputs are encoded once."""
    tokens = [mention_tokens(encoder.tokenizer, d, m, settings=settings) for d, m in mentions]
    distinct = list(dict.fromkeys(tokens))
    number = {item: row for row, item in enumerate(distinct)}
    vectors = np.zeros((len(distinct), encoder.dimension), dtype=np.float32)

    def keep(rows: list[int], states: torch.Tensor) -> None:
        chosen = [distinct[row] for row in rows]
        for row, item, own in zip(rows, chosen, torch.split(states, [len(item.ids) for item in chosen]), strict=True):
            marked = own[item.start : item.end + 1] if which is MentionVector.SPAN else own[[item.start, item.end]]
            vectors[row] = marked.mean(0).cpu().numpy()

    encoder.each([item.ids for item in distinct], keep)
    return vectors[[number[item] for item in tokens]]
