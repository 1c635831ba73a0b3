"""Suggestions: asked of the linker in time, remembered decisions taught to it, and what it says about two
candidates."""

from curator.services.linking.contrast import ContrastService
from curator.services.linking.detection import DetectionService
from curator.services.linking.linking import K, link_document
from curator.services.linking.name_linking import BY_NAME
from curator.services.linking.remembering import EntityTeacher, MemoryService
from curator.services.linking.suggestions import DocumentSuggestions, LinkReport, SuggestionService

__all__ = [
    "BY_NAME",
    "ContrastService",
    "DetectionService",
    "DocumentSuggestions",
    "EntityTeacher",
    "K",
    "LinkReport",
    "MemoryService",
    "SuggestionService",
    "link_document",
]
