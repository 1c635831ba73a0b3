"""What a curator types into the search line, taken apart. Nothing that is typed is an error.

    lidocaine hydr              all these words, the last one as far as it is typed
    "beta-block"                exactly these characters, anywhere in a name; the closing quote may still be missing
    type:disease                entities of a type only; several: type:disease,chemical or type:"cell line"
    name :: words               the words behind :: stand in the definition
    MESH:D008012, D008012       an identifier is looked up as such

They combine in any order: `"shock" type:disease :: heart`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUOTED = re.compile(r'"([^"]*)("|$)')
_TYPE = re.compile(r'(?:^|(?<=\s))type:(?:"([^"]*)(?:"|$)|(\S*))', re.IGNORECASE)
BEHIND = "::"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`text`: free words; `phrases`: exact characters; `types`: alternatives, as typed; `definition`: words of it.

    `typing`: the last free word may be unfinished; `typing_definition`: that of the definition may be.
    """

    text: str = ""
    phrases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str = ""
    typing: bool = True
    typing_definition: bool = True

    @property
    def empty(self) -> bool:
        return not (self.text or self.phrases or self.types or self.definition)

    @property
    def plain(self) -> bool:
        """Free words only: an identifier, a name or part of one."""
        return not (self.phrases or self.types or self.definition)


def parse_query(typed: str) -> SearchQuery:
    """Never fails: what is no syntax is text, and syntax without content (`type:`, `""`, `::`) asks for nothing."""
    types: list[str] = []

    def take_type(found: re.Match[str]) -> str:
        quoted, bare = found[1], found[2]
        types.extend([quoted] if quoted is not None else bare.split(","))
        return " "

    rest = _TYPE.sub(take_type, typed)
    name, behind, definition = _cut(rest)
    phrases = tuple(words for found in _QUOTED.finditer(name) if (words := _squeezed(found[1])))
    text = _QUOTED.sub(" ", name)
    return SearchQuery(
        text=_squeezed(text),
        phrases=phrases,
        types=tuple(dict.fromkeys(one for part in types if (one := _squeezed(part)))),
        definition=_squeezed(definition.replace('"', " ")),
        typing=not behind and not typed[-1:].isspace() and not _ends_elsewhere(typed),
        typing_definition=not typed[-1:].isspace(),
    )


def only_words(text: str) -> str:
    """What to type for all words of a text, the last one whole, too: nothing of it is taken as syntax."""
    return text.replace('"', " ").replace(":", " ") + " "


def _cut(typed: str) -> tuple[str, str, str]:
    """Before and behind the first :: that stands outside of quotes."""
    inside = [found.span() for found in _QUOTED.finditer(typed)]
    at = typed.find(BEHIND)
    while at >= 0 and any(start < at < end - 1 for start, end in inside):
        at = typed.find(BEHIND, at + 1)
    return (typed, "", "") if at < 0 else (typed[:at], BEHIND, typed[at + len(BEHIND) :])


def _ends_elsewhere(typed: str) -> bool:
    """Whether what is typed last is a type or a phrase, so that the free words are finished."""
    return any(found.end() == len(typed) for pattern in (_TYPE, _QUOTED) for found in pattern.finditer(typed))


def _squeezed(text: str) -> str:
    return " ".join(text.split())
