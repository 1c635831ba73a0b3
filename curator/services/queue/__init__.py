"""What to decide next: order, facets, filters, the hold-out, and the seat of a queue.

`QueueService` pages through the queue and counts it; `open(document_id)` returns a document and its mentions, each with
its current decision and suggestion. `FacetService` counts mentions by state, type, probability and more.
`OrderingService` orders undecided mentions by usefulness. `HoldoutService` determines which mentions are decided
without suggestions, and how much suggestions influence curators. `CorpusSearch` finds words and patterns in all
documents; `HitMaking` makes mentions from the hits. `AgainService` repeats a step about one string in other documents.
`TeamService` assigns the documents of a shared project and announces others' changes.

* **What differs between project, round and adjudication is one `Seat`** (`seat.py`): a list of documents, a curation
  and a source of suggestions. A seat lacks the actions that are impossible in it. The project's seat shows some decided
  mentions again without the curator knowing (`curator/services/rounds/consistency.py`).
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.services.queue.again import AGAIN_KINDS, Again, AgainService
    from curator.services.queue.corpus_search import (
        MOST,
        Bar,
        CorpusQuery,
        CorpusSearch,
        Found,
        Hit,
        HitChoice,
        HitMention,
        PassageChoice,
    )
    from curator.services.queue.facets import FacetService, SavedFilters
    from curator.services.queue.hit_making import HitMaking, LeftOut, Made, foreseen, left_out_words
    from curator.services.queue.holdout import REASON, Agreement, HoldoutService
    from curator.services.queue.matching import Matching
    from curator.services.queue.ordering import OrderingService, QueueOrder, WorkOrder
    from curator.services.queue.queue import PAGE, Direction, MentionView, OpenDocument, QueueService, with_comments
    from curator.services.queue.seat import (
        Attributing,
        Curation,
        DocumentList,
        Linking,
        Lists,
        MentionEditing,
        Queue,
        Seat,
    )
    from curator.services.queue.team import MINUTES, Collision, TeamService

__all__ = [
    "AGAIN_KINDS",
    "MINUTES",
    "MOST",
    "PAGE",
    "REASON",
    "Again",
    "AgainService",
    "Agreement",
    "Attributing",
    "Bar",
    "Collision",
    "CorpusQuery",
    "CorpusSearch",
    "Curation",
    "Direction",
    "DocumentList",
    "FacetService",
    "Found",
    "Hit",
    "HitChoice",
    "HitMaking",
    "HitMention",
    "HoldoutService",
    "LeftOut",
    "Linking",
    "Lists",
    "Made",
    "Matching",
    "MentionEditing",
    "MentionView",
    "OpenDocument",
    "OrderingService",
    "PassageChoice",
    "Queue",
    "QueueOrder",
    "QueueService",
    "SavedFilters",
    "Seat",
    "TeamService",
    "WorkOrder",
    "foreseen",
    "left_out_words",
    "with_comments",
]

__getattr__ = opened_late(
    __name__,
    again="AGAIN_KINDS Again AgainService",
    corpus_search="Bar CorpusQuery CorpusSearch Found Hit HitChoice HitMention MOST PassageChoice",
    facets="FacetService SavedFilters",
    hit_making="HitMaking LeftOut Made foreseen left_out_words",
    holdout="Agreement HoldoutService REASON",
    matching="Matching",
    ordering="OrderingService QueueOrder WorkOrder",
    queue="Direction MentionView OpenDocument PAGE QueueService with_comments",
    seat="Attributing Curation DocumentList Linking Lists MentionEditing Queue Seat",
    team="Collision MINUTES TeamService",
)
