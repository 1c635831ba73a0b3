"""The rows of the work, one repository a module: documents, mentions, decisions, suggestions, notes, rounds."""

from curator.storage.curation.decisions import SqlDecisions
from curator.storage.curation.documents import SqlDocuments
from curator.storage.curation.mentions import SqlMentions
from curator.storage.curation.mentions_in_context import SqlQueue
from curator.storage.curation.records import SqlRecords
from curator.storage.curation.rounds import SqlRounds
from curator.storage.curation.suggestions import SqlSuggestions

__all__ = [
    "SqlDecisions",
    "SqlDocuments",
    "SqlMentions",
    "SqlQueue",
    "SqlRecords",
    "SqlRounds",
    "SqlSuggestions",
]
