"""The ranked candidates of one mention, the record of each, evidence for one against another, the search in the
knowledge base, and its hierarchy.

* **Records are laid out after the candidates are painted** (`late_browser.py`): rich text takes 3 ms, a candidate 1 ms.
* **A long comparison takes space from the list below its third row** (`RecordRoom` in `candidate_rows.py`). Rows stay
  in place, and the boundary returns with the end of the comparison.
* **The tree reads a node when it is opened, 100 entities at a time** (`tree_model.py`), in a thread, in order. A last
  row reads more: Qt lays out every row of an opened node, and a node may have 200,000. An entity outside of the pages
  read is inserted before that row. An entity that is its own ancestor is not opened again.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.candidates.candidate_contrast import NO_WORDS, WEIGHING, CandidatePair, word_tints
    from curator.ui.candidates.candidate_panel import CandidatePanel
    from curator.ui.candidates.entity_card import EntityCard, Lookup
    from curator.ui.candidates.kin_pane import Kin, KinPane
    from curator.ui.candidates.search_panel import SearchPane
    from curator.ui.candidates.search_rows import EntitySearch, Search
    from curator.ui.candidates.tree_pane import TreePane

__all__ = [
    "NO_WORDS",
    "WEIGHING",
    "CandidatePair",
    "CandidatePanel",
    "EntityCard",
    "EntitySearch",
    "Kin",
    "KinPane",
    "Lookup",
    "Search",
    "SearchPane",
    "TreePane",
    "word_tints",
]

__getattr__ = opened_late(
    __name__,
    candidate_contrast="CandidatePair NO_WORDS WEIGHING word_tints",
    candidate_panel="CandidatePanel",
    entity_card="EntityCard Lookup",
    kin_pane="Kin KinPane",
    search_panel="SearchPane",
    search_rows="EntitySearch Search",
    tree_pane="TreePane",
)
