"""What is decided next: order, facets, filters, documents held out, and the seat from which a queue is worked on."""

from curator.services.queue.facets import FacetService, SavedFilters
from curator.services.queue.holdout import REASON, Agreement, HoldoutService
from curator.services.queue.matching import Matching
from curator.services.queue.ordering import OrderingService, QueueOrder, WorkOrder
from curator.services.queue.queue import PAGE, Direction, MentionView, OpenDocument, QueueService
from curator.services.queue.seat import Curation, DocumentList, Linking, Lists, MentionEditing, Queue, Seat

__all__ = [
    "PAGE",
    "REASON",
    "Agreement",
    "Curation",
    "Direction",
    "DocumentList",
    "FacetService",
    "HoldoutService",
    "Linking",
    "Lists",
    "Matching",
    "MentionEditing",
    "MentionView",
    "OpenDocument",
    "OrderingService",
    "Queue",
    "QueueOrder",
    "QueueService",
    "SavedFilters",
    "Seat",
    "WorkOrder",
]
