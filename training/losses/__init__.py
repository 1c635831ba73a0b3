"""The losses, one a file: proxy-based (PEL), adaptive mixup (AMH), prototype triplet, cross-entropy (rankers)."""

from training.losses.amh import AdaptiveMixupLoss
from training.losses.base import Loss, LossInputs, Similarity, Texts
from training.losses.cross_entropy import CandidateCrossEntropy
from training.losses.prototype import PrototypeTripletLoss
from training.losses.proxy import ProxyLoss

__all__ = [
    "AdaptiveMixupLoss",
    "CandidateCrossEntropy",
    "Loss",
    "LossInputs",
    "PrototypeTripletLoss",
    "ProxyLoss",
    "Similarity",
    "Texts",
]
