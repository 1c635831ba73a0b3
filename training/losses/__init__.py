"""The losses, one per file, each with the equation of its paper.

    nce               cross-entropy of the gold entity against negatives: PEL-CE, T-Biencoder
    proxy             proxy-based, pull and push apart: PEL-Pb
    amh               adaptive mixup of hard negatives: AMH
    triplet           the dual-encoder re-ranker's baseline
    prototype         prototype triplet: the dual-encoder re-ranker
    multi_similarity  the hard pairs, pulled and pushed around a fixed similarity: SapBERT
    cross_entropy     over the scores of a cross-encoder

`base` defines the input of a loss and the scores, `hinge` the code shared by the two triplet losses.

* **A loss sees vectors or, for SOM, states of tokens with their mask**, never texts, and computes in float32 or higher.
  Every file but `base` and `hinge` holds one loss, and `tests/training/losses/test_every_loss_is_tested.py` checks that
  each has all required kinds of tests.
"""
