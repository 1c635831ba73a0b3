"""Records of an XML file as a stream: no DTD is loaded, no entity is resolved, nothing is downloaded, and each record
is freed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from lxml import etree

from curator.domain.wording import UserError, tr
from curator.io.files.source import Source

ENTITIES = "{path} declares XML entities, which Curator does not read: download the file again from its publisher"

MOST_ATTRIBUTES = 1000
SAFE = {
    "load_dtd": False,
    "dtd_validation": False,
    "no_network": True,
    "resolve_entities": False,
    "huge_tree": False,
}


def safe_xml() -> etree.XMLParser:
    """The parser for what others wrote: see `records`."""
    return etree.XMLParser(**SAFE)


def records(source: Source, tags: Sequence[str]) -> Iterator[Any]:
    """The elements with these names as they end; each, with its preceding siblings, is freed when the next is
    requested.

    Raises UserError for broken XML, with its line, and for a file that declares entities. Texts above 10 MB and
    nesting above 256 elements count as broken.
    """
    with source.stream() as stream:
        parser = etree.iterparse(
            stream,
            events=("end",),
            tag=tags,
            remove_comments=True,
            remove_pis=True,
            **SAFE,
        )
        first = True
        try:
            for _, record in parser:
                if first:
                    first = False
                    refuse_entities(source.path, record)
                yield record
                _free(record)
        except etree.XMLSyntaxError as error:
            broken(source.path, error)


def refuse_entities(path: Path, element: Any) -> None:
    """Raises UserError if the document of `element` declares an entity."""
    subset = element.getroottree().docinfo.internalDTD
    if subset is not None and any(True for _ in subset.iterentities()):
        raise UserError(tr(ENTITIES, path=path))


def xml_attributes(path: Path, element: Any) -> dict[str, str]:
    """The attributes of an element. Raises UserError for more than `MOST_ATTRIBUTES`: lxml's look-up of each is
    linear."""
    if len(element.attrib) > MOST_ATTRIBUTES:
        raise UserError(
            tr(
                "{path}, line {line}: an element has {n:,} attributes: this file was not made by a program that writes "
                "this format",
                path=path,
                line=element.sourceline or 0,
                n=len(element.attrib),
            )
        )
    return {str(name): str(value) for name, value in element.items()}


def broken(path: Path, error: etree.XMLSyntaxError) -> NoReturn:
    if "amplification" in error.msg:
        raise UserError(tr(ENTITIES, path=path)) from error
    line = error.lineno or 0
    raise UserError(
        tr("{path}, line {line}: broken XML ({msg}): download the file again", path=path, line=line, msg=error.msg)
    ) from error


def _free(record: Any) -> None:
    record.clear(keep_tail=False)
    parent = record.getparent()
    while parent is not None and record.getprevious() is not None:
        del parent[0]
