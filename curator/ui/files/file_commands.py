"""Commands that bring files into the project and write records out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu, WindowState

if TYPE_CHECKING:
    from curator.ui.files.project_flows import ProjectFlows
    from curator.ui.files.record_flows import RecordFlows


def _project(state: WindowState) -> bool:
    return state.project


def _not_importing(state: WindowState) -> bool:
    return state.writable and not state.importing


FILES: tuple[Command[ProjectFlows], ...] = (
    Command(
        "project.import_kb",
        "Import knowledge base…",
        Menu.PROJECT,
        "Loads entities from MeSH, UMLS, OBO, tables and other files, and builds the index.",
        lambda files: files.import_knowledge_base(),
        ("Ctrl+Shift+I",),
        when=lambda s: s.writable and not s.job_running,
        group=1,
    ),
    Command(
        "project.import",
        "Import documents…",
        Menu.PROJECT,
        "Previews files, folders and archives of all formats and imports them, with or without gold.",
        lambda files: files.import_documents(),
        ("Ctrl+I",),
        when=_not_importing,
        group=1,
    ),
    Command(
        "project.imports",
        "Imports…",
        Menu.PROJECT,
        "Lists all imports with their source, time and importer.",
        lambda files: files.imports.show_imports(),
        when=_project,
        group=1,
    ),
    Command(
        "project.undo_import",
        "Undo import…",
        Menu.PROJECT,
        "Hides the documents of the last import or of another one, after listing what was changed in them by hand.",
        lambda files: files.imports.undo_last(),
        when=_not_importing,
        group=1,
    ),
    Command(
        "project.fetch",
        "Fetch from PubMed…",
        Menu.PROJECT,
        "Downloads records from NCBI by PMID or query and imports them. Nothing is sent before you agree.",
        lambda files: files.fetch_from_pubmed(),
        when=_not_importing,
        group=1,
    ),
    Command(
        "project.types",
        "Type mapping…",
        Menu.PROJECT,
        "Sets which entity types each mention type may link to.",
        lambda files: files.edit_type_mapping(),
        when=lambda s: s.writable,
        group=1,
    ),
    Command(
        "project.export",
        "Export gold…",
        Menu.PROJECT,
        "Writes the decisions in the format of the documents; unchanged content stays as it was.",
        lambda files: files.export_gold(),
        ("Ctrl+E",),
        when=_project,
        group=2,
    ),
)

RECORDS: tuple[Command[RecordFlows], ...] = (
    Command(
        "project.release",
        "Release…",
        Menu.PROJECT,
        "Writes decisions, hashes, guidelines and figures to a folder or zip file; the same state of "
        "the project gives the same bytes.",
        lambda records: records.release(),
        when=_project,
        group=2,
    ),
    Command(
        "project.audit",
        "Export audit trail…",
        Menu.PROJECT,
        "Writes every step (who, when, what was suggested and what it replaced) as CSV or JSON lines.",
        lambda records: records.export_audit(),
        when=_project,
        group=2,
    ),
    Command(
        "project.export_kb",
        "Export knowledge base…",
        Menu.PROJECT,
        "Writes the knowledge base with the names learned from decisions and the entities created here.",
        lambda records: records.export_knowledge_base(),
        when=lambda s: s.project and s.knowledge_base,
        group=2,
    ),
    Command(
        "model.suspicious",
        "Suspicious gold…",
        Menu.MODEL,
        "Lists decisions that models fitted on other documents find unlikely, so that you can keep or change them.",
        lambda records: records.show_suspicious(),
        when=lambda s: s.project and s.knowledge_base,
        group=1,
    ),
)
