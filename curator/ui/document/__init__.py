"""The text of a document: laid out, painted, with caret, selection and the handles of its mentions, and read aloud by
screen readers. It is told what to show; it decides nothing."""

from curator.ui.document.document_find import FindBar
from curator.ui.document.document_painter import Tint
from curator.ui.document.document_view import DocumentView
from curator.ui.document.screen_reader import speak_to_screen_readers

__all__ = [
    "DocumentView",
    "FindBar",
    "Tint",
    "speak_to_screen_readers",
]
