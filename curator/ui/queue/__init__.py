"""The list of documents and of mentions to be decided, its facets and filters, and the head of the open document."""

from curator.ui.queue.document_header import DocumentHeader
from curator.ui.queue.queue_model import SPLIT_WORDS
from curator.ui.queue.queue_panel import QueuePanel

__all__ = [
    "SPLIT_WORDS",
    "DocumentHeader",
    "QueuePanel",
]
