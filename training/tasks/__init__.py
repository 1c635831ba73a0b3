"""What recipes train: retrievers, re-rankers, a cross-encoder, with mined negatives and prototypes."""
