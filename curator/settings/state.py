"""Small data next to the settings: lists and layouts that may be lost without harm, each in a JSON file of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from curator.settings.file import config_folder

_unread: set[Path] = set()
"""Files whose last read failed: what is made of nothing must not replace them."""


def read_state(name: str) -> Any:
    """The contents stored under this file name; None if missing or unreadable."""
    path = config_folder() / name
    _unread.discard(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    except OSError:
        _unread.add(path)
        return None


def write_state(name: str, what: Any) -> None:
    """Write atomically, but not over a file that could not be read just before. Errors are ignored."""
    path = config_folder() / name
    if path in _unread:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(what, indent=2), encoding="utf-8")  # in ASCII: paths may be no UTF-8
        beside.replace(path)
    except OSError:
        return
