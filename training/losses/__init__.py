"""The losses, one per file, each with the equation of its paper.

    nce               cross-entropy of the gold entity against negatives: PEL-CE, T-Biencoder
    proxy             proxy-based, pull and push apart: PEL-Pb
    amh               adaptive mixup of hard negatives: AMH
    triplet           the dual-encoder re-ranker's baseline
    prototype         prototype triplet: the dual-encoder re-ranker
    multi_similarity  the hard pairs, pulled and pushed around a fixed similarity: SapBERT
    cross_entropy     over the scores of a cross-encoder

`base` defines the input of a loss and the scores, `hinge` the code shared by the two triplet losses.

* **A loss sees vectors or, for SOM, states of tokens with their mask**, never texts, and computes in float32 or higher.
  Every file but `base` and `hinge` holds one loss, and `tests/training/losses/test_every_loss_is_tested.py` checks that
  each has all required kinds of tests.
"""

from training.losses.amh import AdaptiveMixupLoss
from training.losses.base import (
    Loss,
    LossInputs,
    Similarity,
    Texts,
    check_positive,
    scores,
    take,
    tokens_of,
    vectors_of,
)
from training.losses.cross_entropy import CandidateCrossEntropy
from training.losses.multi_similarity import MultiSimilarityLoss
from training.losses.nce import NoiseContrastiveLoss
from training.losses.prototype import PrototypeTripletLoss
from training.losses.proxy import ProxyLoss
from training.losses.triplet import TripletLoss

__all__ = [
    "AdaptiveMixupLoss",
    "CandidateCrossEntropy",
    "Loss",
    "LossInputs",
    "MultiSimilarityLoss",
    "NoiseContrastiveLoss",
    "PrototypeTripletLoss",
    "ProxyLoss",
    "Similarity",
    "Texts",
    "TripletLoss",
    "check_positive",
    "scores",
    "take",
    "tokens_of",
    "vectors_of",
]
