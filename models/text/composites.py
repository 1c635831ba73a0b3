"""Mentions that join several entities, split into parts: "breast and ovarian cancer" is two cancers.

The shared words can be at the end ("breast and ovarian cancer"), at the beginning ("hepatitis B and C", "cancer of the
breast and ovary"), inside a word ("hypo- and hyperglycemia"), or absent ("nausea and vomiting"). The text does not show
which, so the parts are proposals, complete ones first; each is searched for separately.
"""

from __future__ import annotations

import re

from models.text.normalise import singular

MAX_CHARACTERS = 160
MAX_PARTS = 6
_AND = re.compile(r"\s+(?:and/or|and|or|as well as|&)\s+|(?<=[^\W\d])\s*/\s*(?=[^\W\d])", re.IGNORECASE)
_LIST = re.compile(r",\s+(?:and/or|and|or)\s+|,\s+|\s+(?:and/or|and|or|as well as|&)\s+|(?<=[^\W\d])\s*/\s*(?=[^\W\d])")
_LETTER_OR_NUMBER = re.compile(r"^(?:[A-Z]|\d{1,3}[A-Za-z]?|[IVX]{1,4}[a-z]?)$")
_OF = re.compile(r"^(.+? (?:of|in|to) (?:the |both )?)(\S.*)$", re.IGNORECASE)
_COMPLEMENTS = ("of", "in", "to", "with", "by", "from", "for", "on", "the", "a", "an")
_PREFIXES = (
    "hyper", "hypo", "pre", "post", "peri", "intra", "inter", "extra", "anti", "pro", "micro", "macro", "mono", "poly",
    "uni", "bi", "multi", "endo", "exo", "infra", "supra", "sub", "hemi", "para", "tetra", "quadri", "non",
)  # fmt: skip


def composite_parts(text: str) -> tuple[str, ...]:
    """The mentions joined in one, at most six; none for a mention that joins nothing.

    A comma alone joins nothing if an inverted name is likelier: "lymphoma, T-cell".
    """
    stripped = text.strip()
    if len(stripped) > MAX_CHARACTERS or not (_AND.search(stripped) or stripped.count(", ") > 1):
        return _comma_pair(stripped)
    pieces = [piece.strip(" ,") for piece in _LIST.split(stripped)]
    if len(pieces) < 2 or not all(pieces):
        return ()
    parts = _completed(pieces)
    whole = [part for part in parts if len(part) > 1 and part != stripped and part.count("(") == part.count(")")]
    return tuple(dict.fromkeys(whole))[:MAX_PARTS]


def _comma_pair(text: str) -> tuple[str, ...]:
    """ "nausea, vomiting" joins two; "lymphoma, T-cell" and "syndrome, type 2" do not."""
    left, comma, right = text.partition(", ")
    if not comma or len(text) > MAX_CHARACTERS or min(len(left), len(right)) < 5:
        return ()
    first = right.split()[0]
    if "-" in first or first in ("type", "stage", "grade") or first in _COMPLEMENTS or right.endswith(("al", "ic")):
        return ()
    return (left, right)


def _completed(pieces: list[str]) -> list[str]:
    """Every piece with the words that it shares with the others."""
    last = pieces[-1]
    suspended = [_suspended(piece, last) for piece in pieces[:-1]]
    if any(suspended):
        return [done or piece for piece, done in zip(pieces[:-1], suspended, strict=True)] + [last]
    front = _shared_front(pieces)
    if front:
        return front
    return [*_shared_head(pieces), last, *(piece for piece in pieces[:-1] if not _is_adjective(piece))]


def _suspended(piece: str, last: str) -> str:
    """ "hypo-" before "hyperglycemia" is "hypoglycemia", "T-" before "B-cell lymphoma" is "T-cell lymphoma"."""
    if not piece.endswith("-"):
        return ""
    stem = piece[:-1]
    word, _, rest = last.partition(" ")
    tail = f" {rest}" if rest else ""
    if "-" in word[1:]:
        return f"{stem}-{word.partition('-')[2]}{tail}"
    fitting = [prefix for prefix in _PREFIXES if word.lower().startswith(prefix) and len(word) > len(prefix) + 2]
    return f"{stem}{word[len(max(fitting, key=len)) :]}{tail}" if fitting else f"{stem} {last}"


def _shared_front(pieces: list[str]) -> list[str]:
    """ "hepatitis B and C", "type 1 and 2 diabetes", "cancer of the breast and ovary"; empty if nothing fits."""
    words = [piece.split() for piece in pieces]
    first, last = words[0], words[-1]
    if len(first) > 1 and _is_symbol(first[-1]) and all(_is_symbol(other[0]) for other in words[1:]):
        shared, tail = first[:-1], last[1:]
        if all(len(other) == 1 for other in words[1:-1]):
            head = [singular(shared[0]), *shared[1:]] if shared[0].islower() and len(shared) == 1 else shared
            return [" ".join([*head, other[-1] if at == 0 else other[0], *tail]) for at, other in enumerate(words)]
    of = _OF.match(pieces[0])
    if of and not any(word in _COMPLEMENTS for word in last[1:]) and len(last) < 3:
        rest = [piece.removeprefix("the ") for piece in pieces[1:]]
        return [pieces[0], *(of[1] + piece for piece in rest), *rest[-1:]]
    return []


def _shared_head(pieces: list[str]) -> list[str]:
    """Earlier pieces with the end of the last piece: as many words as it has in addition, at least its head."""
    last = pieces[-1].split()
    if len(last) < 2 or any(word in _COMPLEMENTS for word in last):
        return []
    found = []
    for piece in pieces[:-1]:
        words = piece.split()
        if len(words) > (3 if len(pieces) == 2 else 1):
            continue
        found.append(" ".join([*words, last[-1]]))
        if len(last) > len(words) + 1:
            found.append(" ".join([*words, *last[len(words) :]]))
    first = pieces[0].split()
    if len(pieces) == 2 and len(first) == 2 and len(last) == 2:  # "acute liver and kidney failure"
        found.append(" ".join([first[0], *last]))
    return found


def _is_symbol(word: str) -> bool:
    return bool(_LETTER_OR_NUMBER.match(word))


def _is_adjective(piece: str) -> bool:
    """One word that cannot be an entity: "ovarian", "hepatic", "cognitive"."""
    return " " not in piece and bool(re.search(r"(?:al|ic|ar|ary|ous|ive|ory|ian|ular)$", piece))
