"""Search for words and patterns in all documents of the project; each match has the mention that it equals or overlaps.

The texts are read a part at a time, each in its own unit, and searched as stored: an index would double the project's
size. SQLite excludes texts that lack a required part of the query (see `needed_of`), which takes a quarter of a
second for 100,000 abstracts; the others are read and searched.
"""

from __future__ import annotations

import re
import string
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import regex

from curator.domain.decisions import Verdict
from curator.domain.documents import Mention, Passage, Span, Split
from curator.domain.spans import overlaps, trimmed
from curator.domain.wording import UserError, tr
from curator.services.core.context import Context, Service
from curator.services.ports.documents import DocumentText
from curator.services.ports.queue import QueueFilter
from curator.services.ports.storage import UnitOfWork

AROUND = 80
"""Characters of the text at each side of a hit."""
MOST = 5_000
"""The most hits that are listed; the others are counted."""
FIRST_PART, PART, LARGE_PART = 50, 400, 3_200
"""Documents read at once: few at first, so that the first hits are there soon; more while few texts may match."""
REPORT_SECONDS = 0.25
"""A pattern that is slow in each document is reported on this often, so that it can also be stopped this soon."""


class PassageChoice(StrEnum):
    ALL = "all"
    TITLE = "title"
    BODY = "body"  # everything but titles


class HitChoice(StrEnum):
    ALL = "all"
    NEW = "new"  # no mention overlaps
    OVERLAPPING = "overlapping"  # a mention overlaps, and none is at exactly this place
    MENTIONS = "mentions"  # a mention is at exactly this place


class Bar(StrEnum):
    """Why a hit cannot become a mention."""

    BORDER = "border"  # crosses the end of a passage
    BLANK = "blank"  # is only white space


@dataclass(frozen=True, slots=True)
class CorpusQuery:
    """`pattern`: `text` is a regular expression. `case`: upper and lower case differ. `words`: whole words only."""

    text: str
    pattern: bool = False
    case: bool = False
    words: bool = False
    split: Split | None = None
    passages: PassageChoice = PassageChoice.ALL
    hits: HitChoice = HitChoice.ALL


@dataclass(frozen=True, slots=True)
class HitMention:
    """The mention at a hit's span, or one that overlaps it. `names` are those of its linked entities."""

    id: int
    text: str
    type: str
    verdict: Verdict | None = None
    curator: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A match, without white space at its ends. `start` and `end` are code points of the document's text. `passage` is
    its label or kind, '' if the hit is in none. `exact`: the mention has exactly this span."""

    document_id: int
    external_id: str
    split: Split
    start: int
    end: int
    left: str
    text: str
    right: str
    passage: str = ""
    bar: Bar | None = None
    mention: HitMention | None = None
    exact: bool = False

    @property
    def place(self) -> tuple[int, int, int]:
        """Document, start and end, which identify a hit."""
        return self.document_id, self.start, self.end


@dataclass(frozen=True, slots=True)
class Found:
    """The progress of a search: `hits` are the listed hits since the last report. The numbers are for the whole search
    so far: counted hits, `documents` with hits, documents `searched`, and `empty` matches, which are not hits; `total`
    documents will be searched."""

    hits: tuple[Hit, ...]
    number: int
    documents: int
    searched: int
    total: int
    empty: int = 0


@dataclass(slots=True)
class _Tally:
    number: int = 0
    documents: int = 0
    searched: int = 0
    empty: int = 0


@dataclass(slots=True)
class _Matches:
    """The matches in one document."""

    text: DocumentText
    places: list[tuple[int, int]]


class CorpusSearch(Service):
    """Read-only. Call `search` from a worker thread."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._plain: tuple[int, ...] = ()
        """The version of the texts in which none contains U+0000, where SQLite's comparison would stop."""

    def search(self, query: CorpusQuery, *, most: int | None = MOST) -> Generator[Found, None, None]:
        """Hits in the order of the documents and their texts, a report after each part that was read, or each
        `REPORT_SECONDS`: closing the generator stops the search there. After `most` (None: however many) hits are only
        counted.

        Raises UserError for an invalid query, and, after the reports so far, for a pattern that takes too long in a
        document.
        """
        pattern = pattern_of(query.text, pattern=query.pattern, case=query.case, words=query.words)
        needed = needed_by_pattern if query.pattern else needed_by_words
        having = needed(query.text, case=query.case) or ()
        with self._store.read() as unit:
            total, version = unit.documents.count(QueueFilter(split=query.split)), unit.documents.text_version()
        tally, after, limit, plain, odd = _Tally(), 0, FIRST_PART, version == self._plain, False
        while True:
            with self._store.read() as unit:
                part = unit.documents.texts(after=after, limit=limit, split=query.split, having=having, plain=plain)
            if not part.number:
                break
            texts, sure = iter(part.texts), part.number - len(part.texts)  # without a match: SQLite left these out
            while True:
                matched, slow, ended = _matched(pattern, texts, tally)
                tally.searched += sure if ended else 0
                with self._store.read() as unit:
                    hits = self._hits(unit, query, matched, tally, most)
                yield Found(tuple(hits), tally.number, tally.documents, tally.searched, total, tally.empty)
                if slow is not None:
                    raise UserError(tr(TOO_SLOW, document=slow))
                if ended:
                    break
            odd = odd or any("\0" in one.text for one in part.texts)
            many = limit < PART or len(part.texts) > PART // 4
            after, limit = part.last, PART if many else min(2 * limit, LARGE_PART)
        if query.split is None and not odd:
            self._plain = version

    def _hits(
        self, unit: UnitOfWork, query: CorpusQuery, matched: Sequence[_Matches], tally: _Tally, most: int | None
    ) -> list[Hit]:
        """Counts the hits that pass the filters; returns those to list."""
        listing = most is None or tally.number < most
        ids = [one.text.document_id for one in matched]
        asked = listing or query.hits is not HitChoice.ALL
        mentions = unit.mentions.of_documents(ids) if ids and asked else {}
        bounded = listing or query.passages is not PassageChoice.ALL
        passages = unit.documents.passages_of(ids) if ids and bounded else {}
        hits: list[Hit] = []
        for one in matched:
            document_id, before = one.text.document_id, tally.number
            here, parts = mentions.get(document_id, []), passages.get(document_id, ())
            for start, end in one.places:
                if not _in_passages(parts, start, end, query.passages):
                    continue
                mention, exact = _mention_at(here, start, end) if here else (None, False)
                if not _passes(query.hits, mention, exact=exact):
                    continue
                tally.number += 1
                if most is None or tally.number <= most:
                    hits.append(_hit(one.text, start, end, parts, mention, exact=exact))
            tally.documents += tally.number > before
        return _with_decisions(unit, hits)


def _matched(
    pattern: TextPattern, texts: Iterator[DocumentText], tally: _Tally
) -> tuple[list[_Matches], str | None, bool]:
    """The next documents with matches, for `REPORT_SECONDS`; the one in which the pattern took too long, if any: it was
    the last one; and whether none is left."""
    found: list[_Matches] = []
    began = time.monotonic()
    for one in texts:
        tally.searched += 1
        places: list[tuple[int, int]] = []
        try:
            for start, end in pattern.spans(one.text):
                if start == end:
                    tally.empty += 1
                else:
                    places.append(without_blanks(one.text, start, end))
        except SlowPatternError:
            return found, one.external_id, False
        if places:
            found.append(_Matches(one, places))
        if time.monotonic() - began >= REPORT_SECONDS:
            return found, None, False
    return found, None, True


def passage_around(passages: Sequence[Passage], start: int, end: int) -> Passage | None:
    """The passage that contains the whole range."""
    return next((one for one in passages if one.start <= start and end <= one.end), None)


def _in_passages(passages: Sequence[Passage], start: int, end: int, choice: PassageChoice) -> bool:
    """Whether a hit is in chosen passages; a hit across a border is in both."""
    if choice is PassageChoice.ALL:
        return True
    kinds = {one.kind for one in passages if one.start < end and start < one.end}
    return "title" in kinds if choice is PassageChoice.TITLE else bool(kinds - {"title"}) or not kinds


def _mention_at(mentions: Sequence[Mention], start: int, end: int) -> tuple[Mention | None, bool]:
    span = Span(start, end)
    touching = [one for one in mentions if overlaps(one.spans, span)]
    exact = next((one for one in touching if one.spans == (span,)), None)
    return (exact, True) if exact is not None else (next(iter(touching), None), False)


def _passes(choice: HitChoice, mention: Mention | None, *, exact: bool) -> bool:
    if choice is HitChoice.NEW:
        return mention is None
    if choice is HitChoice.OVERLAPPING:
        return mention is not None and not exact
    return choice is HitChoice.ALL or exact


def bar_of(text: str, passages: Sequence[Passage], start: int, end: int) -> Bar | None:
    """The reason why this range cannot become a mention. A document without passages has no borders."""
    if not text[start:end].strip():
        return Bar.BLANK
    return Bar.BORDER if passages and passage_around(passages, start, end) is None else None


def _hit(
    one: DocumentText, start: int, end: int, passages: Sequence[Passage], mention: Mention | None, *, exact: bool
) -> Hit:
    within = passage_around(passages, start, end)
    return Hit(
        document_id=one.document_id,
        external_id=one.external_id,
        split=one.split,
        start=start,
        end=end,
        left=one.text[max(start - AROUND, 0) : start],
        text=one.text[start:end],
        right=one.text[end : end + AROUND],
        passage=(within.label or within.kind) if within is not None else "",
        bar=bar_of(one.text, passages, start, end),
        mention=HitMention(mention.id, mention.text, mention.type) if mention is not None else None,
        exact=exact,
    )


def _with_decisions(unit: UnitOfWork, hits: list[Hit]) -> list[Hit]:
    """The mentions with their decisions and the names of their entities."""
    ids = list(dict.fromkeys(one.mention.id for one in hits if one.mention is not None))
    current = unit.decisions.current(ids) if ids else {}
    if not current:
        return hits
    linked = sorted({entity for one in current.values() for entity in one.verdict.entity_ids})
    names = {one: entity.name for one, entity in unit.kb.get_many(linked).items()} if linked else {}
    decided = {
        one: (found.verdict, found.curator, tuple(names.get(entity, entity) for entity in found.verdict.entity_ids))
        for one, found in current.items()
    }
    return [_decided(one, decided) for one in hits]


def _decided(hit: Hit, decided: Mapping[int, tuple[Verdict, str, tuple[str, ...]]]) -> Hit:
    mention = hit.mention
    if mention is None or mention.id not in decided:
        return hit
    verdict, curator, names = decided[mention.id]
    return replace(hit, mention=replace(mention, verdict=verdict, curator=curator, names=names))


# What is searched for in texts: words or a regular expression, compiled once, and the places where it matches.
#
# Patterns are those of the `regex` package, which extends Python's: it knows Unicode properties (`\p{Greek}`) and
# spelling errors (`(?:lidocaine){e<=1}`), gives up after a time, and lets other threads run meanwhile.

LONGEST = 1_000
"""The most characters of a search text."""
PATIENCE = 0.5
"""Seconds that a pattern may take in one document."""
NOTHING = "Type the words or the pattern that you want to find."
TOO_LONG = "The search text has {number:,} characters; {most:,} are allowed. Shorten it."
INVALID = "The pattern is not valid at character {place}: {reason}. Correct it, or turn off “Pattern”."
TOO_COMPLEX = "The pattern has too many groups inside each other. Simplify it."
TOO_SLOW = (
    "The pattern takes too long in document {document}; the search stopped there. Avoid repetitions inside each other, "
    "such as (a+|b)+, and .* at several places."
)


class SlowPatternError(Exception):
    """The pattern did not finish within `PATIENCE` seconds."""


@dataclass(frozen=True, slots=True)
class TextPattern:
    """A compiled pattern. Create it with `pattern_of`."""

    compiled: Any
    is_pattern: bool

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """(Start, end) of the matches, which do not overlap, in text order; a pattern may have empty matches.

        Raises SlowPatternError.
        """
        if not self.is_pattern:
            for found in self.compiled.finditer(text):
                yield found.span()
            return
        try:
            for found in self.compiled.finditer(text, timeout=PATIENCE, concurrent=True):
                yield found.span()
        except (TimeoutError, MemoryError) as error:
            raise SlowPatternError from error


def pattern_of(text: str, *, pattern: bool, case: bool, words: bool) -> TextPattern:
    """The pattern. In words, white space matches white space of any length, including line ends. `words`: no letter,
    digit or underscore before and after. In a pattern `^` and `$` match at the ends of lines.

    Raises UserError for an empty and a very long text, and for a pattern that does not compile: with position and
    reason.
    """
    if not text.strip():
        raise UserError(tr(NOTHING))
    if len(text) > LONGEST:
        raise UserError(tr(TOO_LONG, number=len(text), most=LONGEST))
    flags = regex.MULTILINE | (0 if case else regex.IGNORECASE)
    source = text if pattern else r"\s+".join(regex.escape(one) for one in text.split())
    try:
        compiled = regex.compile(source, flags)
        if words:
            compiled = regex.compile(rf"(?<!\w)(?:{source})(?!\w)", flags)
    except regex.error as error:
        place = min((error.pos or 0) + 1, len(text))
        raise UserError(tr(INVALID, place=place, reason=error.msg)) from error
    except (RecursionError, OverflowError, MemoryError, ValueError) as error:
        raise UserError(tr(TOO_COMPLEX)) from error
    return TextPattern(compiled, pattern)


def without_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """A match without white space at its ends; a match of only white space is unchanged."""
    span = trimmed(text, start, end)
    return (span.start, span.end) if isinstance(span, Span) else (start, end)


# The characters that a text must contain for words or a pattern to match, so that most texts need not be read.
#
# They are derived from the query alone, and only if that is certain, so results do not change. Ignoring case, `regex`
# matches k with the Kelvin sign, s with ſ, and i with İ and ı; every other ASCII letter only with its other case. These
# three, and characters outside ASCII, match any character here, so Unicode forms do not matter.

Needed = tuple[str | None, ...]
"""Consecutive characters, ASCII letters in either case. None: any one character."""
FEWEST = 3
"""The least number of known characters: fewer occur in nearly every text."""
ODD = frozenset("iksIKS")
_SINGLE = frozenset(string.ascii_letters + string.digits + string.whitespace + "\"#%&',-/:;<=>@_`~!")
_CLASSES = frozenset("bBwWdDsS")
_ENDS = frozenset(".^$")
_AROUND = frozenset({"?=", "?!", "?<=", "?<!"})
_COUNT = re.compile(r"\{\d+(?:,\d*)?\}")
_OPENING = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|P?<[A-Za-z_]\w*>))?(?![?*])")
_SET = re.compile(r"\[\^?\]?(?:[^\]\[\\&|~-]|-(?!-)|\\[wWdDsSbtnr\]\\^.-])*\]")


class _UnknownError(Exception):
    """Unsupported syntax."""


@dataclass(slots=True)
class _Group:
    """An open group of the pattern: the number of runs before it, and whether its own occur in every match."""

    begun: int
    holds: bool


def needed_by_words(text: str, *, case: bool) -> Needed | None:
    """The most selective word; None if no word is selective enough."""
    return _best(_characters(one, case=case) for one in text.split())


def needed_by_pattern(text: str, *, case: bool) -> Needed | None:
    """Characters that every match contains; None if there are none, or the pattern is not supported."""
    try:
        runs = list(_runs(text))
    except _UnknownError:
        return None
    return _best(_characters(one, case=case) for one in runs)


def _characters(run: str, *, case: bool) -> Needed:
    return tuple(one if one.isascii() and one != "\0" and (case or one not in ODD) else None for one in run)


def _best(runs: Iterable[Needed]) -> Needed | None:
    found = max((_trimmed(one) for one in runs), key=_fixed, default=())
    return found if _fixed(found) >= FEWEST else None


def _trimmed(run: Needed) -> Needed:
    places = [at for at, one in enumerate(run) if one is not None]
    return run[places[0] : places[-1] + 1] if places else ()


def _fixed(run: Needed) -> int:
    return sum(one is not None for one in run)


def _runs(pattern: str) -> list[str]:
    """The runs of literal characters that every match contains. Raises _UnknownError."""
    runs, at, groups = [""], 0, []
    while at < len(pattern):
        one, literal, begun = pattern[at], "", len(runs)
        if one == "\\":
            at, literal = at + 2, _escaped(pattern[at + 1 : at + 2])
        elif one == "(":
            end = _matched_by(_OPENING, pattern, at)
            groups.append(_Group(begun, holds=pattern[at + 1 : end] not in _AROUND))
            at = end
        elif one == ")" and groups:
            group = groups.pop()
            at, begun = at + 1, group.begun
            if not group.holds:
                del runs[begun:]
        elif one == "[":
            at = _matched_by(_SET, pattern, at)
        elif one == "|" and groups:
            at, groups[-1].holds = at + 1, False
        elif one in _ENDS:
            at += 1
        elif one in _SINGLE or not one.isascii():
            at, literal = at + 1, one
        else:
            raise _UnknownError
        least, behind = _repeated(pattern, at)
        if not least:
            del runs[begun:]
        elif literal:
            runs[-1] += literal
        if not literal or behind > at:
            runs.append("")
        at = behind
    if groups:
        raise _UnknownError
    return runs


def _escaped(one: str) -> str:
    """The escaped character, '' for a class or an anchor."""
    if one in _CLASSES:
        return ""
    if one and one.isascii() and not one.isalnum():
        return one
    raise _UnknownError


def _matched_by(what: re.Pattern[str], pattern: str, at: int) -> int:
    found = what.match(pattern, at)
    if found is None:
        raise _UnknownError
    return found.end()


def _repeated(pattern: str, at: int) -> tuple[int, int]:
    """The least number of occurrences, 0 or 1, of the item that ends here, and the position after its quantifier."""
    one = pattern[at : at + 1]
    if one == "{":
        end = _matched_by(_COUNT, pattern, at)
        least = int(int(re.split(r"[{,}]", pattern[at:end])[1]) > 0)
    elif one and one in "*?+":
        end, least = at + 1, int(one == "+")
    else:
        return 1, at
    if pattern[end : end + 1] in ("?", "+"):
        end += 1
    if pattern[end : end + 1] in ("*", "+", "?", "{"):
        raise _UnknownError
    return least, end
