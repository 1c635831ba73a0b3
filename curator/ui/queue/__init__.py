"""The list of documents and of mentions to decide, its facets and filters, and the header of the open document."""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.queue.document_header import DocumentHeader
    from curator.ui.queue.queue_model import SPLIT_WORDS
    from curator.ui.queue.queue_panel import QueuePanel

__all__ = [
    "SPLIT_WORDS",
    "DocumentHeader",
    "QueuePanel",
]

__getattr__ = opened_late(
    __name__,
    document_header="DocumentHeader",
    queue_model="SPLIT_WORDS",
    queue_panel="QueuePanel",
)
