"""Which entities a mention is pushed away from: random, mined, and never its own.

Entities are rows (positions in the knowledge base). The gold entity is never a negative, nor is any entity that shares
an id with it, primary or alternate.
"""

from training.negatives.batch import Drawn, candidate_set
from training.negatives.kinship import Kinship, Rows, eligible
from training.negatives.ranking import hard_rows, nearest
from training.negatives.samplers import (
    HardNegatives,
    MinedNegatives,
    MixedNegatives,
    NegativeSampler,
    RandomNegatives,
    Sharing,
)

__all__ = [
    "Drawn",
    "HardNegatives",
    "Kinship",
    "MinedNegatives",
    "MixedNegatives",
    "NegativeSampler",
    "RandomNegatives",
    "Rows",
    "Sharing",
    "candidate_set",
    "eligible",
    "hard_rows",
    "nearest",
]
