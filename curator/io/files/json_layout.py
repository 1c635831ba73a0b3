"""Edit JSON text in place: unchanged values keep their exact characters, and new values are formatted like the rest.

`json` writes text in its own format. Here the text is parsed with the positions of its values, and only changed values
are written, with the line breaks, indentation and spaces of neighbouring values.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from json.decoder import scanstring  # type: ignore[attr-defined]  # of C, the one that `json` itself uses
from typing import Any

from curator.domain.wording import UNPAIRED

_SPACES = " \t\r\n"
_WHITE = re.compile(f"[{_SPACES}]*")
_ATOM = re.compile(r"[^\s,\]}]+")
_LINE = re.compile(r"\n([ \t]*)")
_ESCAPED = json.JSONEncoder().encode
_PLAIN = json.JSONEncoder(ensure_ascii=False).encode
_key = json.JSONEncoder(sort_keys=True).encode
"""As `json.dumps`, which makes an encoder for each call: a third of the time of an edit."""


def rewritten(text: str, value: Any) -> str:
    """`text`, which holds one JSON value, edited to hold `value`."""
    try:
        return _Writer(text).changed(_scan(text, _white(text, 0)), value)
    except RecursionError:  # not a file that anyone wrote
        return json.dumps(value)


@dataclass(slots=True)
class _Node:
    """A value with its position in the text. Items of an object have keys: (text up to the value, key, value)."""

    start: int
    end: int
    value: Any
    items: Sequence[_Item] = ()


@dataclass(slots=True)
class _Item:
    """One element or member: it begins at `start`, a member with its key, and ends with its value."""

    start: int
    node: _Node
    key: str | None = None


def _scan(text: str, at: int) -> _Node:
    ch = text[at]
    if ch == '"':
        found, end = scanstring(text, at + 1, False)
        return _Node(at, end, found)
    if ch not in "{[":
        end = _ATOM.match(text, at).end()  # type: ignore[union-attr]  # the text was read before
        return _Node(at, end, json.loads(text[at:end]))
    items, end = _scan_items(text, at)
    if ch == "{":
        return _Node(at, end, {one.key: one.node.value for one in items}, items)
    return _Node(at, end, [one.node.value for one in items], items)


def _scan_items(text: str, at: int) -> tuple[list[_Item], int]:
    items: list[_Item] = []
    closing = "}" if text[at] == "{" else "]"
    at = _white(text, at + 1)
    while text[at] != closing:
        at = _white(text, at + 1) if text[at] == "," else at
        start, key = at, None
        if closing == "}":
            key, at = scanstring(text, at + 1, False)
            at = _white(text, _white(text, at) + 1)
        node = _scan(text, at)
        items.append(_Item(start, node, key))
        at = _white(text, node.end)
    return items, at + 1


def _white(text: str, at: int) -> int:
    if text[at : at + 1] not in _SPACES:
        return at
    return _WHITE.match(text, at).end()  # type: ignore[union-attr]  # matches always


class _Writer:
    """Writes values into one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ascii = text.isascii() and "\\u" in text
        lines = _LINE.findall(text)
        deeper = [b[len(a) :] for a, b in pairwise(lines) if len(b) > len(a) and b.startswith(a)]
        self._step = min(deeper, key=len) if deeper else None  # None: the text is all on one line
        self._colon = ": " if '": ' in text else ":"
        self._comma = ", " if re.search(r'[\]}"\d], ["{\d]', text) else ","

    def changed(self, node: _Node, value: Any) -> str:
        """The text of a value that replaces `node`."""
        if _same(node.value, value):
            return self._text[node.start : node.end]
        if isinstance(node.value, dict) and isinstance(value, dict):
            return self._joined(node, self._members(node, value), "{}")
        if isinstance(node.value, list) and isinstance(value, list):
            return self._joined(node, self._elements(node, value), "[]")
        return self._new(value, node, self._base(node.start))

    def _members(self, node: _Node, value: dict[str, Any]) -> Iterator[tuple[_Item | None, str]]:
        """(the item that it is or replaces, its text)."""
        last = {one.key: one for one in node.items}
        for one in node.items:
            if one.key in value:
                stays = last[one.key] is not one  # of two items with the same key the earlier is ignored
                head = self._text[one.start : one.node.start]
                yield one, head + (self._own(one.node) if stays else self.changed(one.node, value[one.key]))
        like = node.items[-1] if node.items else None
        colon = self._between_key_and_value(like) if like else self._colon
        inner = self._inner(node)
        for key, one_value in value.items():
            if key not in last:
                yield None, self._atom(key) + colon + self._new(one_value, None, inner)

    def _elements(self, node: _Node, value: Sequence[Any]) -> Iterator[tuple[_Item | None, str]]:
        inner = self._inner(node)
        for item, one in _paired(node.items, value):
            if item is not None:
                yield item, self.changed(item.node, one)
            else:
                like = next((other.node for other in node.items if isinstance(other.node.value, type(one))), None)
                yield None, self._new(one, like, inner)

    def _joined(self, node: _Node, parts: Iterator[tuple[_Item | None, str]], brackets: str) -> str:
        """The parts joined with the text that was between them, or between other parts of the node."""
        found = list(parts)
        if not found:
            return brackets
        head, gap, tail = self._around(node)
        gaps = {id(other): self._text[one.node.end : other.start] for one, other in pairwise(node.items)}
        text = ""
        for number, (item, part) in enumerate(found):
            text += (gaps.get(id(item), gap) if number else head) + part
        return text + tail

    def _around(self, node: _Node) -> tuple[str, str, str]:
        """The text before the first item, between two items and after the last; for an empty node, the text to use."""
        opening, closing = self._text[node.start], self._text[node.end - 1]
        if node.items:
            head = self._text[node.start : node.items[0].start]
            tail = self._text[node.items[-1].node.end : node.end]
            if len(node.items) == 1:
                return head, self._gap(head[1:]), tail
            return head, self._text[node.items[-2].node.end : node.items[-1].start], tail
        if self._step is None:
            return opening, self._comma, closing
        base = self._base(node.start)
        return f"{opening}\n{base}{self._step}", f",\n{base}{self._step}", f"\n{base}{closing}"

    def _gap(self, white: str) -> str:
        return f",{white}" if "\n" in white else self._comma

    def _inner(self, node: _Node) -> str:
        """The indentation of a node's items."""
        if node.items:
            return self._base(node.items[0].start)
        return self._base(node.start) + (self._step or "")

    def _base(self, at: int) -> str:
        """The indentation of the line at a position; the first line counts as indented like the last."""
        if self._step is None:
            return ""  # nothing is written on a line of its own
        start = self._text.rfind("\n", 0, at) + 1
        if not start:
            start = self._text.rfind("\n") + 1
            if not start:
                return ""
        return self._text[start : _white(self._text, start)].rpartition("\n")[2]

    # --- what is new ---

    def _new(self, value: Any, like: _Node | None, indent: str) -> str:
        """The text of a value at this indentation, formatted like `like`."""
        if not isinstance(value, dict | list) or not value:
            return self._atom(value)
        if like is None or not like.items or type(like.value) is not type(value):
            return self._plain(value, indent)
        head, gap, tail = self._around(like)
        inner = self._inner(like)
        if isinstance(value, list):
            first = next((one.node for one in like.items if isinstance(one.node.value, type(value[0]))), None)
            return head + gap.join(self._new(one, first, inner) for one in value) + tail
        known = {one.key: one.node for one in like.items}
        colon = self._between_key_and_value(like.items[0])
        parts = (self._atom(key) + colon + self._new(one, known.get(key), inner) for key, one in value.items())
        return head + gap.join(parts) + tail

    def _plain(self, value: Any, indent: str) -> str:
        if self._step is None:
            separators = (self._comma, self._colon)
            return json.dumps(value, ensure_ascii=self._ascii or _odd(value), separators=separators)
        text = json.dumps(value, ensure_ascii=self._ascii or _odd(value), indent=self._step)
        return text.replace("\n", f"\n{indent}")  # a line feed within a text is escaped

    def _atom(self, value: Any) -> str:
        return (_ESCAPED if self._ascii or _odd(value) else _PLAIN)(value)

    def _between_key_and_value(self, item: _Item) -> str:
        end = scanstring(self._text, item.start + 1, False)[1]
        return self._text[end : item.node.start]

    def _own(self, node: _Node) -> str:
        return self._text[node.start : node.end]


def _paired(items: Sequence[_Item], value: Sequence[Any]) -> Iterator[tuple[_Item | None, Any]]:
    """Each new element with the item it comes from, in the order of the items; None for an added element."""
    alike = 0
    for item, one in zip(items, value, strict=False):
        if not _same(item.node.value, one):
            break
        alike += 1
        yield item, one
    items, value = items[alike:], value[alike:]
    if not items:
        yield from ((None, one) for one in value)
        return
    old, new = [_key(one.node.value) for one in items], [_key(one) for one in value]
    names = [_named(one.node.value) for one in items], [_named(one) for one in value]
    a = c = 0
    for b, d in [*_anchors(old, new), (len(items), len(value))]:
        start, first = a, c
        for end, last in [*_anchors(names[0][a:b], names[1][c:d]), (b - a, d - c)]:
            yield from _between(
                items[start : a + end], value[first : c + last], old[start : a + end], new[first : c + last]
            )
            if last < d - c:
                yield items[a + end], value[c + last]
            start, first = a + end + 1, c + last + 1
        if d < len(value):
            yield items[b], value[d]
        a, c = b + 1, d + 1


def _anchors(old: Sequence[str | None], new: Sequence[str | None]) -> list[tuple[int, int]]:
    """Places of keys that are once in both, as many as have the same order in both (Szymanski 1975; "patience")."""
    if not old or not new:
        return []
    counts = Counter(old), Counter(new)
    places = {key: at for at, key in enumerate(new) if key is not None and counts[1][key] == 1}
    tops: list[int] = []  # the last place in `new` of the best sequence of each length
    ends: list[tuple[int, int, int]] = []  # (place in old, place in new, the index of the previous one)
    heads: list[int] = []  # where that sequence ends in `ends`
    for at, key in enumerate(old):
        if key is None or counts[0][key] != 1 or (place := places.get(key, -1)) < 0:
            continue
        length = bisect_left(tops, place)
        ends.append((at, place, heads[length - 1] if length else -1))
        tops[length : length + 1], heads[length : length + 1] = [place], [len(ends) - 1]
    found = []
    last = heads[-1] if heads else -1
    while last >= 0:
        at, place, last = ends[last]
        found.append((at, place))
    return found[::-1]


def _between(
    items: Sequence[_Item], value: Sequence[Any], old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[_Item | None, Any]]:
    """As `_paired`, between two elements that are known to be the same."""
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from zip(items[a:b], value[c:d], strict=True)
            continue
        free = list(items[a:b])
        for one in value[c:d]:
            same = next((item for item in free if _named(item.node.value) == _named(one)), None)
            same = same or (free[0] if free and b - a == d - c and _named(one) is None else None)
            if same is not None:
                free = free[free.index(same) + 1 :]
            yield same, one


def _named(value: Any) -> Any:
    name = value.get("id") if isinstance(value, dict) else None
    return name if name is None or isinstance(name, str) else (_key(name),)


def _same(one: Any, other: Any) -> bool:
    """Whether they are equal, including their types: 1 is neither true nor 1.0; the order of keys does not matter."""
    return one is other or (one == other and (repr(one) == repr(other) or _key(one) == _key(other)))


def _odd(value: Any) -> bool:
    """Whether it contains half a character, which can only be written escaped."""
    if isinstance(value, str):
        return not value.isascii() and UNPAIRED.search(value) is not None
    return isinstance(value, dict | list) and _odd(_PLAIN(value))
