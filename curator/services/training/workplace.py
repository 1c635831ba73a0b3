"""Folders for jobs, and the options of every job."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from curator.domain.wording import UserError, localised, tr
from curator.foreign_files import read_small
from curator.services.ports.processes import BundleStore, JobPort
from curator.services.ports.storage import Role, Store
from curator.services.training.bundles import BundleSwitch
from curator.services.training.snapshots import INDEX
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


# The folder of a running or interrupted training: `bundles/.training/ID/` in the project.
#
# The folder holds `spec.json` (the job's specification without paths), `snapshot/` (its immutable input) and
# `checkpoints/`, which the job keeps to resume from. It is removed when the training is done or cancelled, and stays
# when its process or the computer dies.

FOLDER = ".training"
SPEC = "spec.json"
SNAPSHOT = "snapshot"
CHECKPOINTS = "checkpoints"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InterruptedTraining:
    """A training that can be resumed. `reached` is when its state was last saved; None: it starts again with the same
    decisions. `base` is the id of the bundle it started from."""

    id: str
    recipe: str
    began: datetime
    base: str
    kb_hash: str
    folder: Path
    reached: datetime | None = None
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """A sentence for display."""
        began = localised(self.began.astimezone(), "%d %b %Y, %H:%M")
        if self.reached is None:
            return tr(
                "The training with {recipe} that started on {began} was interrupted before it had saved "
                "a state; it starts over with the same decisions.",
                recipe=self.recipe,
                began=began,
            )
        return tr(
            "The training with {recipe} that started on {began} was interrupted; it resumes from the "
            "state saved on {reached}.",
            recipe=self.recipe,
            began=began,
            reached=localised(self.reached.astimezone(), "%d %b %Y, %H:%M"),
        )


class TrainingFolders:
    """The working folders of one project's trainings."""

    def __init__(self, project: Path, *, read_only: bool) -> None:
        self._folder = project / "bundles" / FOLDER
        self._read_only = read_only
        self._live: set[str] = set()

    @property
    def busy(self) -> bool:
        """Whether a training of this process is running."""
        return bool(self._live)

    def new(self, spec: Mapping[str, Any]) -> Path:
        """A folder for a new training, with its specification, `base` and `kb_hash`.

        Raises UserError if nothing can be written.
        """
        folder = self._folder / secrets.token_hex(6)
        try:
            self._remove_incomplete()
            folder.mkdir(parents=True)
            began = datetime.now(UTC).isoformat(timespec="seconds")
            _write(folder / SPEC, {**spec, "began": began})
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise UserError(
                tr(
                    "No folder for the training can be created in {folder} ({strerror}). Check the "
                    "folder's permissions and the free disk space, then start it again.",
                    folder=self._folder,
                    strerror=error.strerror,
                )
            ) from error
        self._live.add(folder.name)
        return folder

    def take_up(self, training: InterruptedTraining) -> None:
        """Mark the training as running again."""
        self._live.add(training.id)

    def ended(self, folder: Path, *, keep: bool) -> None:
        """Mark the training as ended; with `keep` it can be resumed."""
        self._live.discard(folder.name)
        if not keep:
            self._remove(folder)

    def discard(self, training_id: str) -> None:
        if training_id not in self._live and Path(training_id).name == training_id:
            self._remove(self._folder / training_id)

    def interrupted(self) -> list[InterruptedTraining]:
        """Newest first. Empty in a read-only project, in which another process may be training."""
        found = [] if self._read_only else [one for path in self._all() if (one := _readable(path)) is not None]
        return sorted((one for one in found if one.id not in self._live), key=lambda one: one.began, reverse=True)

    def clean(self) -> None:
        """Remove leftovers of a killed process's trainings that cannot be resumed. If that fails they stay."""
        with contextlib.suppress(OSError):
            self._remove_incomplete()
            self._folder.rmdir()  # fails while there is a resumable one

    def _all(self) -> list[Path]:
        """The folders of all trainings; none, and nothing is removed, if the disk does not list them. A training that
        ends in another thread may remove the parent folder."""
        try:
            return list(self._folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            log.warning("the interrupted trainings in %s cannot be listed: %s", self._folder, error)
            return []

    def _remove(self, folder: Path) -> None:
        """Remove the folder, and the parent folder with the last one."""
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    def _remove_incomplete(self) -> None:
        """Remove trainings interrupted before their input was written, which cannot be resumed."""
        for path in self._all():
            if path.name not in self._live and _is_incomplete(path):
                shutil.rmtree(path, ignore_errors=True)


def has_state(folder: Path) -> bool:
    """Whether the job saved a state to resume from."""
    return reached(folder) is not None


def _is_incomplete(folder: Path) -> bool:
    """Whether its specification or input is missing or damaged. False if the disk does not give it: it may hold the
    state of a long training."""
    try:
        return _read(folder) is None
    except OSError:
        return False


def _readable(folder: Path) -> InterruptedTraining | None:
    """The training; None if it is incomplete, or if the disk does not give it, asked twice."""
    for _ in range(2):
        try:
            return _read(folder)
        except OSError as error:
            log.warning("the interrupted training %s cannot be read: %s", folder, error)
    return None


def _read(folder: Path) -> InterruptedTraining | None:
    """The training; None if its specification or input is incomplete. Raises OSError."""
    try:
        spec = json.loads(read_small(folder / SPEC))
        began = datetime.fromisoformat(spec["began"])
        recipe, base, kb_hash = str(spec["recipe"]), str(spec["base"]), str(spec["kb_hash"])
        dict(spec["parameters"]), str(spec["device"])  # what it needs to continue
        files = json.loads(read_small(folder / SNAPSHOT / INDEX))["files"]
        if not all((folder / SNAPSHOT / name).is_file() for name in files):  # after a power failure
            return None
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return InterruptedTraining(folder.name, recipe, began, base, kb_hash, folder, reached(folder), spec)


def reached(folder: Path) -> datetime | None:
    """When the newest checkpoint was written; its JSON is written last."""
    written = [one.stat().st_mtime for one in (folder / CHECKPOINTS).glob("[0-9]*.json")]
    return datetime.fromtimestamp(max(written), UTC) if written else None


def _write(path: Path, raw: Mapping[str, Any]) -> None:
    """Written to a temporary file, flushed, then renamed."""
    beside = path.with_name(f".{path.name}")
    with beside.open("w", encoding="utf-8") as out:
        json.dump(raw, out, ensure_ascii=False)
        out.flush()
        os.fsync(out.fileno())
    beside.replace(path)
