"""Port of a project's safety: backups, and the reports of checks, restorations and salvage."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from curator.domain.wording import localised, ntr, tr


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a project's database, made `at` a time (with zone). `place` is the project's folder at that time.
    `decisions` and `steps` are None if the copy cannot be read."""

    path: Path
    at: datetime
    bytes: int
    place: Path
    decisions: int | None
    steps: int | None

    @property
    def when(self) -> str:
        """The time for display, in the computer's time zone."""
        return localised(self.at.astimezone(), "%d %b %Y, %H:%M")

    def is_of(self, folder: Path) -> bool:
        """Whether it was made of the project in `folder`, and not where that was before or of another copy of it."""
        return str(self.place).removesuffix(".curation") == os.path.realpath(folder).removesuffix(".curation")


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem found by a check: where (a file, a table, a document), and a sentence with the problem and what to
    do."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Checked:
    """`findings` is empty if the project is intact. `looked_at` counts the checked items, by name."""

    folder: Path
    findings: tuple[Finding, ...]
    looked_at: dict[str, int]

    @property
    def text(self) -> str:
        if not self.findings:
            return tr("No problems were found in {folder}.", folder=self.folder)
        found = ntr("{n} problem was found", "{n:,} problems were found", len(self.findings))
        return tr("{found} in {folder}.", found=found, folder=self.folder)


@dataclass(frozen=True, slots=True)
class Restored:
    """`kept` are the files with the previous state."""

    folder: Path
    backup: Backup
    kept: tuple[Path, ...]

    @property
    def text(self) -> str:
        when, place = self.backup.when, self.backup.place
        words = (
            tr("Restored {folder} to its state of {when}.", folder=self.folder, when=when)
            if self.backup.is_of(self.folder)
            else tr("Restored {folder} to the state of {when} of {place}.", folder=self.folder, when=when, place=place)
        )
        if not self.kept:
            return words
        return words + " " + tr("The state before is kept in {file}.", file=self.kept[0])


@dataclass(frozen=True, slots=True)
class Salvaged:
    """`decisions` were written to `path` as a round, and `others`, whose document or mention could not be read, to
    `rest`. `lost` could not be read at all."""

    path: Path
    decisions: int
    others: int
    rest: Path | None
    lost: int
    round: str

    @property
    def text(self) -> str:
        words = [
            ntr(
                "Wrote {n} decision to {path} as the round “{name}”.",
                "Wrote {n:,} decisions to {path} as the round “{name}”.",
                self.decisions,
                path=self.path,
                name=self.round,
            )
        ]
        if self.rest is not None:
            words.append(
                ntr(
                    "The document of {n} further decision could not be read: it is in {path}.",
                    "The documents of {n:,} further decisions could not be read: they are in {path}.",
                    self.others,
                    path=self.rest,
                )
            )
        if self.lost:
            words.append(ntr("{n} decision could not be read.", "{n:,} decisions could not be read.", self.lost))
        if self.decisions:
            words.append(tr("To use them, restore a backup and import the file there (People › Rounds)."))
        return " ".join(words)


class BackupStore(Protocol):
    """The backups of one project."""

    @property
    def wanted(self) -> bool:
        """Whether the settings ask for backups."""
        ...

    @property
    def place_warning(self) -> str:
        """A warning if the project and its backups are in one folder, and are lost together; otherwise ''."""
        ...

    def all(self) -> list[Backup]:
        """All backups, newest first."""
        ...

    def make(self, rest: Callable[[], None]) -> Backup | None:
        """Copy the database in steps, calling `rest` between them; an exception from `rest` ends it. None if nothing
        changed since the newest backup.

        Raises UserError if the copy cannot be made, DamagedProjectError if the database is damaged; then all earlier
        backups stay.
        """
        ...

    def newest(self) -> datetime | None:
        """When the newest backup was made; None if there is none."""
        ...

    def check_due(self, now: datetime) -> bool:
        """Whether the project was not checked for a day, or was not closed properly before it was opened."""
        ...

    def check(self, rest: Callable[[], None]) -> Checked:
        """Check the project; `rest` as in `make`."""
        ...
