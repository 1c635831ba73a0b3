"""What an open project offers: one attribute per service, in the order of the rooms of `curator/services/`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from curator.io.files.atomic import AtomicWriter
from curator.services.core.events import EventBus
from curator.services.curating.attributes import AttributeService
from curator.services.curating.bulk import BulkService
from curator.services.curating.curation import CurationService
from curator.services.curating.efforts import EffortService
from curator.services.curating.notes import GuidelineService, NoteService
from curator.services.curating.propagation import PropagationService
from curator.services.curating.relations import RelationService
from curator.services.curating.steps import StepService
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
from curator.services.linking.suggestions import SuggestionService
from curator.services.ports.address import ProjectPlace
from curator.services.ports.files import FormatRegistry
from curator.services.ports.processes import JobPort
from curator.services.ports.storage import Disk, Role
from curator.services.queue.corpus_search import CorpusSearch
from curator.services.queue.facets import FacetService, SavedFilters
from curator.services.queue.hit_making import HitMaking
from curator.services.queue.holdout import HoldoutService
from curator.services.queue.ordering import OrderingService
from curator.services.queue.queue import QueueService
from curator.services.queue.seat import Seat
from curator.services.queue.team import TeamService
from curator.services.records.audit import AuditService
from curator.services.records.diagnostics import DiagnosticsService
from curator.services.records.exporting import ExportService
from curator.services.records.inconsistencies import InconsistencyService
from curator.services.records.kb_export import KnowledgeExport
from curator.services.records.keeping import BackupService
from curator.services.records.release import ReleaseService
from curator.services.records.statistics import StatisticsService
from curator.services.records.stored_evaluations import StoredEvaluations
from curator.services.rounds.adjudication import AdjudicationService
from curator.services.rounds.agreement import AgreementService
from curator.services.rounds.round_file import RoundFiles
from curator.services.rounds.rounds import RoundService
from curator.services.training.evaluation import EvaluationService
from curator.services.training.replay import ReplayService
from curator.services.training.retraining import RetrainingService
from curator.services.training.suspicious import SuspiciousService
from curator.settings.schema import Settings


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

    # curating
    curation: CurationService
    steps: StepService
    propagation: PropagationService
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
