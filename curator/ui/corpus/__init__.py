"""Searching all documents: words and patterns, hits in their contexts, and mentions made of those that were ticked.

* **Hits are listed while the search runs** (`corpus_window.py`). A search runs in a thread and looks after each part
  whether another one was asked for. After a change the hits are found again and shown when all are there, so that the
  list stays still.
"""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.corpus.corpus_commands import CORPUS

if TYPE_CHECKING:
    from curator.ui.corpus.corpus_flows import CorpusFlows

__all__ = [
    "CORPUS",
    "CorpusFlows",
]

__getattr__ = opened_late(
    __name__,
    corpus_flows="CorpusFlows",
)
