"""Building the untrained linker from a knowledge base: the lexical stage within seconds, the stage over names when they
are encoded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from models.core.device import Device, choose_device
from models.core.file_io import writing
from models.core.kb import KB_FILE, KnowledgeBase
from models.core.stored_kb import ordered
from models.encoders.cache import EmbeddingCache
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoder_folder import read_folder
from models.encoders.encoders import Encoder, load_encoder
from models.encoders.lower_states import LowerStates
from models.errors import ModelError, say
from models.linker.bundle import UNTRAINED, Bundle, EncoderRef, Manifest, RetrieverSpec, encoder_ref, new_id, now, seal
from models.names.candidates import LEXICAL, NAMES
from models.names.lexical_merged import LexicalList, build_lists, parse_list
from models.retrievers.biencoder import index_source
from models.types import Progress
from models.vectors.index import VectorIndex
from models.vectors.index_plan import IndexKind, plan_index

NAMES_TOKENS = 64
NAMES_INDEX = "names.faiss"
UNTRAINED_LEXICAL = "untrained-lexical"
LIST = "list"
"""Key of the lexical stage's settings."""


def build_untrained(
    kb_jsonl: Path,
    out_staging: Path,
    *,
    encoder: Path | None = None,
    stages: Sequence[str] = (LEXICAL, NAMES),
    cache: Path | None = None,
    device: str = "auto",
    precision: str = "fp32",
    index_kind: IndexKind | None = None,
    lexical: LexicalList = LexicalList.CHARACTERS,
    fusion: Mapping[str, Any] | None = None,
    nil: Mapping[str, Any] | None = None,
    bundle_id: str | None = None,
) -> Iterator[Progress]:
    """Fill a staging folder (``bundle.new_staging``) and seal it; publish it afterwards.

    ``encoder`` is an encoder folder or the name of one in the Hugging Face cache (None: the default one), ``precision``
    the number format in which names are encoded (`models.core.device.choose_precision`; mentions always are in
    float32), ``index_kind`` the kind of index over them (None: ``plan_index`` chooses), ``lexical`` the lists that the
    lexical stage searches, ``cache`` the embedding cache's root, ``fusion`` and ``nil`` their JSON (None: the
    defaults). Closing the generator leaves an unsealed staging folder. Raises ModelError for a bad knowledge base,
    encoder or stage.
    """
    with writing(out_staging):
        place = choose_device(device, precision=precision)
        yield from _build(
            kb_jsonl, out_staging, encoder, stages, cache, place, index_kind, lexical, fusion, nil, bundle_id
        )


def _build(
    kb_jsonl: Path,
    out_staging: Path,
    encoder: Path | None,
    stages: Sequence[str],
    cache: Path | None,
    device: Device,
    index_kind: IndexKind | None,
    lexical: LexicalList,
    fusion: Mapping[str, Any] | None,
    nil: Mapping[str, Any] | None,
    bundle_id: str | None,
) -> Iterator[Progress]:
    if unknown := set(stages) - {LEXICAL, NAMES}:
        raise ModelError(
            say(
                "Unknown untrained stage {unknown}. Choose lexical or names.",
                unknown=", ".join(sorted(unknown)),
            )
        )
    yield Progress("knowledge base", 0, 1)
    kb, kb_hash = ordered(kb_jsonl, out_staging / KB_FILE)
    yield Progress("knowledge base", 1, 1)
    specs = []
    if LEXICAL in stages:
        settings = {} if lexical is LexicalList.CHARACTERS else {LIST: lexical.value}
        specs.append(RetrieverSpec(LEXICAL, LEXICAL, f"retrievers/{LEXICAL}", settings=settings))
        yield from build_lists(kb.names, out_staging / f"retrievers/{LEXICAL}", lexical)
    if NAMES in stages:
        loaded, ref = _names_encoder(encoder, out_staging, device)
        source = index_source(kb_hash, ref.fingerprint)
        yield from build_names(kb, out_staging, loaded, cache, source=source, kind=index_kind)
        specs.append(RetrieverSpec(NAMES, NAMES, f"retrievers/{NAMES}", (ref,)))
    kind = UNTRAINED if NAMES in stages else UNTRAINED_LEXICAL
    manifest = Manifest(
        id=bundle_id or new_id(kind),
        kind=kind,
        created=now(),
        kb_hash=kb_hash,
        kb_entities=len(kb.entities),
        kb_names=len(kb.names),
        retrievers=tuple(specs),
        fusion=fusion or {},
        nil=nil or {},
    )
    yield Progress("writing", 0, 1)
    seal(out_staging, manifest)
    yield Progress("writing", 1, 1)


def names_source(bundle: Bundle, spec: RetrieverSpec) -> str:
    """The source that the index of names of this bundle must have."""
    return index_source(bundle.manifest.kb_hash, spec.encoders[0].fingerprint)


def lexical_list(spec: RetrieverSpec) -> LexicalList:
    """The list that the lexical stage searches. Raises ModelError for an unknown list."""
    return parse_list(str(spec.settings.get(LIST, "")))


def _names_encoder(folder: Path | None, staging: Path, device: Device) -> tuple[Encoder, EncoderRef]:
    """The encoder, and the bundle's reference to it; a user's folder is copied into the bundle."""
    if folder is None:
        loaded = load_encoder(default_encoder_folder(), device=device, max_tokens=NAMES_TOKENS, trainable=False)
        return loaded, EncoderRef("default", loaded.fingerprint, max_tokens=NAMES_TOKENS)
    loaded = load_encoder(folder, device=device, max_tokens=NAMES_TOKENS, trainable=False)
    ref = encoder_ref(loaded.fingerprint, NAMES_TOKENS)
    read_folder(loaded.folder).copy_to(staging / ref.path)
    return loaded, ref


def build_names(
    kb: KnowledgeBase,
    staging: Path,
    encoder: Encoder,
    cache_root: Path | None,
    *,
    source: str,
    kind: IndexKind | None = None,
    lower: LowerStates | None = None,
) -> Iterator[Progress]:
    """Encode names missing in the cache, index all names, and write the index in ``staging`` atomically.

    With ``lower`` the names' lower states are stored there, so that encoding with another encoder that has the same
    lower layers takes half the time.
    """
    cache, kept = EmbeddingCache(encoder, root=cache_root), 0
    if lower is not None:
        for done, kept in lower.fill(kb.names):
            yield Progress("names", done, 2 * kept)
    for done, total in cache.fill(kb.names, encode=lower.encode if lower is not None else None):
        yield Progress("names", kept + done, kept + total)
    plan = None if kind is None else plan_index(len(kb.names), encoder.dimension, kind=kind)
    yield Progress("index of names", 0, len(kb.names))
    index = VectorIndex.build(cache.vectors(kb.names), plan=plan, source=source)
    folder = staging / "retrievers" / NAMES
    folder.mkdir(parents=True, exist_ok=True)
    index.save(folder / NAMES_INDEX)
    yield Progress("index of names", len(kb.names), len(kb.names))
