"""The one composition root: joins storage, files, child processes and services to a `Project`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from curator.services.curation import CurationService
from curator.services.detection import DetectionService
from curator.services.diagnostics import DiagnosticsService
from curator.services.evaluation import EvaluationService
from curator.services.events import EventBus
from curator.services.exporting import ExportService
from curator.services.importing import ImportService
from curator.services.knowledge import KnowledgeService
from curator.services.ports import FormatRegistry, JobPort
from curator.services.queue import QueueService
from curator.services.replay import ReplayService
from curator.services.retraining import RetrainingService
from curator.services.suggestions import SuggestionService
from curator.settings.schema import Settings


@dataclass(frozen=True, slots=True)
class Project:
    """An open project: what the window and the command line hold. `close()` ends its processes and frees the lock."""

    folder: Path
    read_only: bool
    settings: Settings
    events: EventBus
    queue: QueueService
    curation: CurationService
    knowledge: KnowledgeService
    importing: ImportService
    detection: DetectionService
    suggestions: SuggestionService
    retraining: RetrainingService
    evaluation: EvaluationService
    exporting: ExportService
    replay: ReplayService
    diagnostics: DiagnosticsService
    jobs: JobPort
    formats: FormatRegistry
    close: Callable[[], None]

    @property
    def name(self) -> str:
        return self.folder.name.removesuffix(".curation")


def create_project(folder: Path, *, curator: str = "") -> Project:
    """Create a project and open it. Raises UserError where the folder exists or cannot be written."""
    raise NotImplementedError


def open_project(folder: Path, *, read_only: bool = False, linker: bool = True, curator: str = "") -> Project:
    """Open a project; with `linker` its process starts. Raises ProjectLockedError, NewerProjectError, UserError."""
    raise NotImplementedError
