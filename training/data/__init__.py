"""Decisions as a training sees them: the snapshot, gold, who teaches and who judges, and time."""
