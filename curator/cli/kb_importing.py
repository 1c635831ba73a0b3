"""kb import, kb sources, kb drop: the sources of the knowledge base."""

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


def _pairs(values: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Key -> value, from KEY=VALUE pairs; `form` is how the option's help writes such a pair."""
    pairs = [one.partition("=") for one in values]
    wrong = next((one for one, (_, equals, _) in zip(values, pairs, strict=True) if not equals), None)
    if wrong is not None:
        raise click.UsageError(f"{option} {wrong}: write it as {option} {form}.")
    return {key.strip(): value.strip() for key, _, value in pairs}


@click.command("import")
@PROJECT
@click.argument("file", type=FILE)
@click.option("--add", is_flag=True, help="Keep the other sources. A source with the same name is replaced.")
@click.option("--name", default="", metavar="TEXT", help="Name of the source. Default: the file's name.")
@click.option("--release", default="", metavar="TEXT", help="Version of the source, for the record.")
@click.option("--licence", default="", metavar="TEXT", help="Licence of the source, for the record.")
@click.option("--prefix", default="", metavar="TEXT", help="Add the prefix TEXT: to identifiers that have no prefix.")
@click.option(
    "--map-type", multiple=True, metavar="FROM=TO", help="Rename the type FROM to TO. * stands for every other type."
)
@click.option(
    "--column", multiple=True, metavar="FIELD=HEADING", help="For tables: the heading of the column that holds FIELD."
)
@click.option("--sheet", default="", metavar="TEXT", help="For workbooks: the sheet to read. Default: the first.")
@click.option(
    "--language", multiple=True, metavar="CODE", help="Read names in this language (en, de …). Repeatable. Default: en."
)
@click.option("--vocabulary", multiple=True, metavar="SAB", help="For the UMLS: read only this vocabulary. Repeatable.")
@click.option(
    "--only-type",
    multiple=True,
    metavar="TYPE",
    help="For the UMLS: read only this semantic type, such as T047. Repeatable.",
)
@click.option("--suppressed", is_flag=True, help="For the UMLS: also read obsolete and suppressed names.")
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
    """Import FILE as the knowledge base of P.

    FILE is a file or folder with MeSH, UMLS, CTD, OBO, OWL, SKOS, a table or JSON lines. The format is detected from
    the content.
    """
    options = KbOptions(_pairs(column, "--column", "FIELD=HEADING"), sheet, language, vocabulary, only_type, suppressed)
    wish = KbWish(
        options,
        add=add,
        name=name,
        release=release,
        licence=licence,
        prefix=prefix,
        types=_pairs(map_type, "--map-type", "FROM=TO"),
    )
    with opened(project) as found:
        report = run_steps(found.importing.knowledge_base(file, wish))
    say_import(report, as_json=as_json)


@click.command("sources")
@PROJECT
@AS_JSON
def sources(project: Path, *, as_json: bool) -> None:
    """List the sources of the knowledge base of P."""
    with opened(project, read_only=True) as found:
        present = found.knowledge.sources()
    text = "\n".join(map(_line, present)) or "No knowledge base yet."
    say({"sources": [asdict(one) for one in present]}, text, as_json=as_json)


@click.command("drop")
@PROJECT
@click.argument("name")
@AS_JSON
def drop(project: Path, name: str, *, as_json: bool) -> None:
    """Remove the source NAME from the knowledge base of P. Decisions are not changed."""
    with opened(project) as found:
        report = run_steps(found.importing.drop_source(name))
    say_import(report, as_json=as_json)


def _line(one: KnowledgeSource) -> str:
    known = [one.release, one.licence, f"prefix {one.prefix}" if one.prefix else "", one.format, one.path]
    left_out = f", {one.left_out:,} left out" if one.left_out else ""
    entities = counted(one.entities, "entity", "entities")
    return f"{one.name}: {entities}{left_out}  {'; '.join(part for part in known if part)}".rstrip()
