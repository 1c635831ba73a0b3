"""new, move, open, demo, info, check, restore, salvage, desktop, formats."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import (
    DAMAGE,
    FILE,
    PROJECT,
    ProjectPath,
    Result,
    command,
    counted,
    project_command,
    run_steps,
    table,
)
from curator.domain.wording import UserError

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.ports.address import ProjectPlace
    from curator.services.ports.safety import Backup


NO_DISPLAY = (
    "The window cannot open: no display was found. Set DISPLAY or WAYLAND_DISPLAY, install the libraries that Qt needs "
    "(`make` lists them), or use the commands that need no window (`curator --help` lists them)."
)

LABELS = {"bundle": "linker"}
"""Keys of the facts that are shown under another name."""


@command("new")
@PROJECT
@click.option("--name", default="", metavar="NAME", help="Name of a shared project. A folder has its own.")
def new(project: ProjectPlace, *, name: str) -> Result:
    """Create a new, empty project at P.

    With an address, postgresql://user@host/base, P is a shared project in that database, which must be empty.
    """
    from curator.bootstrap import create_project

    if name and isinstance(project, Path):
        raise UserError("--name is for shared projects: a project in a folder is called what its folder is called.")
    made = create_project(project, name=name, linker=False)
    made.close()
    return Result({"project": str(made.place)}, f"Created {made.place}.")


@command("move")
@PROJECT
@click.argument("target", type=ProjectPath(path_type=Path), metavar="TARGET")
def move(project: ProjectPlace, target: ProjectPlace) -> Result:
    """Move P from a folder into a database, or from a database into a folder.

    TARGET is the address of an empty database, or a folder that does not exist yet. Everything is copied, including the
    audit trail; P stays as it was. If the command is stopped, nothing is left at TARGET.
    """
    from curator.bootstrap import move_project

    rows = move_project(project, target)
    what = {name: rows.get(name, 0) for name in ("documents", "mentions", "decisions", "operations", "linkers")}
    text = f"Moved {_text(what)} to {target}. {project} was not changed: keep it as a copy, and work in one place only."
    return Result({"project": str(target), "source": str(project), "rows": what}, text)


@click.command("open")
@click.argument("projects", type=ProjectPath(path_type=Path), metavar="[P]...", nargs=-1)
def open_window(projects: tuple[ProjectPlace, ...]) -> int:
    """Open P in the window, or several projects in a window each. Without P, the start page opens."""
    from curator.ui import load_quickly

    load_quickly()
    from curator.ui.shell.app import can_show, run

    folders: list[ProjectPlace] = []
    if projects:
        from curator.bootstrap import project_folder  # as large as the window: not needed for the start page

        folders = [
            project_folder(one) if isinstance(one, Path) else one for one in projects
        ]  # errors appear here, not in an empty window
    if "QT_QPA_PLATFORM" not in os.environ and not can_show():  # a platform chosen by the user needs no display
        raise UserError(NO_DISPLAY)
    return run(*folders)


@click.command("demo")
@click.argument("out", type=FILE, metavar="OUT")
@click.option(
    "--world",
    type=click.Choice(["pubmed", "wikia"]),
    default="pubmed",
    show_default=True,
    help="pubmed: invented abstracts with MeSH identifiers. wikia: four invented worlds.",
)
def demo(out: Path, *, world: str) -> int:
    """Create the demo project in OUT and open it.

    Without a display, the same session runs off screen and writes a screenshot and the exported gold to OUT.
    """
    from curator.ui.shell.demo_session import run_demo

    return run_demo(out, world=world)


@project_command("info", read_only=True)
def info(project: Project) -> Result:
    """Show what P contains: documents, decisions, knowledge base, type mapping and linker."""
    facts = project_facts(project)
    return Result(
        facts, (f"{LABELS.get(name, name.replace('_', ' '))}: {_text(value)}" for name, value in facts.items())
    )


def project_facts(project: Project) -> dict[str, Any]:
    counts = project.queue.counts()
    kb = project.knowledge.info()
    active = next((one for one in project.retraining.bundles() if one.active), None)
    return {
        "project": str(project.place),
        "documents": {state.value: number for state, number in counts.documents.items()},
        "splits": {split.value: number for split, number in counts.documents_by_split.items()},
        "mentions": counts.mentions,
        "decisions": {outcome.value: number for outcome, number in counts.decisions_by_outcome.items()},
        "mention_types": project.queue.mention_types(),
        "type_mapping": {name: list(types) for name, types in project.knowledge.mapping().allowed.items()},
        "knowledge_base": {"name": kb.name, "entities": kb.entities, "names": kb.names, "hash": kb.content_hash}
        if kb
        else None,
        "bundle": {"id": active.id, "recipe": active.recipe, "stages": list(active.stages)} if active else None,
    }


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "any"
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


# check, restore, salvage: commands that do not open the project.


@command("check")
@PROJECT
def check(project: ProjectPlace) -> Result:
    """Check whether P is damaged. Nothing is changed.

    Compares pages, indexes, references, hashes of texts, steps and linkers, mentions with the texts, counters, and the
    mark of what was saved. Exits with 3 if something was found. P may be open in a window.
    """
    from curator.bootstrap import check_project

    found = run_steps(check_project(project))
    lines = [found.text, *(f"{one.where}: {one.text}" for one in found.findings)]
    facts = {
        "project": str(found.folder),
        "findings": [asdict(one) for one in found.findings],
        "looked_at": found.looked_at,
    }
    return Result(facts, lines, code=DAMAGE if found.findings else 0)


@command("restore")
@PROJECT
@click.option("--number", type=click.IntRange(min=1), metavar="N", help="Restore backup N of the list.")
@click.option(
    "--continue",
    "without",
    is_flag=True,
    help="Restore nothing: continue without the steps that are missing.",
)
def restore(project: ProjectPlace, *, number: int | None, without: bool) -> Result:
    """List the backups of P with their time, size and decisions, the newest first; with --number, restore one.

    The present state is kept in P under another name. This also works if project.sqlite is damaged, or if it or P is
    missing.
    """
    from curator.bootstrap import backups_of, continue_without, restore_project

    if without:
        continue_without(project)
        return Result({"project": str(project)}, f"{project} continues with what it contains.")
    found = backups_of(project)
    if not found:
        _expect_project(project)
    if number is not None:
        if number > len(found):
            raise UserError(f"There is no backup {number}. `curator restore {project}` lists the backups.")
        done = restore_project(project, found[number - 1])
        facts = {"project": str(done.folder), "backup": _backup_facts(done.backup), "kept": list(map(str, done.kept))}
        return Result(facts, done.text)
    lines = [_backup_line(n, one, project) for n, one in enumerate(found, start=1)]
    lines.append(
        f"`curator restore {project} --number N` restores one." if found else "There are no backups of this project."
    )
    return Result({"backups": [_backup_facts(one) for one in found]}, lines)


def _expect_project(project: ProjectPlace) -> None:
    """Raises UserError if there is no project, not even a damaged one."""
    from curator.bootstrap import damaged_folder

    try:
        if isinstance(project, Path):
            damaged_folder(project)
    except UserError as error:
        raise UserError(f"There is no project at {project}, and no backup of one. Check the path.") from error


def _backup_line(number: int, one: Backup, project: ProjectPlace) -> str:
    """With its place if it is of another copy of the project."""
    held = "cannot be read" if one.decisions is None else counted(one.decisions, "decision", "decisions")
    place = "" if isinstance(project, Path) and one.is_of(project) else f", made in {one.place}"
    return f"{number}: {one.when}, {one.bytes / 1e6:,.1f} MB, {held}{place}"


def _backup_facts(one: Backup) -> dict[str, Any]:
    return {**asdict(one), "path": str(one.path), "place": str(one.place), "at": one.at.isoformat()}


@command("salvage")
@PROJECT
@click.option("-o", "--out", type=FILE, required=True, metavar="FILE", help="The file to write.")
def salvage(project: ProjectPlace, *, out: Path) -> Result:
    """Save the decisions that can still be read in P to FILE, if P is damaged. P is not changed.

    FILE is a round, with curators and times. Import it into a project with the same documents by `curator rounds
    import`.
    """
    from curator.bootstrap import salvage_decisions

    found = salvage_decisions(project, out)
    facts = {**asdict(found), "path": str(found.path), "rest": str(found.rest) if found.rest else None}
    return Result(facts, found.text)


# desktop: Curator in the menus of a Linux desktop.


@click.group("desktop")
def desktop() -> None:
    """Add Curator to the menus of a Linux desktop, or remove it."""


@command("install", desktop)
def install() -> Result:
    """Install the menu entry, the icon and the file type for your user.

    A double click on a project.curator file then opens the project.
    """
    from curator.services.records.installation import add_to_desktop

    files = [str(one) for one in add_to_desktop()]
    return Result({"written": files}, ["Written:", *files])


@command("remove", desktop)
def remove() -> Result:
    """Remove the files that `curator desktop install` wrote."""
    from curator.services.records.installation import remove_from_desktop

    files = [str(one) for one in remove_from_desktop()]
    return Result({"removed": files}, ["Removed:", *files] if files else "Nothing was installed.")


# formats: what can be read and written, and what each format can hold.


@command("formats")
def formats() -> Result:
    """List the document formats, with what each can hold, and the knowledge base formats.

    An export leaves out what its format cannot hold, and reports it. Relations and fields that only one format has
    (infons, notes, attributes) are kept when a document is exported to the format that it was imported from.
    """
    from curator.bootstrap import document_formats as registered
    from curator.services.importing.import_sources import COLUMNS, document_formats

    registry = registered()
    facts = document_formats(registry)
    knowledge_bases = [{"name": name, "title": title} for name, title in registry.knowledge_bases()]
    head = ["Name", "Format", "In", "Out", *COLUMNS.values()]
    rows = [
        [one.name, one.title, *map(_mark, (one.read, one.written, *(one.carries[name] for name in COLUMNS)))]
        for one in facts
    ]
    names = ", ".join(f"{one['title']} ({one['name']})" for one in knowledge_bases)
    lines = [*table([head, *rows]), "", f"Knowledge base formats that can be read: {names}."]
    return Result({"documents": [one.as_json() for one in facts], "knowledge_bases": knowledge_bases}, lines)


def _mark(has: bool) -> str:
    return "yes" if has else "–"
