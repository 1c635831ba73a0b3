"""A trained retriever: a mention in its context against entities written out, each with its own encoder.

Scores are cosines (PEL-Pb) or dot products (DUAL, PEL-CE). Entities are searched by their own FAISS index,
whose row i is entity i of the bundle's knowledge base.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.encoders import Encoder
from models.errors import ModelError
from models.index import SearchIndex, VectorIndex
from models.inputs import EntityStyle, InputSettings, entity_tokens, mention_tokens
from models.kb import KnowledgeBase, Ranges
from models.types import DocumentInput, MentionInput, Progress

FLOATS = NDArray[np.float32]
INDEX_FILE = "entities.faiss"
ENCODE_CHUNK = 1024
Mentions = Sequence[tuple[DocumentInput, MentionInput]]


class Scorer(StrEnum):
    COSINE = "cosine"
    DOT = "dot"


@dataclass(frozen=True, slots=True)
class BiencoderSettings:
    """How mention and entity are written and compared; pooling is the encoders' own."""

    scorer: Scorer = Scorer.COSINE
    inputs: InputSettings = field(default_factory=InputSettings)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> BiencoderSettings:
        try:
            inputs = dict(raw.get("inputs", {}))
            style = EntityStyle(inputs.pop("style", EntityStyle.TITLE_TYPES))
            return cls(Scorer(raw.get("scorer", "cosine")), InputSettings(**inputs, style=style))
        except (TypeError, ValueError) as error:
            raise ModelError(f"The bundle's retriever settings are damaged ({error}).") from error


@dataclass(frozen=True, slots=True, eq=False)
class Biencoder:
    """The two towers; ``entity`` may be the same encoder as ``mention``."""

    mention: Encoder
    entity: Encoder
    settings: BiencoderSettings

    @property
    def normalize(self) -> bool:
        return self.settings.scorer is Scorer.COSINE

    def encode_mentions(self, mentions: Mentions) -> FLOATS:
        """(m, d), normalised for the cosine; equal inputs are encoded once."""
        tokens = [mention_tokens(self.mention.tokenizer, d, m, settings=self.settings.inputs).ids for d, m in mentions]
        distinct = list(dict.fromkeys(tokens))
        number = {ids: row for row, ids in enumerate(distinct)}
        vectors = self.mention.encode_ids(distinct, normalize=self.normalize)
        return vectors[[number[ids] for ids in tokens]]

    def encode_entities(self, kb: KnowledgeBase) -> Iterator[Progress | FLOATS]:
        """Progress while it runs, at last the (entities, d) matrix."""
        total = len(kb.entities)
        vectors = np.zeros((total, self.entity.dimension), dtype=np.float32)
        tokens = [entity_tokens(self.entity.tokenizer, e, settings=self.settings.inputs) for e in kb.entities]
        order = sorted(range(total), key=lambda row: len(tokens[row]))
        for start in range(0, total, ENCODE_CHUNK):
            rows = order[start : start + ENCODE_CHUNK]
            vectors[rows] = self.entity.encode_ids([tokens[row] for row in rows], normalize=self.normalize)
            yield Progress("entities", min(start + ENCODE_CHUNK, total), total)
        yield vectors


@dataclass(frozen=True, slots=True, eq=False)
class BiencoderRetriever:
    """A bi-encoder with its index over entities; ``name`` is its stage."""

    name: str
    towers: Biencoder
    index: SearchIndex

    def search(self, queries: FLOATS, k: int, *, ranges: Ranges) -> tuple[FLOATS, NDArray[np.int64]]:
        """(q, k) scores and entity rows, best first; −1 where there are fewer."""
        return self.index.search(queries, k, ranges=ranges)

    def score(self, query: FLOATS, rows: NDArray[np.int64]) -> FLOATS:
        """(n,) scores of one mention vector with the given entities."""
        result: FLOATS = self.index.vectors(rows) @ query
        return result

    def sentence(self) -> str:
        return (
            f"“{self.name}” compares the mention in context with entity descriptions "
            f"({self.towers.settings.scorer.value}). {self.index.plan.sentence}"
        )


def index_source(kb_hash: str, fingerprint: str) -> str:
    """What an index is made from, as its header records it."""
    return f"{kb_hash[:16]}:{fingerprint[:16]}"


def build_entity_index(towers: Biencoder, kb: KnowledgeBase, folder: Path, *, kb_hash: str) -> Iterator[Progress]:
    """Encode all entities and write their index into a bundle's retriever folder."""
    for step in towers.encode_entities(kb):
        if isinstance(step, Progress):
            yield step
        else:
            index = VectorIndex.build(step, source=index_source(kb_hash, towers.entity.fingerprint))
            folder.mkdir(parents=True, exist_ok=True)
            index.save(folder / INDEX_FILE)
