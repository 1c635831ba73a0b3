"""Folders for jobs, and the options of every job."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator.domain.wording import UserError, tr
from curator.services.ports.processes import BundleStore, JobPort
from curator.services.ports.storage import Role, Store
from curator.services.training.bundles import BundleSwitch
from curator.services.training.unfinished import TrainingFolders
from curator.temporary import prefix_of

BULK = "bulk-evaluations"
"""The project's folder for evaluations that are linked on Ray."""


@dataclass(frozen=True, slots=True)
class JobOptions:
    """`device` is auto, cpu or cuda; `threads` 0 leaves the choice to the library; '' means the default.

    `index` is the kind of index: auto, flat, sq8 or pq4; `lexical` the lists for search by spelling:
    characters, merged or bm25; `precision` the number format in which names are encoded: auto, fp32, bf16 or fp16.
    """

    device: str = "auto"
    threads: int = 0
    encoder: str = ""
    cache: str = ""
    index: str = "auto"
    precision: str = "fp32"
    lexical: str = "characters"

    def spec(self) -> dict[str, Any]:
        """The part of a job's specification common to all kinds."""
        return {"device": self.device, "threads": self.threads, "cache": self.cache}


NOT_TRAINING = (
    "Your login has the role of a curator in {place}. Adjudicators and owners build and train its linkers: ask one of "
    "them."
)


class Workplace:
    """`jobs/` in the project's folder, or the system's temporary folder for a read-only project."""

    def __init__(self, project: Path, *, read_only: bool) -> None:
        self._folder = project / "jobs"
        self._read_only = read_only

    @property
    def bulk(self) -> Path:
        """The folder of documents and answers of an evaluation on Ray until its end, even for a read-only project: the
        next equal evaluation resumes there."""
        return self._folder.parent / BULK

    def new_folder(self) -> Path:
        """A new folder. Raises UserError if nothing can be written."""
        try:
            if self._read_only:
                return Path(tempfile.mkdtemp(prefix=prefix_of("job")))
            folder = self._folder / secrets.token_hex(6)
            folder.mkdir(parents=True)
        except OSError as error:
            raise UserError(
                tr(
                    "No folder for the job can be created in {folder} ({strerror}). Check the folder's "
                    "permissions and the free disk space.",
                    folder=self._folder,
                    strerror=error.strerror,
                )
            ) from error
        return folder

    def remove(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    def clean(self) -> None:
        """Remove leftovers of a killed process; called only by the holder of the project's lock."""
        if not self._read_only:
            shutil.rmtree(self._folder, ignore_errors=True)
            TrainingFolders(self._folder.parent, read_only=False).clean()


# Shared by the services that start jobs.


@dataclass(frozen=True, slots=True)
class JobDesk:
    """`options` are read at each start, so that changed settings apply to the next job."""

    store: Store
    jobs: JobPort
    bundles: BundleStore
    switch: BundleSwitch
    workplace: Workplace
    options: Callable[[], JobOptions]

    def require_role(self) -> None:
        """Raises UserError if the login may not put linkers into a shared project, before anything is computed."""
        if self.store.role is Role.CURATOR:
            raise UserError(tr(NOT_TRAINING, place=self.store.place))
