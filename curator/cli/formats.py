"""`curator formats`: what can be read and written, and what of it each format holds."""

from __future__ import annotations

import click

from curator.cli.console import AS_JSON, say


@click.command("formats")
@AS_JSON
def formats(*, as_json: bool) -> None:
    """List the formats of documents with what each can carry, and those of knowledge bases.

    What a format cannot carry is left out of an export and told there. Fields of a format's own (infons, notes,
    attributes) and relations are kept when a document goes back into the format that it came from.
    """
    from curator.bootstrap import document_formats as registered
    from curator.services.importing.formats import COLUMNS, document_formats

    registry = registered()
    facts = document_formats(registry)
    knowledge_bases = [{"name": name, "title": title} for name, title in registry.knowledge_bases()]
    head = ["Name", "Format", "In", "Out", *COLUMNS.values()]
    rows = [
        [one.name, one.title, *map(_mark, (one.read, one.written, *(one.carries[name] for name in COLUMNS)))]
        for one in facts
    ]
    names = ", ".join(f"{one['title']} ({one['name']})" for one in knowledge_bases)
    text = "\n".join([*_aligned([head, *rows]), "", f"Knowledge bases, read: {names}."])
    say({"documents": [one.as_json() for one in facts], "knowledge_bases": knowledge_bases}, text, as_json=as_json)


def _mark(has: bool) -> str:
    return "yes" if has else "–"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
