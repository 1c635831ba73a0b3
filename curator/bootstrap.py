"""The one composition root: builds every service of a project from its store and the shared objects."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from curator.domain.jobs import Progress
from curator.domain.wording import DamagedProjectError, UserError, tr
from curator.io.eutils import ADDRESS, Eutils
from curator.io.files.atomic import AtomicFiles, AtomicWriter
from curator.io.files.moving import moved_text
from curator.io.local_model import LocalModel
from curator.io.web_server import WebAccess, WebServer
from curator.jobs.bundles import FolderBundleStore
from curator.jobs.child import go_on, make_way
from curator.project import Project
from curator.services.core.relation_reading import RelationReader
from curator.services.core.synchronised_folders import WARNED, place_warning
from curator.services.curating.attributes import AttributeService
from curator.services.curating.bulk import BulkService
from curator.services.curating.curation import CurationService
from curator.services.curating.notes import GuidelineService, NoteService
from curator.services.curating.propagation import PropagationService
from curator.services.curating.relations import RelationService
from curator.services.curating.steps import StepService, Training
from curator.services.importing.fetching import FetchService
from curator.services.importing.file_attributes import FileAttributes
from curator.services.importing.importing import ImportService
from curator.services.importing.imports import ImportList
from curator.services.knowledge.branches import BranchService
from curator.services.knowledge.hierarchy import HierarchyService
from curator.services.knowledge.knowledge import KnowledgeService
from curator.services.knowledge.nil_clusters import NilService
from curator.services.knowledge.provisional import ProvisionalService
from curator.services.knowledge.remapping import RemapService
from curator.services.knowledge.uses import UseService
from curator.services.linking.contrast import ContrastService
from curator.services.linking.detection import DetectionService
from curator.services.linking.opinions import OpinionService
from curator.services.linking.reconciliation import ReconciliationService
from curator.services.linking.reconciliation_api import ReconciliationApi
from curator.services.ports.address import ProjectPlace, SharedAddress
from curator.services.ports.processes import JobPort, LinkerPort
from curator.services.ports.safety import Backup, Checked, Finding, Restored, Salvaged
from curator.services.ports.storage import Store
from curator.services.queue.corpus_search import CorpusSearch
from curator.services.queue.facets import FacetService, SavedFilters
from curator.services.queue.hit_making import HitMaking
from curator.services.queue.holdout import HoldoutService
from curator.services.queue.ordering import OrderingService
from curator.services.queue.queue import QueueService
from curator.services.queue.seat import Seat
from curator.services.records.audit import AuditService
from curator.services.records.diagnostics import DiagnosticsService
from curator.services.records.exporting import ExportService
from curator.services.records.inconsistencies import InconsistencyService
from curator.services.records.kb_export import KnowledgeExport
from curator.services.records.release import ReleaseService
from curator.services.records.statistics import StatisticsService
from curator.services.records.stored_evaluations import StoredEvaluations
from curator.services.rounds.adjudication import AdjudicationService
from curator.services.rounds.agreement import AgreementService
from curator.services.rounds.round_file import RoundFiles
from curator.services.rounds.rounds import RoundService
from curator.services.training.bundles import BundleSwitch
from curator.services.training.calibration import Calibrator
from curator.services.training.evaluation import EvaluationService
from curator.services.training.indexing import IndexBuilder
from curator.services.training.replay import ReplayService
from curator.services.training.retraining import RetrainingService
from curator.services.training.suspicious import SuspiciousService
from curator.services.training.training_runs import TrainingRuns
from curator.settings.file import load
from curator.settings.schema import Settings
from curator.settings.state import read_state, write_state
from curator.shared import (
    BUNDLES,
    Shared,
    SystemClock,
    backup_root,
    curator_name,
    document_formats,
    opinion_options,
    roles,
)
from curator.storage import project as storage
from curator.storage.project import project_folder
from curator.storage.safety import backups, restoring
from curator.storage.safety import salvage as salvaging
from curator.storage.safety.checking import check_steps
from resources.recipe_files import CONVENTIONS

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


def pubmed() -> Eutils:
    """NCBI's E-utilities, or the server in `CURATOR_EUTILS`. The key is in `NCBI_API_KEY` or else in the settings."""
    address = os.environ.get("CURATOR_EUTILS") or ADDRESS
    return Eutils(address, key=lambda: os.environ.get("NCBI_API_KEY") or load().settings.ncbi_api_key)


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
        shared = Shared(store, settings, curator=curator, linker=linker_port, jobs=job_port)
    except BaseException:
        store.close()
        raise
    try:
        shared.prepare(start=linker)
        return _project(shared)
    except BaseException:
        shared.close()
        raise


def _project(shared: Shared) -> Project:
    """Every service, by room, in the order of `Project`; services that others use come first."""
    store, events, clock, curator = shared.store, shared.events, shared.clock, shared.curator
    linker, formats, desk, switch = shared.linker, shared.formats, shared.desk, shared.switch
    rounds = RoundService(store, linker, events, clock, curator=curator)
    writer, holdout = AtomicWriter(), HoldoutService(store, percent=lambda: load().settings.holdout_percent)
    importing = ImportService(store, formats, events, clock, curator=curator, mover=moved_text)
    related, attributes = RelationReader(formats), AttributeService(store, events, clock, curator=curator)
    curation = CurationService(store, events, clock, curator=curator, related=related.of)
    propagation = PropagationService(store, events, clock, curator=curator)
    evaluations = StoredEvaluations(store, writer)
    queue, corpus = QueueService(store, held_out=holdout.among), CorpusSearch(store)
    hits = HitMaking(store, events, clock, curator=curator, round_of=rounds.active)
    hierarchy, agreement = HierarchyService(store), AgreementService(store)

    return Project(
        place=store.place,
        folder=store.folder,
        read_only=store.read_only,
        role=store.role,
        person=store.person,
        settings=shared.settings,
        events=events,
        jobs=shared.jobs,
        formats=formats,
        disk=store,
        close=shared.close,
        place_warning=partial(place_warning, store, partial(read_state, WARNED), partial(write_state, WARNED)),
        make_way=make_way,
        go_on=go_on,
        # importing
        importing=importing,
        imports=ImportList(store, events, clock, curator=curator, mover=moved_text),
        fetching=FetchService(store, importing, pubmed(), writer, clock),
        file_attributes=FileAttributes(store, formats, events, attributes),
        # queue
        queue=queue,
        seat=Seat(queue, queue.under, curation, shared.suggestions, editing=curation, attributes=attributes),
        ordering=OrderingService(store),
        holdout=holdout,
        filters=SavedFilters(store),
        facets=FacetService(store),
        corpus=corpus,
        hits=hits,
        team=shared.team,
        # curating
        curation=curation,
        steps=StepService(store, events, clock, curator=curator, trainings=lambda: _trainings(switch)),
        propagation=propagation,
        bulk=BulkService(store, events, clock, curator=curator),
        attributes=attributes,
        relations=RelationService(store, events, clock, related, curator=curator),
        notes=NoteService(store, events, clock, curator=curator),
        guidelines=GuidelineService(store),
        efforts=shared.efforts,
        # knowledge
        knowledge=KnowledgeService(store, events, curator=curator),
        hierarchy=hierarchy,
        branches=BranchService(store, events, hierarchy, curator=curator),
        nils=NilService(store),
        provisional=ProvisionalService(store, events, clock, curator=curator, round_of=rounds.active),
        remapping=RemapService(store, events, clock, curator=curator, round_of=rounds.active),
        uses=UseService(store, events, clock, curator=curator, round_of=rounds.active),
        # linking
        suggestions=shared.suggestions,
        contrasts=ContrastService(store, linker),
        opinions=OpinionService(store, LocalModel(), events, clock, options=opinion_options),
        detection=DetectionService(
            store, linker, shared.bundles, shared.memory, shared.jobs, events, clock, curator=curator
        ),
        reconciliation=ReconciliationService(store, linker, shared.bundles),
        # training
        retraining=_retraining(shared),
        evaluation=EvaluationService(desk, keep=evaluations.keep),
        replay=ReplayService(store, events, clock),
        suspicious=SuspiciousService(desk, events, clock, curator=curator),
        # rounds
        rounds=rounds,
        round_files=RoundFiles(store, events, clock, writer, curator=curator),
        adjudication=AdjudicationService(store, events, clock, curator=curator, related=related.of),
        agreement=agreement,
        # records
        statistics=StatisticsService(store, agreement, bundles=switch.all),
        inconsistencies=InconsistencyService(store, events, clock, curator=curator, round_of=rounds.active),
        audit=AuditService(store, writer),
        backups=shared.backups,
        evaluations=evaluations,
        exporting=ExportService(store, formats, writer),
        kb_export=KnowledgeExport(store, writer),
        release=ReleaseService(store, switch, writer),
        diagnostics=DiagnosticsService(store, linker, switch),
    )


def _retraining(shared: Shared) -> RetrainingService:
    runs = TrainingRuns(shared.desk)
    calibrator = Calibrator(shared.desk, runs)
    return RetrainingService(shared.desk, IndexBuilder(shared.desk, calibrator), calibrator, runs)


def _trainings(switch: BundleSwitch) -> list[Training]:
    """The linkers trained on request. Indexes and their fitted weights are built without a request."""
    return [Training(it.id, it.created_at) for it in switch.all() if it.parent and it.recipe != CONVENTIONS]
