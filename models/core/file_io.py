"""File helpers shared by caches, indexes and bundles: atomic writes, hashes, JSON."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelError, say


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """A temporary path next to ``target``; it replaces the target only if the block succeeds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        yield beside
        fsync_file(beside)
        beside.replace(target)
        fsync_folder(target.parent)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turns a full disk or a read-only folder into a ModelError."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            say(
                "Cannot write to {folder} ({strerror}). Check the folder's permissions and the free "
                "disk space, or choose another folder.",
                folder=folder,
                strerror=error.strerror or error,
            )
        ) from error


def fsync_file(path: Path) -> None:
    with path.open("rb+") as handle:
        os.fsync(handle.fileno())


def fsync_folder(path: Path) -> None:
    """Make renames in ``path`` durable; does nothing on systems without folder handles."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_file(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def write_json(path: Path, value: Any) -> None:
    with atomic_path(path) as beside:
        beside.write_text(json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True), encoding="utf-8")


def read_json(path: Path, *, what: str, remedy: str) -> Any:
    """The parsed file; raises ModelError, with ``what`` and the ``remedy``, if it is missing or malformed."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(say("{what}: {path} is missing. {remedy}", what=what, path=path, remedy=remedy)) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            say("{what} cannot be read: {path} ({error}). {remedy}", what=what, path=path, error=error, remedy=remedy)
        ) from error


def give_back(array: NDArray[Any]) -> None:
    """Release the pages of a mapped file that were read, so that they no longer count as this process's memory; they
    are mapped again when needed. Other arrays stay as they are."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if sys.platform != "win32" and isinstance(base, mmap.mmap):
        base.madvise(mmap.MADV_DONTNEED)
