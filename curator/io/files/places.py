"""Words for the places that problems are told of."""

from __future__ import annotations

from collections.abc import Sequence

from curator.domain.wording import tr
from curator.services.ports import Problem


def mention_place(document: str, words: str) -> str:
    return tr('document {key}: "{quote}"', key=document, quote=words)


def first_of(problems: Sequence[Problem]) -> str:
    """What to put behind a sentence that says that nothing was usable: the first problem, or nothing."""
    if not problems:
        return ""
    first = problems[0]
    if not first.line:
        return tr(" ({text})", text=first.text)
    return tr(" (line {line}: {text})", line=first.line, text=first.text)
