"""Ports of the services: what storage, files and child processes implement, and nothing else knows how.

Implementations import this package and `curator.domain` only; `curator.bootstrap` joins them.
"""

from curator.services.ports.contexts import Chance, ContextRepository, Head, MentionContext, Tried
from curator.services.ports.efforts import Effort, EffortRepository, SpentEffort
from curator.services.ports.facets import FacetRepository, WorkRow
from curator.services.ports.files import (
    Carries,
    DocumentFormat,
    DocumentReader,
    ExportDocument,
    FileForEach,
    FileWriter,
    FormatRegistry,
    GoldMention,
    HoldsMore,
    KnowledgeBaseReader,
    LeftOut,
    OneFile,
    Problem,
)
from curator.services.ports.imports import ImportRepository, TextMover, TextMoves
from curator.services.ports.knowledge_base import KnowledgeBaseRepository
from curator.services.ports.notes import NoteRepository
from curator.services.ports.processes import (
    BundleStore,
    Clock,
    DecidedDocument,
    DecidedMention,
    DetectedMention,
    JobHandle,
    JobPort,
    LinkDocument,
    LinkerPort,
    LinkMention,
)
from curator.services.ports.provisional import NilMention, OutcomeRepository, ProvisionalRepository
from curator.services.ports.queue_filter import QueueFilter
from curator.services.ports.rounds import RecordRepository, RoundRepository
from curator.services.ports.statistics import StatisticsRepository
from curator.services.ports.storage import (
    DecisionRepository,
    Disk,
    DocumentRepository,
    MentionRepository,
    MetaRepository,
    Operation,
    OperationRepository,
    ProjectCounts,
    QueueRow,
    Store,
    SuggestionRepository,
    UnitOfWork,
)

__all__ = [
    "BundleStore",
    "Carries",
    "Chance",
    "Clock",
    "ContextRepository",
    "DecidedDocument",
    "DecidedMention",
    "DecisionRepository",
    "DetectedMention",
    "Disk",
    "DocumentFormat",
    "DocumentReader",
    "DocumentRepository",
    "Effort",
    "EffortRepository",
    "ExportDocument",
    "FacetRepository",
    "FileForEach",
    "FileWriter",
    "FormatRegistry",
    "GoldMention",
    "Head",
    "HoldsMore",
    "ImportRepository",
    "JobHandle",
    "JobPort",
    "KnowledgeBaseReader",
    "KnowledgeBaseRepository",
    "LeftOut",
    "LinkDocument",
    "LinkMention",
    "LinkerPort",
    "MentionContext",
    "MentionRepository",
    "MetaRepository",
    "NilMention",
    "NoteRepository",
    "OneFile",
    "Operation",
    "OperationRepository",
    "OutcomeRepository",
    "Problem",
    "ProjectCounts",
    "ProvisionalRepository",
    "QueueFilter",
    "QueueRow",
    "RecordRepository",
    "RoundRepository",
    "SpentEffort",
    "StatisticsRepository",
    "Store",
    "SuggestionRepository",
    "TextMover",
    "TextMoves",
    "Tried",
    "UnitOfWork",
    "WorkRow",
]
