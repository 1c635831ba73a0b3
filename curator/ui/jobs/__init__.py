"""Display of background work: running jobs, remaining time, results, and the figures of a running training."""
