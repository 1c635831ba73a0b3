"""Wikitext as plain text with its links: tables, notes, files and categories are left out, and of templates those
whose text is not known (`templates.py`).

`mwparserfromhell` parses; this module selects what a reader of the page sees as running text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import zip_longest
from typing import Any
from urllib.parse import unquote_to_bytes

from curator.domain.wording import tr
from curator.io.wiki.templates import Nodes, Piece, ToPage, called, is_box, shown

_NOT_SHOWN = (
    "table ref references gallery timeline imagemap score syntaxhighlight source templatestyles script style "
    "noinclude includeonly poll rss youtube video tabber tabview"
)
_BLOCKS = "p div blockquote center ul ol li dl dt dd h1 h2 h3 h4 h5 h6 pre section"
_OTHER_WIKIS = "w wp wikipedia wikt wiktionary commons meta mw d s b n q v species c fandom"
NOT_SHOWN, BLOCKS, OTHER_WIKIS = (frozenset(one.split()) for one in (_NOT_SHOWN, _BLOCKS, _OTHER_WIKIS))
BREAKS = frozenset(("br", "hr"))
FORMULAS = frozenset(("math", "chem", "ce"))
FILES = frozenset(("file", "image", "media", "category"))
OTHER_PAGES = frozenset(
    f"{one}{talk}"
    for one in ("user", "project", "file", "mediawiki", "template", "help", "category")
    for talk in ("", " talk")
) | {"talk", "special"}
"""Prefixes that every wiki knows in English."""
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e]")
_FORMULA = re.compile(r"[\w\s+\-*/=<>.,;:()'|!]{1,40}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]+)*|simple")
_CLOSING = frozenset(",.;:)]")
"""No space stays before them where something was left out."""
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
    """`lost` counts templates by name, and formulas, whose text is missing."""

    text: str
    links: tuple[Link, ...]
    lost: Mapping[str, int] = field(default_factory=dict)


def plain_page(
    wikitext: str,
    *,
    title: str = "",
    namespaces: Collection[str] = (),
    hidden: Collection[str] = (),
    first_letter: bool = True,
) -> Plain:
    """The running text of the page called `title`. `namespaces` are prefixes, in lower case, of pages that are not
    articles; links to `hidden` ones (files, categories) are left out.

    Raises ValueError if the parser fails.
    """
    import mwparserfromhell  # imported when a page is read
    from mwparserfromhell.parser import ParserError

    builder = _Builder(title, namespaces, hidden, first_letter=first_letter)
    try:
        builder.walk(mwparserfromhell.parse(_MAGIC.sub("", wikitext)).nodes)
    except ParserError as error:
        raise ValueError(str(error)) from error
    except RecursionError as error:
        raise ValueError(tr("it is nested too deeply")) from error
    return builder.plain()


def lead_of(wikitext: str) -> str:
    """The text before the first heading."""
    found = re.search(r"^==", wikitext, re.MULTILINE)
    return wikitext[: found.start()] if found else wikitext


def page_title(title: str, *, first_letter: bool = True) -> str:
    """A title in the wiki's form: with spaces instead of underscores, and a capital first letter."""
    clean = " ".join(_MARKS.sub("", title).replace("_", " ").split())
    capital = clean[:1].upper()
    return capital + clean[1:] if first_letter and len(capital) == 1 else clean


def _decoded(title: str) -> str:
    """The target of a link with its escapes read, as in addresses: `Caf%C3%A9`. Others stay: `100% wool`."""
    escaped = _ESCAPES.sub(lambda found: _escape(found[0]), unescape(title))
    return escaped if escaped.isprintable() else "".join(one for one in escaped if one.isprintable() or one.isspace())


def _escape(escapes: str) -> str:
    try:
        return unquote_to_bytes(escapes).decode()
    except UnicodeDecodeError:
        return escapes


class _Builder:
    """Builds the text; white space collapses as in a browser, but line breaks stay."""

    def __init__(self, title: str, namespaces: Collection[str], hidden: Collection[str], *, first_letter: bool) -> None:
        self._title = title
        self._hidden = FILES.union(hidden)
        self._namespaces = self._hidden.union(namespaces, OTHER_PAGES)
        self._lost: Counter[str] = Counter()
        self._first_letter = first_letter
        self._parts: list[str] = []
        self._length = 0
        self._links: list[Link] = []
        self._dropped = False  # something was left out since the last text
        self._floor = 0  # nothing is removed before this position, where a link begins

    def plain(self) -> Plain:
        text = "".join(self._parts).rstrip()
        return Plain(text, tuple(one for one in self._links if one.end <= len(text)), self._lost)

    def walk(self, nodes: Sequence[Any]) -> None:
        linked = False
        shown_nodes = [node for node in nodes if type(node).__name__ != "Comment"]
        for node, after in zip_longest(shown_nodes, shown_nodes[1:]):
            kind, length = type(node).__name__, self._length
            if kind == "Text" and linked:
                self._trail(str(node.value))
            elif kind == "Template":
                self._template(node, after)
            else:
                self._node(kind, node)
            self._dropped |= self._length == length
            linked = kind == "Wikilink" and bool(self._links) and self._links[-1].end == self._length

    def _node(self, kind: str, node: Any) -> None:
        if kind == "Text":
            self.add(str(node.value))
        elif kind == "Wikilink":
            title, pipe, words = self._target(node.title.nodes).partition("|")  # of {{!}}
            self._link(title.strip(), node.text.nodes if node.text is not None else words if pipe else None)
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
        if name in FORMULAS and node.contents is not None:
            words = str(node.contents)
            if _FORMULA.fullmatch(words):
                self.add(words)
            else:
                self._lost[f"<{name}>"] += 1
            return
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

    def _template(self, node: Any, after: Any) -> None:
        """What a template shows; one that is not known and not a box is counted."""
        call = called(node, self._title, self._namespaces)
        pieces = shown(call)
        if pieces is not None:
            for one in pieces:
                self._piece(one)
            return
        before = self._parts[-1] if self._parts else ""
        if not is_box(call, before, str(after.value) if type(after).__name__ == "Text" else ""):
            is_function = call.title.lstrip("\\").startswith("#")
            self._lost[(call.title.partition(":")[0] if is_function else call.title)[:60]] += 1

    def _piece(self, piece: Piece) -> None:
        if isinstance(piece, ToPage):
            self._link(piece.target, piece.shown.nodes if isinstance(piece.shown, Nodes) else piece.shown)
        elif isinstance(piece, Nodes):
            self.walk(piece.nodes)
        else:
            self.add(piece)

    def _target(self, nodes: Sequence[Any]) -> str:
        """The text of a link's target, as its page is called."""
        inner = _Builder(self._title, self._namespaces, self._hidden, first_letter=self._first_letter)
        inner.walk(nodes)
        return _decoded(inner.plain().text)

    def _link(self, title: str, words: Sequence[Any] | str | None) -> None:
        """A link to `title` with these words, as nodes or text; None for the title itself."""
        bare = title.lstrip(":").strip()
        prefix = " ".join(bare.partition(":")[0].replace("_", " ").split()).lower() if ":" in bare else ""
        elsewhere = prefix in self._namespaces or prefix in OTHER_WIKIS
        language = bool(prefix) and _LANGUAGE.fullmatch(bare.partition(":")[0].strip()) is not None
        if (prefix in self._hidden or language) and not title.startswith(":"):
            return
        start, before, self._floor = self._length, self._floor, self._length
        if words is None:
            self.add(bare.partition("#")[0].replace("_", " ") or bare)
        elif isinstance(words, str):
            self.add(words)
        else:
            self.walk(words)
        self._floor = before
        target = page_title(bare.partition("#")[0], first_letter=self._first_letter)
        if target and not elsewhere and not language:
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
            if self._dropped and last == " " and piece[0] in _CLOSING and self._length > self._floor:
                self._length -= len(self._parts.pop())
            self._dropped = False
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
