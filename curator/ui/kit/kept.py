"""Small things that the window keeps beside the settings: lists and layouts that may be lost without harm."""

from __future__ import annotations

import json
from typing import Any

from curator.settings.file import config_folder


def read_state(name: str) -> Any:
    """What was kept under this file name; None where nothing was, or where it cannot be read."""
    try:
        return json.loads((config_folder() / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write_state(name: str, what: Any) -> None:
    """Write it whole. What cannot be written is no reason to complain."""
    path = config_folder() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(what, indent=2, ensure_ascii=False), encoding="utf-8")
        beside.replace(path)
    except OSError:
        return
