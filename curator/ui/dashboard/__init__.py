"""Figures of the project, drawn and as tables, and lists of decisions: all, and those that the linker finds
unlikely."""
