"""What recipes train: retrievers, re-rankers, a cross-encoder, with mined negatives and prototypes.

* **Mining** keeps one index if entities are frozen, searches a pool if they are trained, and for SOM scores a shortlist
  exactly.
* **The soft radius's λ has an optimiser of its own** (`clustering.py`), so that clipping, weight decay and schedule do
  not touch it.
"""
