"""What a search in the knowledge base gives: entities, or the sentence that says why there are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from curator.domain.entities import EntityMatch
from curator.domain.errors import UserError

Search = Callable[[str], Sequence[EntityMatch]]
BROKEN = "The search failed. The log says why; other searches go on working."


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What a query found, or the sentence that says why it could not be asked."""

    query: str
    matches: tuple[EntityMatch, ...] = ()
    trouble: str = ""


def answer_to(search: Search, query: str) -> SearchAnswer:
    """For a thread of its own: what is wrong with the query becomes the answer's trouble."""
    try:
        return SearchAnswer(query, tuple(search(query)))
    except UserError as error:
        return SearchAnswer(query, trouble=str(error))
