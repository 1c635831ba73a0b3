"""The rotating log: under the user's log folder (`CURATOR_LOG_DIR` overrides), never with text of a document."""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

import platformdirs

FILE = "curator.log"
BYTES = 1_000_000
BACKUPS = 3
WAL_RESET_CORRECTED = (3, 51, 3)


def log_folder() -> Path:
    return Path(os.environ.get("CURATOR_LOG_DIR") or platformdirs.user_log_dir("curator"))


class _QuietHandler(RotatingFileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 logging's name
        """A full disk swallows a line of the log; logging's own traceback on standard error would help nobody."""

    def close(self) -> None:
        """What a full disk kept from being written is lost with it."""
        with suppress(OSError):
            super().close()


def start_logging() -> logging.Handler | None:
    """Write `curator.*` to the log file, once for the process; whoever gets the handler stops it.

    None where it is written already, or the folder cannot be written: no log is no reason to stop.
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
    """The end of the log; nothing where there is none."""
    try:
        with (log_folder() / FILE).open(encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in file.readlines()[-count:]]
    except OSError:
        return []


def sqlite_words(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> str:
    """Which SQLite serves, and whether it has the fault that loses commits where a checkpoint of another connection
    meets them (https://sqlite.org/wal.html#walresetbug)."""
    name = f"SQLite {'.'.join(map(str, version[:3]))}"
    if version >= WAL_RESET_CORRECTED:
        return name
    return f"{name}, older than 3.51.3: has the WAL-reset fault; Curator never checkpoints while a commit is written"
