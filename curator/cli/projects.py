"""new, open, info."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, PROJECT, opened, say
from curator.domain.wording import UserError

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.importing import UnfinishedImport


NO_DISPLAY = (
    "There is no display to open a window on. Connect one (DISPLAY or WAYLAND_DISPLAY names it), install what Qt needs "
    "(`make` prints it), or use the other commands: `curator --help` lists them."
)

KB_STOPPED = "If it is not being imported elsewhere, its import was stopped: nothing of it is in."


@click.command("new")
@PROJECT
@AS_JSON
def new(project: Path, *, as_json: bool) -> None:
    """Make a new, empty project at P."""
    from curator.bootstrap import create_project

    made = create_project(project, linker=False)
    made.close()
    say({"project": str(made.folder)}, f"Made {made.folder}.", as_json=as_json)


@click.command("open")
@click.argument("projects", type=click.Path(path_type=Path), metavar="[P]...", nargs=-1)
def open_window(projects: tuple[Path, ...]) -> int:
    """Open P in the window, each further one in a window of its own; without P the first page."""
    from curator.bootstrap import project_folder
    from curator.ui.shell import can_show, run

    folders = [project_folder(one) for one in projects]  # told here, where it was asked, and not in an empty window
    if "QT_QPA_PLATFORM" not in os.environ and not can_show():  # who names a platform has one
        raise UserError(NO_DISPLAY)
    return run(*folders)


@click.command("demo")
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.option(
    "--world",
    type=click.Choice(["pubmed", "wikia"]),
    default="pubmed",
    show_default=True,
    help="Invented abstracts under MeSH identifiers, or four invented worlds.",
)
def demo(out: Path, *, world: str) -> int:
    """Make the demo project in OUT and open it; without a display, run the same session off screen.

    Off screen a screenshot and the exported gold are written to OUT.
    """
    from curator.ui.shell import run_demo

    return run_demo(out, world=world)


@click.command("info")
@PROJECT
@AS_JSON
def info(project: Path, *, as_json: bool) -> None:
    """Show what P holds: documents, decisions, knowledge base, type mapping, bundle."""
    with opened(project, read_only=True) as found:
        facts = project_facts(found)
        stopped, kb = found.importing.unfinished(), found.importing.unfinished_kb.load()
    lines = [f"{name.replace('_', ' ')}: {_text(value)}" for name, value in facts.items()]
    lines += [] if stopped is None else [f"unfinished import: {_unfinished_words(stopped)}"]
    lines += [] if kb is None else [f"unfinished knowledge base: {kb}. {KB_STOPPED}"]
    files = {"files": len(stopped.paths), "inside": stopped.done, "left": stopped.left} if stopped is not None else None
    facts |= {"unfinished_import": files, "unfinished_knowledge_base": kb}
    say(facts, "\n".join(lines), as_json=as_json)


def _unfinished_words(import_: UnfinishedImport) -> str:
    """Who only reads cannot know whether it runs at this moment."""
    return (
        f"{import_.done:,} of {len(import_.paths):,} files are in. If it is not running elsewhere, it was stopped: "
        "`curator import P --resume` goes on with it."
    )


def project_facts(project: Project) -> dict[str, Any]:
    counts = project.queue.counts()
    kb = project.knowledge.info()
    active = next((one for one in project.retraining.bundles() if one.active), None)
    return {
        "project": str(project.folder),
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


# desktop: Curator in the menus of a Linux desktop.


@click.group("desktop")
def desktop() -> None:
    """Put Curator into the desktop's menus, with its icon and the type of project.curator, or take it out."""


@desktop.command("install")
@AS_JSON
def install(*, as_json: bool) -> None:
    """Write entry, icon and type into the user's data folder; a double click on project.curator opens the project."""
    from curator.services.records import add_to_desktop

    files = [str(one) for one in add_to_desktop()]
    say({"written": files}, "Written:\n" + "\n".join(files), as_json=as_json)


@desktop.command("remove")
@AS_JSON
def remove(*, as_json: bool) -> None:
    """Take away what `install` wrote."""
    from curator.services.records import remove_from_desktop

    files = [str(one) for one in remove_from_desktop()]
    text = "Removed:\n" + "\n".join(files) if files else "Nothing was installed."
    say({"removed": files}, text, as_json=as_json)


# `curator formats`: what can be read and written, and what of it each format holds.


@click.command("formats")
@AS_JSON
def formats(*, as_json: bool) -> None:
    """List the formats of documents with what each can carry, and those of knowledge bases.

    What a format cannot carry is left out of an export and told there. Fields of a format's own (infons, notes,
    attributes) and relations are kept when a document goes back into the format that it came from.
    """
    from curator.bootstrap import document_formats as registered
    from curator.services.importing import COLUMNS, document_formats

    registry = registered()
    facts = document_formats(registry)
    knowledge_bases = [{"name": name, "title": title} for name, title in registry.knowledge_bases()]
    head = ["Name", "Format", "In", "Out", *COLUMNS.values()]
    rows = [
        [one.name, one.title, *map(_mark, (one.read, one.written, *(one.carries[name] for name in COLUMNS)))]
        for one in facts
    ]
    names = ", ".join(f"{one['title']} ({one['name']})" for one in knowledge_bases)
    text = "\n".join([*_aligned([head, *rows]), "", f"Knowledge bases, read: {names}."])
    say({"documents": [one.as_json() for one in facts], "knowledge_bases": knowledge_bases}, text, as_json=as_json)


def _mark(has: bool) -> str:
    return "yes" if has else "–"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
