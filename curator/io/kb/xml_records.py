"""Records of XML files as a stream, hardened: no DTD is loaded, nothing is fetched, no entity of a text is resolved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from curator.domain.errors import UserError
from curator.domain.wording import tr
from curator.io.files.source import Source


def records(source: Source, tags: Sequence[str], *, attributes_may_refer: bool = False) -> Iterator[Any]:
    """The elements of these names (`{namespace}name`) that stand directly below the root, each freed after its use.

    Entities that a file declares are refused, save with `attributes_may_refer`: ontology editors abbreviate
    addresses in attributes so. libxml2 bounds how far those may grow. Raises UserError with file and line.
    """
    from lxml import etree  # loaded when an XML file is read

    with source.stream() as stream:
        parser = etree.iterparse(
            stream,
            events=("start", "end"),
            load_dtd=False,
            dtd_validation=False,
            no_network=True,
            resolve_entities=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        depth = 0
        try:
            for event, element in parser:
                if event == "start":
                    depth += 1
                    if depth == 1 and not attributes_may_refer:
                        _refuse_entities(source, element)
                    continue
                depth -= 1
                if depth != 1:
                    continue
                if element.tag in tags:
                    yield element
                _free(element)
        except etree.XMLSyntaxError as error:
            raise UserError(
                tr(
                    "{path}, line {lineno}: broken XML ({msg}): fetch or export the file again",
                    path=source.path,
                    lineno=error.lineno or 0,
                    msg=error.msg,
                )
            ) from error


def root_of(source: Source) -> str:
    """The name of the root element. Raises UserError for broken XML."""
    from lxml import etree

    with source.stream() as stream:
        parser = etree.iterparse(stream, events=("start",), load_dtd=False, no_network=True, resolve_entities=False)
        try:
            return str(next(parser)[1].tag)
        except (etree.XMLSyntaxError, StopIteration) as error:
            raise UserError(tr("{path} is broken XML: fetch or export the file again", path=source.path)) from error


def text_of(element: Any) -> str:
    """All letters in it, runs of white space as one space; '' for None."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _refuse_entities(source: Source, root: Any) -> None:
    info = root.getroottree().docinfo.internalDTD
    if info is not None and any(True for _ in info.iterentities()):
        raise UserError(
            tr("{path} declares XML entities, which are refused: fetch or export the file again", path=source.path)
        )


def _free(element: Any) -> None:
    element.clear(keep_tail=False)
    while element.getprevious() is not None:
        del element.getparent()[0]
