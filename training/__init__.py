"""Losses, negatives, recipes, trainer, evaluation and the training job. Runs in child processes only."""
