"""The entities' vectors from which towers start: the untrained encoder's, or the means of their names' vectors."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import numpy as np

from models.encoders.encoders import Encoder, normalized
from models.encoders.inputs import EntityStyle
from models.errors import ModelError
from models.names.candidates import NAMES
from models.names.names import NamesRetriever
from models.retrievers.biencoder import means_of
from models.wording import say
from training.data.budget import Budget
from training.data.examples import EntityTexts
from training.data.progress import Event, Phase
from training.loop.towers import FloatArray
from training.losses import Similarity
from training.tasks.vectors import cache_path, untrained_vectors

if TYPE_CHECKING:
    from training.job.preparation import Loaded

RATE_SAMPLE = 256
AT_ONCE = 4096


def untrained_entities(
    loaded: Loaded, encoder: Encoder, texts: EntityTexts, budget: Budget
) -> Generator[Event, None, tuple[FloatArray | None, float]]:
    """Vectors of the untrained entity tower (none for SOM), and how many entities are encoded a second."""
    if loaded.inputs.style is EntityStyle.MEAN_OF_NAMES:
        return _means_of_names(loaded), float("inf")
    total, kb_hash, cache = len(loaded.kb.entities), loaded.base.manifest.kb_hash, loaded.spec.cache
    rate = _entity_rate(encoder, texts, budget)
    if loaded.recipe.similarity is Similarity.SOM:
        return None, rate
    yield Event(Phase.PREPARE, text=say("Encoding the entities with the untrained encoder"))
    left = budget.left()
    kept = cache_path(encoder, texts, kb_hash=kb_hash, cache=cache).exists()
    if left is not None and not kept and total / rate > left:
        raise ModelError(
            say(
                "The time budget is too short: encoding {total:,} entities takes about {minutes:.1f} minutes the "
                "first time, {left:.1f} are left. Allow more minutes.",
                total=total,
                minutes=total / rate / 60,
                left=max(0.0, left) / 60,
            )
        )
    vectors, _ = yield from untrained_vectors(encoder, texts, kb_hash=kb_hash, cache=cache)
    return vectors, rate


def _means_of_names(loaded: Loaded) -> FloatArray:
    """(entities, d) from the index over names of the linker in use; ModelError where it has none."""
    stage = loaded.linker.stages.names.stages.get(NAMES)
    if not isinstance(stage, NamesRetriever):
        raise ModelError(
            say(
                "The linker in use has no vectors of names yet, from which this recipe starts. Build the index, "
                "then train."
            )
        )
    starts = loaded.kb.name_starts
    rows = np.arange(int(starts[-1]), dtype=np.int64)
    parts = [
        means_of(normalized(stage.index.vectors(rows[starts[at] : starts[stop]])), np.diff(starts[at : stop + 1]))
        for at, stop in _spans(len(loaded.kb.entities), AT_ONCE)
    ]
    return np.concatenate(parts)


def _spans(total: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(start + size, total)) for start in range(0, total, size)]


def _entity_rate(encoder: Encoder, texts: EntityTexts, budget: Budget) -> float:
    """Entities encoded a second, from a sample spread over the knowledge base."""
    total = len(texts.kb.entities)
    tokens = texts.of(range(0, total, max(1, total // RATE_SAMPLE)))
    begun = budget.elapsed
    encoder.encode_ids(tokens, normalize=False)
    return len(tokens) / max(1e-6, budget.elapsed - begun)
