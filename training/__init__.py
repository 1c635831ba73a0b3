"""Losses, negatives, recipes, trainer, evaluation and the training job. It runs in child processes only.

* **accelerate is used for autocast, loss scaling and reductions only**; it wraps no network (`loop/accelerator.py`).
"""

__curator__ = True
