"""The inner loops of `coarse` and `two_stage`, compiled: rounding to codes, and the best of many products of codes.

The best are found by maxima: rows are dealt to ``DEALT`` times fewer piles, and the k-th greatest of the piles' maxima
is at most the k-th best score. Only piles that reach it are looked into. Neighbouring rows, often names of one entity,
are in different piles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.core.compiling import compiled

F32 = NDArray[np.float32]
I8 = NDArray[np.int8]
U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
BOOLS = NDArray[np.bool_]
DEALT = 16
LEAST = np.float32(-3e38)
ROUNDED = np.float32(0.05)
"""How far the square of a length of 1 may be off by rounding to codes."""
FAST = {"nnan", "nsz", "reassoc", "contract"}


@compiled(fastmath=FAST)
def encode(vectors: F32, codes: I8, units: F32, lengths: F32) -> None:
    """Fill (n, d) codes, (n,) units and lengths of (n, d) vectors; a vector of zeros has the unit 0."""
    for row in range(len(vectors)):
        most, squares = np.float32(0), np.float32(0)
        for at in range(vectors.shape[1]):
            value = vectors[row, at]
            most = max(most, abs(value))
            squares += value * value
        units[row] = most / np.float32(127)
        lengths[row] = np.sqrt(squares)
        inverse = np.float32(127) / most if most > 0 else np.float32(0)
        for at in range(vectors.shape[1]):
            codes[row, at] = np.int8(np.rint(vectors[row, at] * inverse))


@compiled(fastmath=FAST)
def maxima(products: I32, units: F32, piles: F32) -> None:
    """Fill the maximum of each pile: rows p, p + piles, p + 2 × piles …"""
    size = len(piles)
    for place in range(size):
        piles[place] = np.float32(products[place]) * units[place]
    for first in range(size, len(products), size):
        count = min(size, len(products) - first)
        some, own = products[first : first + count], units[first : first + count]
        for place in range(count):
            piles[place] = max(piles[place], np.float32(some[place]) * own[place])


@compiled(fastmath=FAST)
def product(query: F32, vector: F32) -> np.float32:
    total = np.float32(0)
    for at in range(len(query)):
        total += query[at] * vector[at]
    return total


@compiled()
def reaching(products: I32, units: F32, piles: F32, floor: np.float32, rows: I64, found: F32) -> int:
    """Fill the rows whose product of codes reaches the floor; returns their number."""
    size = 0
    for place in range(len(piles)):
        if piles[place] < floor:
            continue
        for row in range(place, len(products), len(piles)):
            score = np.float32(products[row]) * units[row]
            if score >= floor:
                rows[size], found[size] = row, score
                size += 1
    return size


@compiled()
def greatest(values: F32, k: int) -> Any:
    """The k-th greatest value."""
    at = len(values) - k
    return np.partition(values, at)[at]


@compiled()
def keep(rows: I64, found: F32, k: int, best_scores: F32, best_rows: I64) -> None:
    """Fill the k best, of equal ones the lower rows."""
    last = greatest(found, k)
    size = 0
    ties = np.empty(len(found), dtype=np.int64)
    tied = 0
    for at in range(len(found)):
        if found[at] > last:
            best_scores[size], best_rows[size] = found[at], rows[at]
            size += 1
        elif found[at] == last:
            ties[tied] = rows[at]
            tied += 1
    lower = np.sort(ties[:tied])
    for at in range(k - size):
        best_scores[size + at], best_rows[size + at] = last, lower[at]


@compiled()
def border(found: F32, near: I64, groups: I64, count: int, k: int, met: I32, turn: int) -> np.float32:
    """The score with which ``count`` different groups are found, or the k-th; ``met`` (groups,) holds the last turn in
    which each was."""
    different, last = 0, np.float32(0)
    order = np.argsort(-found)
    for place in range(k):
        row = near[order[place]]
        last = found[order[place]]
        if met[groups[row]] != turn:
            met[groups[row]] = turn
            different += 1
            if different == count:
                break
    return last


@compiled()
def near_of_many(
    products: I32, units: F32, margins: F32, k: int, groups: I64, count: int, own: F32
) -> tuple[I64, I64, F32, BOOLS]:
    """Of each query the rows that may be among the k best of n: (q + 1,) starts, (all rows,), their scores by codes,
    and whether they must be compared exactly: those near the border, or all if ``count`` is 0.

    ``products`` (q, n) of codes, ``units`` (n,), ``margins`` (q,) in units of the queries, which are ``own`` (q,);
    ``groups`` (n,) of rows, empty if ``count`` is 0; k is at most n.
    """
    queries, size = products.shape
    piles = np.empty((size + DEALT - 1) // DEALT, dtype=np.float32)
    near, found = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.float32)
    met = np.zeros(groups.max() + 1 if count else 1, dtype=np.int32)
    starts = np.zeros(queries + 1, dtype=np.int64)
    rows, rough = np.empty(2 * k * queries, dtype=np.int64), np.empty(2 * k * queries, dtype=np.float32)
    close = np.ones(2 * k * queries, dtype=np.bool_)
    for query in range(queries):
        maxima(products[query], units, piles)
        floor = greatest(piles, k) if k <= len(piles) else LEAST
        reached = reaching(products[query], units, piles, floor, near, found)
        floor = np.float32(greatest(found[:reached], k) - margins[query])
        reached = reaching(products[query], units, piles, floor, near, found)
        start, stop = starts[query], starts[query] + reached
        if stop > len(rows):
            rows, rough = np.append(rows, np.empty(stop, np.int64)), np.append(rough, np.empty(stop, np.float32))
            close = np.append(close, np.ones(stop, np.bool_))
        if count:
            last = border(found[:reached], near, groups, count, k, met, query + 1)
            for at in range(reached):
                close[start + at] = abs(found[at] - last) <= margins[query]
        for at in range(reached):
            rows[start + at], rough[start + at] = near[at], found[at] * own[query]
        starts[query + 1] = stop
    total = starts[queries]
    return starts, rows[:total], rough[:total], close[:total]


@compiled()
def best_of_many(
    queries: F32, vectors: F32, which: I64, starts: I64, near: I64, rough: F32, close: BOOLS, scores: F32, rows: I64
) -> None:
    """Fill (q, k) ``scores`` and ``rows`` with the k best of each query's rows, in no order.

    ``which`` is the place in ``vectors`` of each row that is ``close``; the others keep their ``rough`` scores.
    """
    found = np.empty(len(near), dtype=np.float32)
    at = 0
    for query in range(len(queries)):
        start, stop = starts[query], starts[query + 1]
        for place in range(start, stop):
            found[place] = rough[place]
            if close[place]:
                found[place] = product(queries[query], vectors[which[at]])
                at += 1
        keep(near[start:stop], found[start:stop], scores.shape[1], scores[query], rows[query])


@compiled(fastmath=FAST)
def product_of_code(weights: F32, code: U8) -> np.float32:
    total = np.float32(0)
    for at in range(len(weights)):
        total += weights[at] * np.float32(code[at])
    return total


@compiled(fastmath=FAST)
def squares_of_code(code: U8, unit: F32, least: F32) -> np.float32:
    total = np.float32(0)
    for at in range(len(code)):
        value = least[at] + unit[at] * np.float32(code[at])
        total += value * value
    return total


@compiled()
def best_of_codes(
    queries: F32, codes: U8, unit: F32, least: F32, even: bool, near: I64, scores: F32, rows: I64
) -> None:
    """Fill (q, k) ``scores`` and ``rows`` with the k best products of (q, d) ``queries`` and (n, d) ``codes`` among the
    (q, m) rows of each query, in no order; rows of −1 are ignored, and fill what is missing.

    A number is ``least`` + ``unit`` × code. With ``even``, the best 2 k are brought to length 1 if they nearly have it.
    """
    kept, found = np.empty(near.shape[1], dtype=np.int64), np.empty(near.shape[1], dtype=np.float32)
    k = scores.shape[1]
    for query in range(len(queries)):
        weights, constant = queries[query] * unit, product(queries[query], least)
        size = 0
        for place in range(near.shape[1]):
            row = near[query, place]
            if row >= 0:
                kept[size], found[size] = row, constant + product_of_code(weights, codes[row])
                size += 1
        if even:
            floor = greatest(found[:size], 2 * k) if size > 2 * k else LEAST
            for at in range(size):
                if found[at] >= floor:
                    squares = squares_of_code(codes[kept[at]], unit, least)
                    if abs(squares - np.float32(1)) < ROUNDED:
                        found[at] /= np.sqrt(squares)
        if size > k:
            keep(kept[:size], found[:size], k, scores[query], rows[query])
        else:
            scores[query, :size], rows[query, :size] = found[:size], kept[:size]
            scores[query, size:], rows[query, size:] = LEAST, -1
