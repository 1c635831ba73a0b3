"""The database file itself: its engine, locks and turns, its tables today and in former versions, and what packs a
row.

* **A decision does not wait for the disk**, as it would with `synchronous=FULL`. It is in SQLite's log when the key
  returns, so that no crash or kill of the program can lose it (tests kill it 200 times). A thread of the store syncs
  the log right after (`syncing.py`), and `close` waits for it: a sync took 0.3 to 4 s while a training wrote a
  checkpoint. The window says “saving…” until the sync has returned and “saved” after it. While the disk fails it says
  “NOT SAVED”, and no decision is accepted. Every answer of the command line is synced first.
* **The log is folded in the writer's turn only** (`turns.py`). SQLite before 3.51.3 can corrupt a database whose log
  is checkpointed by one connection while another commits. A fold takes `Turns` as a writer does, never queues for it,
  waits for a quarter of a second without a commit, and truncates the log; a log of 64 MB is folded by the writer
  itself. The window's log and the diagnostics name the version of SQLite in use.
* **Schema version 2 adds covering indexes** for what the window asks after every key. `visible()` excludes incomplete
  files rather than including complete ones, so that SQLite walks documents in order.
"""

from curator.storage.db.engine import (
    ReadSource,
    check_health,
    connect,
    find_read_source,
    reading_engine,
    writing_engine,
)
from curator.storage.db.errors import as_user_errors
from curator.storage.db.former_schemas import (
    VERSION_1,
    VERSION_2,
    VERSION_3,
    VERSION_4,
    VERSION_5,
    VERSION_6,
    VERSION_7,
    VERSION_8,
    VERSION_9,
    fill,
)
from curator.storage.db.lock import ProjectLock
from curator.storage.db.meta import SqlMeta
from curator.storage.db.packing import (
    pack_shown,
    pack_suggestion,
    unpack_chance,
    unpack_head,
    unpack_shown,
    unpack_suggestion,
    verdict_columns,
    verdict_of,
)
from curator.storage.db.rows import (
    AnyRow,
    among,
    chunks,
    ever_visible,
    fold,
    from_iso,
    hidden,
    ids_of,
    next_id,
    unique,
    visible,
)
from curator.storage.db.schema import (
    CommentRow,
    DecisionRow,
    DocumentRow,
    DocumentTextRow,
    EffortRow,
    FormerTextRow,
    FragmentRow,
    ImportRow,
    JudgementRow,
    KbVersionRow,
    MentionAttributeRow,
    MentionEditRow,
    MentionRow,
    MetaRow,
    OperationRow,
    OpinionRow,
    PassageRow,
    ProvisionalEntityRow,
    RelationRow,
    RetiredEntityRow,
    RoundDocumentRow,
    RoundMentionRow,
    RoundRow,
    SourceFileRow,
    SuggestionRow,
)
from curator.storage.db.suggestion_facts import SuggestionFactsRow, facts_row, fill_facts, fill_others, rank_in
from curator.storage.db.syncing import Syncer
from curator.storage.db.turns import Turns

__all__ = [
    "VERSION_1",
    "VERSION_2",
    "VERSION_3",
    "VERSION_4",
    "VERSION_5",
    "VERSION_6",
    "VERSION_7",
    "VERSION_8",
    "VERSION_9",
    "AnyRow",
    "CommentRow",
    "DecisionRow",
    "DocumentRow",
    "DocumentTextRow",
    "EffortRow",
    "FormerTextRow",
    "FragmentRow",
    "ImportRow",
    "JudgementRow",
    "KbVersionRow",
    "MentionAttributeRow",
    "MentionEditRow",
    "MentionRow",
    "MetaRow",
    "OperationRow",
    "OpinionRow",
    "PassageRow",
    "ProjectLock",
    "ProvisionalEntityRow",
    "ReadSource",
    "RelationRow",
    "RetiredEntityRow",
    "RoundDocumentRow",
    "RoundMentionRow",
    "RoundRow",
    "SourceFileRow",
    "SqlMeta",
    "SuggestionFactsRow",
    "SuggestionRow",
    "Syncer",
    "Turns",
    "among",
    "as_user_errors",
    "check_health",
    "chunks",
    "connect",
    "ever_visible",
    "facts_row",
    "fill",
    "fill_facts",
    "fill_others",
    "find_read_source",
    "fold",
    "from_iso",
    "hidden",
    "ids_of",
    "next_id",
    "pack_shown",
    "pack_suggestion",
    "rank_in",
    "reading_engine",
    "unique",
    "unpack_chance",
    "unpack_head",
    "unpack_shown",
    "unpack_suggestion",
    "verdict_columns",
    "verdict_of",
    "visible",
    "writing_engine",
]
