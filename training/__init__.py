"""Losses, negatives, recipes, trainer, evaluation and the training job. It runs in child processes only."""

__curator__ = True
