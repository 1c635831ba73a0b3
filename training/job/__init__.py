"""A job from recipe to verdict: what is given, trained, assembled, fitted and judged.

* **Calibration uses train documents as well as validation** while no stage was trained (`calibration.py`): they taught
  nothing but the memory, and there no document sees its own decisions. Once a stage was trained, validation alone is
  used. Both are fitted with the memory and without it, so that one model serves a project with many decisions and one
  with none.
* **A new stage's weight must pay** (`refit.py`). It is the one under which the held-out gold is likeliest, and 0
  unless that gain, per document, exceeds its standard error: chosen by the best figure alone it made whole linkers
  worse by up to 1.4 points of recall@1 on documents that it was not chosen on.
* **The gate** (`gate.py`) refuses a bundle when recall@1 of the whole linker falls on the held-out documents, when it
  is right less often with NIL counted (beyond a standard error) *or* when the trained part alone falls below itself
  untrained: with fusion weights refitted, a useless part gets weight 0 and the whole linker alone would not show the
  harm. Each held-out document is judged by weights fitted on the others. A bundle that is no better (“no gain”) is
  kept and does not serve unless the curator says so: it would cost time at every mention and bring nothing.
* **Where fewer than 30 NILs are held out** (or none: a wiki), the NIL model stays the one fitted elsewhere, and its
  threshold rises until no more held-out mentions are called NIL than were: on the demo's worlds, whose mentions match
  their entities' names less well than biomedical ones do, more than half were called NIL before.
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

from training.job.calibration import run_calibration
from training.job.evaluate_job import run_evaluation, run_replay
from training.job.job import run_training
from training.job.suspicious import run_suspicious

__all__ = [
    "run_calibration",
    "run_evaluation",
    "run_replay",
    "run_suspicious",
    "run_training",
]
