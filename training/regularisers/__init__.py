"""Terms that are added to a batch's loss so that an encoder generalises beyond the texts it was trained on."""

from training.regularisers.base import DrawnBatch, LossTerm, Regulariser
from training.regularisers.embeddings import freeze_embeddings
from training.regularisers.fgsm import FGSM
from training.regularisers.fgsm_pairs import PairFGSM
from training.regularisers.transformation import Ascent, Transformation

__all__ = ["FGSM", "Ascent", "DrawnBatch", "LossTerm", "PairFGSM", "Regulariser", "Transformation", "freeze_embeddings"]
