"""The result of an import: counts, and every problem with its file and line."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.wording import localised, ntr, tr, well_formed
from curator.services.ports.files import Problem

KNOWN = "files imported before"
"""Key of a report's counts, for files that changed nothing."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem and its file."""

    file: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import. `counts` by name: documents, mentions, linked, nil, unresolved ids, entities, names,
    …"""

    files: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[FileProblem, ...] = ()
    seconds: float = 0.0


def counted(word: str, n: int) -> str:
    """One of a report's counts, in words."""
    match word:
        case "documents":
            return ntr("{n:,} document", "{n:,} documents", n)
        case "mentions":
            return ntr("{n:,} mention", "{n:,} mentions", n)
        case "entities":
            return ntr("{n:,} entity", "{n:,} entities", n)
        case "names":
            return ntr("{n:,} name", "{n:,} names", n)
        case "definitions":
            return ntr("{n:,} definition", "{n:,} definitions", n)
        case "documents brought back":
            return ntr("{n} document restored", "{n:,} documents restored", n)
        case "new texts taken":
            return ntr("{n} text updated", "{n:,} texts updated", n)
        case "mentions added":
            return ntr("{n} mention added", "{n:,} mentions added", n)
        case "decisions moved":
            return ntr("{n} decision moved", "{n:,} decisions moved", n)
        case "decisions without a place":
            return ntr("{n} decision without a place", "{n:,} decisions without a place", n)
        case "decisions to review":
            return ntr("{n} decision to review", "{n:,} decisions to review", n)
    return f"{localised(n, ',')} {tr(word)}"


def counts_in_words(report: ImportReport) -> str:
    """The imported items; '' if there are none."""
    return ", ".join(counted(word, number) for word, number in report.counts.items() if number and word != KNOWN)


def known_in_words(report: ImportReport) -> str:
    """The number of files that changed nothing, as a sentence; '' if there are none."""
    number = report.counts.get(KNOWN, 0)
    return ntr("{n} file was already imported.", "{n:,} files were already imported.", number) if number else ""


def joined(reports: Sequence[ImportReport]) -> ImportReport:
    """One report of several imports."""
    counts: Counter[str] = Counter()
    for one in reports:
        counts.update(one.counts)
    return ImportReport(
        tuple(name for one in reports for name in one.files),
        dict(counts),
        tuple(problem for one in reports for problem in one.problems),
        sum(one.seconds for one in reports),
    )


@dataclass(slots=True)
class ImportTally:
    """The report being built."""

    files: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[FileProblem] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def note(self, path: Path, problems: Sequence[Problem]) -> None:
        self.problems += [FileProblem(well_formed(str(path)), one) for one in problems]

    def report(self) -> ImportReport:
        seconds = time.monotonic() - self.started
        return ImportReport(tuple(self.files), dict(self.counts), tuple(self.problems), seconds)
