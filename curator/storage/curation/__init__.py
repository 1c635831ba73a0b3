"""The rows of curation, one repository per module: documents, mentions, decisions, suggestions, notes, rounds.

* **A decision stores its rank in the shown list** (`decisions.rank`, `Shown.rank_of`), calculated when it is made.
  Later suggestions for a decided mention come from a memory that has the decision, so neither acceptance nor the
  hold-out's accuracy could be derived from them. A held-out decision stores the hidden suggestion (`Shown.unseen`). A
  covering index (`ix_decisions_curator`) holds the columns for statistics, which never read `shown`.
"""

from curator.storage.curation.decisions import SqlDecisions
from curator.storage.curation.documents import SqlDocuments
from curator.storage.curation.former_texts import passages_of
from curator.storage.curation.imports import counts_of
from curator.storage.curation.mentions import SqlMentions, spans_of
from curator.storage.curation.mentions_in_context import SqlQueue
from curator.storage.curation.records import SqlRecords
from curator.storage.curation.relations import ends_of
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
    "counts_of",
    "ends_of",
    "passages_of",
    "spans_of",
]
