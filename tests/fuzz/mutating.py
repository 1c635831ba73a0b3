"""Changes that leave a text almost right: lines and pieces moved, doubled or left out, numbers and characters made odd.

A fuzzer's own changes of bytes break most texts at their first character; these go deeper. Both are used in turn.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_NUMBER = re.compile(rb"\d+")
_PIECE = re.compile(rb"[\w.:-]+")
_VALUE = re.compile(rb'(?<=[:\[,])\s*(?:"(?:[^"\\]|\\.){0,200}"|-?\d[\d.eE+-]*|true|false|null)')
_VALUES = (
    *(b"null", b"true", b"[]", b"{}", b"[[]]", b"[null]", b'""', b'"\\ud800"', b'"\\u0000"', b"-1", b"0.5", b"1e999"),
    *(b"NaN", b"-Infinity", b"99999999999999999999", b'"\xe2\x80\xa8\xc2\x85"', b'{"id": 1}', b'"2026-01-01"'),
)
_NUMBERS = (b"0", b"-1", b"1", b"9", b"65536", b"4294967296", b"99999999999999999999", b"1e9", b"")
_ODD = (
    "\u2028".encode(),
    "\U0001f600".encode(),
    "\x85".encode(),
    "e\u0301".encode(),
    b"\xff",
    b"\0",
    b"\r",
    b"\r\n\r\n",
    b"\t",
    b"|",
    b'"',
    b"\\ud800",
    b"\\",
    b"&#0;",
    b"&lt;",
    b"<",
    b"]",
    b"}",
    b"null",
    b"[]",
    b"{}",
    b"1",
    b"/../",
)


def changed(data: bytes, seed: int, others: Sequence[bytes] = ()) -> bytes:
    """One to four changes; `others` are files to take pieces from."""
    chance = random.Random(seed)
    ways = _WAYS if others else _WAYS[:-1]
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(ways)(data, chance, others)
    return data


_Way = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def _lines(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """A run of lines left out, doubled or moved."""
    lines = data.split(b"\n")
    start = chance.randrange(len(lines))
    run = lines[start : start + chance.choice((1, 1, 2, 5))]
    rest = lines if chance.random() < 0.5 else lines[:start] + lines[start + len(run) :]
    at = chance.randrange(len(rest) + 1)
    return b"\n".join(rest[:at] + (run if chance.random() < 0.7 else []) + rest[at:])


def _number(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(data))
    return _replaced(data, chance.choice(found), chance.choice(_NUMBERS)) if found else data


def _value(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """A value of JSON in the place of another."""
    found = list(_VALUE.finditer(data))
    return _replaced(data, chance.choice(found), chance.choice(_VALUES)) if found else data


def _piece(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """A word in the place of another."""
    found = list(_PIECE.finditer(data))
    return _replaced(data, chance.choice(found), chance.choice(found)[0]) if found else data


def _character(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_ODD) + data[at + chance.choice((0, 0, 1)) :]


def _cut(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] if chance.random() < 0.3 else data[:at] + data[at + chance.choice((1, 4, 40)) :]


def _nested(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """Much of one bracket or tag, one in the other."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice((b"[", b'{"a":', b"<a>", b"(", b'"')) * chance.choice((3, 300, 5000)) + data[at:]


def _foreign(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """A part of another file put in."""
    other = chance.choice(others)
    start = chance.randrange(len(other) + 1)
    at = chance.randrange(len(data) + 1)
    return data[:at] + other[start : start + chance.choice((10, 100, 1000))] + data[at:]


def _replaced(data: bytes, found: re.Match[bytes], new: bytes) -> bytes:
    return data[: found.start()] + new + data[found.end() :]


_WAYS: tuple[_Way, ...] = (_lines, _number, _value, _piece, _character, _cut, _nested, _foreign)
