"""A copy of a project for key presses: the database is copied; bundles never change and are hard-linked."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


def copy_project(source: Path, target: Path) -> None:
    """`target` must not exist."""
    target.mkdir(parents=True)
    shutil.copy2(source / "project.curator", target)
    with (
        closing(sqlite3.connect(f"file:{source / 'project.sqlite'}?mode=ro", uri=True)) as old,
        closing(sqlite3.connect(target / "project.sqlite")) as new,
    ):
        old.backup(new)
    if (source / "bundles").is_dir():
        shutil.copytree(source / "bundles", target / "bundles", copy_function=_link)


@contextmanager
def copied(source: Path) -> Iterator[Path]:
    """A copy beside the original, gone afterwards."""
    with tempfile.TemporaryDirectory(dir=source.resolve().parent, ignore_cleanup_errors=True) as folder:
        target = Path(folder) / source.name
        copy_project(source, target)
        yield target


def _link(old: str, new: str) -> None:
    try:
        os.link(old, new)
    except OSError:
        shutil.copy2(old, new)
