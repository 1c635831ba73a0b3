"""Normalisation of names and texts: spelling, abbreviations, formulas, other wordings.

* **Names and mentions are normalised by the same aggressive rules** (`normalise.py`). A mention's other wordings are
  additional queries with weights of at most 1, never replacements. Detection uses the same normalised words.
"""

from models.text.abbreviations import Abbreviation, abbreviation_table, expand, find_abbreviations, is_short_form
from models.text.composites import composite_parts
from models.text.normalise import Word, key_of, normalise, sorted_key, words_of
from models.text.rewriting import broader, noun_of, poisoned, respelled, rewritings
from models.text.sentences import sentence_starts
from models.text.terms import ANALYZERS, INTS, UINTS

__all__ = [
    "ANALYZERS",
    "INTS",
    "UINTS",
    "Abbreviation",
    "Word",
    "abbreviation_table",
    "broader",
    "composite_parts",
    "expand",
    "find_abbreviations",
    "is_short_form",
    "key_of",
    "normalise",
    "noun_of",
    "poisoned",
    "respelled",
    "rewritings",
    "sentence_starts",
    "sorted_key",
    "words_of",
]
