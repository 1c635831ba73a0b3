"""The live figures as TensorBoard files, if requested; the library is imported only then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from models.errors import ModelError, say

Log = Callable[[int, Mapping[str, Any]], None]
"""Takes the step and figures by name."""

FLUSHED_AFTER = 10  # seconds
PLOTTED = ("loss", "learning_rate", "throughput", "recall_at_1", "recall_at_64", "nil_aupr")


def no_log(step: int, figures: Mapping[str, Any]) -> None:
    """Writes nothing."""


@contextmanager
def scalar_log(folder: Path | None, *, step: int = 0) -> Iterator[Log]:
    """A log into `folder`, starting at `step` (a resumed run overwrites later figures); with None nothing is written.

    Raises ModelError if TensorBoard is not installed or the folder is not writable.
    """
    if folder is None:
        yield no_log
        return
    writer = _writer(folder, step)
    try:
        yield lambda at, figures: _write(writer, at, figures)
    finally:
        writer.close()


def _writer(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter

        folder.mkdir(parents=True, exist_ok=True)
        return SummaryWriter(str(folder), purge_step=step + 1 if step else None, flush_secs=FLUSHED_AFTER)
    except ImportError as error:
        raise ModelError(
            say(
                "TensorBoard is not installed. Install it with `pip install tensorboard`, or train without "
                "TensorBoard files."
            )
        ) from error
    except OSError as error:
        raise ModelError(
            say(
                "{folder} cannot be written to ({strerror}). Check the folder's permissions and the "
                "free disk space, or choose another folder.",
                folder=folder,
                strerror=error.strerror,
            )
        ) from error


def _write(writer: Any, step: int, figures: Mapping[str, Any]) -> None:
    for name in PLOTTED:
        if name in figures:
            writer.add_scalar(name, figures[name], step)
