"""A disk that does not give certain files, once or from then on."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def fail_reads(patch: pytest.MonkeyPatch, *names: str, times: int = 1) -> Callable[[], int]:
    """Opening a file of one of these names for reading fails `times` times; returns how often it failed so far."""
    failed = 0

    def check(file: object) -> None:
        nonlocal failed
        if isinstance(file, str | os.PathLike) and Path(file).name in names and failed < times:
            failed += 1
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(file))

    stream, handle = io.open, os.open

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if mode.startswith("r"):
            check(file)
        return stream(file, mode, *args, **kwargs)

    def opened_handle(file: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if not flags & (os.O_WRONLY | os.O_RDWR):
            check(file)
        return handle(file, flags, *args, **kwargs)

    patch.setattr(io, "open", opened)
    patch.setattr(os, "open", opened_handle)
    return lambda: failed
