"""What the words of a recipe (`resources.recipe_files`) mean in training: its loss, its parameters, its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from models.encoders.inputs import EntityStyle, InputSettings
from models.errors import ModelError, say
from resources.recipe_files import Recipe, Value, read_recipe, recipe_ids
from training.losses.amh import AdaptiveMixupLoss
from training.losses.base import Loss, Similarity
from training.losses.cross_entropy import CandidateCrossEntropy
from training.losses.multi_similarity import MultiSimilarityLoss
from training.losses.nce import NoiseContrastiveLoss
from training.losses.prototype import PrototypeTripletLoss
from training.losses.proxy import ProxyLoss
from training.losses.triplet import TripletLoss

LOSSES: Mapping[str, type[Loss]] = {
    "nce": NoiseContrastiveLoss,
    "proxy": ProxyLoss,
    "adaptive-mixup": AdaptiveMixupLoss,
    "multi-similarity": MultiSimilarityLoss,
    "triplet": TripletLoss,
    "prototype-triplet": PrototypeTripletLoss,
}
PAIR_LOSSES: Mapping[str, type[CandidateCrossEntropy]] = {"cross-entropy": CandidateCrossEntropy}
UPPER_HALF = "upper-half"
"""Value of `layers`: the lower half of an encoder's layers, and its embeddings, are not trained."""


class Regularisation(StrEnum):
    """The term added to the loss (PEL eqs. 5-7, T-Biencoder eqs. 7-10)."""

    NONE = ""
    FGSM = "fgsm"
    TRANSFORMATION = "transformation"


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """The parameters of group "training", in effect; `resources/recipe-parameters.json` describes each. A parameter
    that a recipe lacks has the default value."""

    epochs: int = 3
    batch_size: int = 32
    accumulation: int = 1
    learning_rate: float = 5e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    precision: str = "auto"
    mention_tokens: int = 48
    entity_tokens: int = 32
    style: str = EntityStyle.TYPES_SYNONYMS.value
    entity_tower: str = "auto"
    projection: bool = False
    freeze_embeddings: bool = False
    negatives: str = "random"
    negative_count: int = 32
    mined_share: float = 0.5
    domain: str = "cross"
    sharing: str = "batch"
    in_batch: bool = True
    learnt_mentions: int = 0
    candidates: int = 16
    learnt_share: float = 1.0
    asked_share: float = 1.0
    seconds_per_document: float = 0.0
    layers: str = "all"
    synonyms: float = 0.0

    @classmethod
    def of(cls, recipe: Recipe, values: Mapping[str, Value]) -> Hyperparameters:
        return cls(**recipe.group("training", values))

    @property
    def inputs(self) -> InputSettings:
        """Token budgets and the way entities are written."""
        return InputSettings(self.mention_tokens, self.entity_tokens, EntityStyle(self.style))


def make_loss(recipe: Recipe, values: Mapping[str, Value]) -> Loss:
    """The loss over vectors, with the "loss" part of `values`; only for networks that are towers."""
    return LOSSES[recipe.loss](**recipe.group("loss", values), similarity=Similarity(recipe.similarity))


def load_recipe(name: str) -> Recipe:
    """A recipe; ModelError lists the existing ones."""
    if name not in recipe_ids():
        raise ModelError(
            say("Unknown recipe '{name}'. Choose one of: {recipe_ids}.", name=name, recipe_ids=", ".join(recipe_ids()))
        )
    return read_recipe(name)
