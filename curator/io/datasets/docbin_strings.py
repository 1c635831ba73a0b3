"""Strings of spaCy's binary formats: they are 64-bit hashes, and a few words have fixed numbers instead.

The hash is Austin Appleby's MurmurHash64A with seed 1 over UTF-8 (https://github.com/aappleby/smhasher); the numbers
are those of `spacy.symbols`, version 3. Both are part of the format: a token "agent" is stored as the number 401.
"""

from __future__ import annotations

from collections.abc import Iterable

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
    """The number that stands for a string."""
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
