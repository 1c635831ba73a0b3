"""A job from recipe to verdict: preparation, training, assembly, fitting, and the gate.

* **Every retraining refits the weights** (`fitting.py`): combiner and NIL are fitted on the decisions, close to the
  weights that came with the program, from 200 links on. While no stage in use was trained, train documents count too:
  only the memory learned from them, and there no document sees its own decisions. Once a stage was trained, held-out
  documents alone are used. Both are fitted with the memory and without it, so that one model serves a project with many
  decisions and one with none. The recipe *conventions* does nothing else, and evaluates every document with weights
  fitted on the others.
* **A new stage must help.** It is used if held-out gold is more likely with it by more than a standard error, and if
  the linker is better with it than with only the other weights refitted. The message of the result gives both.
* **The gate** (`gate.py`) evaluates the sealed linker, out of fold. The linker in use answers as it is, unless it was
  fitted on the same documents before: then it is fitted again without the fold. A bundle that is not better (“no gain”)
  is kept, and used only if the curator chooses it.
* **Where fewer than 30 NILs are held out** (or none: a wiki), the NIL model stays the one fitted elsewhere, and its
  threshold rises until no more held-out mentions are called NIL than were: on the demo's worlds, whose mentions match
  their entities' names less well than biomedical ones do, more than half were called NIL before.
* **The names' encoder is trained in its upper half, whole** (`names_learning.py`), not by LoRA: three layers of six
  give their gradients in two thirds of the time, nothing else is loaded, and a bundle holds one encoder (90 MB), as
  with an encoder chosen by the user. Without a synonym among the pairs: mixed with pairs of synonyms, or on these
  alone, strings in no training decision came out worse (`tests/benchmarks/experiments/NAMES.md`). It replaces the old
  encoder, so it must be better than the other weights refitted without it; decisions that trained it do not fit weights
  afterwards. What the lower half makes of the names is kept (`models/encoders/lower_states.py`), so that from the
  second training on encoding them takes half the time. There is no quick variant: it learns from candidates of decided
  mentions only, and one or two passes are best.
* **Curator's own recipe starts from the linker's names**: an entity is the mean of the vectors of its names, mapped by
  a matrix that starts as the identity and is kept in the bundle; a mention is the mean of its own words' states in
  context. Untrained, these find 45 % of BC5CDR's validation mentions first, against 16 % with entities written out and
  whole contexts pooled. Nothing is encoded again. The proxy loss takes as zero what lies between right and wrong before
  training: with the paper's zero, 200 decisions only taught it to move away from all entities.
* **A quick recipe is tuned and evaluated on at most 500 held-out mentions**; all other recipes on all of them.
* **Suspicious gold leaves trained stages out** (`suspicious.py`): they were trained on it. The memory leaves the
  document out, combiner and NIL are fitted on the other folds; NIL decisions are listed only where there are enough to
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
