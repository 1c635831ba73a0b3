"""What is searched for in texts: words or a regular expression, compiled once, and the places where it matches.

Patterns are those of the `regex` package, which extends Python's: it knows Unicode properties (`\\p{Greek}`) and
spelling errors (`(?:lidocaine){e<=1}`), gives up after a time, and lets other threads run meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import regex

from curator.domain.documents import Span
from curator.domain.spans import trimmed
from curator.domain.wording import UserError, tr

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
