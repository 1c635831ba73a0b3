"""The one composition root: builds every service of a project from its store and what the services share."""

from __future__ import annotations

import os
from pathlib import Path

from curator import storage
from curator.io.eutils import ADDRESS, Eutils
from curator.io.files import AtomicWriter, moved_text
from curator.io.local_model import LocalModel
from curator.project import Project
from curator.services.core import RelationReader
from curator.services.curating import (
    AttributeService,
    BulkService,
    CurationService,
    GuidelineService,
    NoteService,
    PropagationService,
    RelationService,
    RepeatService,
    StepService,
    Training,
)
from curator.services.importing import FetchService, FileAttributes, ImportList, ImportService
from curator.services.knowledge import (
    BranchService,
    HierarchyService,
    KnowledgeService,
    NilService,
    ProvisionalService,
    RemapService,
    UseService,
)
from curator.services.linking import (
    ContrastService,
    DetectionService,
    OpinionService,
)
from curator.services.ports import JobPort, LinkerPort, Store
from curator.services.queue import (
    AgainService,
    CorpusSearch,
    FacetService,
    HitMaking,
    HoldoutService,
    OrderingService,
    QueueService,
    SavedFilters,
    Seat,
)
from curator.services.records import (
    AuditService,
    DiagnosticsService,
    ExportService,
    InconsistencyService,
    KnowledgeExport,
    ReleaseService,
    StatisticsService,
    StoredEvaluations,
)
from curator.services.rounds import AdjudicationService, AgreementService, RoundFiles, RoundService, repeating_seat
from curator.services.training import (
    BundleSwitch,
    Calibrator,
    EvaluationService,
    IndexBuilder,
    ReplayService,
    RetrainingService,
    Speeds,
    SuspiciousService,
    TrainingRuns,
)
from curator.settings import Settings, load
from curator.shared import Shared, SystemClock, curator_name, document_formats, opinion_options
from resources.recipe_files import CONVENTIONS

__all__ = [
    "Project",
    "SystemClock",
    "create_project",
    "curator_name",
    "document_formats",
    "join",
    "open_project",
    "project_folder",
    "pubmed",
]


def create_project(folder: Path, *, curator: str = "", linker: bool = True) -> Project:
    """Create a project and open it. Raises UserError where the folder exists or cannot be written."""
    name = folder.name.removesuffix(".curation")
    return join(storage.create_project(folder, name=name), load().settings, curator=curator, linker=linker)


def open_project(folder: Path, *, read_only: bool = False, linker: bool = True, curator: str = "") -> Project:
    """Open a project. With `linker` its process starts and links ahead, otherwise it starts at the first request.

    Raises ProjectLockedError, NewerProjectError, UserError.
    """
    return join(storage.open_project(folder, read_only=read_only), load().settings, curator=curator, linker=linker)


def project_folder(path: Path) -> Path:
    """The folder of the project that `path` names. Raises UserError where there is none."""
    return storage.project_folder(path)


def pubmed() -> Eutils:
    """NCBI's E-utilities, or the server in `CURATOR_EUTILS`. The key is in `NCBI_API_KEY` or else in the settings."""
    address = os.environ.get("CURATOR_EUTILS") or ADDRESS
    return Eutils(address, key=lambda: os.environ.get("NCBI_API_KEY") or load().settings.ncbi_api_key)


def join(
    store: Store,
    settings: Settings,
    *,
    curator: str = "",
    linker: bool = True,
    linker_port: LinkerPort | None = None,
    job_port: JobPort | None = None,
) -> Project:
    """The services over an open store; tests pass their own linker and jobs. Closes the store where this fails."""
    try:
        shared = Shared(store, settings, curator=curator, linker=linker_port, jobs=job_port)
        shared.prepare(start=linker)
        return _project(shared)
    except BaseException:
        store.close()
        raise


def _project(shared: Shared) -> Project:
    """Every service, by room, in the order of `Project`. First those that other services use."""
    store, events, clock, curator = shared.store, shared.events, shared.clock, shared.curator
    linker, formats, desk, switch = shared.linker, shared.formats, shared.desk, shared.switch
    writer = AtomicWriter()

    rounds = RoundService(store, linker, events, clock, curator=curator)
    holdout = HoldoutService(store, percent=lambda: load().settings.holdout_percent)
    importing = ImportService(store, formats, events, clock, curator=curator, mover=moved_text)
    related = RelationReader(formats)
    curation = CurationService(store, events, clock, curator=curator, related=related.of)
    attributes = AttributeService(store, events, clock, curator=curator)
    propagation = PropagationService(store, events, clock, curator=curator)
    repeating = RepeatService(store, propagation)
    queue, corpus = QueueService(store, held_out=holdout.among), CorpusSearch(store)
    hits = HitMaking(store, events, clock, curator=curator, round_of=rounds.active)
    hierarchy = HierarchyService(store)
    agreement = AgreementService(store)
    evaluations = StoredEvaluations(store, writer)

    return Project(
        folder=store.folder,
        read_only=store.read_only,
        settings=shared.settings,
        events=events,
        jobs=shared.jobs,
        formats=formats,
        disk=store,
        close=shared.close,
        # importing
        importing=importing,
        imports=ImportList(store, events, clock, curator=curator, mover=moved_text),
        fetching=FetchService(store, importing, pubmed(), writer, clock),
        file_attributes=FileAttributes(store, formats, attributes),
        # queue
        queue=queue,
        seat=_seat(shared, curation, holdout, attributes),
        ordering=OrderingService(store),
        holdout=holdout,
        filters=SavedFilters(store),
        facets=FacetService(store),
        corpus=corpus,
        hits=hits,
        again=AgainService(
            store,
            events,
            clock,
            decisions=(repeating, propagation),
            places=(corpus, hits),
            ids=queue.ids,
            curator=curator,
        ),
        # curating
        curation=curation,
        steps=StepService(store, events, clock, curator=curator, trainings=lambda: _trainings(switch)),
        propagation=propagation,
        repeating=repeating,
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
        detection=DetectionService(store, linker, events, clock, curator=curator),
        # training
        retraining=_retraining(shared),
        evaluation=EvaluationService(desk, keep=evaluations.keep),
        replay=ReplayService(store, events, clock),
        suspicious=SuspiciousService(desk, events, clock, curator=curator),
        # rounds
        rounds=rounds,
        round_files=RoundFiles(store, events, clock, writer, curator=curator),
        adjudication=AdjudicationService(store, events, clock, curator=curator),
        agreement=agreement,
        # records
        statistics=StatisticsService(store, agreement, bundles=switch.all),
        inconsistencies=InconsistencyService(store, events, clock, curator=curator, round_of=rounds.active),
        audit=AuditService(store, writer),
        evaluations=evaluations,
        exporting=ExportService(store, formats, writer),
        kb_export=KnowledgeExport(store, writer),
        release=ReleaseService(store, switch, writer),
        diagnostics=DiagnosticsService(store, linker, switch),
    )


def _seat(shared: Shared, curation: CurationService, holdout: HoldoutService, attributes: AttributeService) -> Seat:
    """The project's own seat, in which some decided mentions are shown a second time."""
    return repeating_seat(
        shared.store,
        curation,
        shared.suggestions,
        shared.clock,
        curator=shared.curator,
        share=lambda: load().settings.asked_again,
        held_out=holdout.among,
        attributes=attributes,
    )


def _retraining(shared: Shared) -> RetrainingService:
    speeds = Speeds(shared.cache)
    runs = TrainingRuns(shared.desk, speeds)
    calibrator = Calibrator(shared.desk, runs)
    return RetrainingService(shared.desk, IndexBuilder(shared.desk, calibrator), calibrator, runs, speeds)


def _trainings(switch: BundleSwitch) -> list[Training]:
    """The linkers that a curator had trained. Indexes and their fitted weights are built without a request."""
    return [Training(it.id, it.created_at) for it in switch.all() if it.parent and it.recipe != CONVENTIONS]
