"""Curator in a Linux desktop's menus: entry, icon, and the type of `project.curator`, in the user's data folder.

Follows the Desktop Entry, Shared MIME-info and Icon Theme specifications of freedesktop.org. Installing again writes
the same files; removing deletes these, and the lists that the desktop's tools made if they list nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path

from curator.domain.wording import UserError, tr
from curator.services.records.installation import this_installation

TYPE = "application/x-curator-project"
ENTRY = Path("applications/curator.desktop")
PACKAGE = Path("mime/packages/curator.xml")
ICON = Path("icons/hicolor/scalable/apps/curator.svg")
TYPE_ICON = Path("icons/hicolor/scalable/mimetypes/application-x-curator-project.svg")
DARK_GROUND = "#1c2127"
"""The icon's colour, since an icon in a menu has no palette for `currentColor`."""
REFRESH = (
    ("update-desktop-database", "applications"),
    ("update-mime-database", "mime"),
    ("gtk-update-icon-cache", "icons/hicolor"),
)
LISTS = {
    "applications": ("mimeinfo.cache",),
    "mime": (
        *("aliases", "generic-icons", "globs", "globs2", "icons", "magic", "mime.cache", "subclasses", "treemagic"),
        *("types", "version", "XMLnamespaces"),
    ),
    "icons/hicolor": ("icon-theme.cache",),
}
"""What those tools write in the folders; once nothing else is there, it lists nothing."""
MIME = f"""<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{TYPE}">
    <comment>Curator project</comment>
    <comment xml:lang="de">Curator-Projekt</comment>
    <sub-class-of type="application/json"/>
    <glob pattern="project.curator" weight="90"/>
  </mime-type>
</mime-info>
"""


def data_home() -> Path:
    """The user's data folder as the XDG Base Directory specification says."""
    given = os.environ.get("XDG_DATA_HOME", "")
    return Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "share"


def own_command() -> tuple[str, ...]:
    """The command that starts this installation: its script if there is one, else the interpreter with the module."""
    return this_installation().launcher


def add_to_desktop(command: Sequence[str] = ()) -> list[Path]:
    """Write the files, notify the desktop, and return them. Raises UserError on other systems and for unwritable
    folders."""
    _needs_linux()
    home = data_home()
    icon = (resources.files("resources") / "icons" / "curator.svg").read_text(encoding="utf-8")
    icon = icon.replace("currentColor", DARK_GROUND)
    texts = {ENTRY: entry_text(command or own_command()), PACKAGE: MIME, ICON: icon, TYPE_ICON: icon}
    for name, text in texts.items():
        _write(home / name, text)
    _refresh(home)
    return [home / name for name in texts]


def remove_from_desktop() -> list[Path]:
    """Remove the files that `install` wrote; returns the removed files. Raises UserError if that is impossible."""
    _needs_linux()
    home = data_home()
    found = [home / name for name in (ENTRY, PACKAGE, ICON, TYPE_ICON) if (home / name).exists()]
    for path in found:
        try:
            path.unlink()
        except OSError as error:
            raise UserError(
                tr(
                    "{path} cannot be removed ({strerror}). Check the folder's permissions.",
                    path=path,
                    strerror=error.strerror,
                )
            ) from error
    if found:
        _refresh(home)
        _tidy(home)
    return found


def entry_text(command: Sequence[str]) -> str:
    """The desktop entry; a double click on a `project.curator` opens its project."""
    return (
        "\n".join(
            (
                "[Desktop Entry]",
                "Type=Application",
                "Version=1.4",
                "Name=Curator",
                "GenericName=Entity linking",
                "GenericName[de]=Entitätsverknüpfung",
                "Comment=Review the entities that documents mention, and teach the linker as you go",
                "Comment[de]=Prüfen, welche Entitäten Dokumente erwähnen, und dabei den Verknüpfer anlernen",
                f"Exec={' '.join(_quoted(one) for one in command)} open %F",
                f"TryExec={command[0]}",
                "Icon=curator",
                "Terminal=false",
                "Categories=Science;Education;",
                "Keywords=annotation;biocuration;entity linking;",
                "StartupWMClass=curator",
                "StartupNotify=true",
                f"MimeType={TYPE};",
            )
        )
        + "\n"
    )


def _quoted(argument: str) -> str:
    """An argument of Exec, quoted as in the specification: in double quotes, with `"`, backtick, `$` and backslash
    escaped, percent signs doubled."""
    escaped = "".join(f"\\{one}" if one in '"`$\\' else one for one in argument).replace("%", "%%")
    plain = all(one.isalnum() or one in "/._-+" for one in argument)
    return escaped if plain else f'"{escaped}"'


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise UserError(
            tr(
                "{path} cannot be written ({strerror}). Check the folder's permissions and the free disk space.",
                path=path,
                strerror=error.strerror,
            )
        ) from error


def _refresh(home: Path) -> None:
    """Notify the desktop; its tools are optional, and without them a desktop reads the folders itself."""
    for tool, folder in REFRESH:
        program = shutil.which(tool)
        if program is not None and (home / folder).is_dir():
            subprocess.run([program, str(home / folder)], capture_output=True, check=False)  # noqa: S603 - own folders


def _tidy(home: Path) -> None:
    """Remove the lists of the desktop's tools where they list nothing, and empty folders."""
    for name, lists in LISTS.items():
        folder, made = home / name, {home / name / one for one in lists}
        found = list(folder.rglob("*"))
        if any(one not in made and not one.is_dir() for one in found):
            continue
        for one in made:
            with suppress(OSError):
                one.unlink()
        below = sorted((one for one in found if one.is_dir()), reverse=True)
        for one in (*below, folder, *folder.parents[: len(Path(name).parts)]):
            with suppress(OSError):  # it holds something
                one.rmdir()


def _needs_linux() -> None:
    if not sys.platform.startswith("linux"):
        raise UserError(
            tr(
                "Desktop entries exist only on Linux. On this system, open a project from the window or drop it "
                "onto the window."
            )
        )
