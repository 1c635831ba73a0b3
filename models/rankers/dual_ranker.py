"""Re-ranking of the first candidates by a dual encoder (prototype-triplet paper, section 3.2).

Mention vector: mean of the states at [START] and [END]; entity vector: the state at [CLS] of
``[CLS] types [SEP] synonym 1 [SEP] …``; score: the negative Euclidean distance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from models.core.file_io import atomic_path, read_json, write_json
from models.core.kb import KnowledgeBase
from models.encoders.contexts import Mentions, encode_marked_mentions
from models.encoders.encoders import Encoder
from models.encoders.inputs import entity_tokens
from models.errors import ModelError, say
from models.rankers.ranker import FLOATS, REMEDY, RankerSettings, relative_by_gap
from models.retrievers.biencoder import ENCODE_CHUNK, index_source
from models.types import EntityRecord, Progress

VECTORS_FILE = "entities.npy"
HEADER_FILE = "entities.json"


class EntityVectors(Protocol):
    """(entities, d) vectors that are looked up by rows: a matrix, or an extended one."""

    def __getitem__(self, rows: NDArray[np.int64], /) -> NDArray[np.floating]: ...


@dataclass(frozen=True, slots=True, eq=False)
class DualRanker:
    """``entities`` (entities of the KB, d) are the entity vectors, computed by ``entity`` when the bundle was built."""

    name: str
    mention: Encoder
    settings: RankerSettings
    entities: EntityVectors
    entity: Encoder | None = None  # needed only if entities are added to a bundle in use

    def score(self, mentions: Mentions, candidates: Sequence[NDArray[np.int64]]) -> list[FLOATS]:
        vectors = encode_marked_mentions(self.mention, mentions, settings=self.settings.inputs)
        scores = []
        for vector, rows in zip(vectors, candidates, strict=True):
            known = np.asarray(self.entities[rows], dtype=np.float32)
            scores.append((-np.linalg.norm(known - vector, axis=1)).astype(np.float32))
        return scores

    def relative(self, scores: FLOATS) -> FLOATS:
        """(c,) scores made relative by their gaps, in the unit of the loss's margin."""
        return relative_by_gap(scores)


def build_ranker_entities(
    encoder: Encoder, kb: KnowledgeBase, folder: Path, *, settings: RankerSettings, kb_hash: str
) -> Iterator[Progress]:
    """Encode all entities (with the encoder's pooling; [CLS] in the paper) and store them in the ranker's folder."""
    tokens = [entity_tokens(encoder.tokenizer, entity, settings=settings.inputs) for entity in kb.entities]
    vectors = np.zeros((len(tokens), encoder.dimension), dtype=np.float32)
    order = sorted(range(len(tokens)), key=lambda row: len(tokens[row]))
    for start in range(0, len(order), ENCODE_CHUNK):
        rows = order[start : start + ENCODE_CHUNK]
        vectors[rows] = encoder.encode_ids([tokens[row] for row in rows], normalize=False)
        yield Progress("ranker entities", min(start + ENCODE_CHUNK, len(order)), len(order))
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / VECTORS_FILE) as beside, beside.open("wb") as handle:
        np.save(handle, vectors, allow_pickle=False)
    write_json(folder / HEADER_FILE, {"source": index_source(kb_hash, encoder.fingerprint), "rows": len(tokens)})


def encode_ranker_entities(encoder: Encoder, records: Sequence[EntityRecord], *, settings: RankerSettings) -> FLOATS:
    """(n, d) vectors of a few entities, as in ``build_ranker_entities``."""
    tokens = [entity_tokens(encoder.tokenizer, record, settings=settings.inputs) for record in records]
    return encoder.encode_ids(tokens, normalize=False)


def load_ranker_entities(folder: Path, *, source: str) -> NDArray[np.floating]:
    """Memory-mapped (entities, d) vectors; raises ModelError if they are missing, damaged or of another KB or
    encoder."""
    header = read_json(folder / HEADER_FILE, what=say("The ranker's header"), remedy=say(REMEDY))
    if header.get("source") != source:
        raise ModelError(
            say(
                "The ranker {folder} was built from another knowledge base or encoder. {remedy}",
                folder=folder,
                remedy=say(REMEDY),
            )
        )
    try:
        vectors: NDArray[np.floating] = np.load(folder / VECTORS_FILE, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ModelError(
            say(
                "The ranker's vectors in {folder} are damaged ({error}). {remedy}",
                folder=folder,
                error=error,
                remedy=say(REMEDY),
            )
        ) from error
    if len(vectors) != header.get("rows"):
        raise ModelError(
            say("The ranker's vectors in {folder} are incomplete. {remedy}", folder=folder, remedy=say(REMEDY))
        )
    return vectors
