"""A linear map of entity vectors, stored with a retriever's index: e → W e.

If training kept the entity encoder frozen, W is all that was trained on the entity side. The index holds mapped
vectors; entities that are added later are mapped by the same W.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from models.core.file_io import atomic_path
from models.errors import ModelError, say

FILE = "projection.safetensors"
REMEDY = "Roll back to another linker, or train the retriever again."
FLOATS = NDArray[np.float32]


def save_projection(weight: FLOATS, folder: Path) -> str:
    """Write W [d, d]; returns its fingerprint."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = np.ascontiguousarray(weight, dtype=np.float32)
    with atomic_path(folder / FILE) as beside:
        save_file({"weight": kept}, beside)
    return fingerprint(kept)


def load_projection(folder: Path, *, dimension: int) -> FLOATS:
    """W (d, d) float32 from its file; raises ModelError if the file is damaged or has another width."""
    try:
        weight = np.asarray(load_file(folder / FILE)["weight"], dtype=np.float32)
    except (OSError, KeyError, SafetensorError) as error:
        raise ModelError(
            say(
                "The projection {folder} is missing or damaged ({error}). {remedy}",
                folder=folder / FILE,
                error=error,
                remedy=say(REMEDY),
            )
        ) from error
    if weight.shape != (dimension, dimension):
        raise ModelError(
            say(
                "The projection {folder} has shape {shape}, not {dimension} by {dimension}. {remedy}",
                folder=folder / FILE,
                shape=weight.shape,
                dimension=dimension,
                remedy=say(REMEDY),
            )
        )
    return weight


def fingerprint(weight: FLOATS) -> str:
    """The SHA-256 of W (d, d) as float32."""
    return hashlib.sha256(np.ascontiguousarray(weight, dtype="<f4").tobytes()).hexdigest()
