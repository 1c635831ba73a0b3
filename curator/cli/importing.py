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
    counted,
    document_named,
    opened,
    run_steps,
    say,
    say_change,
)
from curator.cli.import_preview import paths_words, say_preview
from curator.cli.import_words import say_import
from curator.domain.documents import Split
from curator.domain.imports import Changed
from curator.domain.wording import UserError
from curator.services.importing import ImportChoices, sources_of
from curator.services.ports import DocumentOptions

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from curator.bootstrap import Project
    from curator.services.importing import Foreseen
    from curator.services.ports import FormatRegistry


# `curator import --column FIELD=HEADING`: which column of a table holds what.


def choose_columns(formats: FormatRegistry, files: Sequence[Path], given: Sequence[str], sheet: str) -> None:
    """Choose them for every table among the files. Raises UserError for a column that is not there."""
    columns = columns_of(given)
    if not columns and not sheet:
        return
    tables = [path for path in files if path.is_file() and formats.preview_documents(path) is not None]
    if not tables:
        raise click.UsageError("--column and --sheet are about tables (CSV, TSV, XLSX), and none was named.")
    for path in tables:
        formats.choose_columns(path, DocumentOptions(columns, sheet))


def columns_of(given: Sequence[str]) -> dict[str, str]:
    """FIELD=HEADING, given several times, or separated by commas as long as each part has its sign of equality."""
    found: dict[str, str] = {}
    for one in given:
        parts = one.split(",")
        for part in parts if all("=" in part for part in parts) else [one]:
            field, equals, heading = part.partition("=")
            if not equals:
                raise click.UsageError(f"--column {one}: write it as --column FIELD=HEADING.")
            found[field.strip()] = heading.strip()
    return found


FILE = click.Path(path_type=Path)
CHOSEN = ("gold", "split", "hold_out", "format_name", "changed", "taken", "columns", "sheet")
"""Options that a stopped import keeps; the columns of tables are kept for the headings."""
COMMAND_LINE = click.core.ParameterSource.COMMANDLINE


@click.command("import")
@PROJECT
@click.argument("files", type=FILE, nargs=-1, metavar="FILE...")
@click.option("--gold", is_flag=True, help="Each annotation becomes a decision; needs a knowledge base.")
@click.option(
    "--split",
    type=SPLIT,
    default="train",
    show_default=True,
    help="Where the documents belong; with train, those whose file says test or validation go there.",
)
@click.option(
    "--hold-out",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Put N documents of each file, evenly spread, into the split validation.",
)
@click.option(
    "--format",
    "format_name",
    default="",
    metavar="NAME",
    help="Read every file as this format, by its name in `curator formats`; recognised by content if not given.",
)
@click.option("--dry-run", is_flag=True, help="Say what would come in, what is repaired and left out; write nothing.")
@click.option(
    "--changed",
    type=click.Choice(["keep", "take", "apart", "list"]),
    default="keep",
    show_default=True,
    help="Documents that are here with another text or other annotations: keep what is here, take the file's with the "
    "decisions moved to it, import the file's as documents of their own, or list the differences and write nothing.",
)
@click.option("--take", "taken", multiple=True, metavar="ID", help="Take the file's text of this document. Repeatable.")
@click.option(
    "--column",
    "--columns",
    "columns",
    multiple=True,
    metavar="FIELD=HEADING",
    help="Of tables: the column that holds the document, title, text, mention, start, end, type or ids. Kept for "
    "tables with the same headings.",
)
@click.option("--sheet", default="", metavar="TEXT", help="Of a workbook: the sheet; the first if not given.")
@click.option("--resume", is_flag=True, help="Go on with an import that was stopped, as it was wished then.")
@AS_JSON
def import_documents(
    project: Path,
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
    resume: bool,
    as_json: bool,
) -> None:
    """Import documents, recognised by content; `curator formats` lists what can be read."""
    if resume == bool(files):
        raise click.UsageError("Name the files to import, or --resume with an import that was stopped.")
    if resume and (given := _given(CHOSEN)):
        raise click.UsageError(f"--resume keeps what was chosen for the import; leave {given} out.")
    preview = dry_run or changed == "list"
    with opened(project, read_only=preview) as found:
        choose_columns(found.formats, files, columns, sheet)
        if preview:
            stopped = found.importing.unfinished() if resume else None
            paths, name = (stopped.left, stopped.format_name) if stopped else (files, format_name)
            _preview(found, paths, name, listed=changed == "list", as_json=as_json)
            return
        if resume:
            steps = found.importing.go_on()
        else:
            choices = ImportChoices(Changed(changed), {document_named(found, one): Changed.TAKE for one in taken})
            steps = found.importing.documents(
                files, gold=gold, split=Split(split), hold_out=hold_out, choices=choices, format_name=format_name
            )
        try:
            report = run_steps(steps)
        except KeyboardInterrupt:
            _say_where_it_stopped(found)
            raise
    say_import(report, as_json=as_json)


def _given(names: Sequence[str]) -> str:
    """Those of these options that stand in the command, as they are written there."""
    context = click.get_current_context()
    given = [one for one in context.command.params if context.get_parameter_source(one.name or "") is COMMAND_LINE]
    return ", ".join(one.opts[0] for one in given if one.name in names)


def _preview(found: Project, files: tuple[Path, ...], format_name: str, *, listed: bool, as_json: bool) -> None:
    formats = found.formats.fixed(format_name) if format_name else found.formats
    sources = sources_of(files, formats)
    seen = [last_of(found.importing.preview(path, format_name)) for path in sources.paths]
    changes = [found.importing.change(one) for file in seen for one in file.changed] if listed or as_json else []
    say_preview(seen, changes, sources.left, as_json=as_json, listed=listed)


def last_of(steps: Generator[Foreseen, None, Foreseen]) -> Foreseen:
    """Drive a generator to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Foreseen = end.value
            return found


def _say_where_it_stopped(found: Project) -> None:
    stopped = found.importing.unfinished()
    if stopped is None:
        return
    inside = f"{len(stopped.inside):,} of {len(stopped.paths):,} files are in"
    named = f" ({paths_words(stopped.inside)})" if stopped.inside else ""
    click.echo(f"{inside}{named}. `curator import P --resume` goes on with the others.", err=True)


@click.command("imports")
@PROJECT
@AS_JSON
def imports(project: Path, *, as_json: bool) -> None:
    """List the imports of P: what came from where, when, by whom, and what was undone."""
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
    say(result, "\n".join(lines) or "Nothing was imported yet.", as_json=as_json)


@click.command("undo-import")
@PROJECT
@click.argument("names", nargs=-1, metavar="[IMPORT]...")
@click.option("--yes", is_flag=True, help="Do not ask, whatever was done by hand in the documents.")
@click.option("--dry-run", is_flag=True, help="Say what would be hidden; write nothing.")
@CURATOR
@AS_JSON
def undo_import(
    project: Path, names: tuple[str, ...], *, yes: bool, dry_run: bool, curator: str, as_json: bool
) -> None:
    """Hide the documents of an import of P: the last one, or those named by number, file name or path.

    Nothing is deleted; importing the same file again brings everything back. `curator imports P` lists imports.
    """
    with opened(project, curator=curator, read_only=dry_run) as found:
        ids = tuple(one for name in names for one in found.imports.named(name)) or found.imports.last()
        if not ids:
            raise UserError("There is no import to undo.")
        plan = found.imports.plan(ids)
        files = ", ".join(one.record.file.name for one in plan.files[:5]) + (", …" if len(plan.files) > 5 else "")
        words = "\n".join([f"Undo the import of {files}:", *(f"  {one}" for one in plan.words())])
        if dry_run:
            facts = {"documents": plan.documents, "given_back": plan.given_back, "by_hand": asdict(plan.handwork)}
            say(facts, f"{words}\nNothing was written.", as_json=as_json)
            return
        if plan.handwork and not yes:
            click.echo(words, err=True)
            click.confirm("Undo this import?", abort=True, err=True)
        say_change(found.imports.undo(ids), as_json=as_json)
