"""Attributes of mentions in files: their names in a format, and the values to write.

Values that are already in a file are not written again, so that they stay unchanged: names and values are compared
without case, and a space equals an underscore, which replaces it in formats without spaces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from curator.domain.attributes import alike, same_name
from curator.domain.wording import tr
from curator.io.files.report import Report
from curator.io.files.source import plain_text
from curator.services.ports.files import ExportMention

BINARY = "yes"
"""The value of an attribute without a value in the file, or with `true`."""
OTHERWISE = "_attribute"
"""Suffix for a name that a format uses for something else."""


@dataclass(frozen=True, slots=True)
class AttributeNames:
    """How the format `title` names attributes. `reserved` says whether it uses a name for something else; with `plain`,
    names consist of letters, digits and underscores, and begin with a letter."""

    title: str
    reserved: Callable[[str], bool] = lambda _: False
    plain: bool = False

    def of(self, name: str) -> str:
        """The name in files."""
        written = _plain(name) if self.plain else name
        return written + OTHERWISE if self.reserved(written) else written

    def changes(self, gold: ExportMention, held: Mapping[str, str], problems: Report) -> dict[str, str | None]:
        """The values that differ from the file's, by the attribute's name in the file; None: the attribute is removed.
        A name other than the project's is noted in `problems`, once."""
        found: dict[str, str | None] = {}
        for name, value in gold.attributes:
            there = held_name(held, self.of(name), name)
            if there is None and value is None:
                continue
            if there is None or value is None or not alike(held[there], value):
                found[self.of(name) if there is None else there] = value
                if there is None:
                    self._note(name, problems)
        return found

    def _note(self, name: str, problems: Report) -> None:
        written = self.of(name)
        if written == name:
            return
        text = tr("{format}: the attribute “{name}” is called {written}", format=self.title, name=name, written=written)
        if all(one.text != text for one in problems):
            problems.note(text)


def any_of(*names: Collection[str]) -> Callable[[str], bool]:
    """Whether a name is one of these, which are in lower case."""
    known = frozenset().union(*names)
    return lambda name: name.lower() in known


def held_name(held: Collection[str], *names: str) -> str | None:
    """The name in a file that is one of `names`: an exact match first, then a similar one."""
    for same in (same_name, alike):
        for name in names:
            for one in held:
                if same(one, name):
                    return one
    return None


def json_text(value: object) -> str:
    """A JSON value as text: another value than a text is as in JSON."""
    return plain_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def said_value(value: object) -> str:
    """A JSON value as text: `BINARY` for true, '' if it is not a value."""
    if isinstance(value, bool):
        return BINARY if value else ""
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _plain(name: str) -> str:
    word = "".join(ch if ch.isalnum() else "_" for ch in name.strip())
    return word if word[:1].isalpha() else f"a{word}"
