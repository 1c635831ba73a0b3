"""Objects shared by the services of an open project: its store, its child processes, the linkers and the current
settings."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from curator.domain.wording import UserError, tr
from curator.io import default_registry
from curator.io.tables.columns import ColumnMemory
from curator.jobs.bulk import RayBulk
from curator.jobs.bundles import FolderBundleStore, SharedBundleStore
from curator.jobs.child import give_way
from curator.jobs.linker_messages import LinkerOptions
from curator.jobs.linker_process import LinkerProcess
from curator.jobs.runner import JobRunner
from curator.services.core.events import EventBus
from curator.services.curating.efforts import EffortService
from curator.services.linking.opinions import OpinionOptions
from curator.services.linking.remembering import EntityTeacher, MemoryService
from curator.services.linking.suggestions import SuggestionService
from curator.services.ports.address import ProjectPlace
from curator.services.ports.files import FormatRegistry
from curator.services.ports.processes import JobPort, LinkerPort
from curator.services.ports.safety import BackupStore
from curator.services.ports.storage import People, Store
from curator.services.queue.team import TeamService
from curator.services.records.diagnostics import log_folder
from curator.services.records.keeping import BackupService
from curator.services.training.bundles import BundleSwitch
from curator.services.training.workplace import JobDesk, JobOptions, Workplace
from curator.settings.file import config_folder, load
from curator.settings.schema import Settings
from curator.storage.safety.backups import Backups
from curator.storage.store import SqlStore

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


class Shared:
    """The objects that several services use. `close` ends everything that `prepare` starts."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        curator: str,
        linker: LinkerPort | None = None,
        jobs: JobPort | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.events = EventBus()
        self.clock = SystemClock()
        if store.person and curator.strip() not in ("", store.person):
            raise UserError(tr(OTHER_NAME, place=store.place, name=store.person, given=curator))
        self.curator: Callable[[], str] = lambda: store.person or curator_name(load().settings, curator)
        self.formats = document_formats()
        self.cache = _cache_folder(settings)
        self.bundles, kept = _kept(store)

        # child processes
        options = LinkerOptions(settings.device.value, settings.threads, str(self.cache))
        self.linker = linker or LinkerProcess(log_folder(), options)
        self.jobs = jobs or JobRunner(log_folder())

        # bundles, and the jobs that make them
        self.switch = BundleSwitch(store, self.bundles, self.events, curator=self.curator)
        self.workplace = Workplace(store.folder, read_only=store.read_only)
        self.desk = JobDesk(store, self.jobs, self.bundles, self.switch, self.workplace, self._job_options)

        self.backups = BackupService(store, kept, self.clock)

        # background work, in the order in which changes are delivered
        self.suggestions = SuggestionService(
            store,
            self.linker,
            self.bundles,
            self.events,
            bulk=RayBulk(store.folder / BULK, self.jobs, options),
            ahead=lambda: settings.link_ahead,
            give_way=give_way,
        )
        self.efforts = EffortService(store)
        self.team = TeamService(store, self.events, curator=self.curator)
        self.teacher = EntityTeacher(store, self.linker, self.events, learnt=self.suggestions.memory_changed)
        self.memory = MemoryService(store, self.linker, self.events, learnt=self.suggestions.memory_changed)

    def prepare(self, *, start: bool) -> None:
        """Remove leftovers of a killed process. With `start`, begin to link documents ahead."""
        if self.store.sole:  # so no one uses the leftovers of a killed process
            self.bundles.clean()
            self.workplace.clean()
        if start:
            self.team.start()
            self.teacher.start()  # first, so that no answer lacks the project's own entities
            self.memory.start()  # before the suggestions, so that it is asked first
            self.suggestions.start()
            self.backups.begin()

    def close(self) -> None:
        """Write what is pending, end threads and child processes, and release the project's lock: each of them, even if
        another fails."""
        steps = (
            self.backups.close,
            self.team.close,
            self.efforts.flush,
            self.teacher.close,
            self.memory.close,
            self.suggestions.close,
            self.jobs.close,
            self.linker.close,
            self.store.close,
            self.backups.after,
        )
        with ExitStack() as ending:
            for step in reversed(steps):
                ending.callback(step)

    def _job_options(self) -> JobOptions:
        """The current settings, which apply to a job at its next start."""
        now = load().settings
        place = (now.device.value, now.threads, now.encoder_folder, str(self.cache))
        kind, lexical, precision = now.index_kind.value, now.lexical_list.value, now.number_format.value
        return JobOptions(*place, index=kind, lexical=lexical, precision=precision)


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
    from curator.storage.team import people  # folders do not need it

    return people.People(place)


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
