"""The rows of curation, one repository per module: documents, mentions, decisions, suggestions, notes, rounds.

* **A decision stores its rank in the shown list** (`decisions.rank`, `Shown.rank_of`), calculated when it is made.
  Later suggestions for a decided mention come from a memory that has the decision, so neither acceptance nor the
  hold-out's accuracy could be derived from them. A held-out decision stores the hidden suggestion (`Shown.unseen`). A
  covering index (`ix_decisions_curator`) holds the columns for statistics, which never read `shown`.
"""
