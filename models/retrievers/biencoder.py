"""A trained retriever: it compares a mention in its context with entities as text, each side with its own encoder.

``models.retrievers.scorers`` defines how the two are compared. Scorers with one vector per text are searched here, by a
FAISS index whose row i is entity i of the bundle's knowledge base; SOM, which compares token by token, is in
``models.retrievers.som``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase, Ranges
from models.encoders.contexts import Mentions, encode_marked_mentions
from models.encoders.encoders import Encoder, EncoderModule, normalized
from models.encoders.inputs import EntityStyle, InputSettings, entity_tokens, mention_tokens
from models.encoders.pooling import MentionVector, Pooling
from models.errors import ModelError, say
from models.retrievers.fusion import LEAD, SPREAD
from models.retrievers.projection import fingerprint as projection_fingerprint
from models.retrievers.scorers import Scorer
from models.types import EntityRecord, Progress
from models.vectors.grown import grown
from models.vectors.index import SearchIndex, VectorIndex

__all__ = ["Mentions", "Scorer"]

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
INDEX_FILE = "entities.faiss"
ENCODE_CHUNK = 1024
SHORTLIST = 2048


@dataclass(frozen=True, slots=True)
class BiencoderSettings:
    """The format and comparison of mention and entity.

    ``shortlist``: the number of entities that SOM compares token by token if the knowledge base has more.
    ``projected``: the entities' vectors are mapped by a projection stored next to the index. ``mention`` is the pooling
    of a mention's vector.
    """

    scorer: Scorer = Scorer.COSINE
    inputs: InputSettings = field(default_factory=InputSettings)
    shortlist: int = SHORTLIST
    projected: bool = False
    mention: MentionVector = MentionVector.TEXT

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> BiencoderSettings:
        try:
            inputs = dict(raw.get("inputs", {}))
            style = EntityStyle(inputs.pop("style", EntityStyle.TITLE_TYPES))
            shortlist = int(raw.get("shortlist", SHORTLIST))
            if shortlist < 1:
                raise ValueError(f"a shortlist of {shortlist}")
            return cls(
                Scorer(raw.get("scorer", "cosine")),
                InputSettings(**inputs, style=style),
                shortlist,
                bool(raw.get("projected")),
                MentionVector(raw.get("mention", "text")),
            )
        except (TypeError, ValueError) as error:
            raise ModelError(say("The linker's retriever settings are damaged ({error}).", error=error)) from error


class AskedMentions(Protocol):
    """Mentions encoded by a retriever; a place is a mention's index among them."""

    def search(self, places: Sequence[int], k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        """(places, k) scores and entity rows, best first; −1 if there are fewer."""

    def score(self, place: int, rows: INTS) -> FLOATS:
        """(n,) scores of one mention with the given entities."""


class TrainedRetriever(Protocol):
    """A stage that encodes mentions in context; ``name`` is the stage's name, ``scale`` its scale in fusion."""

    @property
    def name(self) -> str: ...

    @property
    def scale(self) -> str: ...

    def ask(self, mentions: Mentions) -> AskedMentions: ...

    def changed(self, entities: Sequence[EntityRecord], dead: INTS) -> TrainedRetriever:
        """A copy with entities appended and without the rows ``dead``."""

    def sentence(self) -> str: ...


@dataclass(frozen=True, slots=True, eq=False)
class Biencoder:
    """The two towers; ``entity`` may be the same encoder as ``mention``. ``projection`` W (d, d) maps its vectors."""

    mention: Encoder
    entity: Encoder
    settings: BiencoderSettings
    projection: FLOATS | None = None

    @property
    def normalize(self) -> bool:
        return self.settings.scorer is Scorer.COSINE

    def encode_mentions(self, mentions: Mentions) -> FLOATS:
        """(m, d), normalised for the cosine; equal inputs are encoded once."""
        which = self.settings.mention
        if which is not MentionVector.TEXT:
            marked = encode_marked_mentions(self.mention, mentions, settings=self.settings.inputs, which=which)
            return normalized(marked) if self.normalize else marked
        tokens = [mention_tokens(self.mention.tokenizer, d, m, settings=self.settings.inputs).ids for d, m in mentions]
        distinct = list(dict.fromkeys(tokens))
        number = {ids: row for row, ids in enumerate(distinct)}
        encoder = pooling_by(self.mention, self.settings.scorer.pooling)
        vectors = encoder.encode_ids(distinct, normalize=self.normalize)
        return vectors[[number[ids] for ids in tokens]]

    def encode_entities(self, kb: KnowledgeBase) -> Iterator[Progress | FLOATS]:
        """Yields progress; returns the (entities, d) matrix."""
        if self.settings.inputs.style is EntityStyle.MEAN_OF_NAMES:
            yield from self._means_of_names(kb)
            return
        total = len(kb.entities)
        vectors = np.zeros((total, self.entity.dimension), dtype=np.float32)
        tokens = [entity_tokens(self.entity.tokenizer, e, settings=self.settings.inputs) for e in kb.entities]
        order = sorted(range(total), key=lambda row: len(tokens[row]))
        encoder = pooling_by(self.entity, self.settings.scorer.pooling)
        for start in range(0, total, ENCODE_CHUNK):
            rows = order[start : start + ENCODE_CHUNK]
            vectors[rows] = self._mapped(encoder.encode_ids([tokens[row] for row in rows], normalize=False))
            yield Progress("entities", min(start + ENCODE_CHUNK, total), total)
        yield vectors

    def _means_of_names(self, kb: KnowledgeBase) -> Iterator[Progress | FLOATS]:
        total = len(kb.entities)
        vectors = np.zeros((total, self.entity.dimension), dtype=np.float32)
        for start in range(0, total, ENCODE_CHUNK):
            names = [entity.names for entity in kb.entities[start : start + ENCODE_CHUNK]]
            encoded = self.entity.encode([name for own in names for name in own], normalize=True)
            vectors[start : start + len(names)] = self._mapped(means_of(encoded, [len(own) for own in names]))
            yield Progress("entities", start + len(names), total)
        yield vectors

    def _mapped(self, vectors: FLOATS) -> FLOATS:
        mapped = vectors if self.projection is None else vectors @ self.projection.T
        return normalized(mapped) if self.normalize else mapped


def means_of(vectors: FLOATS, counts: Sequence[int] | INTS) -> FLOATS:
    """(n, d) means of the first ``counts[0]`` vectors, the next ``counts[1]``, and so on; each count is at least 1."""
    sizes = np.asarray(counts, dtype=np.int64)
    sums = np.add.reduceat(vectors, np.concatenate([[0], np.cumsum(sizes)[:-1]]), axis=0)
    means: FLOATS = (sums / sizes[:, None]).astype(np.float32)
    return means


def pooling_by(encoder: Encoder, pooling: Pooling | None) -> Encoder:
    """The same network with another pooling; None keeps its own."""
    if pooling in (None, encoder.pooling):
        return encoder
    return replace(encoder, module=EncoderModule(encoder.module.transformer, pooling=pooling))


@dataclass(frozen=True, slots=True, eq=False)
class BiencoderRetriever:
    """A bi-encoder with its index over entities; ``name`` is the stage's name."""

    name: str
    towers: Biencoder
    index: SearchIndex

    @property
    def scale(self) -> str:
        """Cosines are comparable between mentions, dot products are not."""
        return LEAD if self.towers.normalize else SPREAD

    def ask(self, mentions: Mentions) -> VectorQueries:
        return VectorQueries(self.index, self.towers.encode_mentions(mentions))

    def changed(self, entities: Sequence[EntityRecord], dead: INTS) -> BiencoderRetriever:
        *_, vectors = self.towers.encode_entities(KnowledgeBase(tuple(entities)))
        assert not isinstance(vectors, Progress)
        return replace(self, index=grown(self.index, vectors, dead))

    def sentence(self) -> str:
        return say(
            "“{name}” compares the mention in context with entity descriptions ({scorer}). {sentence}",
            name=self.name,
            scorer=self.towers.settings.scorer.value,
            sentence=self.index.plan.sentence,
        )


@dataclass(frozen=True, slots=True, eq=False)
class VectorQueries:
    """Mentions as vectors (m, d)."""

    index: SearchIndex
    vectors: FLOATS

    def search(self, places: Sequence[int], k: int, *, ranges: Ranges) -> tuple[FLOATS, INTS]:
        """(places, k) scores and entity rows, best first; −1 if there are fewer."""
        return self.index.search(self.vectors[list(places)], k, ranges=ranges)

    def score(self, place: int, rows: INTS) -> FLOATS:
        """(n,) scores of one mention with the given entities."""
        result: FLOATS = self.index.vectors(rows) @ self.vectors[place]
        return result


def index_source(kb_hash: str, fingerprint: str, projection: FLOATS | None = None) -> str:
    """The source of an index, as recorded in its header."""
    mapped = "" if projection is None else f":{projection_fingerprint(projection)[:16]}"
    return f"{kb_hash[:16]}:{fingerprint[:16]}{mapped}"


def build_entity_index(towers: Biencoder, kb: KnowledgeBase, folder: Path, *, kb_hash: str) -> Iterator[Progress]:
    """Encode all entities and write the index into a bundle's retriever folder."""
    for step in towers.encode_entities(kb):
        if isinstance(step, Progress):
            yield step
        else:
            index = VectorIndex.build(step, source=index_source(kb_hash, towers.entity.fingerprint, towers.projection))
            folder.mkdir(parents=True, exist_ok=True)
            index.save(folder / INDEX_FILE)
