"""The one composition root: joins storage, files, child processes and services to a `Project`."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from curator import storage
from curator.io import default_registry
from curator.io.eutils import ADDRESS, Eutils
from curator.io.files import AtomicWriter, moved_text
from curator.io.local_model import LocalModel
from curator.io.tables import ColumnMemory
from curator.jobs import FolderBundleStore, JobRunner, LinkerOptions, LinkerProcess
from curator.services.core import EventBus
from curator.services.curating import (
    AttributeService,
    BulkService,
    CurationService,
    EffortService,
    GuidelineService,
    NoteService,
    PropagationService,
    RelationReader,
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
    EntityTeacher,
    MemoryService,
    OpinionOptions,
    OpinionService,
    SuggestionService,
)
from curator.services.ports import Disk, FormatRegistry, JobPort, LinkerPort, Store
from curator.services.queue import (
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
    log_folder,
)
from curator.services.rounds import AdjudicationService, AgreementService, RoundFiles, RoundService, repeating_seat
from curator.services.training import (
    BundleSwitch,
    Calibrator,
    EvaluationService,
    IndexBuilder,
    JobDesk,
    JobOptions,
    ReplayService,
    RetrainingService,
    Speeds,
    SuspiciousService,
    TrainingRuns,
    Workplace,
)
from curator.settings import Settings, config_folder, load
from resources.recipe_files import CONVENTIONS

BUNDLES = "bundles"
TABLE_COLUMNS = "table-columns.json"


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Project:
    """An open project: what the window and the command line hold. `close()` ends its processes and frees the lock."""

    folder: Path
    read_only: bool
    settings: Settings
    events: EventBus
    queue: QueueService
    notes: NoteService
    attributes: AttributeService
    file_attributes: FileAttributes
    relations: RelationService
    holdout: HoldoutService
    guidelines: GuidelineService
    filters: SavedFilters
    facets: FacetService
    ordering: OrderingService
    corpus: CorpusSearch
    hits: HitMaking
    curation: CurationService
    propagation: PropagationService
    steps: StepService
    repeating: RepeatService
    bulk: BulkService
    efforts: EffortService
    knowledge: KnowledgeService
    hierarchy: HierarchyService
    branches: BranchService
    nils: NilService
    provisional: ProvisionalService
    remapping: RemapService
    uses: UseService
    importing: ImportService
    imports: ImportList
    fetching: FetchService
    detection: DetectionService
    suggestions: SuggestionService
    contrasts: ContrastService
    opinions: OpinionService
    retraining: RetrainingService
    evaluation: EvaluationService
    evaluations: StoredEvaluations
    exporting: ExportService
    replay: ReplayService
    rounds: RoundService
    round_files: RoundFiles
    agreement: AgreementService
    statistics: StatisticsService
    adjudication: AdjudicationService
    inconsistencies: InconsistencyService
    audit: AuditService
    release: ReleaseService
    kb_export: KnowledgeExport
    suspicious: SuspiciousService
    seat: Seat
    diagnostics: DiagnosticsService
    jobs: JobPort
    formats: FormatRegistry
    disk: Disk
    close: Callable[[], None]

    def people(self) -> list[str]:
        """Names of those who decided or judged in the project."""
        return self.rounds.people()

    def save_text(self, path: Path, text: str) -> None:
        """Write a text file whole. Raises UserError; then nothing was changed."""
        AtomicWriter().write({path: text.encode("utf-8", "surrogatepass")})

    @property
    def name(self) -> str:
        return self.folder.name.removesuffix(".curation")


def create_project(folder: Path, *, curator: str = "", linker: bool = True) -> Project:
    """Create a project and open it. Raises UserError where the folder exists or cannot be written."""
    name = folder.name.removesuffix(".curation")
    return join(storage.create_project(folder, name=name), load().settings, curator=curator, linker=linker)


def open_project(folder: Path, *, read_only: bool = False, linker: bool = True, curator: str = "") -> Project:
    """Open a project; with `linker` its process starts and links ahead, without it only when something is asked.

    Raises ProjectLockedError, NewerProjectError, UserError.
    """
    return join(storage.open_project(folder, read_only=read_only), load().settings, curator=curator, linker=linker)


def document_formats() -> FormatRegistry:
    """The formats that can be read and written, before a project is open."""
    return default_registry(ColumnMemory(config_folder() / TABLE_COLUMNS))


def project_folder(path: Path) -> Path:
    """The folder of the project that `path` names. Raises UserError where there is none."""
    return storage.project_folder(path)


def join(
    store: Store,
    settings: Settings,
    *,
    curator: str = "",
    linker: bool = True,
    linker_port: LinkerPort | None = None,
    job_port: JobPort | None = None,
) -> Project:
    """The services over an open store; tests hand in their own linker and jobs."""
    try:
        joined = _Joined(store, settings, curator, linker_port, job_port)
        joined.prepare(start=linker)
        return joined.project()
    except BaseException:
        store.close()
        raise


def pubmed() -> Eutils:
    """NCBI's E-utilities, or where `CURATOR_EUTILS` says; the key is `NCBI_API_KEY`'s or else the setting."""
    address = os.environ.get("CURATOR_EUTILS") or ADDRESS
    return Eutils(address, key=lambda: os.environ.get("NCBI_API_KEY") or load().settings.ncbi_api_key)


def opinion_options() -> OpinionOptions:
    """As the settings say now."""
    now = load().settings
    return OpinionOptions(
        use=now.opinion_use,
        address=now.opinion_address,
        model=now.opinion_model,
        key=now.opinion_key,
        place=now.opinion_place,
        below=now.opinion_below / 100,
        margin=now.opinion_margin / 100,
        seconds=now.opinion_seconds,
    )


def curator_name(settings: Settings, given: str = "") -> str:
    """Who decides: as given, from the settings, or the user's name on this computer."""
    if given.strip() or settings.curator_name.strip():
        return given.strip() or settings.curator_name.strip()
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no user name in a bare container
        return "curator"


class _Joined:
    """Holds what several services share while they are put together."""

    def __init__(
        self, store: Store, settings: Settings, curator: str, linker: LinkerPort | None, jobs: JobPort | None
    ) -> None:
        self.store = store
        self.settings = settings
        self.curator = lambda: curator_name(load().settings, curator)
        self.events = EventBus()
        self.clock = SystemClock()
        self.formats = document_formats()
        self.cache = _cache_folder(settings)
        self.linker = linker or LinkerProcess(
            log_folder(), LinkerOptions(settings.device.value, settings.threads, str(self.cache))
        )
        self.jobs = jobs or JobRunner(log_folder())
        self.bundles = FolderBundleStore(store.folder / BUNDLES)
        self.switch = BundleSwitch(store, self.bundles, self.events, curator=self.curator)
        self.workplace = Workplace(store.folder, read_only=store.read_only)
        self.desk = JobDesk(store, self.jobs, self.bundles, self.switch, self.workplace, self._options)
        self.suggestions = SuggestionService(
            store, self.linker, self.bundles, self.events, ahead=lambda: settings.link_ahead
        )
        self.efforts = EffortService(store)
        self.teacher = EntityTeacher(store, self.linker, self.events, learnt=self.suggestions.memory_changed)
        self.memory = MemoryService(store, self.linker, self.events, learnt=self.suggestions.memory_changed)

    def prepare(self, *, start: bool) -> None:
        """Clear away what a killed process left; with `start` begin to link ahead."""
        if not self.store.read_only:  # we hold the lock: what a killed process left is nobody's
            self.bundles.clean()
            self.workplace.clean()
        if start:
            self.teacher.start()  # first, so that no answer lacks the project's own entities
            self.memory.start()  # before the suggestions, so that it is asked first
            self.suggestions.start()

    def project(self) -> Project:
        store, events, clock, curator = self.store, self.events, self.clock, self.curator
        rounds = RoundService(store, self.linker, events, clock, curator=curator)
        holdout = HoldoutService(store, percent=lambda: load().settings.holdout_percent)
        importing = ImportService(store, self.formats, events, clock, curator=curator, mover=moved_text)
        propagation = PropagationService(store, events, clock, curator=curator)
        related = RelationReader(self.formats)
        curation = CurationService(store, events, clock, curator=curator, related=related.of)
        hierarchy = HierarchyService(store)
        attributes = AttributeService(store, events, clock, curator=curator)
        return Project(
            folder=store.folder,
            read_only=store.read_only,
            settings=self.settings,
            events=events,
            queue=QueueService(store, held_out=holdout.among),
            attributes=attributes,
            file_attributes=FileAttributes(store, self.formats, attributes),
            notes=NoteService(store, events, clock, curator=curator),
            relations=RelationService(store, events, clock, related, curator=curator),
            holdout=holdout,
            guidelines=GuidelineService(store),
            filters=SavedFilters(store),
            facets=FacetService(store),
            ordering=OrderingService(store),
            corpus=CorpusSearch(store),
            hits=HitMaking(store, events, clock, curator=curator, round_of=rounds.active),
            curation=curation,
            propagation=propagation,
            repeating=RepeatService(store, propagation),
            steps=StepService(store, events, clock, curator=curator, trainings=self._trainings),
            bulk=BulkService(store, events, clock, curator=curator),
            efforts=self.efforts,
            knowledge=KnowledgeService(store, events, curator=curator),
            hierarchy=hierarchy,
            branches=BranchService(store, events, hierarchy, curator=curator),
            nils=NilService(store),
            provisional=ProvisionalService(store, events, clock, curator=curator, round_of=rounds.active),
            remapping=RemapService(store, events, clock, curator=curator, round_of=rounds.active),
            uses=UseService(store, events, clock, curator=curator, round_of=rounds.active),
            importing=importing,
            imports=ImportList(store, events, clock, curator=curator, mover=moved_text),
            fetching=FetchService(store, importing, pubmed(), AtomicWriter(), clock),
            detection=DetectionService(store, self.linker, events, clock, curator=curator),
            suggestions=self.suggestions,
            contrasts=ContrastService(store, self.linker),
            opinions=OpinionService(store, LocalModel(), events, clock, options=opinion_options),
            retraining=self._retraining(),
            evaluations=(evaluations := StoredEvaluations(store, AtomicWriter())),
            evaluation=EvaluationService(self.desk, keep=evaluations.keep),
            exporting=ExportService(store, self.formats, AtomicWriter()),
            replay=ReplayService(store, events, clock),
            rounds=rounds,
            round_files=RoundFiles(store, events, clock, AtomicWriter(), curator=curator),
            agreement=AgreementService(store),
            statistics=StatisticsService(store, AgreementService(store), bundles=self.switch.all),
            adjudication=AdjudicationService(store, events, clock, curator=curator),
            inconsistencies=InconsistencyService(store, events, clock, curator=curator, round_of=rounds.active),
            audit=AuditService(store, AtomicWriter()),
            release=ReleaseService(store, self.switch, AtomicWriter()),
            kb_export=KnowledgeExport(store, AtomicWriter()),
            suspicious=SuspiciousService(self.desk, events, clock, curator=curator),
            seat=self._seat(curation, holdout, attributes),
            diagnostics=DiagnosticsService(store, self.linker, self.switch),
            jobs=self.jobs,
            formats=self.formats,
            disk=store,
            close=self._close,
        )

    def _seat(self, curation: CurationService, holdout: HoldoutService, attributes: AttributeService) -> Seat:
        return repeating_seat(
            self.store,
            curation,
            self.suggestions,
            self.clock,
            curator=self.curator,
            share=lambda: load().settings.asked_again,
            held_out=holdout.among,
            attributes=attributes,
        )

    def _trainings(self) -> list[Training]:
        """The linkers that a curator had trained; indexes and their fitted weights are made without being asked."""
        return [Training(it.id, it.created_at) for it in self.switch.all() if it.parent and it.recipe != CONVENTIONS]

    def _retraining(self) -> RetrainingService:
        runs = TrainingRuns(self.desk, speeds := Speeds(self.cache))
        calibrator = Calibrator(self.desk, runs)
        return RetrainingService(self.desk, IndexBuilder(self.desk, calibrator), calibrator, runs, speeds)

    def _options(self) -> JobOptions:
        """The current settings, which apply to a job at its next start."""
        now = load().settings
        place = (now.device.value, now.threads, now.encoder_folder, str(self.cache))
        kind, lexical, precision = now.index_kind.value, now.lexical_list.value, now.number_format.value
        return JobOptions(*place, index=kind, lexical=lexical, precision=precision)

    def _close(self) -> None:
        self.efforts.flush()
        self.teacher.close()
        self.memory.close()
        self.suggestions.close()
        self.jobs.close()
        self.linker.close()
        self.store.close()


def _cache_folder(settings: Settings) -> Path:
    return Path(os.environ.get("CURATOR_CACHE") or settings.cache_folder or platformdirs.user_cache_dir("curator"))
