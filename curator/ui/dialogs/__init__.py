"""Dialogs: each asks for one thing, can be left by Esc, and starts nothing by itself."""
