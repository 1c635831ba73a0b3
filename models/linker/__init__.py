"""The linker as a whole: its stages one after another, the bundle it lies in, and what changed since it was built."""

from models.linker.answering import ScoredMention
from models.linker.build import build_untrained
from models.linker.bundle import (
    Bundle,
    EncoderRef,
    Manifest,
    RankerSpec,
    RetrieverSpec,
    new_id,
    new_staging,
    now,
    open_bundle,
    publish,
    reuse,
    seal,
)
from models.linker.index_repair import BundleCheck, load_intact, repair
from models.linker.linker import Linker
from models.linker.occlusion import occlude
from models.linker.reranking import RANKER, ask, doubt
from models.linker.stages import Stages
from models.linker.tuning import Gold, Tuned, average_precision, evaluate, learn_nil, tune, tune_scored

__all__ = [
    "RANKER",
    "Bundle",
    "BundleCheck",
    "EncoderRef",
    "Gold",
    "Linker",
    "Manifest",
    "RankerSpec",
    "RetrieverSpec",
    "ScoredMention",
    "Stages",
    "Tuned",
    "ask",
    "average_precision",
    "build_untrained",
    "doubt",
    "evaluate",
    "learn_nil",
    "load_intact",
    "new_id",
    "new_staging",
    "now",
    "occlude",
    "open_bundle",
    "publish",
    "repair",
    "reuse",
    "seal",
    "tune",
    "tune_scored",
]
