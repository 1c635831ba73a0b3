"""fetch pubmed: records from PubMed, by PMID or query."""

from __future__ import annotations

from pathlib import Path

import click

from curator.cli.console import AS_JSON, PROJECT, SPLIT, FilePath, counted, opened, run_steps, say
from curator.cli.import_preview import say_import
from curator.domain.curies import pmids_in
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.importing.fetching import FetchWish
from curator.services.ports.address import ProjectPlace
from curator.services.ports.pubmed import MOST_FOUND


@click.group("fetch")
def fetch() -> None:
    """Fetch records over the network.

    No other command uses the network, apart from the server of a shared project. The window uses it only when you
    fetch records from PubMed.
    """


@fetch.command("pubmed")
@PROJECT
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
@AS_JSON
def pubmed(
    project: ProjectPlace,
    pmid_file: Path | None,
    query: str,
    *,
    most: int,
    count: bool,
    split: str,
    hold_out: int,
    as_json: bool,
) -> None:
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
    with opened(project, read_only=count) as found:
        if count:
            number = run_steps(found.fetching.count(query))
            say(
                {"query": query, "count": number},
                f"PubMed has {counted(number, 'record', 'records')} for “{query}”.",
                as_json=as_json,
            )
            return
        pmids = _pmids(pmid_file) if pmid_file is not None else ()
        wish = FetchWish(pmids, query, most, split=Split(split), hold_out=hold_out)
        report = run_steps(found.fetching.pubmed(wish))
    say_import(report, as_json=as_json)


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
