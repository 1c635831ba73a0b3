"""Gradient caching: the gradient of a large batch in the memory of a small one.

Contrastive losses need all vectors of a batch at once, but not all graphs of their encoders. A batch is first encoded
piece by piece without a graph. The loss of all vectors gives the gradient at each vector. Then every piece is encoded
again with its graph, and that gradient is propagated through it. Dropout is replayed with the generator states stored
in the first pass, so the gradients equal those of the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from training.loop.generators import TorchState

Piece = Callable[[], Tensor]


class CachedBatch(Protocol):
    """One batch in the form needed for gradient caching; `Task.pieces(batch, chunk=...)` makes it.

    `pieces` are called in their order, twice: first without a graph, then with a graph and the same state of torch's
    generators. Each encodes at most `chunk` texts and returns their vectors [n, d], or the states of their tokens [n,
    t, d] (masks stay with the batch, they need no gradient). Both calls must return the same numbers. The task's own
    generators (gold entity, negatives) are used once, while the batch is made, exactly as in `Task.loss`. A piece may
    keep results of its first call, such as a regulariser's perturbation that needs the vectors of earlier pieces; for
    this it turns on gradients itself (`torch.enable_grad`).

    `loss(outputs)` is the loss of all outputs, in the order of `pieces`, and equals `Task.loss` of the batch. It may
    have its own parameters (a transformation, a learned radius), which get their gradients here.
    """

    @property
    def pieces(self) -> Sequence[Piece]: ...

    def loss(self, outputs: Sequence[Tensor]) -> Tensor: ...


def cached_backward(batch: CachedBatch, *, where: torch.device, backward: Callable[[Tensor], None]) -> Tensor:
    """The batch's loss, detached; gradients are added to the parameters as `backward(loss)` would add them.

    `where` is the device whose generator dropout uses; `backward` takes the loss of all outputs (and may scale it).
    Memory holds all outputs and the graph of one piece at a time.
    """
    states, outputs = [], []
    with torch.no_grad():
        for piece in batch.pieces:
            states.append(TorchState.take(where))
            outputs.append(piece())
    leaves = [output.detach().requires_grad_() for output in outputs]
    loss = batch.loss(leaves)
    backward(loss)
    after = TorchState.take(where)
    for piece, state, leaf in zip(batch.pieces, states, leaves, strict=True):
        if leaf.grad is None:
            continue
        state.put_back()
        output = piece()
        if output.requires_grad:  # a frozen tower's vectors are only looked up
            torch.autograd.backward(output, leaf.grad)
        leaf.grad = None
    after.put_back()
    return loss.detach()
