"""What an import did, as text and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from curator.cli.console import say
from curator.services.importing import counts_in_words, known_in_words

if TYPE_CHECKING:
    from curator.services.importing import ImportReport

SHOWN_PROBLEMS = 20


def say_import(report: ImportReport, *, as_json: bool) -> None:
    result: dict[str, Any] = asdict(report)
    counts, known = counts_in_words(report), known_in_words(report)
    imported = f"Imported in {report.seconds:.1f} s: {counts}." if counts else "Nothing was imported."
    lines = [f"{imported} {known}".rstrip()]
    shown = report.problems[:SHOWN_PROBLEMS]
    lines += [f"{one.file}{_line(one.problem.line)}: {one.problem.severity}: {one.problem.text}" for one in shown]
    left = len(report.problems) - SHOWN_PROBLEMS
    if left > 0:
        lines.append(f"… and {left:,} more; --json shows all.")
    say(result, "\n".join(lines), as_json=as_json)


def _line(number: int) -> str:
    return f", line {number}" if number else ""
