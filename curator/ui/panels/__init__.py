"""Panels beside the text and below it: history and comments of a mention, guidelines, the status line."""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.panels.guidelines_panel import GuidelinesPanel
    from curator.ui.panels.history_panel import HistoryPanel, HistorySide, SideSplitter
    from curator.ui.panels.notes import CommentsPanel, CommentStrip, Noter
    from curator.ui.panels.status_line import StatusLine

__all__ = [
    "CommentStrip",
    "CommentsPanel",
    "GuidelinesPanel",
    "HistoryPanel",
    "HistorySide",
    "Noter",
    "SideSplitter",
    "StatusLine",
]

__getattr__ = opened_late(
    __name__,
    guidelines_panel="GuidelinesPanel",
    history_panel="HistoryPanel HistorySide SideSplitter",
    notes="CommentStrip CommentsPanel Noter",
    status_line="StatusLine",
)
