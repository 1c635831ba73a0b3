"""The projects opened before, kept beside the settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from curator.ui.kit.kept import read_state, write_state

FILE = "recent.json"
MOST = 12


@dataclass(frozen=True, slots=True)
class Recent:
    """A project opened before; `there` tells whether its folder still is."""

    folder: Path
    there: bool

    @property
    def name(self) -> str:
        return self.folder.name.removesuffix(".curation")


def opened_before() -> list[Recent]:
    """The last opened first, those included that are gone now (an unplugged disk comes back)."""
    raw = read_state(FILE)
    folders = [Path(one) for one in raw if isinstance(one, str)] if isinstance(raw, list) else []
    return [Recent(one, _is_there(one)) for one in folders[:MOST]]


def recent_projects() -> list[Path]:
    """Folders that still exist, the last opened first; none where the list cannot be read."""
    return [one.folder for one in opened_before() if one.there]


def remember(folder: Path) -> None:
    """Put a project first."""
    wanted = folder.resolve()
    others = [one.folder for one in opened_before() if one.folder != wanted]
    write_state(FILE, [str(one) for one in (wanted, *others)][:MOST])


def forget_missing() -> None:
    """Take out of the list what is not there any more."""
    write_state(FILE, [str(one) for one in recent_projects()])


def _is_there(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:  # a mount that does not answer
        return False
