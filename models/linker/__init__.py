"""The whole linker: its stages in order, its bundle, and changes since the bundle was built.

* **How a mention is linked, in order:** wordings, retrieval by every stage and the memory, exact scores of every
  candidate by every stage, coherence, fusion (`models/retrievers/fusion.py`), ranker, combiner, NIL (`answering.py`).
  Fusion is a weighted sum with the program's weights. It determines the retrieved candidates and the mentions that a
  ranker gets.
* **Words of the context by occlusion** (`occlusion.py`). Each word of the sentence is replaced by white space of the
  same length, so that offsets stay the same, and the document is linked as usual: there is no second scoring code that
  could differ. The result is the change of ln(p1 / p2), in which the other candidates cancel out. It takes a median of
  0.3 s.
* **A bundle contains its knowledge base** (`kb.jsonl`), so the linker process and the jobs never open the project. The
  default encoder is referenced by its fingerprint; any other encoder is copied into the bundle.
* **Only checked bundles are used.** The manifest is sealed by its own hash, and `load_checked` compares the hashes of
  all files while the linker is loaded: 0.4 s for 494 MB, in parallel with 1.9 s of loading. Damaged indexes are rebuilt
  (`index_repair.py`), and so are the indexes of a linker made on another computer (`made_here.py`).
"""

from models.linker.answering import ScoredMention
from models.linker.build import NAMES_TOKENS, build_names, build_untrained
from models.linker.bundle import (
    Bundle,
    EncoderRef,
    Manifest,
    RankerSpec,
    RetrieverSpec,
    discard_staging,
    new_id,
    new_staging,
    now,
    open_bundle,
    publish,
    reuse,
    seal,
    store_encoder,
)
from models.linker.index_repair import DamagedBundleError, load_checked, load_intact, repair
from models.linker.linker import Linker, batches
from models.linker.occlusion import occlude
from models.linker.reranking import RANKER, ask, doubt
from models.linker.stages import Stages
from models.linker.tuning import (
    MIN_COMBINER,
    MIN_OPINIONS,
    Gold,
    Tuned,
    average_precision,
    evaluate,
    hear,
    hear_nil,
    learn_nil,
    tune,
    tune_scored,
)

__all__ = [
    "MIN_COMBINER",
    "MIN_OPINIONS",
    "NAMES_TOKENS",
    "RANKER",
    "Bundle",
    "DamagedBundleError",
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
    "batches",
    "build_names",
    "build_untrained",
    "discard_staging",
    "doubt",
    "evaluate",
    "hear",
    "hear_nil",
    "learn_nil",
    "load_checked",
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
    "store_encoder",
    "tune",
    "tune_scored",
]
