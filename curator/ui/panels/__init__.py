"""Panels next to the text and below it: history, comments, relations, guidelines, the status line, attributes."""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.panels.attributes_dialog import AttributesDialog
    from curator.ui.panels.guidelines_panel import GuidelinesPanel
    from curator.ui.panels.history_panel import HistoryPanel, HistorySide, SideSplitter
    from curator.ui.panels.history_rows import HistoryRow, attribute_rows, relation_rows
    from curator.ui.panels.notes import CommentsPanel, CommentStrip, Noter
    from curator.ui.panels.relations_panel import RelationRow, RelationsPanel
    from curator.ui.panels.status_line import StatusLine

__all__ = [
    "AttributesDialog",
    "CommentStrip",
    "CommentsPanel",
    "GuidelinesPanel",
    "HistoryPanel",
    "HistoryRow",
    "HistorySide",
    "Noter",
    "RelationRow",
    "RelationsPanel",
    "SideSplitter",
    "StatusLine",
    "attribute_rows",
    "relation_rows",
]

__getattr__ = opened_late(
    __name__,
    attributes_dialog="AttributesDialog",
    guidelines_panel="GuidelinesPanel",
    history_panel="HistoryPanel HistorySide SideSplitter",
    history_rows="HistoryRow attribute_rows relation_rows",
    notes="CommentStrip CommentsPanel Noter",
    relations_panel="RelationRow RelationsPanel",
    status_line="StatusLine",
)
