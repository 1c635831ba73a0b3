"""The content of a DocBin: tokens as rows of numbers, and span groups, by document."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from curator.domain.wording import UserError, tr

# Strings of spaCy's binary formats: they are 64-bit hashes, and a few words have fixed numbers instead.
#
# The hash is Austin Appleby's MurmurHash64A with seed 1 over UTF-8 (https://github.com/aappleby/smhasher); the numbers
# are those of `spacy.symbols`, version 3. Both are part of the format: a token "agent" is stored as the number 401.

_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995

_FIRST = (
    "IS_ALPHA IS_ASCII IS_DIGIT IS_LOWER IS_PUNCT IS_SPACE IS_TITLE IS_UPPER LIKE_URL LIKE_NUM LIKE_EMAIL "
    "IS_STOP IS_OOV_DEPRECATED IS_BRACKET IS_QUOTE IS_LEFT_PUNCT IS_RIGHT_PUNCT IS_CURRENCY "
)
_SECOND = (
    "ID ORTH LOWER NORM SHAPE PREFIX SUFFIX LENGTH CLUSTER LEMMA POS TAG DEP ENT_IOB ENT_TYPE HEAD SENT_START "
    "SPACY PROB LANG ADJ ADP ADV AUX CONJ CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X EOL "
    "SPACE "
)
_THIRD = (
    "PERSON NORP FACILITY ORG GPE LOC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW DATE TIME PERCENT MONEY QUANTITY "
    "ORDINAL CARDINAL acomp advcl advmod agent amod appos attr aux auxpass cc ccomp complm conj cop csubj "
    "csubjpass dep det dobj expl hmod hyph infmod intj iobj mark meta neg nmod nn npadvmod nsubj nsubjpass num "
    "number oprd obj obl parataxis partmod pcomp pobj poss possessive preconj prep prt punct quantmod relcl "
    "rcmod root xcomp acl ENT_KB_ID MORPH ENT_ID IDX _ "
)
_NAMES = (
    "",
    *_FIRST.split(),
    *(f"FLAG{number}" for number in range(19, 64)),
    *_SECOND.split(),
    *(f"DEPRECATED{number:03}" for number in range(1, 277)),
    *_THIRD.split(),
)
SYMBOLS = {name: number for number, name in enumerate(_NAMES)}


def string_id(text: str) -> int:
    """The number of a string."""
    known = SYMBOLS.get(text)
    return murmur64(text.encode("utf-8", "surrogatepass")) if known is None else known


def by_id(strings: Iterable[str]) -> dict[int, str]:
    """The strings of a file by their numbers."""
    return {string_id(one): one for one in strings}


def murmur64(data: bytes, seed: int = 1) -> int:
    size = len(data)
    found = seed ^ (size * _MULTIPLIER & _MASK)
    whole = size - size % 8
    for at in range(0, whole, 8):
        block = int.from_bytes(data[at : at + 8], "little") * _MULTIPLIER & _MASK
        block = (block ^ (block >> 47)) * _MULTIPLIER & _MASK
        found = (found ^ block) * _MULTIPLIER & _MASK
    if whole < size:
        found = (found ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    found = (found ^ (found >> 47)) * _MULTIPLIER & _MASK
    return found ^ (found >> 47)


ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID = 65, 77, 78, 452
GROUP = "curator"
SPAN = struct.Struct(">QQQllll")
BEGIN, INSIDE = 3, 1
Spanned = tuple[int, int, str, str]
"""First token, end token (exclusive), label, identifier."""


class DocBinTokens:
    """The tokens of a DocBin. Raises UserError if it is not a DocBin of version 0.1."""

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
            raise self._damaged(tr("lacks the fields of a DocBin")) from error
        width = len(self._attributes)
        self._starts = [0, *accumulate(lengths)]
        fits = self._starts[-1] * width == len(self._numbers) and len(self._spaces) == self._starts[-1]
        if min(lengths, default=0) < 0 or not fits or ORTH not in self._attributes:
            raise self._damaged(tr("has tokens that do not fit its documents"))
        self._flags, self._user = _listed(content.get("flags")), _listed(content.get("user_data"))
        self.span_groups = _listed(content.get("span_groups"))
        self._categories = _listed(content.get("cats"))

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
            tr("{path} {why}: it is damaged or from another version of spaCy; write it again", path=self._path, why=why)
        )

    def string(self, number: int) -> str:
        """'' if it is not among the strings."""
        return self._strings.get(number, "")

    def user_data(self, document: int) -> Mapping[Any, Any]:
        data = self._user[document] if document < len(self._user) else None
        found = unpacked(data) if isinstance(data, bytes) else {}
        return found if isinstance(found, dict) else {}

    def fields(self, document: int) -> dict[str, Any]:
        """The user data by name, also those of extensions (`doc._.name`), and the categories as `cats`."""
        user = self.user_data(document).items()
        named = ((one[1] if isinstance(one, tuple) and len(one) > 1 else one, value) for one, value in user)
        categories = self._categories[document] if document < len(self._categories) else None
        return {**{one: value for one, value in named if isinstance(one, str)}, "cats": categories}

    def column(self, document: int, attribute: int) -> Sequence[int]:
        """One number for each token; empty if the file lacks the attribute."""
        if attribute not in self._attributes:
            return ()
        width, at = len(self._attributes), self._attributes.index(attribute)
        start, end = self._starts[document], self._starts[document + 1]
        return self._numbers[start * width + at : end * width : width].tolist() if end > start else ()

    def text(self, document: int) -> tuple[str, list[tuple[int, int]]]:
        """The text and the position of each token. Raises KeyError for a word that is not among the strings."""
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
        """The entities in `doc.ents`."""
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
    """The spans of our group, or of all groups if ours is missing."""
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
    """A msgpack value; an empty map for anything else."""
    import msgpack  # imported when such a file is read

    try:
        return msgpack.unpackb(data, raw=False, strict_map_key=False, use_list=False, unicode_errors="replace")
    except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException):
        return {}


def _group(data: object) -> object:
    return unpacked(data) if isinstance(data, bytes) else None


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
