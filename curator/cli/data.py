"""kb, with its subcommands import, sources, drop, show, export and search; export, audit, release."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import AS_JSON, DAMAGE, PROJECT, FilePath, counted, opened, run_steps, say
from curator.cli.entities import make, new, nils, remap, restrict, tree
from curator.cli.import_preview import SHOWN_PROBLEMS, say_import
from curator.domain.entities import MatchKind
from curator.domain.entity_pages import address_of
from curator.domain.wording import UserError
from curator.services.importing.kb_importing import KbWish
from curator.services.ports.files import KbOptions
from curator.services.records.export_documents import ExportScope
from curator.settings.file import load

if TYPE_CHECKING:
    from curator.domain.entities import EntityMatch, KnowledgeSource, Replacement
    from curator.services.ports.address import ProjectPlace
    from curator.services.records.exporting import ExportReport

FILE = FilePath(path_type=Path)


@click.group("kb")
def kb() -> None:
    """Import, search, extend and export the knowledge base."""


for _command in (tree, restrict, nils, new, make, remap):
    kb.add_command(_command)


def _pairs(values: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Key -> value, from KEY=VALUE pairs; `form` is the form of a pair in the option's help."""
    pairs = [one.partition("=") for one in values]
    wrong = next((one for one, (_, equals, _) in zip(values, pairs, strict=True) if not equals), None)
    if wrong is not None:
        raise click.UsageError(f"{option} {wrong}: write it as {option} {form}.")
    return {key.strip(): value.strip() for key, _, value in pairs}


@kb.command("import")
@PROJECT
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
@AS_JSON
def kb_import(
    project: ProjectPlace,
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
        ids_of=ids_of,
    )
    with opened(project) as found:
        report = run_steps(found.importing.knowledge_base(file, wish))
    say_import(report, as_json=as_json)


@kb.command("sources")
@PROJECT
@AS_JSON
def sources(project: ProjectPlace, *, as_json: bool) -> None:
    """List the sources of the knowledge base of P."""
    with opened(project, read_only=True) as found:
        present = found.knowledge.sources()
    text = "\n".join(map(_source_line, present)) or "No knowledge base yet."
    say({"sources": [asdict(one) for one in present]}, text, as_json=as_json)


@kb.command("drop")
@PROJECT
@click.argument("name")
@AS_JSON
def drop(project: ProjectPlace, name: str, *, as_json: bool) -> None:
    """Remove the source NAME from the knowledge base of P. Decisions are not changed."""
    with opened(project) as found:
        report = run_steps(found.importing.drop_source(name))
    say_import(report, as_json=as_json)


def _source_line(one: KnowledgeSource) -> str:
    own = "ids of " + ", ".join(sorted(set(one.own.values()))) if one.own else ""
    known = [one.release, one.licence, f"prefix {one.prefix}" if one.prefix else "", own, one.format, one.path]
    left_out = f", {one.left_out:,} left out" if one.left_out else ""
    entities = counted(one.entities, "entity", "entities")
    return f"{one.name}: {entities}{left_out}  {'; '.join(part for part in known if part)}".rstrip()


@kb.command("show")
@PROJECT
@click.argument("entity")
@AS_JSON
def show(project: ProjectPlace, entity: str, *, as_json: bool) -> None:
    """Show ENTITY of the knowledge base of P, with the address of its page at its source."""
    with opened(project, read_only=True) as found:
        record = found.knowledge.entity(entity)
        known, old = record or found.knowledge.former(entity), found.knowledge.obsolete(entity)
    if known is None:
        raise UserError(f"The knowledge base has no entity {entity}. `curator kb search P NAME` finds identifiers.")
    address, why = _page(known.id)
    lines = [_obsolete_text(old)] if old is not None else []
    lines += [f"{known.id}  {known.name}  ({', '.join(known.types)})"]
    lines += ["No longer in the knowledge base."] if record is None and old is None else []
    facts = (("Synonyms", "; ".join(known.synonyms)), ("Also known as", ", ".join(known.alt_ids)))
    lines += [f"{name}: {words}" for name, words in (*facts, ("Definition", known.definition)) if words]
    lines.append(f"Page: {address}" if address else why)
    result = {**asdict(known), "gone": record is None, "page": address}
    if old is not None:
        result["obsolete"] = {**asdict(old.old), "uses": [one.id for one in (*old.replaced_by, *old.consider)]}
    say(result, "\n".join(lines), as_json=as_json)


def _obsolete_text(found: Replacement) -> str:
    entities = (*found.replaced_by, *found.consider)
    into = " or ".join(f"{one.id} {one.name}" for one in entities) or "no replacement is known"
    return f"{found.old.id} “{found.old.name}” is obsolete: " + (f"use {into}." if entities else f"{into}.")


def _page(entity_id: str) -> tuple[str | None, str]:
    """The address of an entity's page, or the reason why there is none."""
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
def kb_export(project: ProjectPlace, out: Path, *, least: int, as_json: bool) -> None:
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
def kb_search(project: ProjectPlace, query: str, *, mention_type: str | None, limit: int, as_json: bool) -> None:
    """Search the knowledge base of P.

    QUERY is written as in the window: a name, an identifier, "exact name", type:TYPE or name :: definition. Names come
    first, then similar spellings, names with some of the words, and definitions.
    """
    with opened(project, read_only=True) as found:
        matches = found.knowledge.search(query, mention_type=mention_type, limit=limit)
    text = "\n".join(map(_match_line, matches)) or f"Nothing in the knowledge base matches {query}."
    entities = [{"matched": one.matched, "match": one.kind.value, **asdict(one.entity)} for one in matches]
    say({"entities": entities}, text, as_json=as_json)


def _match_line(match: EntityMatch) -> str:
    entity, kind = match.entity, match.kind
    label = "" if kind.by_name and kind is not MatchKind.SPELLING else f"  [{kind}]"
    return f"{entity.id}  {entity.name}  ({', '.join(entity.types)})  {match.matched}{label}"


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
    project: ProjectPlace,
    out: Path,
    *,
    format_name: str,
    only_done: bool,
    scope: str | None,
    report: Path | None,
    as_json: bool,
) -> int:
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
    with opened(project, read_only=True) as found:
        written = found.exporting.export(out, format_name, scope=wanted)
        if report is not None:
            found.exporting.write_report(written, report)
    say(asdict(written), _export_text(written, report), as_json=as_json)
    return DAMAGE if written.damaged else 0


def _export_text(written: ExportReport, report: Path | None) -> str:
    lines = [f"{written.text} Unchanged mentions: {written.unchanged:,}."]
    lines += [one.text for one in written.problems[:SHOWN_PROBLEMS]]
    left = len(written.problems) - SHOWN_PROBLEMS
    if left > 0:
        whole = f"{report} lists them" if report is not None else "--report FILE or --json lists all"
        lines.append(f"… and {left:,} more; {whole}.")
    return "\n".join(lines)


# What others need to check the decisions.

OUT = click.argument("out", type=FilePath(path_type=Path))
SCOPE = click.Choice([one.value for one in ExportScope])


@click.command("audit")
@PROJECT
@OUT
@AS_JSON
def audit(project: ProjectPlace, out: Path, *, as_json: bool) -> None:
    """Export the audit trail of P to OUT, as .csv or .jsonl.

    It contains every step: who decided what and when, what was suggested, and what the decision replaced.
    """
    with opened(project, read_only=True) as found:
        report = found.audit.export(out)
    text = (
        f"Wrote {counted(report.entries, 'entry', 'entries')} to {report.path}: "
        f"{counted(report.decisions, 'decision', 'decisions')}, "
        f"{counted(report.judgements, 'judgement', 'judgements')}, "
        f"{counted(report.operations, 'other step', 'other steps')}."
    )
    say(asdict(report), text, as_json=as_json)


@click.command("release")
@PROJECT
@OUT
@click.option("--scope", type=SCOPE, default="done", show_default=True, help="Decisions to release.")
@AS_JSON
def release(project: ProjectPlace, out: Path, *, scope: str, as_json: bool) -> None:
    """Export a release of P to OUT: a zip file if the name ends with .zip, otherwise a folder.

    A release contains what others need to check and cite the decisions. It contains no document texts, and the same
    state of P always gives the same bytes.
    """
    with opened(project, read_only=True) as found:
        report = found.release.export(out, scope=ExportScope(scope))
    text = (
        f"Released {counted(report.decisions, 'decision', 'decisions')} in "
        f"{counted(report.documents, 'document', 'documents')} to {report.path} "
        f"(SHA-256 {report.sha256})."
    )
    say(asdict(report), text, as_json=as_json)
