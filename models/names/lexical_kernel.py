"""The inner loops of lexical search, compiled to machine code: exact top-k over inverted lists with pruning.

A score is the sum, over the terms of a query, of value × gain × impact: the query's value, the term's gain (its idf),
and an impact that depends on the term's count in the name and on one number of the name. Lists are read from the rarest
term to the most common. The unread terms can add at most the product of norms (Cauchy-Schwarz) or the sum of the lists'
peaks. Once that is below the k-th best score so far, no new name can be among the best. A name found so far is scored
exactly only if its partial score, plus the bound from its own norms over each class of terms, reaches that score. (This
combines the ideas of max-score and of all-pairs search with L2 bounds.)

Exact scores are summed in double precision in the order of the name's terms and rounded to single precision, so that
equally good names have equal scores; ties go to the lower row. Partial sums are in single precision, so bounds are
widened by the possible rounding error. The lists' weights are rounded up to 8 bits in units of the list's peak / 255:
partial sums never are too low, and the weights take a quarter of the memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.core.compiling import compiled

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U16 = NDArray[np.uint16]
U8 = NDArray[np.uint8]
Weights = F32 | U8
Lists = tuple[I64, I32, Weights, F32, NDArray[np.int8], F32, F32]
"""The start of each term's list (terms + 1), its rows and weights, its peak, its class, names' norms by class, and the
unit of each term's weights."""
Names = tuple[I64, I32, U16, F64, F64, bool]
"""The start of each name (names + 1), its terms and their counts, each name's number, terms' gains, `saturating`."""
FIRST_READ = 50  # list entries read for each wanted name before some are scored exactly
EAGERNESS = 0.55  # lists are read until the rest can give this share of the k-th best score
EXCLUDED = -1e30  # a partial score that no sum brings back above 0
BINS = 1024
BLOCK = 64


@compiled()
def impact(count: float, own: float, saturating: bool) -> float:
    """tf-idf: (1 + ln count) × own; BM25 (``saturating``): count ÷ (count + own)."""
    if saturating:
        return count / (count + own)
    return own if count == 1.0 else (1.0 + np.log(count)) * own


@compiled()
def exact(name: int, names: Names, wanted: F64) -> float:
    """The whole score of one name; ``wanted`` (terms,) is value × gain, 0 for terms outside of the query."""
    first, last = names[0][name], names[0][name + 1]
    terms, counts, own = names[1][first:last], names[2][first:last], names[3][name]
    total = 0.0
    for at in range(len(terms)):
        weight = wanted[np.uint32(terms[at])]
        if weight != 0.0:
            total += weight * impact(float(counts[at]), own, names[5])
    return float(np.float32(total))


@compiled()
def want(terms: I32, values: F64, names: Names, wanted: F64) -> None:
    """Spread a query over an array of all terms."""
    for at in range(len(terms)):
        wanted[terms[at]] = values[at] * names[4][terms[at]]


@compiled()
def forget(terms: I32, wanted: F64) -> None:
    for at in range(len(terms)):
        wanted[terms[at]] = 0.0


@compiled()
def round_up(starts: I64, weights: F32, units: F32, codes: U8) -> None:
    """Fill each list's weights as the least multiples of the list's unit that are not less."""
    for term in range(len(units)):
        unit = max(units[term], np.float32(1e-30))
        for at in range(starts[term], starts[term + 1]):
            code = int(weights[at] / unit)
            codes[at] = min(255, code + (code * unit < weights[at]))


@compiled()
def is_worse(score: float, row: int, other_score: float, other_row: int) -> bool:
    return score < other_score or (score == other_score and row > other_row)


@compiled()
def push(scores: F32, rows: I64, size: int, score: float, row: int) -> int:
    """Put a name on the heap of the best names, the worst on top; returns the heap's size."""
    limit = len(scores)
    if size < limit:
        at = size
        while at > 0 and is_worse(score, row, scores[(at - 1) // 2], rows[(at - 1) // 2]):
            scores[at], rows[at] = scores[(at - 1) // 2], rows[(at - 1) // 2]
            at = (at - 1) // 2
        scores[at], rows[at] = score, row
        return size + 1
    if is_worse(score, row, scores[0], rows[0]):
        return size
    at = 0
    while 2 * at + 1 < limit:
        child = 2 * at + 1
        if child + 1 < limit and is_worse(scores[child + 1], rows[child + 1], scores[child], rows[child]):
            child += 1
        if not is_worse(scores[child], rows[child], score, row):
            break
        scores[at], rows[at] = scores[child], rows[child]
        at = child
    scores[at], rows[at] = score, row
    return size


@compiled()
def lower_bound(rows: I32, start: int, stop: int, row: int) -> int:
    """The first position in a sorted piece with a row of at least ``row``."""
    while start < stop:
        middle = (start + stop) // 2
        if rows[middle] < row:
            start = middle + 1
        else:
            stop = middle
    return start


@compiled()
def pieces_of(terms: I32, spans: I64, lists: Lists) -> I64:
    """(terms, spans, 2) positions of each span's names in each term's list."""
    starts, rows = lists[0], lists[1]
    pieces = np.empty((len(terms), len(spans), 2), dtype=np.int64)
    for at in range(len(terms)):
        stop = starts[terms[at] + 1]
        place = starts[terms[at]]
        for span in range(len(spans)):
            place = lower_bound(rows, place, stop, spans[span, 0])
            pieces[at, span, 0] = place
            place = lower_bound(rows, place, stop, spans[span, 1])
            pieces[at, span, 1] = place
    return pieces


@compiled()
def read_first(pieces: I64, value: np.float32, lists: Lists, partial: F32, met: I32, size: int) -> int:
    """Add one list to the partial scores and record names found for the first time; returns the number of names
    found."""
    rows, weights = lists[1], lists[2]
    for span in range(len(pieces)):
        for at in range(pieces[span, 0], pieces[span, 1]):
            row = rows[at]
            before = partial[row]
            if before == 0:
                met[size] = row
                size += 1
            partial[row] = before + value * np.float32(weights[at])
    return size


@compiled()
def add(rows: I32, weights: Weights, value: np.float32, partial: F32) -> None:
    """Add one list's weights; unsigned rows avoid a test for negative values in the innermost loop."""
    for at in range(len(rows)):
        partial[np.uint32(rows[at])] += value * np.float32(weights[at])


@compiled()
def read_more(pieces: I64, value: np.float32, lists: Lists, partial: F32) -> None:
    """Add one list to the partial scores."""
    for span in range(len(pieces)):
        first, last = pieces[span, 0], pieces[span, 1]
        add(lists[1][first:last], lists[2][first:last], value, partial)


@compiled()
def promising(partial: F32, met: I32, size: int, k: int, highest: float) -> float:
    """A partial score that about ``k`` of the found names reach, from a histogram."""
    bins = np.zeros(BINS + 1, dtype=np.int64)
    scale = BINS / highest
    for at in range(size):
        bins[min(BINS, int(partial[met[at]] * scale))] += 1
    reached = 0
    for place in range(BINS, -1, -1):
        reached += bins[place]
        if reached >= k:
            return place / scale
    return 0.0


@compiled()
def rests(terms: I32, values: F64, lists: Lists, longest: float) -> F64:
    """(terms + 1,) the most that the terms from each position on can add to any name's score."""
    squares, peaks = 0.0, 0.0
    result = np.zeros(len(terms) + 1)
    for at in range(len(terms) - 1, -1, -1):
        value = values[at]
        squares += value * value
        peaks += value * lists[3][terms[at]]
        result[at] = min(np.sqrt(squares) * longest, peaks)
    return result


@compiled()
def class_norms(terms: I32, values: F64, unread: int, lists: Lists) -> F32:
    """(classes,) norms of the query over its terms of each class from position ``unread`` on."""
    norms = np.zeros(lists[5].shape[1], dtype=np.float32)
    for at in range(unread, len(terms)):
        norms[lists[4][terms[at]]] += values[at] * values[at]
    for place in range(len(norms)):
        norms[place] = np.sqrt(norms[place])
    return norms


@compiled()
def reaching(partial: F32, cut: np.float32) -> int:
    """How many of a block's partial scores reach the cut; compiled to vector instructions."""
    count = 0
    for at in range(len(partial)):
        count += partial[at] >= cut
    return count


@compiled()
def least(floor: float, rest: float, slip: float) -> np.float32:
    """The lowest partial score with which a name can reach the floor, allowing for rounding; above 0."""
    return np.float32(max((floor - rest) * (1 - slip) - slip * rest, 1e-30))


@compiled()
def finish(
    spans: I64, partial: F32, rest: float, norms: F32, slip: float, lists: Lists, names: Names, wanted: F64,
    scores: F32, rows: I64, size: int,
) -> int:  # fmt: skip
    """Score every name exactly that may still be among the best; returns the heap's size."""
    k = len(scores)
    floor = float(scores[0]) if size == k else 0.0
    cut = least(floor, rest, slip)
    for span in range(len(spans)):
        end = int(spans[span, 1])
        for start in range(int(spans[span, 0]), end, BLOCK):
            stop = min(start + BLOCK, end)
            if not reaching(partial[start:stop], cut):
                continue
            for name in range(start, stop):
                if partial[name] < cut:
                    continue
                bound = float(partial[name])
                for place in range(len(norms)):
                    bound += norms[place] * lists[5][name, place]
                if bound * (1 + slip) < floor:
                    continue
                size = push(scores, rows, size, exact(name, names, wanted), name)
                if size == k and scores[0] > floor:
                    floor = float(scores[0])
                    cut = least(floor, rest, slip)
    return size


@compiled()
def restore(spans: I64, partial: F32, blank: F32) -> None:
    """Reset the partial scores to their values before a query."""
    for span in range(len(spans)):
        clean = partial[spans[span, 0] : spans[span, 1]]
        source = blank[spans[span, 0] : spans[span, 1]]
        for at in range(len(clean)):
            clean[at] = source[at]


@compiled()
def best_of_one(
    terms: I32, values: F64, spans: I64, blank: F32, lists: Lists, names: Names, longest: float,
    wanted: F64, partial: F32, met: I32, scores: F32, rows: I64,
) -> int:  # fmt: skip
    """Fill the heap for one query, which is already spread over ``wanted``; returns the heap's size."""
    k = len(scores)
    pieces = pieces_of(terms, spans, lists)
    rest = rests(terms, values, lists, longest)
    slip = 1e-5 + 2.4e-7 * len(terms)
    read, at, known, size = 0, 0, 0, 0
    while at < len(terms) and (known < k or read < FIRST_READ * k):
        known = read_first(pieces[at], np.float32(values[at] * lists[6][terms[at]]), lists, partial, met, known)
        read += lists[0][terms[at] + 1] - lists[0][terms[at]]
        at += 1
    hopeful = promising(partial, met, known, k, rest[0] * (1 + slip))
    for place in range(known):
        name = int(met[place])
        if partial[name] >= hopeful and size < k:
            size = push(scores, rows, size, exact(name, names, wanted), name)
            partial[name] = EXCLUDED
    floor = scores[0] if size == k else 0.0
    while at < len(terms) and rest[at] >= EAGERNESS * floor:
        read_more(pieces[at], np.float32(values[at] * lists[6][terms[at]]), lists, partial)
        at += 1
    norms = class_norms(terms, values, at, lists)
    size = finish(spans, partial, rest[at], norms, slip, lists, names, wanted, scores, rows, size)
    restore(spans, partial, blank)
    return size


@compiled()
def best_of_many(
    starts: I64, terms: I32, values: F64, spans: I64, blank: F32, lists: Lists, names: Names, longest: float,
    scores: F32, rows: I64,
) -> None:  # fmt: skip
    """The k best names of each query, in no order; (q, k) ``scores`` and ``rows`` are filled with those that exist.

    Queries are a CSR matrix of values, each with its rarest term first. ``spans`` (s, 2) are the ranges of rows to
    search, ascending and disjoint; ``blank`` (names,) is 0 for names allowed and `EXCLUDED` for others; ``longest`` is
    the greatest norm of a name.
    """
    partial = blank.copy()
    wanted = np.zeros(len(lists[0]) - 1)
    met = np.empty(len(blank), dtype=np.int32)
    for query in range(len(starts) - 1):
        own = terms[starts[query] : starts[query + 1]]
        own_values = values[starts[query] : starts[query + 1]]
        if len(own):
            want(own, own_values, names, wanted)
            best_of_one(
                own, own_values, spans, blank, lists, names, longest, wanted, partial, met, scores[query], rows[query]
            )
            forget(own, wanted)


@compiled()
def scores_of(starts: I64, terms: I32, values: F64, chosen: I64, names: Names, scores: F32) -> None:
    """Fill (q, n) ``scores`` of each query with each chosen name."""
    wanted = np.zeros(len(names[4]))
    for query in range(len(starts) - 1):
        own = terms[starts[query] : starts[query + 1]]
        want(own, values[starts[query] : starts[query + 1]], names, wanted)
        for at in range(len(chosen)):
            scores[query, at] = exact(chosen[at], names, wanted)
        forget(own, wanted)
