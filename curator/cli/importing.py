"""import, imports, undo-import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import (
    AS_JSON,
    CURATOR,
    PROJECT,
    SPLIT,
    FilePath,
    counted,
    document_named,
    echo,
    opened,
    run_steps,
    say,
    say_change,
)
from curator.cli.import_preview import say_import, say_preview
from curator.domain.documents import Split
from curator.domain.imports import Changed
from curator.domain.wording import UserError
from curator.services.importing.import_reading import ImportChoices
from curator.services.importing.import_sources import sources_of
from curator.services.ports.files import DocumentOptions

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from curator.bootstrap import Project
    from curator.services.importing.foreseeing import Foreseen
    from curator.services.ports.address import ProjectPlace
    from curator.services.ports.files import FormatRegistry


# `curator import --column FIELD=HEADING`: the contents of a table's columns.


def choose_columns(formats: FormatRegistry, files: Sequence[Path], given: Sequence[str], sheet: str) -> None:
    """Set the columns and the sheet of every table among the files.

    Raises UserError if a table lacks a column or the sheet, and UsageError if no file is a table.
    """
    columns = columns_of(given)
    if not columns and not sheet:
        return
    tables = [path for path in files if path.is_file() and formats.preview_documents(path) is not None]
    if not tables:
        raise click.UsageError(
            "--column and --sheet apply only to tables (CSV, TSV, XLSX), and no file given is a table."
        )
    for path in tables:
        formats.choose_columns(path, DocumentOptions(columns, sheet))


def columns_of(given: Sequence[str]) -> dict[str, str]:
    """Field -> heading, from FIELD=HEADING pairs: one per option, or several separated by commas if each has an `=`."""
    found: dict[str, str] = {}
    for one in given:
        parts = one.split(",")
        for part in parts if all("=" in part for part in parts) else [one]:
            field, equals, heading = part.partition("=")
            if not equals:
                raise click.UsageError(f"--column {one}: write it as --column FIELD=HEADING.")
            found[field.strip()] = heading.strip()
    return found


FILE = FilePath(path_type=Path)


@click.command("import")
@PROJECT
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@click.option("--gold", is_flag=True, help="Turn every annotation into a decision. Requires a knowledge base.")
@click.option(
    "--split",
    type=SPLIT,
    default="train",
    show_default=True,
    help="Split to put the documents into. With train, the validation and test documents of a file go there.",
)
@click.option(
    "--hold-out",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Put N documents of each file, evenly spread, into the validation split instead.",
)
@click.option(
    "--format",
    "format_name",
    default="",
    metavar="NAME",
    help="Read all files in this format, by its name in `curator formats`. Default: detected from the content.",
)
@click.option(
    "--dry-run", is_flag=True, help="Show what would be imported, repaired and left out, without writing anything."
)
@click.option(
    "--changed",
    type=click.Choice(["keep", "take", "apart", "list"]),
    default="keep",
    show_default=True,
    help="What to do with documents that are in the project with another text or other annotations. keep: keep the "
    "project's version. take: take the file's version and move the decisions to it. apart: import the file's version "
    "as separate documents. list: show the differences and write nothing.",
)
@click.option(
    "--take", "taken", multiple=True, metavar="ID", help="Take the file's version of this document. Repeatable."
)
@click.option(
    "--column",
    "--columns",
    "columns",
    multiple=True,
    metavar="FIELD=HEADING",
    help="For tables: the heading of the column that holds FIELD (document, title, text, mention, start, end, type or "
    "ids). Remembered for tables with the same headings.",
)
@click.option("--sheet", default="", metavar="TEXT", help="For workbooks: the sheet to read. Default: the first.")
@AS_JSON
def import_documents(
    project: ProjectPlace,
    files: tuple[Path, ...],
    *,
    gold: bool,
    split: str,
    hold_out: int,
    format_name: str,
    dry_run: bool,
    changed: str,
    taken: tuple[str, ...],
    columns: tuple[str, ...],
    sheet: str,
    as_json: bool,
) -> None:
    """Import documents into P. The format is detected from the content; `curator formats` lists all formats."""
    preview = dry_run or changed == "list"
    with opened(project, read_only=preview) as found:
        choose_columns(found.formats, files, columns, sheet)
        if preview:
            _preview(found, files, format_name, listed=changed == "list", as_json=as_json)
            return
        choices = ImportChoices(Changed(changed), {document_named(found, one): Changed.TAKE for one in taken})
        steps = found.importing.documents(
            files, gold=gold, split=Split(split), hold_out=hold_out, choices=choices, format_name=format_name
        )
        try:
            report = run_steps(steps)
        except KeyboardInterrupt:
            echo("Files that were imported stay. Run the same command again to import the rest.", err=True)
            raise
    say_import(report, as_json=as_json)


def _preview(found: Project, files: tuple[Path, ...], format_name: str, *, listed: bool, as_json: bool) -> None:
    formats = found.formats.fixed(format_name) if format_name else found.formats
    sources = sources_of(files, formats)
    seen = [last_of(found.importing.preview(path, format_name)) for path in sources.paths]
    changes = [found.importing.change(one) for file in seen for one in file.changed] if listed or as_json else []
    say_preview(seen, changes, sources.left, as_json=as_json, listed=listed)


def last_of(steps: Generator[Foreseen, None, Foreseen]) -> Foreseen:
    """Run a generator to its end and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Foreseen = end.value
            return found


@click.command("imports")
@PROJECT
@AS_JSON
def imports(project: ProjectPlace, *, as_json: bool) -> None:
    """List the imports of P with file, time and curator, and whether they were undone."""
    with opened(project, read_only=True) as found:
        files = found.imports.files()
    lines = []
    for one in files:
        file, at = one.record.file, f"{one.record.at:%Y-%m-%d %H:%M}" if one.record.at else "–"
        by = f" by {one.record.curator}" if one.record.curator else ""
        then, word = (one.undone, "undone") if one.undone is not None else (one.restored, "imported again")
        since = f"; {word} {then.at:%Y-%m-%d %H:%M} by {then.curator}" if then is not None else ""
        documents = counted(one.documents, "document", "documents")
        lines.append(f"{file.id}  {file.name}  ({file.format}, {documents})  {at}{by}{since}")
    result = {
        "imports": [
            {
                "number": one.record.file.id,
                "name": one.record.file.name,
                "path": one.record.file.path,
                "format": one.record.file.format,
                "sha256": one.record.file.sha256,
                "at": one.record.at,
                "curator": one.record.curator,
                "counts": one.record.counts,
                "documents": one.documents,
                "undone": asdict(one.undone) if one.undone is not None else None,
                "restored": asdict(one.restored) if one.restored is not None else None,
            }
            for one in files
        ]
    }
    say(result, "\n".join(lines) or "No imports yet.", as_json=as_json)


@click.command("undo-import")
@PROJECT
@click.argument("names", type=click.UNPROCESSED, nargs=-1, metavar="[IMPORT]...")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation, even if curators worked on the documents.")
@click.option("--dry-run", is_flag=True, help="Show what would be hidden, without writing anything.")
@CURATOR
@AS_JSON
def undo_import(
    project: ProjectPlace, names: tuple[str, ...], *, yes: bool, dry_run: bool, curator: str, as_json: bool
) -> None:
    """Hide the documents of an import of P: of the last one, or of each IMPORT (a number, file name or path).

    Nothing is deleted. Importing the same file again brings everything back. `curator imports P` lists the imports.
    """
    with opened(project, curator=curator, read_only=dry_run) as found:
        ids = tuple(one for name in names for one in found.imports.named(name)) or found.imports.last()
        if not ids:
            raise UserError("No import to undo.")
        plan = found.imports.plan(ids)
        files = ", ".join(one.record.file.name for one in plan.files[:5]) + (", …" if len(plan.files) > 5 else "")
        words = "\n".join([f"Undo the import of {files}:", *(f"  {one}" for one in plan.words())])
        if dry_run:
            facts = {"documents": plan.documents, "given_back": plan.given_back, "by_hand": asdict(plan.handwork)}
            say(facts, f"{words}\nNothing was written.", as_json=as_json)
            return
        if plan.handwork and not yes:
            echo(words, err=True)
            click.confirm("Undo this import?", abort=True, err=True)
        say_change(found.imports.undo(ids), as_json=as_json)
