"""Writing a trained part to a staging bundle, together with the unchanged parts of the bundle it was trained from."""

from __future__ import annotations

import platform
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from models.core.device import choose_device
from models.core.file_io import atomic_path, write_json
from models.core.kb import KnowledgeBase
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import Encoder, load_encoder, normalized
from models.encoders.inputs import InputSettings
from models.encoders.pooling import MentionVector, Pooling
from models.errors import english
from models.linker.bundle import Bundle, EncoderRef, Manifest, RankerSpec, RetrieverSpec, reuse, store_encoder
from models.rankers.combiner import Combiner
from models.rankers.cross_encoder import save_head
from models.rankers.dual_ranker import HEADER_FILE, VECTORS_FILE
from models.rankers.ranker import RULE, RankerSettings, RerankRule
from models.retrievers.biencoder import INDEX_FILE, Biencoder, BiencoderSettings, Scorer, index_source
from models.retrievers.projection import save_projection
from models.retrievers.som import build_som_index
from models.vectors.index import VectorIndex
from resources.recipe_files import Recipe, Role
from training.data.budget import Budget
from training.data.progress import Event, Phase
from training.job.recipes import Hyperparameters
from training.loop.towers import FloatArray
from training.losses.base import Similarity

if TYPE_CHECKING:
    from training.job.preparation import Loaded

PACKAGES = ("torch", "transformers", "faiss-cpu", "faiss-gpu", "numpy", "scikit-learn", "safetensors")


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPart:
    """The result of training: the towers as encoders, and the entities' vectors (E, d), not normalised (None for SOM,
    which keeps the states of their tokens). The vectors are already mapped if there is a `projection` W (d, d).

    A trained encoder's `fingerprint` is empty until it is written; a frozen encoder keeps its fingerprint.
    """

    mention: Encoder
    entity: Encoder
    vectors: FloatArray | None
    inputs: InputSettings
    projection: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPair:
    """What training made of a cross-encoder: `encoder` holds its transformer, `tokens` is the longest pair."""

    encoder: Encoder
    head: nn.Linear
    inputs: InputSettings
    tokens: int


def base_encoder_folder(base: Bundle) -> Path:
    """The encoder that towers start from: the encoder of the untrained retriever over names, else the default
    encoder."""
    names = base.manifest.retriever("names")
    return base.encoder_folder(names.encoders[0]) if names and names.encoders else default_encoder_folder()


def load_tower(folder: Path, recipe: Recipe, inputs: InputSettings, *, device: str) -> Encoder:
    """An encoder to start from, with the recipe's pooling."""
    tokens = max(inputs.mention_tokens, inputs.entity_tokens)
    return load_encoder(folder, device=device, max_tokens=tokens, pooling=Pooling(recipe.pooling))


def write_part(
    part: TrainedPart, recipe: Recipe, base: Bundle, kb: KnowledgeBase, staging: Path, *, wanted: Hyperparameters
) -> Generator[Event, None, Manifest]:
    """Write weights and index or vectors, share unchanged parts, and return the manifest so far (with the base's fusion
    and NIL). The part replaces a trained part of the same stage; a ranker replaces any ranker."""
    known = _known(part.entity, base.manifest)
    encoders = (store_encoder(part.mention, staging), known or store_encoder(part.entity, staging))
    kept = _share_kept(recipe, base, staging)
    if recipe.role is Role.RETRIEVER:
        spec = yield from _write_retriever(part, recipe, encoders, kb, staging, kb_hash=kept.kb_hash)
        return replace(kept, retrievers=(*kept.retrievers, spec))
    assert part.vectors is not None
    source = index_source(kept.kb_hash, encoders[1].fingerprint)
    _write_entities(part.vectors, staging / f"rankers/{recipe.stage}", source=source)
    return replace(kept, ranker=_ranker_spec("dual", recipe, encoders, part.inputs, wanted))


def write_pair(pair: TrainedPair, recipe: Recipe, base: Bundle, staging: Path, *, wanted: Hyperparameters) -> Manifest:
    """Like `write_part`, for a cross-encoder: its transformer and its last layer. No entity is encoded."""
    ref = store_encoder(replace(pair.encoder, max_tokens=pair.tokens), staging)
    save_head(pair.head, staging / f"rankers/{recipe.stage}", encoder=ref.fingerprint)
    kept = _share_kept(recipe, base, staging)
    return replace(kept, ranker=_ranker_spec("cross", recipe, (ref,), pair.inputs, wanted))


def _share_kept(recipe: Recipe, base: Bundle, staging: Path) -> Manifest:
    """The base's manifest without the replaced parts; the files of the others are shared with the staging folder."""
    kept = _kept(base.manifest, recipe)
    for relative in _shared_paths(kept):
        reuse(base, relative, staging)
    return kept


def _known(entity: Encoder, manifest: Manifest) -> EncoderRef | None:
    """How the base refers to a frozen entity tower, so that it is not stored again."""
    names = manifest.retriever("names")
    ref = names.encoders[0] if names and names.encoders else None
    return ref if ref is not None and entity.fingerprint == ref.fingerprint else None


def _kept(manifest: Manifest, recipe: Recipe) -> Manifest:
    """The base's manifest without the parts that the new part replaces."""
    if recipe.role is Role.RANKER:
        weights = {k: v for k, v in manifest.fusion.get("weights", {}).items() if k != "ranker"}
        return replace(
            manifest, ranker=None, fusion=_with_weights(manifest, weights), combiner=_deaf(manifest, "ranker")
        )
    retrievers = tuple(spec for spec in manifest.retrievers if spec.name != recipe.stage)
    weights = {k: v for k, v in manifest.fusion.get("weights", {}).items() if k != recipe.stage}
    return replace(
        manifest,
        retrievers=retrievers,
        fusion=_with_weights(manifest, weights),
        combiner=_deaf(manifest, recipe.stage),
    )


def _deaf(manifest: Manifest, stage: str) -> dict[str, object]:
    """The combiner without the weights of the replaced stage of this name."""
    combiner = Combiner.from_json(manifest.combiner)
    return dict(manifest.combiner) if combiner is None else combiner.with_stage_weights(stage, None).to_json()


def _with_weights(manifest: Manifest, weights: dict[str, float]) -> dict[str, object]:
    return {**manifest.fusion, "weights": weights} if weights else dict(manifest.fusion)


def _shared_paths(manifest: Manifest) -> Iterator[str]:
    """All paths that the kept parts are read from."""
    specs: list[RetrieverSpec | RankerSpec] = [*manifest.retrievers, *([manifest.ranker] if manifest.ranker else [])]
    folders = [spec.folder for spec in specs]
    encoders = [ref.path for spec in specs for ref in spec.encoders if ref.source == "bundle"]
    yield from dict.fromkeys(["kb.jsonl", *folders, *encoders])


def _write_retriever(
    part: TrainedPart,
    recipe: Recipe,
    encoders: tuple[EncoderRef, EncoderRef],
    kb: KnowledgeBase,
    staging: Path,
    *,
    kb_hash: str,
) -> Generator[Event, None, RetrieverSpec]:
    relative = f"retrievers/{recipe.stage}"
    folder = staging / relative
    folder.mkdir(parents=True, exist_ok=True)
    projected = part.projection is not None
    settings = BiencoderSettings(
        scorer_of(recipe), part.inputs, projected=projected, mention=MentionVector(recipe.mention)
    )
    if part.projection is not None:
        save_projection(part.projection, folder)
    if part.vectors is None:
        entity = replace(part.entity, fingerprint=encoders[1].fingerprint)
        towers = Biencoder(part.mention, entity, settings)
        for step in build_som_index(towers, kb, folder, kb_hash=kb_hash):
            yield Event(Phase.ENCODE, step.done, step.total)
    else:
        vectors = normalized(part.vectors) if settings.scorer is Scorer.COSINE else part.vectors
        source = index_source(kb_hash, encoders[1].fingerprint, part.projection)
        VectorIndex.build(vectors, source=source).save(folder / INDEX_FILE)
    return RetrieverSpec(recipe.stage, "biencoder", relative, encoders, settings.to_json())


def scorer_of(recipe: Recipe) -> Scorer:
    """The scorer of the bundle's retriever for the recipe's similarity."""
    if recipe.similarity == Similarity.DOT:
        return Scorer.DUAL if recipe.pooling == Pooling.CLS else Scorer.MEAN
    return Scorer(recipe.similarity)


def _write_entities(vectors: FloatArray, folder: Path, *, source: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / VECTORS_FILE) as beside, beside.open("wb") as handle:
        np.save(handle, vectors, allow_pickle=False)
    write_json(folder / HEADER_FILE, {"source": source, "rows": len(vectors)})


def _ranker_spec(
    kind: str, recipe: Recipe, encoders: tuple[EncoderRef, ...], inputs: InputSettings, wanted: Hyperparameters
) -> RankerSpec:
    """The ranker's entry in the manifest. It runs for every mention until a margin is chosen on the held-out
    documents."""
    rule = RerankRule(wanted.candidates, share=wanted.asked_share, seconds=wanted.seconds_per_document or None)
    settings = {**RankerSettings(inputs).to_json(), RULE: rule.to_json()}
    return RankerSpec(recipe.stage, kind, f"rankers/{recipe.stage}", encoders, wanted.candidates, settings)


def provenance(loaded: Loaded, budget: Budget) -> dict[str, Any]:
    """Everything needed to repeat the run, and its cost."""
    parts = {"train": loaded.parts.train, "held_out": loaded.parts.held_out}
    return {
        "recipe": loaded.recipe.id,
        "parameters": dict(loaded.values),
        "folds": len(loaded.parts.folds),
        "documents": {name: [document.key for document in documents] for name, documents in parts.items()},
        "data_hash": loaded.snapshot.data_hash,
        "kb_hash": loaded.base.manifest.kb_hash,
        "seed": loaded.spec.seed,
        "max_minutes": loaded.spec.max_minutes,
        "max_steps": loaded.spec.max_steps,
        "seconds": round(budget.elapsed, 1),
        "device": english(choose_device(loaded.spec.device).sentence),
        "threads": torch.get_num_threads(),
        "packages": _packages(),
    }


def _packages() -> dict[str, str]:
    installed = {one.name for one in metadata.distributions()} & set(PACKAGES)
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in sorted(installed)}
