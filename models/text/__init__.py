"""Normalisation of names and texts: spelling, abbreviations, formulas, other wordings.

* **Names and mentions are normalised by the same aggressive rules** (`normalise.py`). A mention's other wordings are
  additional queries with weights of at most 1, never replacements. Detection uses the same normalised words.
"""
