"""The projects opened before, kept beside the settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from curator.settings.file import config_folder

FILE = "recent.json"
MOST = 12


def recent_projects() -> list[Path]:
    """Folders that still exist, the last opened first; none where the list cannot be read."""
    try:
        raw = json.loads((config_folder() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [Path(one) for one in raw if isinstance(one, str) and Path(one).is_dir()] if isinstance(raw, list) else []


def remember(folder: Path) -> None:
    """Put a project first. A list that cannot be written is no reason to complain."""
    wanted = folder.resolve()
    _write([wanted, *(one for one in recent_projects() if one != wanted)][:MOST])


def _write(folders: Sequence[Path]) -> None:
    path = config_folder() / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps([str(one) for one in folders], indent=2), encoding="utf-8")
        beside.replace(path)
    except OSError:
        return
