"""Symbolic links in folders that the user chose: those that lead out of the folder are not followed.

A corpus may come from an untrusted source, and could otherwise import the user's private files as documents. A file
that the user chose by name may be a link; files that a reader looks for in a folder, or next to a file, go through
`own_file`.
"""

from __future__ import annotations

import os
from pathlib import Path

from curator.domain.wording import UserError, tr


def is_own(path: Path, folder: Path) -> bool:
    """Whether no link leads out of `folder` to a file or folder found in it: not its own, and not one on the way."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def own_file(path: Path, folder: Path) -> Path:
    """`path`, which a reader found in `folder`. Raises UserError if a link leads out of it."""
    if is_own(path, folder):
        return path
    raise UserError(
        tr(
            "{path} was not opened: it leads out of the folder {folder} through a link, which is not followed. Choose "
            "the folder that the link leads to, or replace the link with a copy of its target.",
            path=path,
            folder=folder,
        )
    )
