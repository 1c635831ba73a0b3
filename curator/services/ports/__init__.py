"""Ports of the services: what storage, files and child processes implement, and nothing else knows how.

Implementations import this package and `curator.domain` only; `curator.bootstrap` joins them.
"""

from curator.services.ports.curation import DecisionRepository, Effort, MentionRepository, Operation, SpentEffort
from curator.services.ports.documents import DocumentRepository, ProjectCounts, QueueRow, TextMover, TextMoves
from curator.services.ports.files import (
    Carries,
    DocumentFormat,
    DocumentReader,
    ExportDocument,
    ExportMention,
    FileForEach,
    FileWriter,
    FormatRegistry,
    HoldsMore,
    KnowledgeBaseReader,
    LeftOut,
    OneFile,
    Problem,
)
from curator.services.ports.knowledge import KnowledgeBaseRepository, NilMention
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
from curator.services.ports.queue import (
    Chance,
    Head,
    MentionContext,
    QueueFilter,
    QueueRepository,
    SuggestionRepository,
    Tried,
    WorkRow,
)
from curator.services.ports.rounds import RecordRepository, RoundRepository
from curator.services.ports.storage import Disk, MetaRepository, Store, UnitOfWork

__all__ = [
    "BundleStore",
    "Carries",
    "Chance",
    "Clock",
    "DecidedDocument",
    "DecidedMention",
    "DecisionRepository",
    "DetectedMention",
    "Disk",
    "DocumentFormat",
    "DocumentReader",
    "DocumentRepository",
    "Effort",
    "ExportDocument",
    "ExportMention",
    "FileForEach",
    "FileWriter",
    "FormatRegistry",
    "Head",
    "HoldsMore",
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
    "OneFile",
    "Operation",
    "Problem",
    "ProjectCounts",
    "QueueFilter",
    "QueueRepository",
    "QueueRow",
    "RecordRepository",
    "RoundRepository",
    "SpentEffort",
    "Store",
    "SuggestionRepository",
    "TextMover",
    "TextMoves",
    "Tried",
    "UnitOfWork",
    "WorkRow",
]
