"""What an open project offers: one attribute per service, in the order of the rooms of `curator/services/`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from curator.io.files import AtomicWriter
from curator.services.core import EventBus
from curator.services.curating import (
    AttributeService,
    BulkService,
    CurationService,
    EffortService,
    GuidelineService,
    NoteService,
    PropagationService,
    RelationService,
    RepeatService,
    StepService,
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
    ReconciliationService,
    SuggestionService,
)
from curator.services.ports import Disk, FormatRegistry, JobPort, ProjectPlace, Role
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
    TeamService,
)
from curator.services.records import (
    AuditService,
    BackupService,
    DiagnosticsService,
    ExportService,
    InconsistencyService,
    KnowledgeExport,
    ReleaseService,
    StatisticsService,
    StoredEvaluations,
)
from curator.services.rounds import AdjudicationService, AgreementService, RoundFiles, RoundService
from curator.services.training import EvaluationService, ReplayService, RetrainingService, SuspiciousService
from curator.settings import Settings


@dataclass(frozen=True, slots=True)
class Project:
    """An open project: used by the window and the command line. `close()` ends its processes and releases the lock.

    `place` is its path or address; `folder` is the same, or, for a shared project, the folder on this computer.
    """

    place: ProjectPlace
    folder: Path
    read_only: bool
    role: Role
    person: str
    """The name as which the login of a shared project decides; '' if it may choose one."""
    settings: Settings
    events: EventBus
    jobs: JobPort
    formats: FormatRegistry
    disk: Disk
    close: Callable[[], None]
    place_warning: Callable[[], str]
    make_way: Callable[[], None]
    """Lets the processes of this program stand still while a key is handled."""
    go_on: Callable[[], None]
    """The key is painted."""

    # importing
    importing: ImportService
    imports: ImportList
    fetching: FetchService
    file_attributes: FileAttributes

    # queue
    queue: QueueService
    seat: Seat
    ordering: OrderingService
    holdout: HoldoutService
    filters: SavedFilters
    facets: FacetService
    corpus: CorpusSearch
    hits: HitMaking
    team: TeamService
    again: AgainService

    # curating
    curation: CurationService
    steps: StepService
    propagation: PropagationService
    repeating: RepeatService
    bulk: BulkService
    attributes: AttributeService
    relations: RelationService
    notes: NoteService
    guidelines: GuidelineService
    efforts: EffortService

    # knowledge
    knowledge: KnowledgeService
    hierarchy: HierarchyService
    branches: BranchService
    nils: NilService
    provisional: ProvisionalService
    remapping: RemapService
    uses: UseService

    # linking
    suggestions: SuggestionService
    contrasts: ContrastService
    opinions: OpinionService
    detection: DetectionService
    reconciliation: ReconciliationService

    # training
    retraining: RetrainingService
    evaluation: EvaluationService
    replay: ReplayService
    suspicious: SuspiciousService

    # rounds
    rounds: RoundService
    round_files: RoundFiles
    adjudication: AdjudicationService
    agreement: AgreementService

    # records
    statistics: StatisticsService
    inconsistencies: InconsistencyService
    audit: AuditService
    backups: BackupService
    evaluations: StoredEvaluations
    exporting: ExportService
    kb_export: KnowledgeExport
    release: ReleaseService
    diagnostics: DiagnosticsService

    def people(self) -> list[str]:
        """Names of people who decided or judged in the project."""
        return self.rounds.people()

    def save_text(self, path: Path, text: str) -> None:
        """Write a text file atomically. On a UserError nothing is changed."""
        AtomicWriter().write({path: text.encode("utf-8", "surrogatepass")})

    @property
    def name(self) -> str:
        return self.folder.name.removesuffix(".curation")
