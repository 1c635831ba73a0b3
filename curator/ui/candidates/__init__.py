"""The ranked candidates of one mention, the record of each, what speaks for one against another, and the search in the
knowledge base.

* **Records are laid out after the candidates are painted** (`late_browser.py`): rich text takes 3 ms, a candidate 1
  ms.
* **A long comparison takes its room from the list below the third row** (`RecordRoom` in `candidate_rows.py`). Rows
  stay where they are, and the boundary goes back when the comparison does.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.candidates.candidate_contrast import NO_WORDS, WEIGHING, CandidatePair, word_tints
    from curator.ui.candidates.candidate_panel import CandidatePanel
    from curator.ui.candidates.entity_card import EntityCard, Lookup
    from curator.ui.candidates.search_panel import SearchPane
    from curator.ui.candidates.search_rows import Search

__all__ = [
    "NO_WORDS",
    "WEIGHING",
    "CandidatePair",
    "CandidatePanel",
    "EntityCard",
    "Lookup",
    "Search",
    "SearchPane",
    "word_tints",
]

__getattr__ = opened_late(
    __name__,
    candidate_contrast="CandidatePair NO_WORDS WEIGHING word_tints",
    candidate_panel="CandidatePanel",
    entity_card="EntityCard Lookup",
    search_panel="SearchPane",
    search_rows="Search",
)
