"""What finds and scores candidates besides names: bi-encoder, sum of max, remembered decisions, and their fusion."""

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
    MEMORY,
    RELATIVE,
    FusionWeights,
    LabelledScores,
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
