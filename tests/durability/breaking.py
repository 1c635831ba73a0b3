"""The program with a fault on purpose, to see that the harness finds it: `--break NAME`."""

from __future__ import annotations

from typing import Any

import curator.io.files.atomic
import curator.storage.db.errors
import curator.storage.db.syncing
import curator.storage.project
import curator.storage.safety.backups

MODULES: dict[str, tuple[Any, str]] = {
    "sync": (curator.storage.db.syncing, "sync_file"),
    "folder": (curator.storage.project, "sync_folder"),
    "tidy": (curator.io.files.atomic, "_tidy"),
    "backup": (curator.storage.safety.backups, "sync_file"),
    "abandoned": (curator.storage.project, "_remove_unfinished"),
    "sentence": (curator.storage.db.errors, "user_error"),
}
"""Name → the function that does nothing then: the sync of the log after each decision, that of a new project's name,
the removal of what killed exports left, the sync of a backup before it gets its name, the removal of what killed
`new`s left, and the sentence about a disk that fails."""


def break_program(name: str) -> None:
    """In this process and its forks."""
    module, function = MODULES[name]
    setattr(module, function, _nothing)


def _nothing(*_: object) -> None:
    return
