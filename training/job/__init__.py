"""A job from recipe to verdict: what is given, trained, assembled, fitted and judged.

* **Every retraining refits the weights** (`fitting.py`): combiner and NIL are fitted on the decisions, near what came
  with the program, from 200 links on. Documents of train count too while no stage in use was trained: they taught
  nothing but the memory, and there no document sees its own decisions. Once a stage was trained, held-out documents
  alone are used. Both are fitted with the memory and without it, so that one model serves a project with many decisions
  and one with none. The recipe *conventions* does nothing else, and judges every document by what the others say.
* **A new stage must pay.** It is heard where held-out gold is likelier with it by more than a standard error, and
  where the linker is better with it than with the other weights refitted alone; the sentence of the result gives both.
* **The gate** (`gate.py`) judges what is sealed, out of fold. The linker in use answers as it is, unless it was fitted
  on the same documents before: then it is fitted again without the fold. A bundle that is no better (“no gain”) is kept
  and does not serve unless the curator says so.
* **Where fewer than 30 NILs are held out** (or none: a wiki), the NIL model stays the one fitted elsewhere, and its
  threshold rises until no more held-out mentions are called NIL than were: on the demo's worlds, whose mentions match
  their entities' names less well than biomedical ones do, more than half were called NIL before.
* **The names' encoder is trained in its upper half, whole** (`names_learning.py`), not by LoRA: three layers of six
  give their gradients in two thirds of the time, nothing is loaded beside, and a bundle holds one encoder (90 MB) as it
  does for an encoder of the user's. Without a synonym among the pairs: mixed with pairs of synonyms, or on these alone,
  strings in no training decision came out worse (`tests/benchmarks/experiments/NAMES.md`). It stands in the old one's
  place, so it must be better than the other weights refitted without it; what taught it fits no weights afterwards.
  What the lower half makes of the names is kept (`models/encoders/lower_states.py`), so that from the second training
  on encoding them takes half the time. There is no quick variant beside it: it learns from candidates of decided
  mentions only, and one or two passes are best.
* **Curator's own recipe starts from what the linker has**: an entity is the mean of the vectors of its names, mapped
  by a matrix that starts as the identity and is kept in the bundle; a mention is the mean of its own words' states in
  context. Untrained, these find 45 % of BC5CDR's validation mentions first, against 16 % with entities written out and
  whole contexts pooled. Nothing is encoded again. The proxy loss takes as zero what lies between right and wrong
  before training: with the paper's zero 200 decisions only taught to move away from all entities.
* **A quick recipe is tuned and judged on 500 held-out mentions** at most; all others on all of them.
* **Suspicious gold leaves trained stages out** (`suspicious.py`): they were trained on it. The memory leaves the
  document out, combiner and NIL are fitted on the other folds; NIL decisions are judged only where there are enough to
  fit NIL on.
"""

from training.job.evaluate_job import run_evaluation, run_replay
from training.job.job import run_training
from training.job.suspicious import run_suspicious

__all__ = [
    "run_evaluation",
    "run_replay",
    "run_suspicious",
    "run_training",
]
