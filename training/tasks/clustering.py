"""Soft-radius neighbours: which mentions of one entity form its prototype (prototype triplet 2023, §3.2.3).

Mentions of one entity in one document may lie far apart, and their mean may be close to the entity although none of
them is. So the prototype is the mean of only those mentions that are near a random mention, the anchor a. With C the
mentions of the anchor's entity in its document, f the mention encoder, and d the Euclidean distance (not squared):

    N(a) = {m ∈ C : d(f(m), f(a)) < λ + ε}          the neighbours, the anchor always among them
    r(a) = max over m ∈ N(a) of d(f(m), f(a))       the cluster's radius, where N(a) has more than the anchor
    λ  ←  λ − Adam(∂/∂λ ½ (λ − mean of r(a))²)      one step for each step of the encoders

In the paper λ learns the mean of the clusters' radii at a rate of its own (0.005 for MedMentions, 0.01 for BC5CDR),
from 11, and ε is 1, for SapBERT with 768 dimensions. Our readings: the radius is the distance of the farthest neighbour
(`Measure.MEAN`: their mean distance), the error is squared, and λ has its own optimiser, so that it is independent of
gradient clipping, weight decay and schedule. Distances are those of the training step, with dropout; no gradient flows
through them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Adam

from models.errors import ModelError, say

OUTSIDE = -1
"""The cluster number of a mention that is in no cluster; the prototype loss leaves it out."""


class Measure(StrEnum):
    """The definition of a cluster's radius: the distance of its farthest member from the anchor, or the mean
    distance."""

    FARTHEST = "farthest"
    MEAN = "mean"


@dataclass(frozen=True, slots=True)
class RadiusSettings:
    """`radius` λ, `epsilon` ε and `learning_rate` of λ as published for SapBERT, in units of its distances.

    `rescale` adapts all three to the scale of the encoder: λ starts as the mean distance of mentions from their anchor
    before training, and ε and the learning rate change in proportion (our reading; off: as published).
    """

    radius: float = 11.0
    epsilon: float = 1.0
    learning_rate: float = 0.01
    rescale: bool = True
    measure: Measure = Measure.FARTHEST

    def __post_init__(self) -> None:
        for name in ("radius", "learning_rate"):
            if not getattr(self, name) > 0:
                raise ModelError(
                    say("The '{name}' of soft-radius clustering must be above 0. Change the recipe.", name=name)
                )
        if self.epsilon < 0:
            raise ModelError(say("The 'epsilon' of soft-radius clustering must not be below 0. Change the recipe."))


def anchor_distances(mentions: Tensor, clusters: Tensor) -> Tensor:
    """Distances [B] of `mentions` [B, d] from the first mention of their cluster; `clusters` [B] are arbitrary
    numbers."""
    points = mentions.detach().float()
    number = torch.unique(clusters, return_inverse=True)[1]
    places = torch.arange(len(number), device=number.device)
    first = torch.full_like(places, len(number)).scatter_reduce(0, number, places, reduce="amin")
    apart: Tensor = torch.linalg.vector_norm(points - points[first[number]], dim=1)
    return apart


def cluster_radii(distances: Tensor, clusters: Tensor, inside: Tensor, measure: Measure) -> dict[int, float]:
    """The radius r(a) by cluster number, from each mention's distance [B] to its anchor and whether it is `inside` [B].
    Clusters with only the anchor (the first mention) inside have none."""
    members: dict[int, list[float]] = {}
    for cluster, distance, within in zip(clusters.tolist(), distances.tolist(), inside.tolist(), strict=True):
        members.setdefault(cluster, []).extend([distance] if within else [])
    others = {cluster: found[1:] for cluster, found in members.items() if len(found) > 1}
    if Measure(measure) is Measure.FARTHEST:
        return {cluster: max(found) for cluster, found in others.items()}
    return {cluster: sum(found) / len(found) for cluster, found in others.items()}


class SoftRadius:
    """λ, learnt together with the encoders: `select` is called for each batch, `step` for each optimiser's step."""

    def __init__(self, settings: RadiusSettings | None = None) -> None:
        self.settings = settings or RadiusSettings()
        self.scaled = not self.settings.rescale
        self._begin(self.settings.radius, self.settings.epsilon, self.settings.learning_rate)
        self._seen: dict[int, float] = {}

    @property
    def radius(self) -> float:
        """The current λ."""
        return float(self._radius.detach())

    @property
    def reach(self) -> float:
        """λ + ε: mentions nearer to the anchor than this are its neighbours."""
        return self.radius + self.epsilon

    def rescale(self, distances: Sequence[float]) -> None:
        """Adapt λ, ε and the learning rate to the scale of the encoder, given distances of mentions from their anchors
        before training. Without a distance above 0 they are unchanged. Only the first call has an effect."""
        mean = sum(distances) / max(1, len(distances))
        if not self.scaled and mean > 0:
            factor = mean / self.settings.radius
            self._begin(mean, factor * self.settings.epsilon, factor * self.settings.learning_rate)
        self.scaled = True

    def select(self, mentions: Tensor, clusters: Tensor, *, names: Sequence[int]) -> Tensor:
        """`clusters` [B] with OUTSIDE for mentions that are not neighbours of their anchor, the first of their cluster.

        The radii are remembered until the next `step`, by `names` [B], cluster numbers that are unique over the
        training set, so a retried batch counts once.
        """
        distances = anchor_distances(mentions, clusters)
        inside = (distances < self.reach) | (distances == 0)
        named = torch.tensor(names, dtype=torch.long)
        self._seen |= cluster_radii(distances, named, inside, self.settings.measure)
        return clusters.masked_fill(~inside, OUTSIDE)

    def step(self) -> None:
        """One step of λ towards the mean radius of the clusters since the last step; no step if there were none."""
        if not self._seen:
            return
        self._radius.grad = self._radius.detach() - sum(self._seen.values()) / len(self._seen)
        self._optimizer.step()
        with torch.no_grad():
            self._radius.clamp_(min=0.0)
        self._seen = {}

    def state(self) -> dict[str, Any]:
        """λ and everything that its next steps depend on, for JSON."""
        moments = self._optimizer.state.get(self._radius, {})
        return {
            "radius": self.radius,
            "epsilon": self.epsilon,
            "learning_rate": self._optimizer.param_groups[0]["lr"],
            "scaled": self.scaled,
            "moments": {name: float(value) for name, value in moments.items()},
            "seen": {str(name): radius for name, radius in self._seen.items()},
        }

    def load_state(self, raw: Mapping[str, Any]) -> None:
        """Resume from the `state` of a radius."""
        self._begin(raw["radius"], raw["epsilon"], raw["learning_rate"])
        self.scaled = bool(raw["scaled"])
        kinds = {"step": torch.float32}
        moments = {k: torch.tensor(v, dtype=kinds.get(k, torch.float64)) for k, v in raw["moments"].items()}
        if moments:
            self._optimizer.state[self._radius] = moments
        self._seen = {int(name): radius for name, radius in raw["seen"].items()}

    def _begin(self, radius: float, epsilon: float, learning_rate: float) -> None:
        self.epsilon = epsilon
        self._radius = nn.Parameter(torch.tensor(radius, dtype=torch.float64))
        self._optimizer = Adam([self._radius], lr=learning_rate)
