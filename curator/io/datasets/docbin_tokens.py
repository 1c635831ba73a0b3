"""The content of a DocBin: tokens as rows of numbers, and span groups, by document."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from curator.domain.errors import UserError
from curator.domain.wording import tr
from curator.io.datasets.docbin_strings import by_id

ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID = 65, 77, 78, 452
GROUP = "curator"
SPAN = struct.Struct(">QQQllll")
BEGIN, INSIDE = 3, 1
Spanned = tuple[int, int, str, str]
"""First token, the one behind the last, label, identifier."""


class DocBinTokens:
    """Raises UserError for what is no DocBin of version 0.1."""

    def __init__(self, path: Path, data: bytes | bytearray) -> None:
        self._path = path
        content = unpacked(data)
        try:
            self._attributes: list[int] = [int(one) for one in content["attrs"]]
            lengths = memoryview(content["lengths"]).cast("i").tolist()
            self._numbers = memoryview(content["tokens"]).cast("Q")
            self._spaces = bytes(content["spaces"])
            self._strings = by_id(one for one in content["strings"] if isinstance(one, str))
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(tr("lacks what a DocBin has")) from error
        width = len(self._attributes)
        self._starts = [0, *accumulate(lengths)]
        fits = self._starts[-1] * width == len(self._numbers) and len(self._spaces) == self._starts[-1]
        if min(lengths, default=0) < 0 or not fits or ORTH not in self._attributes:
            raise self._damaged(tr("has tokens that do not fit its documents"))
        self._flags, self._user = _listed(content.get("flags")), _listed(content.get("user_data"))
        self.span_groups = _listed(content.get("span_groups"))

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def attributes(self) -> int:
        return len(self._attributes)

    @property
    def known_attributes(self) -> int:
        return sum(one in (ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID) for one in self._attributes)

    def _damaged(self, why: str) -> UserError:
        return UserError(
            tr("{path} {why}: it is damaged, or of another version of spaCy; write it again", path=self._path, why=why)
        )

    def string(self, number: int) -> str:
        """'' for one that is not among the strings."""
        return self._strings.get(number, "")

    def user_data(self, document: int) -> Mapping[Any, Any]:
        data = self._user[document] if document < len(self._user) else None
        found = unpacked(data) if isinstance(data, bytes) else {}
        return found if isinstance(found, dict) else {}

    def column(self, document: int, attribute: int) -> Sequence[int]:
        """One number for each token; none where the file has no such attribute."""
        if attribute not in self._attributes:
            return ()
        width, at = len(self._attributes), self._attributes.index(attribute)
        start, end = self._starts[document], self._starts[document + 1]
        return self._numbers[start * width + at : end * width : width].tolist() if end > start else ()

    def text(self, document: int) -> tuple[str, list[tuple[int, int]]]:
        """The text and the place of each token. Raises KeyError for a word that is not among the strings."""
        flags = self._flags[document] if document < len(self._flags) else None
        unknown = isinstance(flags, dict) and bool(flags.get("has_unknown_spaces"))
        start = self._starts[document]
        pieces: list[str] = []
        places: list[tuple[int, int]] = []
        at = 0
        for number, orth in enumerate(self.column(document, ORTH)):
            word = self._strings[orth]
            places.append((at, at + len(word)))
            space = " " if unknown or self._spaces[start + number] else ""
            pieces.append(word + space)
            at += len(word) + len(space)
        return "".join(pieces), places

    def entities(self, document: int) -> Iterator[Spanned]:
        """What `doc.ents` would be."""
        iob, types = self.column(document, ENT_IOB), self.column(document, ENT_TYPE)
        ids = self.column(document, ENT_KB_ID) or [0] * len(iob)
        start = -1
        for number, (state, kind) in enumerate(zip(iob, types, strict=False)):
            goes_on = state == INSIDE and start >= 0 and kind == types[start]
            if start >= 0 and not goes_on:
                yield start, number, self.string(types[start]), self.string(ids[start])
                start = -1
            if state == BEGIN or (state == INSIDE and start < 0):
                start = number
        if start >= 0:
            yield start, len(iob), self.string(types[start]), self.string(ids[start])


def groups_of(tokens: DocBinTokens, document: int) -> Iterator[Spanned]:
    """The spans of our group, or of all groups where there is none of ours."""
    data = tokens.span_groups[document] if document < len(tokens.span_groups) else b""
    content = unpacked(data) if isinstance(data, bytes) and data else {}
    packed = list(content) if isinstance(content, dict | list | tuple) else []
    groups = [found for one in packed if isinstance(found := _group(one), dict)]
    chosen = [one for one in groups if one.get("name") == GROUP] or groups
    for group in chosen:
        for span in _listed(group.get("spans")):
            if isinstance(span, bytes) and len(span) == SPAN.size:
                _, kb_id, label, start, end, _, _ = SPAN.unpack(span)
                yield start, end, tokens.string(label), tokens.string(kb_id)


def unpacked(data: bytes | bytearray) -> Any:
    """A msgpack value; an empty map for what is none."""
    import msgpack  # loaded when such a file is read

    try:
        return msgpack.unpackb(data, raw=False, strict_map_key=False, use_list=False, unicode_errors="replace")
    except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException):
        return {}


def _group(data: object) -> object:
    return unpacked(data) if isinstance(data, bytes) else None


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
