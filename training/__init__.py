"""Losses, negatives, recipes, trainer, evaluation and the training job. Runs in child processes only.

* **accelerate supplies autocast, loss scaling and reductions** and wraps no network (`loop/accelerator.py`).
"""

__curator__ = True
