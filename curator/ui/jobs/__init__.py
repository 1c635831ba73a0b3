"""Background work on show: what runs, how long it still takes, what it found, and the figures of a running training."""
