"""Decisions as the input of a training job: the snapshot, gold, the split of documents, and the time budget."""
