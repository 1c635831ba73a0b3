"""What to decide next: order, facets, filters, the hold-out, and the seat of a queue.

`QueueService` pages through the queue and counts it; `open(document_id)` returns a document and its mentions, each with
its current decision and suggestion. `FacetService` counts mentions by state, type, probability and more.
`OrderingService` orders undecided mentions by usefulness. `HoldoutService` determines which mentions are decided
without suggestions, and how much suggestions influence curators. `CorpusSearch` finds words and patterns in all
documents; `HitMaking` makes mentions from the hits.
`TeamService` assigns the documents of a shared project and announces others' changes.

* **What differs between project, round and adjudication is one `Seat`** (`seat.py`): a list of documents, a curation
  and a source of suggestions. A seat lacks the actions that are impossible in it.
"""
