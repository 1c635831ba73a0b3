"""The rows of the work, one repository a module: documents, mentions, decisions, suggestions, notes, rounds.

* **A decision keeps where in the list that was shown it was** (`decisions.rank`, `Shown.rank_of`), calculated when it
  is taken. What is stored of a decided mention later was suggested by a memory that knows the decision, so neither
  acceptance nor the hold-out's accuracy could be derived from it. A held-out decision keeps the suggestion that was
  kept back (`Shown.unseen`). One covering index (`ix_decisions_curator`) holds what statistics read: they never touch
  `shown`.
"""

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
