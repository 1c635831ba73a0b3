"""Reranking the first candidates: rankers, the combiner, and NIL.

* **The ranker's margin is a difference of calibrated probabilities**, without the ranker, and is chosen again at every
  calibration.
* **The combiner** (`combiner.py`), a conditional logit over 23 features, orders the first 20 and gives probabilities.
  The combiner shipped with the program was fitted on the train documents of BC5CDR and NCBI Disease; a project fits its
  own with at least 200 linked decisions.
"""

from models.rankers.combiner import (
    DEFAULT_COMBINER,
    FEATURES,
    Combiner,
    HeadFeatures,
    Labelled,
    Wording,
    default_combiner,
    fit_combiner,
    head_features,
    words_in,
)
from models.rankers.conventions import CONVENTIONS, Conventions, Elsewhere
from models.rankers.cross_encoder import (
    CrossEncoder,
    CrossEncoderModule,
    check_length,
    load_cross_encoder,
    new_head,
    save_head,
    score_pairs,
)
from models.rankers.dual_ranker import (
    HEADER_FILE,
    VECTORS_FILE,
    DualRanker,
    build_ranker_entities,
    encode_ranker_entities,
    load_ranker_entities,
)
from models.rankers.hearing import (
    NIL_SILENT,
    OPINION,
    SILENT,
    HeardMention,
    as_choice,
    favourites,
    fit_both,
    fit_hearing,
    heard_columns,
    nil_columns,
    opinion_lead,
    rise_of,
)
from models.rankers.nil import DEFAULT_NIL, MIN_LINKED, MIN_NIL, NilFeatures, NilModel, best_threshold, fit_nil
from models.rankers.ranker import FLOATS, RULE, Ranker, RankerSettings, RankerTally, RerankRule, choose_margin

__all__ = [
    "CONVENTIONS",
    "DEFAULT_COMBINER",
    "DEFAULT_NIL",
    "FEATURES",
    "FLOATS",
    "HEADER_FILE",
    "MIN_LINKED",
    "MIN_NIL",
    "NIL_SILENT",
    "OPINION",
    "RULE",
    "SILENT",
    "VECTORS_FILE",
    "Combiner",
    "Conventions",
    "CrossEncoder",
    "CrossEncoderModule",
    "DualRanker",
    "Elsewhere",
    "HeadFeatures",
    "HeardMention",
    "Labelled",
    "NilFeatures",
    "NilModel",
    "Ranker",
    "RankerSettings",
    "RankerTally",
    "RerankRule",
    "Wording",
    "as_choice",
    "best_threshold",
    "build_ranker_entities",
    "check_length",
    "choose_margin",
    "default_combiner",
    "encode_ranker_entities",
    "favourites",
    "fit_both",
    "fit_combiner",
    "fit_hearing",
    "fit_nil",
    "head_features",
    "heard_columns",
    "load_cross_encoder",
    "load_ranker_entities",
    "new_head",
    "nil_columns",
    "opinion_lead",
    "rise_of",
    "save_head",
    "score_pairs",
    "words_in",
]
