"""The documents of a JSON file as a stream, each with its exact text, and the text between them.

A file holds one value, or several one after another (JSON lines). Documents are the objects in the list with a given
key (`documents`), at the top level or in a list of such objects; without such a list, they are the objects at the top
level or in the top-level list. `json` finds the end of each at the speed of C: an event parser would be slower and does
not give the text, which the round trip needs.

Changed JSON in the layout of the text that it replaces.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NoReturn

from curator.domain.wording import UNPAIRED, UserError, tr
from curator.io.files.source import BOM, Source

CHUNK = 1 << 18
LONGEST = 1 << 26  # characters of one document
_WHITE = re.compile(r"[ \t\r\n]*")


class JsonStream:
    """Yields (text before, document's text, document, line); `rest` is the text after the last one.

    The text before a document is everything since the previous document. Raises UserError, with the line, for invalid
    JSON.
    """

    def __init__(self, source: Source, lists: Sequence[str], *, whole: bool) -> None:
        self._source = source
        self._lists = frozenset(lists)
        self._whole = whole  # the file contains only documents
        self.rest = ""
        self._buffer, self._at, self._line, self._done = "", 0, 1, False
        self._before: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, str, Any, int]]:
        self.rest, self._before = "", []
        self._buffer, self._at, self._line, self._done = "", 0, 1, False
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self._source.stream() as stream:
            self._stream: BinaryIO = stream
            self._decoder = decoder
            self._fill()
            if self._buffer.startswith(BOM):
                self._pass(1)
            while self._next():
                yield from self._value(top=True)
        self.rest = "".join(self._before)

    def _value(self, *, top: bool) -> Iterator[tuple[str, str, Any, int]]:
        ch = self._next()
        if ch == "[" and top:
            yield from self._elements(documents=False)
        elif ch == "{" and self._whole:
            yield self._document()
        elif ch == "{":
            yield from self._members()
        else:
            self._decode(keep=True)

    def _members(self) -> Iterator[tuple[str, str, Any, int]]:
        self._pass(1)
        while (ch := self._next()) != "}":
            if ch == ",":
                self._pass(1)
                continue
            key = self._decode(keep=True)[0]
            if self._next() != ":" or not isinstance(key, str):
                self._broken(tr("a name and a colon are expected here"))
            self._pass(1)
            if key in self._lists and self._next() == "[":
                yield from self._elements(documents=True)
            else:
                self._decode(keep=True)
        self._pass(1)

    def _elements(self, *, documents: bool) -> Iterator[tuple[str, str, Any, int]]:
        self._pass(1)
        while (ch := self._next()) != "]":
            if ch == ",":
                self._pass(1)
            elif documents and ch == "{":
                yield self._document()
            else:
                yield from self._value(top=False)
        self._pass(1)

    def _document(self) -> tuple[str, str, Any, int]:
        before, self._before = "".join(self._before), []
        line = self._line
        found, text = self._decode(keep=False)
        return before, text, found, line

    def _decode(self, *, keep: bool) -> tuple[Any, str]:
        """The value that begins at this position, and its text."""
        self._next()
        decoder = json.JSONDecoder()
        while True:
            try:
                found, end = decoder.raw_decode(self._buffer, self._at)
            except RecursionError:
                self._broken(tr("it is nested too deeply"))
            except ValueError as error:
                if self._done or len(self._buffer) - self._at > LONGEST:
                    place = getattr(error, "pos", self._at)
                    self._line += self._buffer.count("\n", self._at, place)
                    self._broken(getattr(error, "msg", str(error)))
                self._fill(max(CHUNK, len(self._buffer)))
                continue
            if end < len(self._buffer) or self._done:  # a number may continue
                text = self._buffer[self._at : end]
                self._pass(end - self._at, keep=keep)
                return found, text
            self._fill()

    def _next(self) -> str:
        """The next character other than white space, '' at the end of the file; inside a value the end is an error."""
        while True:
            end = _WHITE.match(self._buffer, self._at).end()  # type: ignore[union-attr]  # matches always
            self._pass(end - self._at)
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if self._done:
                return ""
            self._fill()

    def _pass(self, count: int, *, keep: bool = True) -> None:
        if not count:
            return
        text = self._buffer[self._at : self._at + count]
        if not text:
            self._broken(tr("the file ends within a value"))
        self._line += text.count("\n")
        self._at += count
        if keep:
            self._before.append(text)

    def _fill(self, size: int = CHUNK) -> None:
        data = self._stream.read(size)
        try:
            more = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            words = (
                "{path}, line {line}: a byte is not UTF-8: convert the file to UTF-8 (for example with iconv) and try "
                "again"
            )
            raise UserError(tr(words, path=self._source.path, line=self._line)) from error
        self._buffer, self._at = self._buffer[self._at :] + more, 0
        self._done = not data

    def _broken(self, what: str) -> NoReturn:
        words = "{path}, line {line}: broken JSON ({what}): download the file again"
        raise UserError(tr(words, path=self._source.path, line=self._line, what=what))


# --- one object a line ---


class LineError(ValueError):
    """A line that cannot be used; the message gives the reason, without file and line."""


def parse_object(line: str) -> Mapping[str, Any]:
    """The JSON object of a line. Raises LineError."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LineError(tr("is not JSON: {error}", error=error)) from error
    if not isinstance(value, dict):
        raise LineError(tr("is not a JSON object"))
    return value


def first_object(head: bytes) -> Mapping[str, Any]:
    """The first line that is an object; empty if there is none."""
    for line in head.decode("utf-8", "ignore").split("\n"):
        if line.lstrip().startswith("{"):
            try:
                return parse_object(line)
            except LineError:
                continue
    return {}


def has_keys(value: Mapping[str, Any], keys: Sequence[str]) -> bool:
    return all(key in value for key in keys)


def text_in(value: Mapping[str, Any], key: str) -> str:
    """The text in a field. Raises LineError."""
    if not isinstance(value.get(key), str):
        raise LineError(tr("has no text in `{key}`", key=key))
    return str(value[key])


_INFINITY = re.compile(r'("(?:[^"\\]|\\.)*")|Infinity')
_INDENTATION = re.compile(r"\n([ \t]*)\S")
_COLON = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"([ \t]*:[ \t]*)')
_COMMA = re.compile(r'[\]}"\w]([ \t]*,[ \t]*)"(?:[^"\\]|\\.)*"\s*:')


def rewritten(text: str, value: Any) -> str:
    """`value` as JSON with the indentation, separators and escapes of `text`, which holds one JSON value. The closing
    bracket is indented like that of `text`, which may be a part of a larger value."""
    lines = _INDENTATION.findall(text)
    base = lines[-1] if lines else ""
    steps = [one.removeprefix(base) for one in lines if len(one) > len(base)]
    colon, comma = _COLON.search(text), _COMMA.search(text)
    try:
        whole = json.dumps(
            value,
            ensure_ascii=text.isascii() and "\\u" in text,
            indent=min(steps, key=len) if steps else None,
            separators=("," if steps else comma[1] if comma else ", ", colon[1] if colon else ": "),
        )
    except RecursionError:  # not a file that anyone wrote
        return json.dumps(value)
    if "Infinity" in whole:  # how Python writes numbers like 1e400
        whole = _INFINITY.sub(lambda found: found[1] or "1e999", whole)
    whole = UNPAIRED.sub(lambda half: f"\\u{ord(half[0]):04x}", whole)  # can only be written escaped
    return whole.replace("\n", ("\r\n" if "\r\n" in text else "\n") + base)
