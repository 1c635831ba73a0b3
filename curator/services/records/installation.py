"""The location and kind of this installation, and a check that its packages are its own.

The network is not used. `check_packages` runs before anything else, so this module imports nothing slow.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from curator import __version__
from curator.domain.wording import UserError, tr

PACKAGES = ("models", "training", "resources")
"""Our packages other than `curator`; other distributions use the same names."""
MARK = "__curator__ = True"
"""A line of each one's `__init__.py`."""
ELSEWHERE = (
    "The Python package “{name}” that is found first is not Curator's but that of {owner} ({place}), so Curator cannot "
    "start. Install Curator into an environment of its own, for example with `pipx install` or `uv tool install`."
)
INCOMPLETE = (
    "The Python package “{name}”, which is a part of Curator, is missing or incomplete in {place}, so Curator cannot "
    "start. Install Curator again, in an environment of its own, for example with `pipx install` or `uv tool install`."
)


class How(Enum):
    BUNDLE = "bundle"
    DEB = "deb"
    PIPX = "pipx"
    UV = "uv"
    CLONE = "clone"
    WHEEL = "wheel"


HOW_WORDS = {
    How.BUNDLE: "from the archive",
    How.DEB: "from the Debian package",
    How.PIPX: "with pipx",
    How.UV: "with uv tool",
    How.CLONE: "from a clone of the source",
    How.WHEEL: "with pip",
}


@dataclass(frozen=True)
class Installation:
    """`folder` is that of the bundle, the clone or the environment; `launcher` is the program in it that starts
    Curator."""

    version: str
    folder: Path
    how: How
    launcher: tuple[str, ...]


def this_installation(prefix: Path | None = None, program: Path | None = None) -> Installation:
    """The installation of the running program. `prefix`: its Python environment; `program`: the folder of the
    package."""
    prefix = prefix or Path(sys.prefix)
    program = program or Path(__file__).parents[3]
    bundle = bundle_folder(prefix)
    if bundle is not None:
        how = How.DEB if _facts(bundle).get("how") == "deb" else How.BUNDLE
        return Installation(__version__, bundle, how, (str(bundle / "curator"),))
    script = prefix / ("Scripts/curator.exe" if sys.platform == "win32" else "bin/curator")
    launcher = (str(script),) if script.is_file() else (sys.executable, "-m", "curator")
    if (program / "pyproject.toml").is_file():
        return Installation(__version__, program, How.CLONE, launcher)
    how = How.WHEEL
    if (prefix / "pipx_metadata.json").is_file():
        how = How.PIPX
    elif (prefix / "uv-receipt.toml").is_file():
        how = How.UV
    return Installation(__version__, prefix, how, launcher)


def bundle_folder(prefix: Path) -> Path | None:
    """The folder of the bundle whose Python has this prefix; None if there is none."""
    return prefix.parent if prefix.name == "python" and (prefix.parent / "bundle.json").is_file() else None


def _facts(bundle: Path) -> dict[str, object]:
    try:
        found = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def check_packages() -> None:
    """Raises UserError if another distribution's package shadows one of ours."""
    for name in PACKAGES:
        spec = find_spec(name)
        origin = Path(spec.origin) if spec is not None and spec.origin is not None else None
        if origin is None:
            raise UserError(tr(INCOMPLETE, name=name, place=Path(__file__).parents[3]))
        if not _is_ours(origin):
            raise UserError(tr(ELSEWHERE, name=name, owner=_owner(name), place=origin.parent))


def _is_ours(init: Path) -> bool:
    try:
        return MARK in init.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return False


def _owner(package: str) -> str:
    from importlib.metadata import packages_distributions  # looks at every installed package

    others = sorted(set(packages_distributions().get(package, [])) - {"curator"})
    return ", ".join(others) or tr("another folder")


# Curator in a Linux desktop's menus: entry, icon, and the type of `project.curator`, in the user's data folder.
#
# Follows the Desktop Entry, Shared MIME-info and Icon Theme specifications of freedesktop.org. Installing again writes
# the same files; removing deletes these, and the lists that the desktop's tools made if they list nothing else.

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
        for folder in (one for path in found for one in path.parents if one.is_relative_to(home)):
            with suppress(OSError):  # it holds something
                folder.rmdir()
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


def _needs_linux() -> None:
    if not sys.platform.startswith("linux"):
        raise UserError(
            tr(
                "Desktop entries exist only on Linux. On this system, open a project from the window or drop it "
                "onto the window."
            )
        )
