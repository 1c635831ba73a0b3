"""Wikitext as plain text with its links: templates, tables, notes, files and categories are left out.

`mwparserfromhell` parses; this module selects what a reader of the page sees as running text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from html import unescape
from typing import Any

_NOT_SHOWN = (
    "table ref references gallery math chem timeline imagemap score syntaxhighlight source templatestyles script style "
    "noinclude includeonly poll rss youtube video tabber tabview"
)
_BLOCKS = "p div blockquote center ul ol li dl dt dd h1 h2 h3 h4 h5 h6 pre section"
_OTHER_WIKIS = "w wp wikipedia wikt wiktionary commons meta mw d s b n q v species c fandom"
NOT_SHOWN, BLOCKS, OTHER_WIKIS = (frozenset(one.split()) for one in (_NOT_SHOWN, _BLOCKS, _OTHER_WIKIS))
BREAKS = frozenset(("br", "hr"))
FILES = frozenset(("file", "image", "media", "category"))
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]+)?")
_MAGIC = re.compile(r"__[A-Z]+__")
_TRAIL = re.compile(r"[^\W\d_]+")
_PIECES = re.compile(r"\n[^\S\n]*|[^\S\n]+|[^\s]+")


@dataclass(frozen=True, slots=True)
class Link:
    """A span of the plain text and the title of the page that it links to."""

    start: int
    end: int
    target: str


@dataclass(frozen=True, slots=True)
class Plain:
    text: str
    links: tuple[Link, ...]


def plain_page(
    wikitext: str, *, namespaces: Collection[str] = (), hidden: Collection[str] = (), first_letter: bool = True
) -> Plain:
    """The running text of a page. `namespaces` are prefixes, in lower case, of pages that are not articles; links to
    `hidden` ones (files, categories) are left out.

    Raises ValueError if the parser fails.
    """
    import mwparserfromhell  # imported when a page is read
    from mwparserfromhell.parser import ParserError

    try:
        code = mwparserfromhell.parse(_MAGIC.sub("", wikitext))
    except (ParserError, RecursionError) as error:
        raise ValueError(str(error) or "it is nested too deeply") from error
    builder = _Builder(namespaces, hidden, first_letter=first_letter)
    builder.walk(code.nodes)
    return builder.plain()


def lead_of(wikitext: str) -> str:
    """The text before the first heading."""
    found = re.search(r"^==", wikitext, re.MULTILINE)
    return wikitext[: found.start()] if found else wikitext


def page_title(title: str, *, first_letter: bool = True) -> str:
    """A title in the wiki's form: with spaces instead of underscores, and a capital first letter."""
    clean = " ".join(title.replace("_", " ").split())
    return clean[:1].upper() + clean[1:] if first_letter else clean


class _Builder:
    """Builds the text; white space collapses as in a browser, but line breaks stay."""

    def __init__(self, namespaces: Collection[str], hidden: Collection[str], *, first_letter: bool) -> None:
        self._hidden = FILES.union(hidden)
        self._namespaces = self._hidden.union(namespaces)
        self._first_letter = first_letter
        self._parts: list[str] = []
        self._length = 0
        self._links: list[Link] = []
        self._floor = 0  # nothing is removed before this position, where a link begins

    def plain(self) -> Plain:
        text = "".join(self._parts).rstrip()
        return Plain(text, tuple(one for one in self._links if one.end <= len(text)))

    def walk(self, nodes: Any) -> None:
        linked = False
        for node in nodes:
            kind = type(node).__name__
            if kind == "Text" and linked:
                self._trail(str(node.value))
            else:
                self._node(kind, node)
            linked = kind == "Wikilink" and bool(self._links) and self._links[-1].end == self._length

    def _node(self, kind: str, node: Any) -> None:
        if kind == "Text":
            self.add(str(node.value))
        elif kind == "Wikilink":
            self._link(unescape(str(node.title)).strip(), node.text)
        elif kind == "Heading":
            self._block(node.title.nodes)
        elif kind == "Tag":
            self._tag(node)
        elif kind == "HTMLEntity":
            self.add(_letter(node))
        elif kind == "ExternalLink":
            shown = node.title.nodes if node.title is not None else ()
            if shown or not node.brackets:
                self.walk(shown or node.url.nodes)

    def _tag(self, node: Any) -> None:
        name = str(node.tag).strip().lower()
        if name in NOT_SHOWN:
            return
        if name in BREAKS:
            self.add("\n")
        elif node.contents is not None and name in BLOCKS:
            self._block(node.contents.nodes)
        elif node.contents is not None:
            self.walk(node.contents.nodes)

    def _block(self, nodes: Any) -> None:
        self.add("\n")
        self.walk(nodes)
        self.add("\n")

    def _link(self, title: str, shown: Any) -> None:
        bare = title.removeprefix(":").strip()
        prefix = bare.partition(":")[0].strip() if ":" in bare else ""
        elsewhere = prefix.lower() in self._namespaces or prefix.lower() in OTHER_WIKIS
        language = bool(prefix) and _LANGUAGE.fullmatch(prefix) is not None
        if (prefix.lower() in self._hidden or language) and not title.startswith(":"):
            return
        start, before, self._floor = self._length, self._floor, self._length
        if shown is None:
            self.add(bare.partition("#")[0] or bare)
        else:
            self.walk(shown.nodes)
        self._floor = before
        target = page_title(bare.partition("#")[0], first_letter=self._first_letter)
        if target and not elsewhere and not language and not title.startswith(":"):
            self._place(start, target)

    def _place(self, start: int, target: str) -> None:
        words = self._tail(start)
        start += len(words) - len(words.lstrip())
        end = start + len(words.strip())
        if end > start:
            self._links = [one for one in self._links if one.start < start]  # a link inside a link is ignored
            self._links.append(Link(start, end, target))

    def _tail(self, start: int) -> str:
        """The text added after `start`."""
        at, number = self._length, len(self._parts)
        while at > start:
            number -= 1
            at -= len(self._parts[number])
        return "".join(self._parts[number:])

    def _trail(self, text: str) -> None:
        """Letters right after a link belong to its text: [[apple]]s."""
        found = _TRAIL.match(text)
        if found:
            last = self._links.pop()
            self.add(found[0])
            self._links.append(Link(last.start, self._length, last.target))
        self.add(text[found.end() :] if found else text)

    def add(self, text: str) -> None:
        for piece in _PIECES.findall(text):
            last = self._parts[-1] if self._parts else "\n"
            if piece[0] == "\n":
                if last == " " and self._length > self._floor:
                    self._length -= len(self._parts.pop())
                    last = self._parts[-1] if self._parts else "\n"
                if last == "\n" and self._parts[-2:-1] in ([], ["\n"]):
                    continue  # one empty line at most
                piece = "\n"
            elif piece.isspace():
                if last.isspace():
                    continue
                piece = " "
            self._parts.append(piece)
            self._length += len(piece)


def _letter(node: Any) -> str:
    try:
        return str(node.normalize())
    except (ValueError, OverflowError):  # a number beyond Unicode
        return ""
