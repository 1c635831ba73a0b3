"""Where the report of an evaluation is written: one HTML file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from curator.domain.errors import UserError
from curator.domain.wording import tr

HTML = "html"


def check_place(path: Path) -> None:
    """Raises UserError where no report could be written, before hours of work are spent on it."""
    if path.is_dir():
        raise UserError(
            tr(
                "{path} is a folder. Give the report a file name, such as {value}.",
                path=path,
                value=path / "report.html",
            )
        )
    if not path.parent.is_dir():
        raise UserError(
            tr("There is no folder {parent} for the report. Make it, or choose another place.", parent=path.parent)
        )


def save_report(result: Mapping[str, Any], path: Path) -> None:
    """Write beside, then move. Raises UserError where that is refused."""
    check_place(path)
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(str(result[HTML]))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise UserError(
            tr("{path} cannot be written ({strerror}). Choose another place.", path=path, strerror=error.strerror)
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def without_html(result: Mapping[str, Any]) -> dict[str, Any]:
    """The figures alone, for JSON."""
    return {name: value for name, value in result.items() if name != HTML}
