"""The knowledge base's tables and the search over names."""

from curator.storage.kb.kb import SqlKnowledgeBase
from curator.storage.kb.kb_index import upgrade_versions

__all__ = [
    "SqlKnowledgeBase",
    "upgrade_versions",
]
