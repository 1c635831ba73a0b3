"""fetch pubmed: records over the network, by PMID or query."""

from __future__ import annotations

from pathlib import Path

import click

from curator.cli.console import AS_JSON, PROJECT, SPLIT, counted, opened, run_steps, say
from curator.cli.import_words import say_import
from curator.domain.curies import pmids_in
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.importing import FetchWish
from curator.services.ports import MOST_FOUND


@click.group("fetch")
def fetch() -> None:
    """Fetch records over the network. No other command, and nothing in the window unasked, uses it."""


@fetch.command("pubmed")
@PROJECT
@click.option(
    "--pmid-file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="F",
    help="PMIDs in a text file, apart by lines, spaces or commas; - reads standard input.",
)
@click.option("--query", default="", metavar="Q", help="A query as at pubmed.ncbi.nlm.nih.gov.")
@click.option(
    "--most",
    type=click.IntRange(1, MOST_FOUND),
    default=MOST_FOUND,
    show_default=True,
    metavar="N",
    help="Of a query, the first N records.",
)
@click.option("--count", is_flag=True, help="Only tell how many records the query matches.")
@click.option("--split", type=SPLIT, default="train", show_default=True, help="Where the documents belong.")
@click.option(
    "--hold-out",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Put N documents, evenly spread, into the split validation.",
)
@AS_JSON
def pubmed(
    project: Path,
    pmid_file: Path | None,
    query: str,
    *,
    most: int,
    count: bool,
    split: str,
    hold_out: int,
    as_json: bool,
) -> None:
    """Fetch records of PubMed into P, by PMIDs or by a query, and import them.

    eutils.ncbi.nlm.nih.gov is asked, at most three times a second, or ten with an API key (the setting NCBI API key,
    or NCBI_API_KEY). Sent are the PMIDs or the query, the program's name and the key. Stopped with Ctrl+C, the same
    command goes on where it was.
    """
    if bool(query.strip()) == (pmid_file is not None):
        raise click.UsageError("Give either --pmid-file or --query.")
    if count and not query.strip():
        raise click.UsageError("--count counts what a --query matches.")
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
        raise UserError(f"{path} is no UTF-8 text. Save it as one and try again.") from error
    except OSError as error:
        raise UserError(f"{path} could not be read ({error.strerror}). Check the name and its rights.") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    if not pmids:
        raise UserError(f"{path} holds no PMID.")
    return pmids
