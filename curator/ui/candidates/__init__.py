"""The ranked candidates of one mention, the record of each, what speaks for one against another, and the search in the
knowledge base."""

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
