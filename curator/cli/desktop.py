"""desktop: Curator in the menus of a Linux desktop."""

from __future__ import annotations

import click

from curator.cli.console import AS_JSON, say


@click.group("desktop")
def desktop() -> None:
    """Put Curator into the desktop's menus, with its icon and the type of project.curator, or take it out."""


@desktop.command("install")
@AS_JSON
def install(*, as_json: bool) -> None:
    """Write entry, icon and type into the user's data folder; a double click on project.curator opens the project."""
    from curator.services.records.desktop import add_to_desktop

    files = [str(one) for one in add_to_desktop()]
    say({"written": files}, "Written:\n" + "\n".join(files), as_json=as_json)


@desktop.command("remove")
@AS_JSON
def remove(*, as_json: bool) -> None:
    """Take away what `install` wrote."""
    from curator.services.records.desktop import remove_from_desktop

    files = [str(one) for one in remove_from_desktop()]
    text = "Removed:\n" + "\n".join(files) if files else "Nothing was installed."
    say({"removed": files}, text, as_json=as_json)
