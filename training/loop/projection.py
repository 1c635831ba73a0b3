"""A small trainable map of frozen entity vectors: e → W e, W starting as the identity.

If the entity encoder is frozen, its vectors come from a file, and the entity side could not learn. W adds d² parameters
at the cost of one matrix product: after training, all vectors are mapped within a second, and no entity is encoded
again. There is no bias, so W alone is the map.

How it is used: `Towers(..., entity_vectors=vectors, entity_projection=identity_projection(d, device=device))`;
`Towers.encode_entities` maps the rows of a batch with a graph, `Towers.projected(vectors)` maps all of them for an
index, and `RetrieverTask` trains W together with the mention tower. Entities that are added later are mapped by the
same W, so a bundle has to keep it.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from models.errors import ModelError, say

FloatArray = NDArray[np.float32]
CHUNK = 8192


def identity_projection(dimension: int, *, device: torch.device) -> nn.Linear:
    """W [d, d] as a layer without bias, the identity before training; draws no random numbers. Raises ModelError for d
    < 1."""
    if dimension < 1:
        raise ModelError(say("A projection needs vectors of at least 1 number, not {dimension}.", dimension=dimension))
    projection = nn.Linear(dimension, dimension, bias=False, device="meta").to_empty(device=device)
    with torch.no_grad():
        nn.init.eye_(projection.weight)
    return projection


def project(projection: nn.Linear, vectors: FloatArray, *, chunk: int = CHUNK) -> FloatArray:
    """W v for all `vectors` [n, d] → [n, d] float32, without a graph, `chunk` at a time.

    Raises ModelError if the vectors' width differs from W's.
    """
    if vectors.ndim != 2 or vectors.shape[1] != projection.in_features:
        raise ModelError(
            say(
                "A projection of {in_features} numbers cannot map vectors of shape {shape}. The vectors "
                "belong to another encoder. Prepare them again.",
                in_features=projection.in_features,
                shape=vectors.shape,
            )
        )
    weight = projection.weight
    mapped = np.empty((len(vectors), projection.out_features), dtype=np.float32)
    with torch.inference_mode():
        for start in range(0, len(vectors), chunk):
            part = torch.from_numpy(np.array(vectors[start : start + chunk], dtype=np.float32))
            mapped[start : start + chunk] = projection(part.to(weight)).float().cpu().numpy()
    return mapped
