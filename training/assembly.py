"""Writing a trained part into a staging bundle beside the unchanged parts of the one it was trained from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from models.biencoder import INDEX_FILE, BiencoderSettings, Scorer, index_source
from models.bundle import Bundle, EncoderRef, Manifest, RankerSpec, RetrieverSpec, reuse
from models.default_encoder import default_encoder_folder
from models.dual_ranker import HEADER_FILE, VECTORS_FILE
from models.encoders import Encoder, load_encoder, normalized, save_encoder
from models.files import atomic_path, write_json
from models.index import VectorIndex
from models.inputs import InputSettings
from models.pooling import Pooling
from models.ranker import RankerSettings
from training.losses import Similarity
from training.recipes import Recipe, Role
from training.towers import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPart:
    """What training made: the towers as encoders and the entities' vectors, not normalised.

    A trained encoder's `fingerprint` is empty until it is written; a frozen one keeps its own.
    """

    mention: Encoder
    entity: Encoder
    vectors: FloatArray
    inputs: InputSettings


def base_encoder_folder(base: Bundle) -> Path:
    """The encoder from which towers start: that of the untrained retriever over names, else the default one."""
    names = base.manifest.retriever("names")
    return base.encoder_folder(names.encoders[0]) if names and names.encoders else default_encoder_folder()


def load_tower(folder: Path, recipe: Recipe, inputs: InputSettings, *, device: str) -> Encoder:
    """An encoder to start from, with the recipe's pooling."""
    tokens = max(inputs.mention_tokens, inputs.entity_tokens)
    return load_encoder(folder, device=device, max_tokens=tokens, pooling=Pooling(recipe.pooling))


def write_part(part: TrainedPart, recipe: Recipe, base: Bundle, staging: Path, *, top_k: int) -> Manifest:
    """Write weights and index or vectors, share what stays, and return the manifest so far (fusion and NIL are the
    base's). A trained part of the same stage is replaced, and so is any ranker by a ranker."""
    known = _known(part.entity, base.manifest)
    encoders = (
        _save(part.mention, staging, f"encoders/{recipe.stage}-mention"),
        known or _save(part.entity, staging, f"encoders/{recipe.stage}-entity"),
    )
    kept = _kept(base.manifest, recipe)
    for relative in _shared_paths(kept):
        reuse(base, relative, staging)
    if recipe.role is Role.RETRIEVER:
        spec = _write_retriever(part, recipe, encoders, staging, kb_hash=base.manifest.kb_hash)
        return replace(kept, retrievers=(*kept.retrievers, spec))
    return replace(kept, ranker=_write_ranker(part, recipe, encoders, staging, base.manifest.kb_hash, top_k=top_k))


def _save(encoder: Encoder, staging: Path, relative: str) -> EncoderRef:
    fingerprint = save_encoder(encoder, staging / relative)
    return EncoderRef("bundle", fingerprint, relative, encoder.max_tokens)


def _known(entity: Encoder, manifest: Manifest) -> EncoderRef | None:
    """How the base refers to a frozen entity tower, which then need not be stored again."""
    names = manifest.retriever("names")
    ref = names.encoders[0] if names and names.encoders else None
    return ref if ref is not None and entity.fingerprint == ref.fingerprint else None


def _kept(manifest: Manifest, recipe: Recipe) -> Manifest:
    """The base's manifest without what the new part replaces."""
    if recipe.role is Role.RANKER:
        weights = {k: v for k, v in manifest.fusion.get("weights", {}).items() if k != "ranker"}
        return replace(manifest, ranker=None, fusion=_with_weights(manifest, weights))
    retrievers = tuple(spec for spec in manifest.retrievers if spec.name != recipe.stage)
    weights = {k: v for k, v in manifest.fusion.get("weights", {}).items() if k != recipe.stage}
    return replace(manifest, retrievers=retrievers, fusion=_with_weights(manifest, weights))


def _with_weights(manifest: Manifest, weights: dict[str, float]) -> dict[str, object]:
    return {**manifest.fusion, "weights": weights} if weights else dict(manifest.fusion)


def _shared_paths(manifest: Manifest) -> Iterator[str]:
    """Everything that the kept parts are read from."""
    specs: list[RetrieverSpec | RankerSpec] = [*manifest.retrievers, *([manifest.ranker] if manifest.ranker else [])]
    folders = [spec.folder for spec in specs]
    encoders = [ref.path for spec in specs for ref in spec.encoders if ref.source == "bundle"]
    yield from dict.fromkeys(["kb.jsonl", *folders, *encoders])


def _write_retriever(
    part: TrainedPart, recipe: Recipe, encoders: tuple[EncoderRef, EncoderRef], staging: Path, *, kb_hash: str
) -> RetrieverSpec:
    cosine = recipe.similarity is Similarity.COSINE
    vectors = normalized(part.vectors) if cosine else part.vectors
    folder = f"retrievers/{recipe.stage}"
    (staging / folder).mkdir(parents=True, exist_ok=True)
    index = VectorIndex.build(vectors, source=index_source(kb_hash, encoders[1].fingerprint))
    index.save(staging / folder / INDEX_FILE)
    settings = BiencoderSettings(Scorer.COSINE if cosine else Scorer.DOT, part.inputs)
    return RetrieverSpec(recipe.stage, "biencoder", folder, encoders, settings.to_json())


def _write_ranker(
    part: TrainedPart,
    recipe: Recipe,
    encoders: tuple[EncoderRef, EncoderRef],
    staging: Path,
    kb_hash: str,
    *,
    top_k: int,
) -> RankerSpec:
    folder = f"rankers/{recipe.stage}"
    (staging / folder).mkdir(parents=True, exist_ok=True)
    with atomic_path(staging / folder / VECTORS_FILE) as beside, beside.open("wb") as handle:
        np.save(handle, part.vectors, allow_pickle=False)
    header = {"source": index_source(kb_hash, encoders[1].fingerprint), "rows": len(part.vectors)}
    write_json(staging / folder / HEADER_FILE, header)
    settings = RankerSettings(part.inputs).to_json()
    return RankerSpec(recipe.stage, "dual", folder, encoders, top_k=top_k, settings=settings)
