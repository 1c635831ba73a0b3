"""`curator import --column FIELD=HEADING`: which column of a table holds what."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.services.ports.files import DocumentOptions

if TYPE_CHECKING:
    from curator.services.ports import FormatRegistry


def choose_columns(formats: FormatRegistry, files: Sequence[Path], given: Sequence[str], sheet: str) -> None:
    """Choose them for every table among the files. Raises UserError for a column that is not there."""
    columns = columns_of(given)
    if not columns and not sheet:
        return
    tables = [path for path in files if path.is_file() and formats.preview_documents(path) is not None]
    if not tables:
        raise click.UsageError("--column and --sheet are about tables (CSV, TSV, XLSX), and none was named.")
    for path in tables:
        formats.choose_columns(path, DocumentOptions(columns, sheet))


def columns_of(given: Sequence[str]) -> dict[str, str]:
    """FIELD=HEADING, given several times, or separated by commas as long as each part has its sign of equality."""
    found: dict[str, str] = {}
    for one in given:
        parts = one.split(",")
        for part in parts if all("=" in part for part in parts) else [one]:
            field, equals, heading = part.partition("=")
            if not equals:
                raise click.UsageError(f"--column {one}: write it as --column FIELD=HEADING.")
            found[field.strip()] = heading.strip()
    return found
