"""Retrieval other than by name: bi-encoder, sum of max, memory of decisions, and their fusion.

* **Fusion sums lexical, names and memory only** (`fusion.py`). Preferred names, definitions and coherence did not help
  there on the train documents of BC5CDR and NCBI Disease (-0.14 to +0.08 points of recall@1). They are features of the
  combiner, in which they do help. Coherence is the highest chance of an entity at another mention of the document with
  another wording, kept with and without the memory. Weighting conflicting decisions by context changes nothing on
  BC5CDR (0.0 points); it is kept as a safeguard of the memory.
* **Fusion weights of the untrained stages keep the program's defaults**, chosen on BC5CDR's train documents: refitting
  them on 50 validation documents made NIL worse.
* **Trained retrievers count relative to their favourite** (0 for it, less for the others), outside the divisor of the
  fused score: the order is the same, and combiner and NIL model get scores on the scale they were fitted on. With a
  stage's cosines in the mean, half of BC5CDR's linked mentions were called NIL when too few decisions were held out to
  refit NIL.
* **SOM re-ranks** (`som.py`). Up to 2,048 entities are compared exactly, token by token; in a larger knowledge base,
  the 2,048 nearest by the cosine of mean tokens. No library is used: PyLate and fast-plaid pin older
  sentence-transformers and PyTorch, colbert-ai stores pickles, LanceDB compares by cosine only.
"""

from models.retrievers.biencoder import (
    ENCODE_CHUNK,
    INDEX_FILE,
    AskedMentions,
    Biencoder,
    BiencoderRetriever,
    BiencoderSettings,
    Mentions,
    Scorer,
    TrainedRetriever,
    build_entity_index,
    index_source,
    means_of,
)
from models.retrievers.fusion import (
    DOCUMENT,
    GRID,
    LEAD,
    MEMORY,
    RELATIVE,
    FusionWeights,
    LabelledScores,
    comparable,
    fit_fusion,
    ranking,
)
from models.retrievers.memory import MentionMemory
from models.retrievers.projection import FILE, load_projection, save_projection
from models.retrievers.recalled import NOTHING, Place, Recalled, RecallQuery, RememberedDecision, Votes
from models.retrievers.scorers import TokenStates, cosine, dot, sum_of_max
from models.retrievers.som import build_som_index, load_som

__all__ = [
    "DOCUMENT",
    "ENCODE_CHUNK",
    "FILE",
    "GRID",
    "INDEX_FILE",
    "LEAD",
    "MEMORY",
    "NOTHING",
    "RELATIVE",
    "AskedMentions",
    "Biencoder",
    "BiencoderRetriever",
    "BiencoderSettings",
    "FusionWeights",
    "LabelledScores",
    "MentionMemory",
    "Mentions",
    "Place",
    "RecallQuery",
    "Recalled",
    "RememberedDecision",
    "Scorer",
    "TokenStates",
    "TrainedRetriever",
    "Votes",
    "build_entity_index",
    "build_som_index",
    "comparable",
    "cosine",
    "dot",
    "fit_fusion",
    "index_source",
    "load_projection",
    "load_som",
    "means_of",
    "ranking",
    "save_projection",
    "sum_of_max",
]
