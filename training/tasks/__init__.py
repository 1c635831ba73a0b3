"""What recipes train: retrievers, re-rankers, a cross-encoder, with mined negatives and prototypes.

* **Mining** keeps one index if entities are frozen, searches a pool if they are trained, and for SOM scores a shortlist
  exactly.
* **The soft radius's λ has an optimiser of its own** (`clustering.py`), so that clipping, weight decay and schedule do
  not touch it.
"""

from training.tasks.clustering import RadiusSettings
from training.tasks.cross_encoder import CrossEncoderTask
from training.tasks.mining import Miner, pool_size
from training.tasks.mining_search import means
from training.tasks.names_task import NamedMention, NamesTask, train_layers
from training.tasks.reranking import Hardest, RankerTask
from training.tasks.retriever_task import RetrieverTask
from training.tasks.vectors import at_rest, cache_path, entity_vectors, mention_vectors, pool_vectors, untrained_vectors

__all__ = [
    "CrossEncoderTask",
    "Hardest",
    "Miner",
    "NamedMention",
    "NamesTask",
    "RadiusSettings",
    "RankerTask",
    "RetrieverTask",
    "at_rest",
    "cache_path",
    "entity_vectors",
    "means",
    "mention_vectors",
    "pool_size",
    "pool_vectors",
    "train_layers",
    "untrained_vectors",
]
