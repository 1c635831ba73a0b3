"""Ports of the services: what storage, files and child processes implement, and nothing else knows how.

Implementations import this package and `curator.domain` only; `curator.bootstrap` joins them.

* **A unit of work has nine repositories**, one for each room of the services. A protocol states what its methods
  raise, and no error of SQLAlchemy leaves storage. Nine and not seven: fewer would only rename methods that collide.
"""

from curator.services.ports.curation import DecisionRepository, Effort, MentionRepository, Operation, SpentEffort
from curator.services.ports.documents import DocumentRepository, ProjectCounts, QueueRow, TextMover, TextMoves
from curator.services.ports.files import (
    DOCUMENT_FIELDS,
    FIELDS,
    Carries,
    DocumentFormat,
    DocumentOptions,
    DocumentReader,
    ExportDocument,
    ExportMention,
    FileForEach,
    FileWriter,
    FormatRegistry,
    HoldsMore,
    KbOptions,
    KnowledgeBaseReader,
    LeftOut,
    OneFile,
    Problem,
    TablePreview,
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
from curator.services.ports.pubmed import MOST_FOUND, FoundRecords, NotNowError, PubMedPort, PubMedRecords
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
    "DOCUMENT_FIELDS",
    "FIELDS",
    "MOST_FOUND",
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
    "DocumentOptions",
    "DocumentReader",
    "DocumentRepository",
    "Effort",
    "ExportDocument",
    "ExportMention",
    "FileForEach",
    "FileWriter",
    "FormatRegistry",
    "FoundRecords",
    "Head",
    "HoldsMore",
    "JobHandle",
    "JobPort",
    "KbOptions",
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
    "NotNowError",
    "OneFile",
    "Operation",
    "Problem",
    "ProjectCounts",
    "PubMedPort",
    "PubMedRecords",
    "QueueFilter",
    "QueueRepository",
    "QueueRow",
    "RecordRepository",
    "RoundRepository",
    "SpentEffort",
    "Store",
    "SuggestionRepository",
    "TablePreview",
    "TextMover",
    "TextMoves",
    "Tried",
    "UnitOfWork",
    "WorkRow",
]
