"""A letter of its own for every title of a menu, as long as the alphabet lasts."""

from __future__ import annotations

from collections.abc import Sequence


def with_mnemonics(titles: Sequence[str]) -> list[str]:
    """The titles with the letters marked that choose them in their open menu: the first of a word rather than another,
    and those of earlier titles rather than of later ones, but above all a letter for each (Kuhn's augmenting paths).
    A title is as it is where no letter is left for it.
    """
    owners: dict[str, int] = {}
    places: dict[int, int] = {}

    def give(title: int, tried: set[str]) -> bool:
        for at in _places(titles[title]):
            letter = titles[title][at].casefold()
            if letter in tried:
                continue
            tried.add(letter)
            if letter not in owners or give(owners[letter], tried):
                owners[letter], places[title] = title, at
                return True
        return False

    for number, title in enumerate(titles):
        taken = {letter for letter in title.casefold() if letter in owners}
        if not give(number, taken):  # none is free: an earlier title gives way
            give(number, set())
    return [_marked(title, places.get(number)) for number, title in enumerate(titles)]


def _places(title: str) -> list[int]:
    """Of letters: those that begin a word first."""
    letters = [at for at, letter in enumerate(title) if letter.isalpha()]
    return sorted(letters, key=lambda at: at > 0 and title[at - 1].isalpha())


def _marked(title: str, at: int | None) -> str:
    return title if at is None else f"{title[:at]}&{title[at:]}"
