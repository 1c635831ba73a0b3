"""kb import, kb sources, kb drop: what a knowledge base is made of."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import AS_JSON, PROJECT, counted, opened, run_steps, say
from curator.cli.import_words import say_import
from curator.services.importing import KbWish
from curator.services.ports import KbOptions

if TYPE_CHECKING:
    from curator.domain.entities import KnowledgeSource

FILE = click.Path(path_type=Path)


def _pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """KEY=VALUE, given several times."""
    pairs = [one.partition("=") for one in values]
    wrong = next((one for one, (_, equals, _) in zip(values, pairs, strict=True) if not equals), None)
    if wrong is not None:
        raise click.UsageError(f"{option} {wrong}: write it as {option} THIS=THAT.")
    return {key.strip(): value.strip() for key, _, value in pairs}


@click.command("import")
@PROJECT
@click.argument("file", type=FILE)
@click.option("--add", is_flag=True, help="Keep the other sources; one of the same name is replaced by FILE.")
@click.option("--name", default="", metavar="TEXT", help="What the source is called; the file's name if not given.")
@click.option("--release", default="", metavar="TEXT", help="The version of the source, for the record.")
@click.option("--licence", default="", metavar="TEXT", help="The licence of the source, for the record.")
@click.option("--prefix", default="", metavar="TEXT", help="Put TEXT: before identifiers that have no prefix.")
@click.option(
    "--map-type", multiple=True, metavar="FROM=TO", help="Call the type FROM by TO; * stands for every other type."
)
@click.option(
    "--column", multiple=True, metavar="FIELD=HEADING", help="Of a table: the column that holds a field of the entity."
)
@click.option("--sheet", default="", metavar="TEXT", help="Of a workbook: the sheet; the first if not given.")
@click.option(
    "--language", multiple=True, metavar="CODE", help="Read names in this language (en, de ...); usually en alone."
)
@click.option("--vocabulary", multiple=True, metavar="SAB", help="Of the UMLS: read names of this vocabulary only.")
@click.option("--only-type", multiple=True, metavar="TYPE", help="Of the UMLS: read this semantic type (T047) only.")
@click.option("--suppressed", is_flag=True, help="Of the UMLS: read obsolete and suppressed names as well.")
@AS_JSON
def kb_import(
    project: Path,
    file: Path,
    *,
    add: bool,
    name: str,
    release: str,
    licence: str,
    prefix: str,
    map_type: tuple[str, ...],
    column: tuple[str, ...],
    sheet: str,
    language: tuple[str, ...],
    vocabulary: tuple[str, ...],
    only_type: tuple[str, ...],
    suppressed: bool,
    as_json: bool,
) -> None:
    """Import FILE, or a folder, as the knowledge base of P: MeSH, UMLS, CTD, OBO, OWL, SKOS, a table, JSON lines."""
    options = KbOptions(_pairs(column, "--column"), sheet, language, vocabulary, only_type, suppressed)
    wish = KbWish(
        options,
        add=add,
        name=name,
        release=release,
        licence=licence,
        prefix=prefix,
        types=_pairs(map_type, "--map-type"),
    )
    with opened(project) as found:
        report = run_steps(found.importing.knowledge_base(file, wish))
    say_import(report, as_json=as_json)


@click.command("sources")
@PROJECT
@AS_JSON
def sources(project: Path, *, as_json: bool) -> None:
    """List the sources that the knowledge base of P was put together from."""
    with opened(project, read_only=True) as found:
        present = found.knowledge.sources()
    text = "\n".join(map(_line, present)) or "There is no knowledge base yet."
    say({"sources": [asdict(one) for one in present]}, text, as_json=as_json)


@click.command("drop")
@PROJECT
@click.argument("name")
@AS_JSON
def drop(project: Path, name: str, *, as_json: bool) -> None:
    """Take the source NAME out of the knowledge base of P; decisions stay as they are."""
    with opened(project) as found:
        report = run_steps(found.importing.drop_source(name))
    say_import(report, as_json=as_json)


def _line(one: KnowledgeSource) -> str:
    known = [one.release, one.licence, f"prefix {one.prefix}" if one.prefix else "", one.format, one.path]
    left_out = f", {one.left_out:,} left out" if one.left_out else ""
    entities = counted(one.entities, "entity", "entities")
    return f"{one.name}: {entities}{left_out}  {'; '.join(part for part in known if part)}".rstrip()
