"""Creates, opens, moves, checks and restores projects."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from curator.domain.jobs import Progress
from curator.domain.wording import DamagedProjectError, UserError, tr
from curator.io.files.atomic import AtomicFiles, AtomicWriter
from curator.io.web_server import WebAccess, WebServer
from curator.jobs.bundles import FolderBundleStore
from curator.project import (
    BUNDLES,
    Project,
    SystemClock,
    backup_root,
    curator_name,
    document_formats,
    pubmed,
    roles,
)
from curator.services.linking.reconciliation import ReconciliationApi
from curator.services.ports.address import ProjectPlace, SharedAddress
from curator.services.ports.processes import JobPort, LinkerPort
from curator.services.ports.safety import Backup, Checked, Finding, Restored, Salvaged
from curator.services.ports.storage import Store
from curator.settings.file import load
from curator.settings.schema import Settings
from curator.storage import project as storage
from curator.storage.project import project_folder
from curator.storage.safety import backups, restoring
from curator.storage.safety import salvage as salvaging
from curator.storage.safety.checking import check_steps

ON_SERVER = (
    "{address} is a shared project, which its server keeps and backs up. This command is for projects in folders; ask "
    "whoever runs the server for a backup or a check."
)
LINKER = "The linker {linker} is damaged: {file}, {reason}. Rebuild the index, or put another linker into use."

__all__ = [
    "AtomicFiles",
    "AtomicWriter",
    "Project",
    "SystemClock",
    "backups_of",
    "check_project",
    "continue_without",
    "create_project",
    "curator_name",
    "damaged_folder",
    "document_formats",
    "join",
    "move_project",
    "open_project",
    "project_folder",
    "pubmed",
    "reconciliation_server",
    "restore_project",
    "roles",
    "salvage_decisions",
]


def create_project(place: ProjectPlace, *, name: str = "", curator: str = "", linker: bool = True) -> Project:
    """Create a project and open it; its name is the folder's. Raises UserError if the folder exists or is not writable,
    or if the database is not empty."""
    store: Store
    if isinstance(place, SharedAddress):
        from curator.storage.team.project import create_shared_project  # folders do not need it

        store = create_shared_project(place, name=name)
    else:
        store = storage.create_project(place, name=place.name.removesuffix(".curation"))
    return join(store, load().settings, curator=curator, linker=linker)


def open_project(
    place: ProjectPlace, *, read_only: bool = False, linker: bool = True, curator: str = "", lacking: bool = False
) -> Project:
    """Open a project. With `linker` its process starts now and links ahead, otherwise it starts at the first request.
    `lacking`: also if saved steps are missing.

    Raises ProjectLockedError, NewerProjectError, MissingStepsError, DamagedProjectError, which name the newest backup,
    and UserError.
    """
    store: Store
    if isinstance(place, SharedAddress):
        from curator.storage.team.project import open_shared_project  # folders do not need it

        store = open_shared_project(place, read_only=read_only)
        return join(store, load().settings, curator=curator, linker=linker)
    try:
        store = storage.open_project(place, read_only=read_only, lacking=lacking)
    except OSError as error:  # a network folder that does not answer
        where, why = error.filename or place, error.strerror or error
        raise UserError(tr("cannot read {path}: {strerror}", path=where, strerror=why)) from error
    except DamagedProjectError as error:
        raise type(error)(f"{error} {backups.way_out(storage.named_folder(place), backup_root())}") from error
    return join(store, load().settings, curator=curator, linker=linker)


def move_project(source: ProjectPlace, target: ProjectPlace) -> Mapping[str, int]:
    """Copy the project from a folder into a database or back. Raises UserError; then nothing is at the target."""
    from curator.storage.team.moving import move

    rows: Mapping[str, int] = move(source, target)
    return rows


def _folder(place: ProjectPlace) -> Path:
    """Raises UserError for a shared project."""
    if isinstance(place, SharedAddress):
        raise UserError(tr(ON_SERVER, address=place))
    return place


def damaged_folder(path: Path) -> Path:
    """The project's folder, even without its database. Raises UserError if there is no folder."""
    try:
        return storage.project_folder(path)
    except DamagedProjectError:
        return storage.named_folder(path)


def backups_of(place: ProjectPlace) -> list[Backup]:
    """A folder's backups, also of damaged ones: first those of its location, newest first. Raises UserError."""
    return backups.backups_of(storage.named_folder(_folder(place)), backup_root())


def check_project(place: ProjectPlace) -> Generator[Progress, None, Checked]:
    """Check a project for damage without changing anything. Raises UserError if it is not a project."""
    folder = damaged_folder(_folder(place))
    found = yield from check_steps(folder)
    findings = list(found.findings)
    linkers = 0
    for linker, file, reason in FolderBundleStore(folder / BUNDLES).altered():
        if file:
            findings.append(Finding(f"linker {linker}", tr(LINKER, linker=linker, file=file, reason=reason)))
        else:
            linkers += 1
            yield Progress("check", 0, 0, linker)
    return replace(found, findings=tuple(findings), looked_at={**found.looked_at, "linkers": linkers})


def restore_project(place: ProjectPlace, backup: Backup) -> Restored:
    """Replace the database by a backup; the database is kept under another name. Raises UserError."""
    return restoring.restore(storage.named_folder(_folder(place)), backup)


def continue_without(place: ProjectPlace) -> None:
    """Accept a project that lacks steps. Raises UserError."""
    restoring.continue_without(storage.named_folder(_folder(place)))


def salvage_decisions(place: ProjectPlace, out: Path) -> Salvaged:
    """Write all readable decisions to a round file. Raises UserError."""
    return salvaging.salvage(damaged_folder(_folder(place)), out, files=AtomicWriter())


def reconciliation_server(project: Project, *, host: str, port: int, token: str, origins: Sequence[str]) -> WebServer:
    """The reconciliation server for other programs, after `project.reconciliation` was started. Raises UserError."""
    api = ReconciliationApi(project.reconciliation, project.knowledge, name=project.name)
    return WebServer(api.answer, WebAccess(token, tuple(origins)), host=host, port=port)


def join(
    store: Store,
    settings: Settings,
    *,
    curator: str = "",
    linker: bool = True,
    linker_port: LinkerPort | None = None,
    job_port: JobPort | None = None,
) -> Project:
    """The services over an open store; tests pass their own linker and jobs. Closes the store if this fails."""
    try:
        project = Project(store, settings, curator=curator, linker=linker_port, jobs=job_port)
    except BaseException:
        store.close()
        raise
    try:
        project.prepare(start=linker)
    except BaseException:
        project.close()
        raise
    return project
