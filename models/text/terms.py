"""Texts split into terms for lexical retrieval: character n-grams within words, and words.

A term is a 64-bit number: a polynomial of its code points modulo 2**64, so that the vocabulary is a sorted array
that can be memory-mapped. Two terms of one vocabulary share a number with probability below 1e-6 at a million terms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from models.text.normalise import STOP_WORDS

UINTS = NDArray[np.uint64]
INTS = NDArray[np.int64]
TermsOf = Callable[[Sequence[str]], tuple[INTS, UINTS]]
SMALLEST, LARGEST = 2, 5
BLANK = 32 + 1
_BASE = np.uint64(0x9E3779B97F4A7C15)
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


def char_terms(texts: Sequence[str]) -> tuple[INTS, UINTS]:
    """(row, term) of every n-gram of 2 to 5 characters of every blank-padded word, in unspecified order.

    These are the n-grams of scikit-learn's ``char_wb`` (prototype-triplet paper, section 3.1); a row is repeated for
    each occurrence.
    """
    points, rows = _points([f" {'  '.join(text.split())} " for text in texts])
    blank = points == BLANK
    blanks_before = np.concatenate([[0], np.cumsum(blank)])
    all_rows, all_terms = [], []
    codes = np.zeros(len(points), dtype=np.uint64)
    for size in range(1, LARGEST + 1):
        count = len(points) - size + 1
        if count <= 0:
            break
        codes = codes[:count] * _BASE + points[size - 1 :]
        if size >= SMALLEST:
            # Within one word: no blank strictly inside, and not the two blanks between words.
            inside = blanks_before[size - 1 : size - 1 + count] - blanks_before[1 : 1 + count]
            between = blank[:count] & blank[size - 1 :] if size == 2 else np.zeros(count, dtype=bool)
            keep = (inside == 0) & ~between & (rows[:count] == rows[size - 1 :])
            all_rows.append(rows[:count][keep])
            all_terms.append(codes[keep])
    return _joined(all_rows, all_terms)


def word_terms(texts: Sequence[str]) -> tuple[INTS, UINTS]:
    """(row, term) of every word that is not a stop word: lower-cased, split at everything that is not alphanumeric."""
    words, rows = [], []
    for row, text in enumerate(texts):
        kept = [word for word in _NOT_ALPHANUMERIC.split(text.lower()) if word and word not in STOP_WORDS]
        words += kept
        rows += [row] * len(kept)
    points, owner = _points(words)
    lengths = np.bincount(owner, minlength=len(words))
    starts = np.cumsum(lengths) - lengths
    powers = _powers(int(lengths.max(initial=0)))
    place = np.arange(len(points)) - np.repeat(starts, lengths)
    weighed = points * powers[place]
    terms = np.add.reduceat(weighed, starts) if len(words) else np.zeros(0, dtype=np.uint64)
    return np.asarray(rows, dtype=np.int64), terms


ANALYZERS: dict[str, TermsOf] = {"char": char_terms, "word": word_terms}


def _points(texts: Sequence[str]) -> tuple[UINTS, INTS]:
    """The concatenated code points of all texts, each increased by one so that none is 0, and the text each belongs
    to."""
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int64, count=len(texts))
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    return points + np.uint64(1), np.repeat(np.arange(len(texts)), lengths)


def _powers(count: int) -> UINTS:
    """(count,) the base's powers, starting with the zeroth, modulo 2**64."""
    return np.concatenate([np.ones(1, dtype=np.uint64), np.full(max(count, 1), _BASE)]).cumprod(dtype=np.uint64)


def _joined(rows: list[INTS], terms: list[UINTS]) -> tuple[INTS, UINTS]:
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    return np.concatenate(rows), np.concatenate(terms)
