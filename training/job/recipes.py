"""Recipes: named, complete training configurations, read from `resources/recipes` (see `resources.recipe_files`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from models.encoders.inputs import EntityStyle, InputSettings
from models.encoders.pooling import MentionVector, Pooling
from models.errors import ModelError, say
from resources import recipe_files
from resources.recipe_files import Parameter, Value
from training.losses.amh import AdaptiveMixupLoss
from training.losses.base import Loss, Similarity
from training.losses.cross_entropy import CandidateCrossEntropy
from training.losses.multi_similarity import MultiSimilarityLoss
from training.losses.nce import NoiseContrastiveLoss
from training.losses.prototype import PrototypeTripletLoss
from training.losses.proxy import ProxyLoss
from training.losses.triplet import TripletLoss

CHOICES = "The parameter '{name}' cannot be {value!r}; it must be one of {choices}."
KIND = "The parameter '{name}' cannot be {value!r}; it must be of type {kind}."
BETWEEN = "The parameter '{name}' cannot be {value!r}; it must be of type {kind} and between {minimum} and {maximum}."
UNKNOWN_KEY = "{where}: unknown key '{key}' in {part}. Known keys: {fields}."
MISSING_KEY = "{where}: the key '{key}' is missing in {part}. Known keys: {fields}."
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


class Role(StrEnum):
    """The role of the trained network in the bundle. NAMES: the encoder of the stage over names. FIT: no network is
    trained."""

    NAMES = "names"
    RETRIEVER = "retriever"
    RANKER = "ranker"
    FIT = "fit"


SERVED: Mapping[Role, tuple[Similarity, ...]] = {
    Role.NAMES: (Similarity.COSINE,),
    Role.RETRIEVER: (Similarity.COSINE, Similarity.DOT, Similarity.SOM),
    Role.RANKER: (Similarity.EUCLIDEAN,),
}
"""How the stage in the bundle can compare: what a recipe trains must be what is served."""


class Network(StrEnum):
    """TOWERS: mention and entity are encoded apart. PAIR: one network reads both together (a cross-encoder). NONE: only
    the fits that follow every training."""

    TOWERS = "towers"
    PAIR = "pair"
    NONE = "none"


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


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe. `stage` names the retriever or ranker in the bundle: recipes of one stage replace each other.

    `system` is the family it belongs to, `quick`: it is sized for two processor cores. `network` "pair" takes a loss of
    PAIR_LOSSES and leaves `similarity` unused. `grouping` is how the mentions of a dual-encoder re-ranker are grouped
    (`training.tasks.reranking.System`), `mention` how a mention's vector is pooled. A recipe of `network` "none" has
    neither loss nor stage nor parameters.
    """

    id: str
    title: str
    summary: str
    citation: str
    system: str
    stage: str
    role: Role
    loss: str
    similarity: Similarity
    pooling: Pooling
    parameters: tuple[Parameter, ...]
    paper: Mapping[str, Value]
    quick: bool = False
    network: Network = Network.TOWERS
    regulariser: Regularisation = Regularisation.NONE
    grouping: str = ""
    mention: MentionVector = MentionVector.TEXT

    def values(self, given: Mapping[str, Any] | None = None) -> dict[str, Value]:
        """Defaults overridden by `given`; ModelError names an unknown key or a value out of range."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given or {}:
            if name not in known:
                raise ModelError(
                    say(
                        "The recipe {id} has no parameter '{name}'. Its parameters are: {known}.",
                        id=self.id,
                        name=name,
                        known=", ".join(sorted(known)),
                    )
                )
        defaults: dict[str, Value] = {parameter.name: parameter.default for parameter in self.parameters}
        return defaults | {name: _in_range(known[name], value) for name, value in (given or {}).items()}

    def hyperparameters(self, values: Mapping[str, Value]) -> Hyperparameters:
        """The "training" part of `values` as a dataclass."""
        return Hyperparameters(**self._group("training", values))

    def make_loss(self, values: Mapping[str, Value]) -> Loss:
        """The loss over vectors, with the "loss" part of `values`; only for `network` TOWERS."""
        return LOSSES[self.loss](**self._group("loss", values), similarity=self.similarity)

    def make_pair_loss(self, values: Mapping[str, Value]) -> CandidateCrossEntropy:
        """The loss over scores, with the "loss" part of `values`; only for `network` PAIR."""
        return PAIR_LOSSES[self.loss](**self._group("loss", values))

    def inputs(self, values: Mapping[str, Value]) -> InputSettings:
        """Token budgets and the way entities are written."""
        wanted = self.hyperparameters(values)
        return InputSettings(wanted.mention_tokens, wanted.entity_tokens, EntityStyle(wanted.style))

    def options(self, group: str, values: Mapping[str, Value]) -> dict[str, Any]:
        """The part of `values` that belongs to "loss", "regulariser" or "grouping"."""
        return self._group(group, values)

    def _group(self, group: str, values: Mapping[str, Value]) -> dict[str, Any]:
        return {parameter.name: values[parameter.name] for parameter in self.parameters if parameter.group == group}


def recipe_ids() -> tuple[str, ...]:
    """All recipes, including quick variants, in alphabetical order."""
    return recipe_files.recipe_ids()


def load_recipe(name: str) -> Recipe:
    """Read a recipe; ModelError lists the existing recipes, or names the error in the file."""
    if name not in recipe_ids():
        raise ModelError(
            say("Unknown recipe '{name}'. Choose one of: {recipe_ids}.", name=name, recipe_ids=", ".join(recipe_ids()))
        )
    recipe = parse_recipe(recipe_files.read_recipe(name), where=f"{name.removesuffix(recipe_files.QUICK)}.json")
    if recipe.id != name:
        raise ModelError(
            say(
                "The recipe file {name}.json contains the id '{id}'. Give the file and the recipe the same name.",
                name=name,
                id=recipe.id,
            )
        )
    return recipe


def parse_recipe(raw: Any, *, where: str) -> Recipe:
    """A recipe from JSON data; ModelError names unknown and missing keys and bad values."""
    fields = _checked(raw, Recipe, where)
    try:
        recipe = Recipe(
            **fields
            | {
                "role": Role(fields["role"]),
                "network": Network(fields.get("network", Network.TOWERS)),
                "similarity": Similarity(fields["similarity"]),
                "pooling": Pooling(fields["pooling"]),
                "mention": MentionVector(fields.get("mention", "text")),
                "regulariser": Regularisation(fields.get("regulariser", "")),
                "parameters": tuple(_parameter(item, where) for item in fields["parameters"]),
            }
        )
    except ValueError as error:
        raise ModelError(f"{where}: {error}.") from error
    _check_recipe(recipe, where)
    return recipe


def _parameter(raw: Any, where: str) -> Parameter:
    parameter = Parameter.of(_checked(raw, Parameter, where))
    return dataclasses.replace(parameter, default=_in_range(parameter, parameter.default))


def _in_range(parameter: Parameter, value: Any) -> Value:
    """`value` in the parameter's type; ModelError names the parameter, the value and the allowed range."""
    found = parameter.converted(value)
    if found is None:
        bounded = parameter.minimum is not None or parameter.maximum is not None
        raise ModelError(
            say(
                BETWEEN if bounded else CHOICES if parameter.choices else KIND,
                name=parameter.name,
                value=value,
                choices=", ".join(parameter.choices),
                kind=parameter.kind.value,
                minimum=parameter.minimum,
                maximum=parameter.maximum,
            )
        )
    return found


def _checked(raw: Any, kind: type, where: str) -> dict[str, Any]:
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if not isinstance(raw, dict):
        raise ModelError(say("{where}: {part} must be an object.", where=where, part=kind.__name__))
    unknown = sorted(set(raw) - set(fields))
    missing = sorted(
        name
        for name, field in fields.items()
        if name not in raw and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    )
    if unknown or missing:
        raise ModelError(
            say(
                UNKNOWN_KEY if unknown else MISSING_KEY,
                where=where,
                key=(unknown or missing)[0],
                part=kind.__name__,
                fields=", ".join(fields),
            )
        )
    return dict(raw)


def _check_recipe(recipe: Recipe, where: str) -> None:
    known = {field.name for field in dataclasses.fields(Hyperparameters)}
    for parameter in recipe.parameters:
        if parameter.group == "training" and parameter.name not in known:
            raise ModelError(
                say("{where}: unknown key '{name}' among the parameters.", where=where, name=parameter.name)
            )
    if (recipe.network is Network.NONE) != (recipe.role is Role.FIT):
        raise ModelError(say("{where}: the network “none” and the role “fit” must be used together.", where=where))
    if recipe.network is Network.NONE:
        return
    paired = recipe.network is Network.PAIR
    losses: Mapping[str, object] = PAIR_LOSSES if paired else LOSSES
    if recipe.loss not in losses:
        raise ModelError(
            say(
                "{where}: unknown loss '{loss}'. Known losses: {losses}.",
                where=where,
                loss=recipe.loss,
                losses=", ".join(losses),
            )
        )
    if not paired and recipe.similarity not in SERVED[recipe.role]:
        raise ModelError(
            say(
                "{where}: the linker cannot compare {role} by the similarity “{similarity}”. Choose one of: {served}.",
                where=where,
                role=recipe.role.value,
                similarity=recipe.similarity.value,
                served=", ".join(SERVED[recipe.role]),
            )
        )
    if paired and recipe.role is not Role.RANKER:
        raise ModelError(say("{where}: a network that reads pairs can only be a ranker.", where=where))
    for values in (recipe.values(recipe.paper), recipe.values()):
        recipe.inputs(values)
        recipe.make_pair_loss(values) if paired else recipe.make_loss(values)
