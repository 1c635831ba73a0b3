"""Texts in, vectors out: the networks, their inputs, and the cache of vectors.

* **Mentions are encoded in float32.** Names may be encoded in another number format, with its own cache key. int8 is
  used only on request: it changed the recall@1 of names alone by -0.3 to -0.5 points.
* **On a CPU nothing is padded** (`packed.py`): the texts of a batch are concatenated, and oneDNN multiplies. The
  vectors differ from the module's by 1e-6 at most. It takes half of the module's time with AVX-512, and nine tenths
  with AVX2.
* **A linker reads a plain BERT without transformers** (`plain_bert.py`), with equal vectors: it starts in half the
  time, with 120 MiB less. Training, GPUs and every other encoder use transformers.
* **Contexts are read once per sentence**, regardless of its number of mentions; a mention that fits in a window is
  never cut.
"""

from models.encoders.cache import WORKERS, EmbeddingCache, ahead, cache_root
from models.encoders.contexts import Mentions, encode_contexts, encode_marked_mentions
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoder_folder import read_folder
from models.encoders.encoders import (
    Encoder,
    EncoderModule,
    in_batches,
    length_batches,
    load_encoder,
    normalized,
    pad_ids,
    save_encoder,
)
from models.encoders.inputs import EntityStyle, InputSettings, MentionTokens, entity_tokens, mention_tokens, pair_tokens
from models.encoders.lower_states import Halves, LowerStates, halves
from models.encoders.pooling import MentionVector, Pooling, marked_vector, mean_pool, pool

__all__ = [
    "WORKERS",
    "EmbeddingCache",
    "Encoder",
    "EncoderModule",
    "EntityStyle",
    "Halves",
    "InputSettings",
    "LowerStates",
    "MentionTokens",
    "MentionVector",
    "Mentions",
    "Pooling",
    "ahead",
    "cache_root",
    "default_encoder_folder",
    "encode_contexts",
    "encode_marked_mentions",
    "entity_tokens",
    "halves",
    "in_batches",
    "length_batches",
    "load_encoder",
    "marked_vector",
    "mean_pool",
    "mention_tokens",
    "normalized",
    "pad_ids",
    "pair_tokens",
    "pool",
    "read_folder",
    "save_encoder",
]
