"""An open project: one attribute per service, in the order of the rooms of `curator/services/`."""

from __future__ import annotations

import getpass
import os
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from curator.domain.wording import UserError, tr
from curator.io.eutils import ADDRESS, Eutils
from curator.io.files.atomic import AtomicWriter
from curator.io.files.moving import moved_text
from curator.io.local_model import LocalModel
from curator.io.registry import default_registry
from curator.io.tables.columns import ColumnMemory
from curator.jobs.bulk import RayBulk
from curator.jobs.bundles import FolderBundleStore, SharedBundleStore
from curator.jobs.child import give_way, go_on, make_way
from curator.jobs.linker_messages import LinkerOptions
from curator.jobs.linker_process import LinkerProcess
from curator.jobs.runner import JobRunner
from curator.services.core.context import Context
from curator.services.core.events import EventBus
from curator.services.core.relation_reading import RelationReader
from curator.services.core.synchronised_folders import WARNED, place_warning
from curator.services.curating.attributes import AttributeService
from curator.services.curating.bulk import BulkService
from curator.services.curating.curation import CurationService
from curator.services.curating.efforts import EffortService
from curator.services.curating.notes import GuidelineService, NoteService
from curator.services.curating.propagation import PropagationService
from curator.services.curating.relations import RelationService
from curator.services.curating.steps import StepService, Training
from curator.services.importing.fetching import FetchService
from curator.services.importing.file_attributes import FileAttributes
from curator.services.importing.importing import ImportService
from curator.services.importing.imports import ImportList
from curator.services.knowledge.hierarchy import BranchService, HierarchyService
from curator.services.knowledge.knowledge import KnowledgeService
from curator.services.knowledge.nil_clusters import NilService
from curator.services.knowledge.provisional import ProvisionalService
from curator.services.knowledge.remapping import RemapService
from curator.services.knowledge.uses import UseService
from curator.services.linking.contrast import ContrastService
from curator.services.linking.detection import DetectionService
from curator.services.linking.opinions import OpinionOptions, OpinionService
from curator.services.linking.reconciliation import ReconciliationService
from curator.services.linking.remembering import EntityTeacher, MemoryService
from curator.services.linking.suggestions import SuggestionService
from curator.services.ports.address import ProjectPlace
from curator.services.ports.files import FormatRegistry
from curator.services.ports.processes import JobPort, LinkerPort
from curator.services.ports.safety import BackupStore
from curator.services.ports.storage import Store
from curator.services.queue.corpus_search import CorpusSearch
from curator.services.queue.facets import FacetService, SavedFilters
from curator.services.queue.hit_making import HitMaking
from curator.services.queue.holdout import HoldoutService
from curator.services.queue.ordering import OrderingService
from curator.services.queue.queue import QueueService
from curator.services.queue.seat import Seat
from curator.services.queue.team import TeamService
from curator.services.records.audit import AuditService
from curator.services.records.diagnostics import DiagnosticsService, log_folder
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
from curator.services.training.bundles import BundleSwitch
from curator.services.training.evaluation import EvaluationService
from curator.services.training.replay import ReplayService
from curator.services.training.retraining import RetrainingService
from curator.services.training.suspicious import SuspiciousService
from curator.services.training.workplace import JobDesk, JobOptions, Workplace
from curator.settings.file import config_folder, load, read_state, write_state
from curator.settings.schema import Settings
from curator.storage.safety.backups import Backups
from curator.storage.store import SqlStore
from resources.recipe_files import CONVENTIONS

if TYPE_CHECKING:
    from curator.storage.team.people import People

BUNDLES = "bundles"
BULK = "bulk"
"""The folder of linking on Ray; it exists until the answers are stored."""
TABLE_COLUMNS = "table-columns.json"


OTHER_NAME = (
    "Your login decides as “{name}” in {place}, not as “{given}”. Leave the name out, or connect with the other login."
)

NO_ROLES = "Roles are for shared projects: whoever can open a folder can change everything in it."


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Project:
    """Used by the window and the command line. `close()` ends its processes and releases the lock.

    `place` is its path or address; `folder` is the same, or, for a shared project, the folder on this computer.
    `person` is the name as which the login of a shared project decides; '' if it may choose one.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        curator: str = "",
        linker: LinkerPort | None = None,
        jobs: JobPort | None = None,
    ) -> None:
        """`linker` and `jobs` are for tests. Raises UserError if the login has another name than `curator`."""
        if store.person and curator.strip() not in ("", store.person):
            raise UserError(tr(OTHER_NAME, place=store.place, name=store.person, given=curator))
        self.disk, self.place, self.folder = store, store.place, store.folder
        self.read_only, self.role, self.person = store.read_only, store.role, store.person
        self.settings, self.events, self.formats = settings, EventBus(), document_formats()
        self.place_warning = partial(place_warning, store, partial(read_state, WARNED), partial(write_state, WARNED))
        self.make_way = make_way
        """Lets the processes of this program stand still while a key is handled."""
        self.go_on = go_on
        """The key is painted."""
        context = Context(
            store, self.events, SystemClock(), lambda: store.person or curator_name(load().settings, curator)
        )
        writer = AtomicWriter()

        # child processes, bundles, and the jobs that make them
        self._store = store
        self._cache = _cache_folder(settings)
        options = LinkerOptions(settings.device.value, settings.threads, str(self._cache))
        self._linker = server = linker or LinkerProcess(log_folder(), options)
        self.jobs = jobs or JobRunner(log_folder())
        self._bundles, backups = _kept(store)
        switch = BundleSwitch(context, self._bundles)
        self._workplace = Workplace(store.folder, read_only=store.read_only)
        desk = JobDesk(store, self.jobs, self._bundles, switch, self._workplace, self._job_options)

        # background work, in the order in which changes are delivered
        self.backups = BackupService(context, backups)
        bulk = RayBulk(store.folder / BULK, self.jobs, options)
        self.suggestions = SuggestionService(
            context, server, self._bundles, bulk=bulk, ahead=lambda: settings.link_ahead, give_way=give_way
        )
        self.efforts = EffortService(context)
        self.team = TeamService(context)
        self._teacher = EntityTeacher(context, server, learnt=self.suggestions.memory_changed)
        self._memory = MemoryService(context, server, learnt=self.suggestions.memory_changed)
        try:
            self._build(context, desk, switch, writer)
        except BaseException:
            self.close()
            raise

    def _build(self, context: Context, desk: JobDesk, switch: BundleSwitch, writer: AtomicWriter) -> None:
        formats, server = self.formats, self._linker

        # curating
        related = RelationReader(formats)
        self.curation = CurationService(context, related=related.of)
        self.steps = StepService(context, trainings=lambda: _trainings(switch))
        self.propagation = PropagationService(context)
        self.bulk = BulkService(context)
        self.attributes = AttributeService(context)
        self.relations = RelationService(context, related)
        self.notes = NoteService(context)
        self.guidelines = GuidelineService(context)

        # queue
        self.holdout = HoldoutService(context, percent=lambda: load().settings.holdout_percent)
        self.queue = QueueService(context, held_out=self.holdout.among)
        self.seat = Seat(
            self.queue,
            self.queue.under,
            self.curation,
            self.suggestions,
            editing=self.curation,
            attributes=self.attributes,
        )
        self.ordering = OrderingService(context)
        self.filters = SavedFilters(context)
        self.facets = FacetService(context)
        self.corpus = CorpusSearch(context)
        self.hits = HitMaking(context)

        # importing
        self.importing = ImportService(context, formats, mover=moved_text)
        self.imports = ImportList(context, mover=moved_text)
        self.fetching = FetchService(context, self.importing, pubmed(), writer)
        self.file_attributes = FileAttributes(context, formats, self.attributes)

        # knowledge
        self.knowledge = KnowledgeService(context)
        self.hierarchy = HierarchyService(context)
        self.branches = BranchService(context)
        self.nils = NilService(context)
        self.provisional = ProvisionalService(context)
        self.remapping = RemapService(context)
        self.uses = UseService(context)

        # linking
        self.contrasts = ContrastService(context, server)
        self.opinions = OpinionService(context, LocalModel(), options=opinion_options)
        self.detection = DetectionService(context, server, self._bundles, self._memory, self.jobs)
        self.reconciliation = ReconciliationService(context, server, self._bundles)

        # records
        self.agreement = AgreementService(context)
        self.statistics = StatisticsService(context, self.agreement, bundles=switch.all)
        self.inconsistencies = InconsistencyService(context)
        self.audit = AuditService(context, writer)
        self.evaluations = StoredEvaluations(context, writer)
        self.exporting = ExportService(context, formats, writer)
        self.kb_export = KnowledgeExport(context, writer)
        self.release = ReleaseService(context, switch, writer)
        self.diagnostics = DiagnosticsService(context, server, switch)

        # training
        self.retraining = RetrainingService(desk)
        self.evaluation = EvaluationService(desk, keep=self.evaluations.keep)
        self.replay = ReplayService(context)
        self.suspicious = SuspiciousService(context, desk)

        # rounds
        self.rounds = RoundService(context, server)
        self.round_files = RoundFiles(context, writer)
        self.adjudication = AdjudicationService(context, related=related.of)

    def prepare(self, *, start: bool) -> None:
        """Remove leftovers of a killed process. With `start`, begin to link documents ahead."""
        if self._store.sole:  # so no one uses the leftovers of a killed process
            self._bundles.clean()
            self._workplace.clean()
        if start:
            self.team.start()
            self._teacher.start()  # first, so that no answer lacks the project's own entities
            self._memory.start()  # before the suggestions, so that it is asked first
            self.suggestions.start()
            self.backups.begin()

    def close(self) -> None:
        """Write what is pending, end threads and child processes, and release the project's lock: each of them, even if
        another fails."""
        steps = (
            self.backups.close,
            self.team.close,
            self.efforts.flush,
            self._teacher.close,
            self._memory.close,
            self.suggestions.close,
            self.jobs.close,
            self._linker.close,
            self._store.close,
            self.backups.after,
        )
        with ExitStack() as ending:
            for step in reversed(steps):
                ending.callback(step)

    def _job_options(self) -> JobOptions:
        """The current settings, which apply to a job at its next start."""
        now = load().settings
        place = (now.device.value, now.threads, now.encoder_folder, str(self._cache))
        kind, lexical, precision = now.index_kind.value, now.lexical_list.value, now.number_format.value
        return JobOptions(*place, index=kind, lexical=lexical, precision=precision)

    def people(self) -> list[str]:
        """Names of people who decided or judged in the project."""
        return self.rounds.people()

    def save_text(self, path: Path, text: str) -> None:
        """Write a text file atomically. On a UserError nothing is changed."""
        AtomicWriter().write({path: text.encode("utf-8", "surrogatepass")})

    @property
    def name(self) -> str:
        return self.folder.name.removesuffix(".curation")


def _trainings(switch: BundleSwitch) -> list[Training]:
    """The linkers trained on request. Indexes and their fitted weights are built without a request."""
    return [Training(it.id, it.created_at) for it in switch.all() if it.parent and it.recipe != CONVENTIONS]


def pubmed() -> Eutils:
    """NCBI's E-utilities, or the server in `CURATOR_EUTILS`. The key is in `NCBI_API_KEY` or else in the settings."""
    address = os.environ.get("CURATOR_EUTILS") or ADDRESS
    return Eutils(address, key=lambda: os.environ.get("NCBI_API_KEY") or load().settings.ncbi_api_key)


def _kept(store: Store) -> tuple[FolderBundleStore, BackupStore]:
    """The stores of linkers and backups: in folders of this computer, or with the shared database."""
    if isinstance(store.place, Path):
        unclean = store.unclean if isinstance(store, SqlStore) else ""
        backups = Backups(store.folder, root=backup_root, most=_backup_bytes, unclean=unclean)
        if isinstance(store, SqlStore) and not store.read_only:
            store.refuge = backups.rescue
        return FolderBundleStore(store.folder / BUNDLES), backups
    from curator.storage.team.store import ServerBackups, SharedStore  # folders do not need it
    from curator.storage.team.vault import LinkerVault

    assert isinstance(store, SharedStore)
    return SharedBundleStore(store.folder / BUNDLES, LinkerVault(store)), ServerBackups(store.place)


def roles(place: ProjectPlace) -> People:
    """Who may do what in a shared project. Raises UserError for a folder."""
    if isinstance(place, Path):
        raise UserError(tr(NO_ROLES))
    from curator.storage.team.people import People  # folders do not need it

    return People(place)


def document_formats() -> FormatRegistry:
    """The formats that can be read and written, before a project is open."""
    return default_registry(ColumnMemory(config_folder() / TABLE_COLUMNS))


def opinion_options() -> OpinionOptions:
    """The current settings of the second opinion."""
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
    """The name of the curator: `given`, from the settings, or the user's name on this computer."""
    if given.strip() or settings.curator_name.strip():
        return given.strip() or settings.curator_name.strip()
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no user name in a bare container
        return "curator"


def backup_root() -> Path:
    """The folder in which every project has a folder for its backups."""
    chosen = os.environ.get("CURATOR_BACKUP_DIR") or load().settings.backup_folder
    return Path(chosen) if chosen else platformdirs.user_state_path("curator") / "backups"


def _backup_bytes() -> int:
    """The most bytes for the backups of a project; 0 disables them, like an empty `CURATOR_BACKUP_DIR`."""
    off = os.environ.get("CURATOR_BACKUP_DIR") == ""
    return 0 if off else load().settings.backup_space * 2**20


def _cache_folder(settings: Settings) -> Path:
    return Path(os.environ.get("CURATOR_CACHE") or settings.cache_folder or platformdirs.user_cache_dir("curator"))
