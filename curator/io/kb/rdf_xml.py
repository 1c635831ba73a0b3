"""RDF/XML prepared for pyoxigraph.

pyoxigraph reads only UTF-8, ignores a missing end, refuses entity declarations in single quotes, accepts them anywhere
in the file, and expands nested ones without a limit. So the file goes through expat first, which reads the encoding and
the declarations, and checks that the XML is complete. pyoxigraph gets UTF-8 without the document type. Entities that
abbreviate addresses, as ontology editors declare them, are replaced; external and long ones are refused, and no DTD is
loaded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sized
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from curator.domain.wording import UserError, tr

LONGEST_ENTITY = 1000
"""Characters of an entity's text, with the entities in it replaced."""
FREE, MOST_TIMES = 1 << 20, 10
"""Entities may always add this many characters to a file; more may be `MOST_TIMES` what was read."""
DEEPEST, MOST_ATTRIBUTES, LONGEST_TAG = 1000, 512, 1 << 22
"""Elements in each other, attributes of one, bytes of a tag or comment: the parsers' time grows with the squares."""
_BLOCK = 1 << 16  # bytes


class RdfXml:
    """The root element of an RDF/XML file as a stream of UTF-8; lines keep their numbers.

    `read` raises UserError for broken XML, with its line, and for entities that are not replaced.
    """

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._path = path
        self._entities: dict[str, str] = {}
        self._encoding = "utf-8"
        self._root, self._depth, self._fed = -1, 0, 0
        self._parser = expat.ParserCreate()
        self._parser.XmlDeclHandler = self._declaration
        self._parser.EntityDeclHandler = self._entity
        self._parser.StartElementHandler = self._begun
        self._parser.EndElementHandler = self._ended
        self._blocks = self._replaced(self._decoded(stream))
        self._ready = BytesIO()

    def read(self, size: int = -1) -> bytes:
        while not (found := self._ready.read(size)):
            block = next(self._blocks, None)
            if block is None:
                break
            self._ready = BytesIO(block.encode())
        return found

    def _decoded(self, stream: BinaryIO) -> Iterator[str]:
        """The text of the root element; what is before it as empty lines."""
        prolog = []
        while self._root < 0:
            prolog.append(self._checked(stream))
        begin = b"".join(prolog)
        yield "\n" * begin.count(b"\n", 0, self._root)
        decoder = codecs.getincrementaldecoder(self._encoding)()
        yield decoder.decode(begin[self._root :])
        while block := self._checked(stream):
            yield decoder.decode(block)

    def _checked(self, stream: BinaryIO) -> bytes:
        block = stream.read(_BLOCK)
        try:
            self._parser.Parse(block, not block)
        except expat.ExpatError as error:
            raise self._broken(error.lineno, expat.ErrorString(error.code)) from error
        except LookupError as error:  # an encoding that Python does not know
            raise self._broken(1, str(error)) from error
        self._fed += len(block)
        if self._fed - self._parser.CurrentByteIndex > LONGEST_TAG:
            raise self._excessive()
        return block

    def _replaced(self, texts: Iterator[str]) -> Iterator[str]:
        read, made, rest = 0, 0, ""
        reference: re.Pattern[str] | None = None
        for text in texts:
            if not self._entities:
                yield text
                continue
            reference = reference or self._reference()
            read, text = read + len(text), rest + text
            cut = text.rfind("&")
            cut = len(text) if cut < 0 or ";" in text[cut:] or len(text) - cut > LONGEST_ENTITY else cut
            text, rest = text[:cut], text[cut:]
            text = reference.sub(lambda found: self._entities[found[1]], text)
            made += len(text)
            if made > max(read + FREE, MOST_TIMES * read):
                raise self._refused(", ".join(self._entities))
            yield text
        yield rest

    def _reference(self) -> re.Pattern[str]:
        return re.compile(f"&({'|'.join(map(re.escape, self._entities))});")

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._encoding = encoding or self._encoding

    def _begun(self, _name: str, attributes: Sized) -> None:
        if self._root < 0:
            self._root = self._parser.CurrentByteIndex
        self._depth += 1
        if self._depth > DEEPEST or len(attributes) > MOST_ATTRIBUTES:
            raise self._excessive()

    def _ended(self, _name: str) -> None:
        self._depth -= 1

    def _entity(self, name: str, parameter: bool, value: str | None, *_external: str | None) -> None:
        if self._entities and value is not None:
            value = self._reference().sub(lambda found: self._entities[found[1]], value)
        if parameter or value is None or len(value) > LONGEST_ENTITY:
            raise self._refused(name)
        self._entities.setdefault(name, value)  # the first declaration counts

    def _excessive(self) -> UserError:
        why = tr("elements are nested too deeply, or have too many attributes, or a tag or comment is too long")
        return self._broken(self._parser.CurrentLineNumber, why)

    def _broken(self, line: int, why: str) -> UserError:
        return UserError(
            tr(
                "{path}, line {lineno}: broken XML ({msg}): download or export the file again",
                path=self._path,
                lineno=line,
                msg=why,
            )
        )

    def _refused(self, names: str) -> UserError:
        return UserError(
            tr(
                "{path} declares XML entities that are external or too long ({names}): export the file again without "
                "them",
                path=self._path,
                names=names,
            )
        )
