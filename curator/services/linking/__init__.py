"""Suggestions: requested from the linker ahead of the curator, its memory of decisions, and the comparison of two
candidates.

`SuggestionService` links ahead of the curator, stores the answers and drops stale ones. `MemoryService` keeps the
linker's memory equal to the decisions of train documents, `DetectionService` detects mentions by dictionary in the
linker process. `ContrastService` asks the linker which words of the text distinguish two candidates, one request at a
time, and cancels it when the curator moves on.

`ReconciliationService` links words that other programs send (`curator serve`) or that are typed in a search; it is
read-only. `DetectionService` waits until the linker has learnt every decision: it marks decided texts, too.

* **Until the first bundle is in use, the name search suggests** (`name_linking.py`). It is available when the import
  ends, while the index of the UMLS's names takes minutes. Its suggestions are stamped `by name` and so stale from the
  start: the linker's answers replace them, none is accepted in bulk, and decisions record the suggestions shown. It
  does not expand abbreviations, and it does not call strings NIL that it cannot find.
* **The memory lives in the linker process** and is learnt from the decisions when one starts (500 documents in about 7
  s). A document is always sent as a whole, so undo needs no special handling. The memory survives a change of bundle.
  It is not part of the suggestions' stamp: after a decision the open document is linked again, others when they are
  opened. Contexts are encoded only if equal strings were decided in several ways, which is so for 1.4 % of BC5CDR's
  mentions.
"""
