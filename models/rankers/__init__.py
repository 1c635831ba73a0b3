"""Reranking the first candidates: rankers, the combiner, and NIL.

* **The ranker's margin is a difference of calibrated probabilities**, without the ranker, and is chosen again at every
  calibration.
* **The combiner** (`combiner.py`), a conditional logit over 23 features, orders the first 20 and gives probabilities.
  The combiner shipped with the program was fitted on the train documents of BC5CDR and NCBI Disease; a project fits its
  own with at least 200 linked decisions.
"""
