"""kb, with its subcommands import, sources, drop, export and search; export, audit, release."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import DAMAGE, FILE, Result, counted, project_command, run_steps
from curator.cli.import_report import SHOWN_PROBLEMS, imported
from curator.domain.entities import MatchKind
from curator.services.importing.kb_importing import KbWish
from curator.services.ports.files import KbOptions
from curator.services.records.exporting import ExportScope

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.entities import EntityMatch, KnowledgeSource
    from curator.services.records.exporting import ExportReport


@click.group("kb")
def kb() -> None:
    """Import, search and export the knowledge base."""


def _pairs(values: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Key -> value, from KEY=VALUE pairs; `form` is the form of a pair in the option's help."""
    pairs = [one.partition("=") for one in values]
    wrong = next((one for one, (_, equals, _) in zip(values, pairs, strict=True) if not equals), None)
    if wrong is not None:
        raise click.UsageError(f"{option} {wrong}: write it as {option} {form}.")
    return {key.strip(): value.strip() for key, _, value in pairs}


@project_command("import", kb)
@click.argument("file", type=FILE)
@click.option("--add", is_flag=True, help="Keep the other sources. A source with the same name is replaced.")
@click.option("--name", default="", metavar="TEXT", help="Name of the source. Default: the file's name.")
@click.option("--release", default="", metavar="TEXT", help="Version of the source, for the record.")
@click.option("--licence", default="", metavar="TEXT", help="Licence of the source, for the record.")
@click.option("--prefix", default="", metavar="TEXT", help="Add the prefix TEXT: to identifiers that have no prefix.")
@click.option(
    "--ids-of",
    default="",
    metavar="TEXT",
    help="Vocabulary of identifiers without a prefix, such as NCBIGene, so that NCBIGene:7157 matches 7157. "
    "Default: recognised where possible.",
)
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
def kb_import(
    project: Project,
    file: Path,
    *,
    add: bool,
    name: str,
    release: str,
    licence: str,
    prefix: str,
    ids_of: str,
    map_type: tuple[str, ...],
    column: tuple[str, ...],
    sheet: str,
    language: tuple[str, ...],
    vocabulary: tuple[str, ...],
    only_type: tuple[str, ...],
    suppressed: bool,
) -> Result:
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
        ids_of=ids_of,
    )
    return imported(run_steps(project.importing.knowledge_base(file, wish)))


@project_command("sources", kb, read_only=True)
def sources(project: Project) -> Result:
    """List the sources of the knowledge base of P."""
    found = project.knowledge.sources()
    return Result({"sources": [asdict(one) for one in found]}, map(_source_line, found), "No knowledge base yet.")


@project_command("drop", kb)
@click.argument("name")
def drop(project: Project, name: str) -> Result:
    """Remove the source NAME from the knowledge base of P. Decisions are not changed."""
    return imported(run_steps(project.importing.drop_source(name)))


def _source_line(one: KnowledgeSource) -> str:
    own = "ids of " + ", ".join(sorted(set(one.own.values()))) if one.own else ""
    known = [one.release, one.licence, f"prefix {one.prefix}" if one.prefix else "", own, one.format, one.path]
    left_out = f", {one.left_out:,} left out" if one.left_out else ""
    entities = counted(one.entities, "entity", "entities")
    return f"{one.name}: {entities}{left_out}  {'; '.join(part for part in known if part)}".rstrip()


@project_command("export", kb, read_only=True)
@click.argument("out", type=FILE)
@click.option(
    "--least",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    metavar="N",
    help="Add a string to an entity's names if it was linked to that entity in at least N documents.",
)
def kb_export(project: Project, out: Path, *, least: int) -> Result:
    """Export the knowledge base of P to OUT as JSON lines.

    The export includes names learned from decisions and entities created in P.
    """
    report = project.kb_export.export(out, least=least)
    text = (
        f"Wrote {counted(report.entities, 'entity', 'entities')} to {report.path}: "
        f"{counted(report.names, 'new name', 'new names')}, "
        f"{counted(report.provisional, 'entity', 'entities')} created in this project. "
        f"{report.list_path} lists the new names."
    )
    return Result(asdict(report), text)


@project_command("search", kb, read_only=True)
@click.argument("query")
@click.option("--type", "mention_type", metavar="TYPE", help="List entities first that fit mentions of this type.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="Show at most N entities."
)
def kb_search(project: Project, query: str, *, mention_type: str | None, limit: int) -> Result:
    """Search the knowledge base of P.

    QUERY is written as in the window: a name, an identifier, "exact name", type:TYPE or name :: definition. Names come
    first, then similar spellings, names with some of the words, and definitions.
    """
    matches = project.knowledge.search(query, mention_type=mention_type, limit=limit)
    entities = [{"matched": one.matched, "match": one.kind.value, **asdict(one.entity)} for one in matches]
    nothing = f"Nothing in the knowledge base matches {query}."
    return Result({"entities": entities}, map(_match_line, matches), nothing)


def _match_line(match: EntityMatch) -> str:
    entity, kind = match.entity, match.kind
    label = "" if kind.by_name and kind is not MatchKind.SPELLING else f"  [{kind}]"
    return f"{entity.id}  {entity.name}  ({', '.join(entity.types)})  {match.matched}{label}"


@project_command("export", read_only=True)
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
def export(
    project: Project, out: Path, *, format_name: str, only_done: bool, scope: str | None, report: Path | None
) -> Result:
    """Export the documents of P with their decisions to OUT.

    If OUT ends with a file extension of the format (gold.pubtator, gold.xml), all documents are written to this file.
    Otherwise OUT is a folder with one file for each imported file or, if only one file was imported, the file itself.
    A folder that already exists is always used as a folder.

    brat, UIMA XMI, WebAnno TSV and plain text have one file per document: OUT is a folder, or an archive whose name
    ends with .zip.

    Damaged documents are left out. Exits with 3 if there are some.
    """
    if only_done and scope not in (None, "done"):
        raise click.UsageError(f"--only-done contradicts --scope {scope}. Give only one of them.")
    wanted = ExportScope(scope or ("done" if only_done else "decided"))
    written = project.exporting.export(out, format_name, scope=wanted)
    if report is not None:
        project.exporting.write_report(written, report)
    return Result(asdict(written), _export_lines(written, report), code=DAMAGE if written.damaged else 0)


def _export_lines(written: ExportReport, report: Path | None) -> list[str]:
    lines = [f"{written.text} Unchanged mentions: {written.unchanged:,}."]
    lines += [one.text for one in written.problems[:SHOWN_PROBLEMS]]
    left = len(written.problems) - SHOWN_PROBLEMS
    if left > 0:
        whole = f"{report} lists them" if report is not None else "--report FILE or --json lists all"
        lines.append(f"… and {left:,} more; {whole}.")
    return lines


# What others need to check the decisions.


@project_command("audit", read_only=True)
@click.argument("out", type=FILE)
def audit(project: Project, out: Path) -> Result:
    """Export the audit trail of P to OUT, as .csv or .jsonl.

    It contains every step: who decided what and when, what was suggested, and what the decision replaced.
    """
    report = project.audit.export(out)
    text = (
        f"Wrote {counted(report.entries, 'entry', 'entries')} to {report.path}: "
        f"{counted(report.decisions, 'decision', 'decisions')}, "
        f"{counted(report.judgements, 'judgement', 'judgements')}, "
        f"{counted(report.operations, 'other step', 'other steps')}."
    )
    return Result(asdict(report), text)


@project_command("release", read_only=True)
@click.argument("out", type=FILE)
@click.option(
    "--scope",
    type=click.Choice([one.value for one in ExportScope]),
    default="done",
    show_default=True,
    help="Decisions to release.",
)
def release(project: Project, out: Path, *, scope: str) -> Result:
    """Export a release of P to OUT: a zip file if the name ends with .zip, otherwise a folder.

    A release contains what others need to check and cite the decisions. It contains no document texts, and the same
    state of P always gives the same bytes.
    """
    report = project.release.export(out, scope=ExportScope(scope))
    text = (
        f"Released {counted(report.decisions, 'decision', 'decisions')} in "
        f"{counted(report.documents, 'document', 'documents')} to {report.path} "
        f"(SHA-256 {report.sha256})."
    )
    return Result(asdict(report), text)
