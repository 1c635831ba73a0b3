"""Panels next to the text and below it: history, comments, relations, guidelines, the status line, attributes."""
