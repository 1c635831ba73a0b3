"""import, and fetch pubmed: records from PubMed, by PMID or query."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import FILE, SPLIT, FilePath, Result, counted, document_named, echo, project_command, run_steps
from curator.cli.import_report import imported, previewed
from curator.domain.curies import pmids_in
from curator.domain.documents import Changed, Split
from curator.domain.wording import UserError
from curator.services.importing.fetching import FetchWish
from curator.services.importing.import_reading import ImportChoices
from curator.services.importing.import_sources import sources_of
from curator.services.ports.files import DocumentOptions
from curator.services.ports.pubmed import MOST_FOUND

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.importing.foreseeing import Foreseen
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


@project_command("import", read_only=lambda given: given["dry_run"] or given["changed"] == "list")
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
def import_documents(
    project: Project,
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
) -> Result:
    """Import documents into P. The format is detected from the content; `curator formats` lists all formats.

    Files that were imported before are skipped: after an interruption, run the same command again.
    """
    choose_columns(project.formats, files, columns, sheet)
    if dry_run or changed == "list":
        return _preview(project, files, format_name, listed=changed == "list")
    choices = ImportChoices(Changed(changed), {document_named(project, one): Changed.TAKE for one in taken})
    steps = project.importing.documents(
        files, gold=gold, split=Split(split), hold_out=hold_out, choices=choices, format_name=format_name
    )
    try:
        return imported(run_steps(steps))
    except KeyboardInterrupt:
        if len(files) > 1 or files[0].is_dir():
            echo("Files that were read to their end are imported. Run the same command to import the rest.", err=True)
        raise


def _preview(project: Project, files: tuple[Path, ...], format_name: str, *, listed: bool) -> Result:
    formats = project.formats.fixed(format_name) if format_name else project.formats
    sources = sources_of(files, formats)
    seen = [last_of(project.importing.preview(path, format_name)) for path in sources.paths]
    wanted = listed or click.get_current_context().params["as_json"]
    changes = [project.importing.change(one) for file in seen for one in file.changed] if wanted else []
    return previewed(seen, changes, sources.left, listed=listed)


def last_of(steps: Generator[Foreseen, None, Foreseen]) -> Foreseen:
    """Run a generator to its end and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Foreseen = end.value
            return found


@click.group("fetch")
def fetch() -> None:
    """Fetch records over the network.

    No other command uses the network, apart from the server of a shared project. The window uses it only when you
    fetch records from PubMed.
    """


@project_command("pubmed", fetch, read_only=lambda given: given["count"])
@click.option(
    "--pmid-file",
    type=FilePath(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="F",
    help="Text file of PMIDs, separated by line breaks, spaces or commas; - reads standard input.",
)
@click.option("--query", default="", metavar="Q", help="Query, written as at pubmed.ncbi.nlm.nih.gov.")
@click.option(
    "--most",
    type=click.IntRange(1, MOST_FOUND),
    default=MOST_FOUND,
    show_default=True,
    metavar="N",
    help="With --query: fetch at most the first N records.",
)
@click.option("--count", is_flag=True, help="With --query: only show how many records match.")
@click.option("--split", type=SPLIT, default="train", show_default=True, help="Split to put the documents into.")
@click.option(
    "--hold-out",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Put N documents, evenly spread, into the validation split instead.",
)
def pubmed(
    project: Project, pmid_file: Path | None, query: str, *, most: int, count: bool, split: str, hold_out: int
) -> Result:
    """Fetch PubMed records by PMID or query and import them into P.

    The records come from eutils.ncbi.nlm.nih.gov, at most three requests a second, or ten with an API key (the setting
    NCBI API key, or the environment variable NCBI_API_KEY). Each request contains the PMIDs or the query, the program's
    name and the key.

    If you stop the command with Ctrl+C, run it again to resume where it stopped.
    """
    if bool(query.strip()) == (pmid_file is not None):
        raise click.UsageError("Give either --pmid-file or --query.")
    if count and not query.strip():
        raise click.UsageError("--count requires --query.")
    if count:
        number = run_steps(project.fetching.count(query))
        text = f"PubMed has {counted(number, 'record', 'records')} for “{query}”."
        return Result({"query": query, "count": number}, text)
    pmids = _pmids(pmid_file) if pmid_file is not None else ()
    wish = FetchWish(pmids, query, most, split=Split(split), hold_out=hold_out)
    return imported(run_steps(project.fetching.pubmed(wish)))


def _pmids(path: Path) -> tuple[str, ...]:
    try:
        with click.open_file(str(path), encoding="utf-8") as file:
            pmids = pmids_in(file.read())
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text. Save it as UTF-8 and try again.") from error
    except OSError as error:
        raise UserError(f"{path} could not be read ({error.strerror}). Check its name and permissions.") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    if not pmids:
        raise UserError(f"{path} contains no PMIDs.")
    return pmids
