"""FGSM for a bi-encoder (PEL §4.2): entities whose input embeddings are moved so that they score worse.

    z⁻_adv = z⁻ + ε · sign(∂s(m, e⁻)/∂z⁻)      eq. 6: a negative comes nearer
    z⁺_adv = z⁺ − ε · sign(∂s(m, e⁺)/∂z⁺)      eq. 7: the positive goes away
    L(m, P) + λ L(m, P_adv)                    eq. 8

z is the sum of word, position and segment embeddings (§5.3). The sign is a constant, padding is not moved, and the
mention is the clean one, with its graph, in both losses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from models.errors import ModelError, say
from training.loop.towers import Side, TextSubset
from training.losses.base import Loss, LossInputs, Texts, detached, scores, take
from training.negatives.kinship import Rows
from training.regularisers.base import DrawnBatch, Regulariser
from training.regularisers.embeddings import changed_sum, score_sign, sum_layer

if TYPE_CHECKING:
    from training.loop.towers import Towers


@dataclass(frozen=True, slots=True, eq=False)
class Roles:
    """The entities of a batch in their roles; a row may have several.

    `rows` [M]: the entity. `signs` [M, B]: 1 for each mention that it is moved towards as a negative, −1 for each
    mention that it is moved away from as the positive, 0 for all others. `positives` [B] and `negatives` [K] or [B, K]
    point into M and make the moved batch; `eligible` [B, K] is its mask.
    """

    rows: Rows
    signs: Tensor
    positives: Tensor
    negatives: Tensor
    eligible: Tensor


def shared_roles(drawn: DrawnBatch, used: Tensor) -> Roles:
    """For each row, one role as a negative of all mentions in `used` [B, N], and one role as the positive of all
    mentions linked to it."""
    columns = used.any(dim=0).nonzero().squeeze(1)
    golds, where = torch.unique(drawn.place, return_inverse=True)
    pulled = torch.nn.functional.one_hot(where, len(golds)).T * drawn.linked
    kept = pulled.any(dim=1)
    number = len(columns) + torch.cumsum(kept, 0) - 1
    return Roles(
        rows=drawn.rows[torch.cat([columns, golds[kept]]).cpu().numpy()],
        signs=torch.cat([used[:, columns].T.long(), -pulled[kept]]),
        positives=torch.where(drawn.linked, number[where], 0),
        negatives=torch.arange(len(columns), device=drawn.device),
        eligible=used[:, columns],
    )


def own_roles(drawn: DrawnBatch, used: Tensor) -> Roles:
    """A role for each mention and each negative `used` [B, N], and one for each mention and its positive, as in the
    paper."""
    mentions, columns = used.nonzero().unbind(1)
    linked = drawn.linked.nonzero().squeeze(1)
    numbers = torch.zeros_like(used, dtype=torch.long)
    numbers[mentions, columns] = torch.arange(len(mentions), device=drawn.device)
    positives = torch.zeros_like(drawn.place)
    positives[linked] = len(mentions) + torch.arange(len(linked), device=drawn.device)
    everyone = torch.eye(len(used), dtype=torch.long, device=drawn.device)
    return Roles(
        rows=drawn.rows[torch.cat([columns, drawn.place[linked]]).cpu().numpy()],
        signs=torch.cat([everyone[mentions], -everyone[linked]]),
        positives=positives,
        negatives=numbers,
        eligible=used,
    )


class FGSM(Regulariser):
    """λ L(m, P_adv), to be added to the clean loss.

    `epsilon` ≥ 0 is in units of an embedding's coordinate, `weight` is λ ≥ 0; the paper: 0.01 and 1.

    If the mentions of a batch share candidates (our reading of "N per mention" on a CPU) there is no s(m, e⁻) for a
    single m. With `shared` a candidate is moved once, by the sign of the gradient of the sum of its scores with all
    mentions that are pushed away from it (our reading); a gold entity is moved the same way, with all mentions linked
    to it. An entity that is also a negative of other mentions is encoded in both roles. Without `shared` each mention
    has its own moved copy of each of its candidates, as in the paper: for B mentions that share N candidates, B·N
    encodings. `nil_negatives` as in the loss: whether mentions without a gold entity move their negatives (our reading:
    yes). `bind` raises ModelError for a frozen entity tower.
    """

    def __init__(
        self, *, epsilon: float = 0.01, weight: float = 1.0, shared: bool = True, nil_negatives: bool = True
    ) -> None:
        super().__init__()
        self.epsilon = not_negative("epsilon", epsilon)
        self.weight = not_negative("lambda", weight)
        self.shared, self.nil_negatives = shared, nil_negatives

    def bind(self, towers: Towers) -> None:
        if towers.entity_vectors is not None:
            raise ModelError(
                say(
                    "FGSM shifts the input embeddings of entities, but a frozen entity tower has none: "
                    "its vectors come from a file. Train the entity tower as well, or choose a recipe "
                    "without FGSM."
                )
            )
        sum_layer(towers.entity)

    def roles(self, drawn: DrawnBatch) -> Roles:
        """The roles for a batch: which entities are moved, by which mentions."""
        used = drawn.eligible if self.nil_negatives else drawn.eligible & drawn.linked.unsqueeze(1)
        return shared_roles(drawn, used) if self.shared else own_roles(drawn, used)

    def term(self, drawn: DrawnBatch, loss: Loss, clean: LossInputs) -> Tensor:
        roles = self.roles(drawn)
        if not len(roles.rows):
            value: Tensor = loss(clean)
            return self.weight * value
        side = drawn.entity_side(roles.rows)
        moved = side.through(partial(self._encode, drawn, side, roles.signs, detached(clean.mentions))).whole()
        positives, candidates = take(moved, roles.positives), take(moved, roles.negatives)
        value = loss(replace(clean, positives=positives, candidates=candidates, eligible=roles.eligible))
        return self.weight * value

    def _encode(self, drawn: DrawnBatch, side: Side, signs: Tensor, mentions: Texts, part: TextSubset) -> Tensor:
        entity = drawn.towers.entity

        def objective() -> Tensor:
            """What the moves of eqs. 6 and 7 raise: the sum of ± score over a part's entities and all mentions."""
            entities = side.texts(part)
            with torch.autocast(drawn.device.type, enabled=False):
                return (scores(mentions, entities, drawn.similarity) * signs[part.places].T).sum()

        sign = score_sign(entity, part.mask, objective)
        with changed_sum(entity, lambda z: z + self.epsilon * sign):
            return side.encode(part)


def not_negative(name: str, value: float) -> float:
    """`value`; raises ModelError if it is negative or not a number."""
    if not value >= 0:
        raise ModelError(
            say(
                "The parameter '{name}' must not be below 0, but is {value}. Change it in the recipe.",
                name=name,
                value=value,
            )
        )
    return value
