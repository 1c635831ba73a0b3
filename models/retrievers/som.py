"""Retrieval by sum of max (SOM): every token of the mention in context against every token of the entity.

Up to ``shortlist`` entities (of the mention's types) are all compared exactly. If there are more, only the
``shortlist`` entities whose mean token vectors have the largest cosine with the mention's are compared. Of SOM's best
64 of 12,581 entities, the 1,024 nearest by this cosine contain 97 %, the 2,048 nearest 99 %; with the dot product of
the means it is 72 % and 90 %, with that of [CLS] 76 % and 84 % (diseases of the
knowledge base, BC5CDR train, the default encoder untrained).

No library with a late-interaction index is used: PyLate 1.6 requires sentence-transformers 5.3, and its index,
fast-plaid 1.7, requires PyTorch 2.11; colbert-ai 0.2 writes its index by torch.save, as pickles; LanceDB 0.40 compares
tokens by cosine only, the papers by dot product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase, Ranges
from models.encoders.encoders import normalized
from models.encoders.inputs import entity_tokens, mention_tokens
from models.errors import say
from models.retrievers.biencoder import INDEX_FILE, Biencoder, Mentions, index_source
from models.retrievers.fusion import SPREAD
from models.retrievers.token_store import TokenStore, text_means, token_states, write_tokens
from models.types import EntityRecord, Progress
from models.vectors.grown import grown
from models.vectors.index import SearchIndex, VectorIndex

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
BLOCK_ENTRIES = 2**21  # token products at once, 8 MiB, to stay in the caches
GPU_ENTRIES = 2**27  # the same on a GPU, 512 MiB, to use it fully
ALL_COMPARED = (
    "“{name}” sums the best match in the entity over the tokens of the mention in context (SOM); all "
    "{count:,} entities are compared exactly."
)
SHORTLISTED = (
    "“{name}” sums the best match in the entity over the tokens of the mention in context (SOM); it "
    "re-ranks the {shortlist:,} entities that are nearest on average, since {count:,} entities with "
    "{tokens:,} tokens are too many to compare with every mention."
)


@dataclass(frozen=True, slots=True, eq=False)
class SomRetriever:
    """A bi-encoder whose scorer is SOM: ``tokens`` are compared.

    ``pooled``, the index of their means, scaled to length 1, is searched for the shortlist; ``dead`` are the rows of
    entities that were removed since the bundle was built.
    """

    name: str
    towers: Biencoder
    tokens: TokenStore
    pooled: SearchIndex
    dead: INTS = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def scale(self) -> str:
        return SPREAD

    @property
    def shortlist(self) -> int:
        return self.towers.settings.shortlist

    def ask(self, mentions: Mentions) -> SomQueries:
        """The mentions' encoded tokens, for search and scoring; equal inputs are encoded once."""
        settings, encoder = self.towers.settings.inputs, self.towers.mention
        tokens = [mention_tokens(encoder.tokenizer, d, m, settings=settings).ids for d, m in mentions]
        number = {ids: row for row, ids in enumerate(dict.fromkeys(tokens))}
        states, offsets = token_states(encoder, list(number))
        rows = np.asarray([number[ids] for ids in tokens], dtype=np.int64)
        return SomQueries(self, torch.from_numpy(states).to(encoder.device.torch), offsets, rows)

    def changed(self, entities: Sequence[EntityRecord], dead: INTS) -> SomRetriever:
        """A copy with entities appended and without the rows ``dead``."""
        states, offsets = token_states(self.towers.entity, _entity_ids(self.towers, entities))
        pooled = grown(self.pooled, normalized(text_means(states, offsets)), dead)
        return replace(self, tokens=self.tokens.behind(states, offsets), pooled=pooled, dead=pooled.dead)

    def sentence(self) -> str:
        count, tokens = len(self.tokens), int(self.tokens.offsets[-1])
        return say(
            ALL_COMPARED if count <= self.shortlist else SHORTLISTED,
            name=self.name,
            count=count,
            shortlist=self.shortlist,
            tokens=tokens,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SomQueries:
    """Mentions of one ``ask``: ``states`` (tokens, d) of distinct inputs; mention i has input ``rows[i]``."""

    retriever: SomRetriever
    states: torch.Tensor
    offsets: INTS
    rows: INTS

    def search(self, places: Sequence[int], k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        """(places, k) scores and entity rows, best first, −inf and −1 if there are fewer; ties go to the lower row."""
        scores = np.full((len(places), k), -np.inf, dtype=np.float32)
        found = np.full((len(places), k), -1, dtype=np.int64)
        distinct, back = np.unique(self.rows[list(places)], return_inverse=True)
        for row, (entities, values) in enumerate(self._candidates(distinct, ranges)):
            best = np.lexsort((entities, -values))[:k]
            at = np.flatnonzero(back == row)[:, None]
            scores[at, np.arange(len(best))] = values[best]
            found[at, np.arange(len(best))] = entities[best]
        return scores, found

    def score(self, place: int, rows: INTS) -> FLOATS:
        """(n,) scores of one mention with the given entities."""
        return self._scores(self.rows[place : place + 1], rows)[:, 0]

    def _candidates(self, distinct: INTS, ranges: Ranges) -> Iterator[tuple[INTS, FLOATS]]:
        """The compared entities of each distinct input, and their scores."""
        spans = [np.arange(start, stop) for start, stop in ranges]
        everything = np.setdiff1d(np.concatenate(spans), self.retriever.dead) if spans else np.zeros(0, dtype=np.int64)
        if len(everything) <= self.retriever.shortlist:
            scores = self._scores(distinct, everything)
            yield from ((everything, scores[:, at]) for at in range(len(distinct)))
            return
        means = np.stack([self._tokens(row).mean(0).cpu().numpy() for row in distinct])
        _, near = self.retriever.pooled.search(means, self.retriever.shortlist, ranges=ranges)
        for row, entities in zip(distinct, near, strict=True):
            known = entities[entities >= 0]
            yield known, self._scores(np.asarray([row]), known)[:, 0]

    def _scores(self, distinct: INTS, entities: INTS) -> FLOATS:
        """(entities, inputs) exact scores, in blocks of entities of similar length."""
        scores = np.zeros((len(entities), len(distinct)), dtype=np.float32)
        if not len(entities) or not len(distinct):
            return scores
        parts = [self._tokens(row) for row in distinct]
        mentions = torch.cat(parts)
        owners = torch.repeat_interleave(torch.tensor([len(part) for part in parts])).to(mentions.device)
        store = self.retriever.tokens
        lengths = store.lengths(entities)
        entries = BLOCK_ENTRIES if mentions.device.type == "cpu" else GPU_ENTRIES
        for block in _blocks(lengths, width=max(mentions.shape), entries=entries):
            states = torch.from_numpy(store.padded(entities[block])).to(mentions.device).float()
            best = (states @ mentions.T).amax(1)
            sums = torch.zeros((len(block), len(distinct)), device=mentions.device)
            scores[block] = sums.index_add_(1, owners, best).cpu().numpy()
        return scores

    def _tokens(self, row: int) -> torch.Tensor:
        return self.states[self.offsets[row] : self.offsets[row + 1]]


def build_som_index(towers: Biencoder, kb: KnowledgeBase, folder: Path, *, kb_hash: str) -> Iterator[Progress]:
    """Encode all entities and write their token states and an index of their means."""
    source = index_source(kb_hash, towers.entity.fingerprint)
    for step in write_tokens(towers.entity, _entity_ids(towers, kb.entities), folder, source=source):
        if isinstance(step, Progress):
            yield step
        else:
            VectorIndex.build(normalized(step), source=source).save(folder / INDEX_FILE)


def load_som(
    name: str, towers: Biencoder, folder: Path, *, entities: int, source: str, on_gpu: bool = False
) -> SomRetriever:
    """Open a retriever's folder; raises ModelError if it is damaged or of another knowledge base or encoder.

    `on_gpu`: the shortlist is searched on the GPU too; tokens are compared on the mentions' encoder's device.
    """
    tokens = TokenStore.load(folder, rows=entities, source=source)
    pooled = VectorIndex.load(folder / INDEX_FILE, rows=entities, source=source)
    pooled.to_gpu(wanted=on_gpu)
    return SomRetriever(name, towers, tokens, pooled)


def _entity_ids(towers: Biencoder, entities: Sequence[EntityRecord]) -> list[tuple[int, ...]]:
    return [entity_tokens(towers.entity.tokenizer, entity, settings=towers.settings.inputs) for entity in entities]


def _blocks(lengths: INTS, *, width: int, entries: int) -> Iterator[INTS]:
    """Entities by length, in groups whose states and products do not exceed a block."""
    order = np.argsort(-lengths, kind="stable")
    at = 0
    while at < len(order):
        size = max(1, entries // (int(lengths[order[at]]) * width))
        yield order[at : at + size]
        at += size
