"""kb, kb show, kb export, kb search, export."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import AS_JSON, PROJECT, counted, opened, say
from curator.cli.entities import make, new, nils, remap, restrict, tree
from curator.cli.import_words import SHOWN_PROBLEMS
from curator.cli.kb_importing import drop, kb_import, sources
from curator.domain.entity_pages import address_of
from curator.domain.wording import UserError
from curator.services.records import ExportScope
from curator.settings import load

if TYPE_CHECKING:
    from curator.services.records import ExportReport

FILE = click.Path(path_type=Path)


@click.group("kb")
def kb() -> None:
    """Import, search, extend and export the knowledge base."""


for _command in (kb_import, sources, drop, tree, restrict, nils, new, make, remap):
    kb.add_command(_command)


@kb.command("show")
@PROJECT
@click.argument("entity")
@AS_JSON
def show(project: Path, entity: str, *, as_json: bool) -> None:
    """Show ENTITY of the knowledge base of P, with the address of its page at its source."""
    with opened(project, read_only=True) as found:
        record = found.knowledge.entity(entity)
        known = record or found.knowledge.former(entity)
    if known is None:
        raise UserError(f"The knowledge base has no entity {entity}. `curator kb search P NAME` finds identifiers.")
    address, why = _page(known.id)
    lines = [f"{known.id}  {known.name}  ({', '.join(known.types)})"]
    lines += ["No longer in the knowledge base."] if record is None else []
    facts = (("Synonyms", "; ".join(known.synonyms)), ("Also known as", ", ".join(known.alt_ids)))
    lines += [f"{name}: {words}" for name, words in (*facts, ("Definition", known.definition)) if words]
    lines.append(f"Page: {address}" if address else why)
    result = {**asdict(known), "gone": record is None, "page": address}
    say(result, "\n".join(lines), as_json=as_json)


def _page(entity_id: str) -> tuple[str | None, str]:
    """The address of an entity's page, or why there is none."""
    try:
        return address_of(entity_id, load().settings.entity_pages), ""
    except UserError as error:
        return None, str(error)


@kb.command("export")
@PROJECT
@click.argument("out", type=FILE)
@click.option(
    "--least",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Add a string to an entity's names if it was linked to that entity in at least N documents.",
)
@AS_JSON
def kb_export(project: Path, out: Path, *, least: int, as_json: bool) -> None:
    """Export the knowledge base of P to OUT as JSON lines.

    The export includes names learned from decisions and entities created in P.
    """
    with opened(project, read_only=True) as found:
        report = found.kb_export.export(out, least=least)
    text = (
        f"Wrote {counted(report.entities, 'entity', 'entities')} to {report.path}: "
        f"{counted(report.names, 'new name', 'new names')}, "
        f"{counted(report.provisional, 'entity', 'entities')} created in this project. "
        f"{report.list_path} lists the new names."
    )
    say(asdict(report), text, as_json=as_json)


@kb.command("search")
@PROJECT
@click.argument("query")
@click.option("--type", "mention_type", metavar="TYPE", help="List entities first that fit mentions of this type.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="Show at most N entities."
)
@AS_JSON
def kb_search(project: Path, query: str, *, mention_type: str | None, limit: int, as_json: bool) -> None:
    """Search the knowledge base of P.

    QUERY is written as in the window: a name, an identifier, "exact name", type:TYPE or name :: definition.
    """
    with opened(project, read_only=True) as found:
        matches = found.knowledge.search(query, mention_type=mention_type, limit=limit)
    lines = [f"{one.entity.id}  {one.entity.name}  ({', '.join(one.entity.types)})  {one.matched}" for one in matches]
    text = "\n".join(lines) or f"Nothing in the knowledge base matches {query}."
    entities = [{"matched": one.matched, **asdict(one.entity)} for one in matches]
    say({"entities": entities}, text, as_json=as_json)


@click.command("export")
@PROJECT
@click.argument("out", type=FILE)
@click.option(
    "--format",
    "format_name",
    required=True,
    metavar="NAME",
    help="Format to write; `curator formats` lists the formats and what each can hold.",
)
@click.option("--only-done", is_flag=True, help="Same as --scope done.")
@click.option(
    "--scope",
    type=click.Choice(["decided", "done", "adjudicated"]),
    help="decided: all documents with their current decisions (default). done: only documents marked as done. "
    "adjudicated: only adjudicated mentions.",
)
@click.option("--report", type=FILE, metavar="FILE", help="Write the full report to this text file.")
@AS_JSON
def export(
    project: Path,
    out: Path,
    *,
    format_name: str,
    only_done: bool,
    scope: str | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Export the documents of P with their decisions to OUT.

    If OUT ends with a file extension of the format (gold.pubtator, gold.xml), all documents are written to this file.
    Otherwise OUT is a folder with one file for each imported file or, if only one file was imported, the file itself.
    A folder that already exists is always used as a folder.

    brat, UIMA XMI, WebAnno TSV and plain text have one file per document: OUT is a folder, or an archive whose name
    ends with .zip.
    """
    if only_done and scope not in (None, "done"):
        raise click.UsageError(f"--only-done contradicts --scope {scope}. Give only one of them.")
    wanted = ExportScope(scope or ("done" if only_done else "decided"))
    with opened(project, read_only=True) as found:
        written = found.exporting.export(out, format_name, scope=wanted)
        if report is not None:
            found.exporting.write_report(written, report)
    say(asdict(written), _export_text(written, report), as_json=as_json)


def _export_text(written: ExportReport, report: Path | None) -> str:
    lines = [f"{written.text} Unchanged mentions: {written.unchanged:,}."]
    lines += [one.text for one in written.problems[:SHOWN_PROBLEMS]]
    left = len(written.problems) - SHOWN_PROBLEMS
    if left > 0:
        whole = f"{report} lists them" if report is not None else "--report FILE or --json lists all"
        lines.append(f"… and {left:,} more; {whole}.")
    return "\n".join(lines)
